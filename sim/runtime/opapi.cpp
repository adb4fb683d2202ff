// libopapi.so: the few built-in operators that moving tensors and accumulating gradients need.
//
// Elementwise, computed in double: what torch_npu calls for copies between views and dtypes, zeros, ones, fill
// and add. Every other built-in operator is missing, as on an installation without the operator package.
#include <algorithm>
#include <cstring>

#include "../include/ascendc/half.h"
#include "nnopbase.h"

namespace {

double load(aclDataType dtype, const void *data, uint64_t i)
{
    switch (dtype) {
    case ACL_FLOAT: return static_cast<const float *>(data)[i];
    case ACL_FLOAT16: return static_cast<const half *>(data)[i];
    case ACL_BF16: return static_cast<const bfloat16_t *>(data)[i];
    case ACL_DOUBLE: return static_cast<const double *>(data)[i];
    case ACL_INT32: return static_cast<const int32_t *>(data)[i];
    case ACL_INT64: return static_cast<double>(static_cast<const int64_t *>(data)[i]);
    case ACL_INT16: return static_cast<const int16_t *>(data)[i];
    case ACL_INT8: return static_cast<const int8_t *>(data)[i];
    default: return static_cast<const uint8_t *>(data)[i];
    }
}

void store(aclDataType dtype, void *data, uint64_t i, double value)
{
    switch (dtype) {
    case ACL_FLOAT: static_cast<float *>(data)[i] = static_cast<float>(value); return;
    case ACL_FLOAT16: static_cast<half *>(data)[i] = half(value); return;
    case ACL_BF16: static_cast<bfloat16_t *>(data)[i] = bfloat16_t(value); return;
    case ACL_DOUBLE: static_cast<double *>(data)[i] = value; return;
    case ACL_INT32: static_cast<int32_t *>(data)[i] = static_cast<int32_t>(value); return;
    case ACL_INT64: static_cast<int64_t *>(data)[i] = static_cast<int64_t>(value); return;
    case ACL_INT16: static_cast<int16_t *>(data)[i] = static_cast<int16_t>(value); return;
    case ACL_INT8: static_cast<int8_t *>(data)[i] = static_cast<int8_t>(value); return;
    case ACL_BOOL: static_cast<uint8_t *>(data)[i] = value != 0; return;
    default: static_cast<uint8_t *>(data)[i] = static_cast<uint8_t>(value); return;
    }
}

// out = scale * (last input) + (sum of the other inputs) + constant; a lone input of out's dtype is copied bit by bit.
struct Plan {
    double scale = 1, constant = 0;
    uint32_t inputs = 0;
    aclDataType dtypes[3] = {}; // inputs, then output
    uint64_t itemBytes = 0;     // of the output
};

aclnnStatus tile(const NpuSimTensor *inputs, const NpuSimTensor *outputs, const void *given, void **plan, uint64_t *)
{
    auto *made = new Plan(*static_cast<const Plan *>(given));
    for (uint32_t i = 0; i < made->inputs; ++i) {
        made->dtypes[i] = inputs[i].dtype;
        if (inputs[i].rank != outputs->rank || !std::equal(inputs[i].shape, inputs[i].shape + inputs[i].rank, outputs->shape)) {
            delete made;
            npuSimReport("libopapi of the simulated runtime does not broadcast");
            return ACLNN_ERR_PARAM_INVALID;
        }
    }
    made->dtypes[made->inputs] = outputs->dtype;
    made->itemBytes = aclDataTypeSize(outputs->dtype);
    *plan = made;
    return ACL_SUCCESS;
}

int run(const void *given, const NpuSimBuffer *buffers, NpuSimBuffer)
{
    const auto &plan = *static_cast<const Plan *>(given);
    const NpuSimBuffer &out = buffers[plan.inputs];
    const aclDataType dtype = plan.dtypes[plan.inputs];
    if (plan.inputs == 1 && plan.constant == 0 && plan.dtypes[0] == dtype) {
        std::memcpy(out.data, buffers[0].data, out.bytes);
        return 0;
    }
    for (uint64_t i = 0; i < out.bytes / plan.itemBytes; ++i) {
        double value = plan.constant;
        for (uint32_t k = 0; k < plan.inputs; ++k) {
            value += (k + 1 == plan.inputs ? plan.scale : 1) * load(plan.dtypes[k], buffers[k].data, i);
        }
        store(dtype, out.data, i, value);
    }
    return 0;
}

void release(void *plan) { delete static_cast<Plan *>(plan); }

const NpuSimOp kElementwise = {"Elementwise", 3, 1, tile, run, release};

double number(const aclScalar *scalar)
{
    return scalar == nullptr ? 1 : load(scalar->dtype, scalar->bytes.data(), 0);
}

} // namespace

// One operator: its parameters, its inputs, its output, the constant added and the scale of the last input.
#define SIM_ELEMENTWISE(name, parameters, inputList, output, constantValue, scaleValue)                           \
    extern "C" ACL_FUNC_VISIBILITY aclnnStatus name##GetWorkspaceSize(                                            \
        SIM_UNWRAP parameters, uint64_t *workspaceSize, aclOpExecutor **executor)                                 \
    {                                                                                                             \
        const aclTensor *const inputs[] = {SIM_UNWRAP inputList};                                                 \
        Plan plan;                                                                                                \
        plan.constant = constantValue;                                                                            \
        plan.scale = scaleValue;                                                                                  \
        plan.inputs = static_cast<uint32_t>(std::count_if(std::begin(inputs), std::end(inputs),                   \
                                                          [](const aclTensor *t) { return t != nullptr; }));      \
        return npuSimPrepare(#name "GetWorkspaceSize", &kElementwise, inputs, plan.inputs, &output, 1, &plan,     \
                             workspaceSize, executor);                                                            \
    }                                                                                                             \
    extern "C" ACL_FUNC_VISIBILITY aclnnStatus name(void *workspace, uint64_t size, aclOpExecutor *executor,      \
                                                    aclrtStream stream)                                           \
    {                                                                                                             \
        return npuSimLaunch(#name, workspace, size, executor, stream);                                            \
    }
#define SIM_UNWRAP(...) __VA_ARGS__

// clang-format off
SIM_ELEMENTWISE(aclnnInplaceCopy, (const aclTensor *self, const aclTensor *from), (from), self, 0, 1)
SIM_ELEMENTWISE(aclnnInplaceZero, (const aclTensor *self), (nullptr), self, 0, 1)
SIM_ELEMENTWISE(aclnnInplaceOne, (const aclTensor *self), (nullptr), self, 1, 1)
SIM_ELEMENTWISE(aclnnInplaceFillScalar, (const aclTensor *self, const aclScalar *value), (nullptr), self, number(value), 1)
SIM_ELEMENTWISE(aclnnAdd, (const aclTensor *self, const aclTensor *other, const aclScalar *alpha, const aclTensor *out), (self, other), out, 0, number(alpha))
SIM_ELEMENTWISE(aclnnAdds, (const aclTensor *self, const aclScalar *other, const aclScalar *alpha, const aclTensor *out), (self), out, number(other) * number(alpha), 1)
SIM_ELEMENTWISE(aclnnInplaceAdd, (const aclTensor *self, const aclTensor *other, const aclScalar *alpha), (self, other), self, 0, number(alpha))
SIM_ELEMENTWISE(aclnnInplaceAdds, (const aclTensor *self, const aclScalar *other, const aclScalar *alpha), (self), self, number(other) * number(alpha), 1)
// clang-format on
