// What every context of host code offers: the node's tensors, attributes and type.
#pragma once

#include <vector>

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/tensor.h"

namespace gert {

// One call as the simulated runtime hands it to host code.
struct NodeCall {
    const char *type;
    std::vector<CompileTimeTensorDesc> inputDescs, outputDescs;
    std::vector<Tensor> inputs;
    std::vector<StorageShape> outputShapes;
    RuntimeAttrs attributes;
};

class ExtendedKernelContext {
public:
    explicit ExtendedKernelContext(const NodeCall &call) : call_(call) {}
    const char *GetNodeType() const { return call_.type; }
    const char *GetNodeName() const { return call_.type; }
    const RuntimeAttrs *GetAttrs() const { return &call_.attributes; }
    const CompileTimeTensorDesc *GetInputDesc(size_t index) const { return at(call_.inputDescs, index); }
    const CompileTimeTensorDesc *GetOutputDesc(size_t index) const { return at(call_.outputDescs, index); }
    const Tensor *GetInputTensor(size_t index) const { return at(call_.inputs, index); }

protected:
    template <typename T> static const T *at(const std::vector<T> &values, size_t index)
    {
        return index < values.size() ? &values[index] : nullptr;
    }
    const NodeCall &call() const { return call_; }

private:
    const NodeCall &call_;
};

} // namespace gert
