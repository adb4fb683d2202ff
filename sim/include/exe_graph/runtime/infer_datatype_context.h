// What a dtype-inference function reads, and where it leaves the output's dtype.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferDataTypeContext : public ExtendedKernelContext {
public:
    explicit InferDataTypeContext(const NodeCall &call)
        : ExtendedKernelContext(call), outputs_(call.outputDescs.size(), ge::DT_UNDEFINED)
    {}

    ge::DataType GetInputDataType(size_t index) const
    {
        const CompileTimeTensorDesc *desc = GetInputDesc(index);
        return desc == nullptr ? ge::DT_UNDEFINED : desc->GetDataType();
    }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType dtype)
    {
        if (index >= outputs_.size()) {
            return ge::GRAPH_FAILED;
        }
        outputs_[index] = dtype;
        return ge::GRAPH_SUCCESS;
    }
    ge::DataType GetOutputDataType(size_t index) const { return outputs_[index]; }

private:
    std::vector<ge::DataType> outputs_;
};

} // namespace gert
