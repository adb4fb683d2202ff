// A stand-in for an op package's libcust_opapi.so: the two-stage functions with a plain reference as their kernel.
//
// It lets the runtime and the Python binding be tested without the kernel's own sources. ONLY_COL2IM leaves the
// functions of Col2ImNd and Im2ColNd out, NO_OPS leaves all of them out.
#include <vector>

#include "aclnn_ops.h"
#include "ascendc/half.h"
#include "op_launch.h"

#ifndef NO_OPS
namespace {

using Ints = std::vector<int64_t>;

int64_t product(const Ints &values)
{
    int64_t result = 1;
    for (const int64_t value : values) {
        result *= value;
    }
    return result;
}

struct Plan {
    Ints size, kernel, stride, padBegin, dilation, windows;
    int64_t planes; // N * C
    aclDataType dtype;
    bool fold; // or unfold
};

struct Attributes {
    Ints size, kernel, stride, pads, dilation; // size empty: taken from the image
};

Ints broadcast(const Ints &values, size_t length)
{
    return values.size() == 1 ? Ints(length, values[0]) : values;
}

aclnnStatus refuse(const char *why)
{
    npuSimReport("reference tiling: %s", why);
    return ACLNN_ERR_INNER_TILING_ERROR;
}

aclnnStatus tile(const NpuSimTensor &col, const NpuSimTensor &image, Attributes given, bool fold, void **out)
{
    const size_t axes = given.kernel.size();
    if (given.size.empty()) {
        given.size.assign(image.shape + image.rank - axes, image.shape + image.rank);
    }
    Plan plan{given.size, given.kernel, broadcast(given.stride, axes), broadcast(given.pads, 2 * axes),
              broadcast(given.dilation, axes), {}, 1, col.dtype, fold};
    if (col.dtype != image.dtype || (col.dtype != ACL_FLOAT && col.dtype != ACL_FLOAT16 && col.dtype != ACL_BF16)) {
        return refuse("dtype");
    }
    if (col.format != ACL_FORMAT_ND || image.format != ACL_FORMAT_ND) {
        return refuse("format");
    }
    if (col.rank < 2 || col.rank > 3 || image.rank != col.rank - 1 + axes || plan.size.size() != axes) {
        return refuse("rank");
    }
    for (size_t d = 0; d < axes; ++d) {
        const int64_t padded = plan.size[d] + plan.padBegin[d] + plan.padBegin[axes + d];
        plan.windows.push_back((padded - plan.dilation[d] * (plan.kernel[d] - 1) - 1) / plan.stride[d] + 1);
        if (image.shape[image.rank - axes + d] != plan.size[d]) {
            return refuse("output");
        }
    }
    plan.planes = (col.rank == 3 ? col.shape[0] : 1) * (col.shape[col.rank - 2] / product(plan.kernel));
    if (col.shape[col.rank - 1] != product(plan.windows)) {
        return refuse("length");
    }
    *out = new Plan(std::move(plan));
    return ACL_SUCCESS;
}

bool advance(Ints &index, const Ints &end)
{
    for (size_t d = end.size(); d-- > 0;) {
        if (++index[d] < end[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

// Calls visit(column element, pixel) for every contribution of one plane, taps in row-major order.
template <typename Visit> void contributions(const Plan &plan, Visit visit)
{
    Ints tap(plan.size.size(), 0);
    int64_t column = 0;
    do {
        Ints window(plan.size.size(), 0);
        do {
            int64_t pixel = 0;
            bool inside = true;
            for (size_t d = 0; d < plan.size.size(); ++d) {
                const int64_t at = window[d] * plan.stride[d] + tap[d] * plan.dilation[d] - plan.padBegin[d];
                inside = inside && at >= 0 && at < plan.size[d];
                pixel = pixel * plan.size[d] + at;
            }
            visit(column++, inside ? pixel : -1);
        } while (advance(window, plan.windows));
    } while (advance(tap, plan.kernel));
}

template <typename T> void compute(const Plan &plan, const NpuSimBuffer *buffers)
{
    const auto *from = static_cast<const T *>(buffers[0].data);
    auto *to = static_cast<T *>(buffers[1].data);
    const int64_t pixels = product(plan.size), columns = product(plan.kernel) * product(plan.windows);
    for (int64_t p = 0; p < plan.planes; ++p) {
        if (plan.fold) {
            std::vector<float> sums(static_cast<size_t>(pixels), 0.0f);
            contributions(plan, [&](int64_t column, int64_t pixel) {
                if (pixel >= 0) {
                    sums[static_cast<size_t>(pixel)] += static_cast<float>(from[p * columns + column]);
                }
            });
            for (int64_t i = 0; i < pixels; ++i) {
                to[p * pixels + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
            }
        } else {
            contributions(plan, [&](int64_t column, int64_t pixel) {
                to[p * columns + column] = pixel >= 0 ? from[p * pixels + pixel] : static_cast<T>(0.0f);
            });
        }
    }
}

int run(const void *plan, const NpuSimBuffer *buffers, NpuSimBuffer)
{
    const auto &call = *static_cast<const Plan *>(plan);
    switch (call.dtype) {
    case ACL_FLOAT: compute<float>(call, buffers); return 0;
    case ACL_FLOAT16: compute<half>(call, buffers); return 0;
    default: compute<bfloat16_t>(call, buffers); return 0;
    }
}

void release(void *plan) { delete static_cast<Plan *>(plan); }

// A little workspace, so that callers have to get it right.
aclnnStatus tileFold(const NpuSimTensor *in, const NpuSimTensor *out, const void *given, void **plan, uint64_t *bytes)
{
    *bytes = 64;
    return tile(*in, *out, *static_cast<const Attributes *>(given), true, plan);
}

#ifndef ONLY_COL2IM
aclnnStatus tileUnfold(const NpuSimTensor *in, const NpuSimTensor *out, const void *given, void **plan, uint64_t *)
{
    return tile(*out, *in, *static_cast<const Attributes *>(given), false, plan);
}

Ints values(const aclIntArray *array)
{
    uint64_t size = 0;
    const int64_t *first = npuSimIntArray(array, &size);
    return Ints(first, first + size);
}
#endif

aclnnStatus prepare(const char *symbol, const NpuSimOp &op, const aclTensor *in, const aclTensor *out,
                    const Attributes &given, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    return npuSimPrepare(symbol, &op, &in, 1, &out, 1, &given, workspaceSize, executor);
}

const NpuSimOp kCol2Im = {"Col2Im", 1, 0, tileFold, run, release};
#ifndef ONLY_COL2IM
const NpuSimOp kCol2ImNd = {"Col2ImNd", 1, 0, tileFold, run, release};
const NpuSimOp kIm2ColNd = {"Im2ColNd", 1, 0, tileUnfold, run, release};
#endif

} // namespace

#define EXECUTE(name)                                                                                            \
    aclnnStatus name(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream) \
    {                                                                                                            \
        return npuSimLaunch(#name, workspace, size, executor, stream);                                           \
    }

aclnnStatus aclnnCol2ImGetWorkspaceSize(const aclTensor *col, int64_t outputH, int64_t outputW,
                                                            int64_t kernelH, int64_t kernelW, int64_t strideVal,
                                                            int64_t paddingVal, int64_t dilationVal,
                                                            const aclTensor *out, uint64_t *workspaceSize,
                                                            aclOpExecutor **executor)
{
    return prepare(__func__, kCol2Im, col, out,
                   {{outputH, outputW}, {kernelH, kernelW}, {strideVal}, {paddingVal}, {dilationVal}}, workspaceSize,
                   executor);
}
EXECUTE(aclnnCol2Im)

#ifndef ONLY_COL2IM
aclnnStatus aclnnCol2ImNdGetWorkspaceSize(const aclTensor *col, const aclIntArray *imageShape,
                                                              const aclIntArray *blockShape,
                                                              const aclIntArray *dilations, const aclIntArray *pads,
                                                              const aclIntArray *strides, const aclTensor *out,
                                                              uint64_t *workspaceSize, aclOpExecutor **executor)
{
    return prepare(__func__, kCol2ImNd, col, out,
                   {values(imageShape), values(blockShape), values(strides), values(pads), values(dilations)},
                   workspaceSize, executor);
}
EXECUTE(aclnnCol2ImNd)

aclnnStatus aclnnIm2ColNdGetWorkspaceSize(const aclTensor *image, const aclIntArray *blockShape,
                                                              const aclIntArray *dilations, const aclIntArray *pads,
                                                              const aclIntArray *strides, const aclTensor *out,
                                                              uint64_t *workspaceSize, aclOpExecutor **executor)
{
    return prepare(__func__, kIm2ColNd, image, out,
                   {{}, values(blockShape), values(strides), values(pads), values(dilations)}, workspaceSize, executor);
}
EXECUTE(aclnnIm2ColNd)
#endif
#endif
