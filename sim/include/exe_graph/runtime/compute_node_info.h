// What is known of a node's tensors when it is compiled.
#pragma once

#include "graph/types.h"

namespace gert {

class CompileTimeTensorDesc {
public:
    CompileTimeTensorDesc(ge::DataType dtype, ge::Format format) : dtype_(dtype), format_(format) {}
    ge::DataType GetDataType() const { return dtype_; }
    ge::Format GetStorageFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_; }

private:
    ge::DataType dtype_;
    ge::Format format_;
};

} // namespace gert
