// Maps a standard ONNX Col2Im node (operator set 18 and later) to the op Col2ImNd.
//
// The inputs stand in the same order. Attributes have the same names and forms; ONNX leaves out those at their
// defaults, for which Col2ImNd has a list of one value that stands for every axis.
#include "graph/operator.h"
#include "register/register.h"

#include "node_attributes.h"

namespace col2im {

// 0, or the graph engine's failure: the node's attributes are not lists of integers.
domi::Status mapCol2Im(const ge::Operator &node, ge::Operator &op)
{
    IntLists given;
    ge::AscendString json;
    if (node.GetAttr("attribute", json) == ge::GRAPH_SUCCESS && !NodeAttributes(json.GetString()).read(given)) {
        return domi::FAILED;
    }
    const struct {
        const char *name;
        int64_t otherwise;
    } attributes[] = {{"dilations", 1}, {"pads", 0}, {"strides", 1}};
    for (const auto &attribute : attributes) {
        const auto found = given.find(attribute.name);
        const bool absent = found == given.end() || found->second.empty();
        op.SetAttr(attribute.name, absent ? std::vector<int64_t>{attribute.otherwise} : found->second);
    }
    return domi::SUCCESS;
}

} // namespace col2im

namespace domi {

REGISTER_CUSTOM_OP("Col2ImNd")
    .FrameworkType(ONNX)
    .OriginOpType({ge::AscendString("ai.onnx::18::Col2Im"), ge::AscendString("ai.onnx::19::Col2Im"),
                   ge::AscendString("ai.onnx::20::Col2Im"), ge::AscendString("ai.onnx::21::Col2Im"),
                   ge::AscendString("ai.onnx::22::Col2Im"), ge::AscendString("ai.onnx::23::Col2Im"),
                   ge::AscendString("ai.onnx::24::Col2Im"), ge::AscendString("ai.onnx::25::Col2Im")})
    .ParseParamsByOperatorFn(col2im::mapCol2Im)
    .ImplyType(ImplyType::TVM);

} // namespace domi
