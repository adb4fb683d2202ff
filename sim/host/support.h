// Which dtypes and formats an op's definition lets through, as nnopbase checks them before the op's own host code.
#pragma once

#include <vector>

#include "aclnn/acl_meta.h"
#include "graph/types.h"

#include "packaged_op.h"

namespace gert {
struct NodeCall;
}
namespace sim {
struct Product;
}

namespace npu_sim {

// A call's layouts of plain dense tensors arrive as ND.
ge::Format seenFormat(ge::Format format);

// ACL_SUCCESS, or a status after reporting what the definition has instead.
aclnnStatus checkSupported(const PackagedOp &op, const gert::NodeCall &call, const sim::Product &product);

} // namespace npu_sim
