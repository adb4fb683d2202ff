// What a shape-inference function reads, and where it leaves the output's shape.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
public:
    explicit InferShapeContext(const NodeCall &call) : ExtendedKernelContext(call), outputs_(call.outputDescs.size()) {}

    const Shape *GetInputShape(size_t index) const
    {
        const Tensor *tensor = GetInputTensor(index);
        return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
    }
    Shape *GetOutputShape(size_t index) { return index < outputs_.size() ? &outputs_[index] : nullptr; }

private:
    std::vector<Shape> outputs_;
};

} // namespace gert
