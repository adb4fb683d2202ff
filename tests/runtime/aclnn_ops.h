// The operators' functions as CANN's op_build generates them from their definitions.
#pragma once

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnCol2ImGetWorkspaceSize(const aclTensor *col, int64_t outputH, int64_t outputW,
                                                            int64_t kernelH, int64_t kernelW, int64_t strideVal,
                                                            int64_t paddingVal, int64_t dilationVal,
                                                            const aclTensor *out, uint64_t *workspaceSize,
                                                            aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnCol2Im(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                            aclrtStream stream);

ACL_FUNC_VISIBILITY aclnnStatus aclnnCol2ImNdGetWorkspaceSize(
    const aclTensor *col, const aclIntArray *imageShape, const aclIntArray *blockShape,
    const aclIntArray *dilationsOptional, const aclIntArray *padsOptional, const aclIntArray *stridesOptional,
    const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnCol2ImNd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                              aclrtStream stream);

ACL_FUNC_VISIBILITY aclnnStatus aclnnIm2ColNdGetWorkspaceSize(
    const aclTensor *x, const aclIntArray *blockShape, const aclIntArray *dilationsOptional,
    const aclIntArray *padsOptional, const aclIntArray *stridesOptional, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnIm2ColNd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                              aclrtStream stream);

#ifdef __cplusplus
}
#endif
