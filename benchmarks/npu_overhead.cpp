// Calls of aclnnCol2Im as a program in C makes them, for npu_overhead.py to compare with.
#include <chrono>

#include "acl/acl.h"
#include "aclnn_col2_im.h"

namespace {
aclTensor *Describe(const int64_t *shape, uint64_t axes, void *address)
{
    int64_t strides[4];
    int64_t size = 1;
    for (uint64_t axis = axes; axis-- > 0; size *= shape[axis]) {
        strides[axis] = size;
    }
    return aclCreateTensor(shape, axes, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, &size, 1, address);
}
} // namespace

// Returns the nanoseconds of one of `count` calls, or the negative status of one that failed.
extern "C" double TimeCalls(int count, const int64_t *colShape, const int64_t *imageShape, const int64_t *sizes,
    void *col, void *image, void *workspace, aclrtStream stream)
{
    const auto begin = std::chrono::steady_clock::now();
    for (int call = 0; call < count; ++call) {
        aclTensor *first = Describe(colShape, 3, col);
        aclTensor *last = Describe(imageShape, 4, image);
        uint64_t bytes = 0;
        aclOpExecutor *executor = nullptr;
        aclnnStatus status = aclnnCol2ImGetWorkspaceSize(
            first, sizes[0], sizes[1], sizes[2], sizes[3], 1, 0, 1, last, &bytes, &executor);
        if (status == 0) {
            status = aclnnCol2Im(bytes == 0 ? nullptr : workspace, bytes, executor, stream);
        }
        aclDestroyTensor(last);
        aclDestroyTensor(first);
        if (status != 0) {
            return -status;
        }
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    return spent.count() / count;
}
