// Maps one ONNX node, whose attributes are given as JSON, with the plug-in of a package; prints the op it becomes.
//
//   onnx_mapping ai.onnx::18::Col2Im '{"attribute": [...]}'
#include <cstdio>

#include "register/register.h"

int main(int count, char **arguments)
{
    const domi::OpRegistrationData *mapping = domi::OpReceiver::Find(arguments[1]);
    if (mapping == nullptr || mapping->framework != domi::ONNX || mapping->implementation != domi::ImplyType::TVM) {
        return 3;
    }
    ge::Operator node("node", arguments[1]), op("op", mapping->type.c_str());
    if (count > 2) {
        node.SetAttr("attribute", ge::AscendString(arguments[2]));
    }
    if (mapping->parse(node, op) != domi::SUCCESS) {
        return 4;
    }
    std::printf("%s\n", mapping->type.c_str());
    for (const char *name : {"dilations", "pads", "strides"}) {
        std::vector<int64_t> values;
        if (op.GetAttr(name, values) != ge::GRAPH_SUCCESS) {
            return 5;
        }
        std::printf("%s", name);
        for (const int64_t value : values) {
            std::printf(" %lld", static_cast<long long>(value));
        }
        std::printf("\n");
    }
    return 0;
}
