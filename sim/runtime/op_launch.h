// How the two-stage functions of an op package (libcust_opapi.so) reach the simulated device.
//
// aclnnXxxGetWorkspaceSize calls npuSimPrepare: it runs the op's host tiling and makes an executor. aclnnXxx calls
// npuSimLaunch: it queues the kernel on the stream and gives the executor back. Exported by libnnopbase.so.
//
// As in nnopbase, an input that is not contiguous is copied on the device into the workspace first if the op's
// definition says AutoContiguous, and is refused otherwise; such an output is written back the same way.
#pragma once

#include "aclnn/acl_meta.h"
#include "acl/acl_rt.h"
#include "npu_sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACLNN_ERR_PARAM_NULLPTR 161001
#define ACLNN_ERR_PARAM_INVALID 161002
#define ACLNN_ERR_RUNTIME_ERROR 361001
#define ACLNN_ERR_INNER 561000
#define ACLNN_ERR_INNER_TILING_ERROR 561002
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003
#define ACLNN_ERR_INNER_NULLPTR 561103

// A tensor as the caller described it; the arrays belong to the aclTensor.
typedef struct NpuSimTensor {
    const int64_t *shape;
    const int64_t *strides; // in elements
    uint64_t rank;
    int64_t offset; // in elements from `data`
    aclDataType dtype;
    aclFormat format;
    void *data; // device address of the storage
} NpuSimTensor;

// Memory a kernel may touch: host-visible, dense, exactly the tensor's elements.
typedef struct NpuSimBuffer {
    void *data;
    uint64_t bytes;
} NpuSimBuffer;

typedef struct NpuSimOp {
    const char *type;              // as registered, such as Col2Im
    uint64_t autoContiguousInputs; // bit i: input i may be any view
    uint64_t autoContiguousOutputs;

    // Host tiling. `attributes` is what the caller gave npuSimPrepare. Makes a plan of its own kind, which `release`
    // frees, and says how much workspace the kernel needs; or returns a status after npuSimReport(why).
    aclnnStatus (*tile)(const NpuSimTensor *inputs, const NpuSimTensor *outputs, const void *attributes, void **plan,
                        uint64_t *workspaceBytes);

    // The kernel on all its cores, run by the stream's thread: inputs, then outputs. Non-zero, after
    // npuSimReport(why), is a fault of the device, which the next synchronisation reports.
    int (*run)(const void *plan, const NpuSimBuffer *buffers, NpuSimBuffer workspace);

    void (*release)(void *plan);
} NpuSimOp;

// `symbol` is the calling function's name; a null tensor is refused with it.
aclnnStatus npuSimPrepare(const char *symbol, const NpuSimOp *op, const aclTensor *const *inputs, uint32_t inputCount,
                          const aclTensor *const *outputs, uint32_t outputCount, const void *attributes,
                          uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus npuSimLaunch(const char *symbol, void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                         aclrtStream stream);

// The values of an array argument, or null and 0 for a null array.
const int64_t *npuSimIntArray(const aclIntArray *array, uint64_t *size);

#ifdef __cplusplus
}
#endif
