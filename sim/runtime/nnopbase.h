// What the handles of aclnn stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "core.h"
#include "op_launch.h"

struct aclTensor {
    std::vector<int64_t> shape, strides, storageShape;
    aclDataType dtype;
    aclFormat format;
    int64_t offset;
    void *data;

    NpuSimTensor view() const
    {
        return {shape.data(), strides.data(), shape.size(), offset, dtype, format, data};
    }
};

struct aclIntArray {
    std::vector<int64_t> values;
};

struct aclFloatArray {
    std::vector<float> values;
};

struct aclBoolArray {
    std::vector<uint8_t> values;
};

struct aclScalar {
    std::vector<uint8_t> bytes;
    aclDataType dtype;
};

struct aclTensorList {
    std::vector<const aclTensor *> tensors;
};

namespace simrt {

// The handles alive of one of the types above.
template <typename T> Handles &handlesOf();

int64_t elements(const std::vector<int64_t> &shape);
std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape);
bool isDense(const aclTensor &tensor);

} // namespace simrt
