// Infers the shape of an op's output as a graph does, and prints it.
//
//   infer_shape TYPE INPUT [SIZES...] -- ATTRIBUTE... ; lists of integers separated by commas, `?` for values unknown
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>

#include "register/op_impl_registry.h"

namespace {

using Ints = std::vector<int64_t>;

Ints listOf(const char *text)
{
    Ints values;
    std::string item;
    for (std::istringstream items(text); std::getline(items, item, ',');) {
        values.push_back(std::stoll(item));
    }
    return values;
}

gert::Shape shapeOf(const Ints &sizes)
{
    gert::Shape shape;
    for (const int64_t size : sizes) {
        shape.AppendDim(size);
    }
    return shape;
}

} // namespace

// The functions registered outside any package are those of this program.
int main(int, char **arguments)
{
    const char *type = arguments[1];
    std::vector<Ints> values, attributes;
    std::vector<gert::Tensor> inputs = {gert::Tensor(gert::StorageShape(shapeOf(listOf(arguments[2]))), nullptr)};
    values.reserve(8);
    char **at = arguments + 3;
    for (; std::strcmp(*at, "--") != 0; ++at) {
        values.push_back(std::strcmp(*at, "?") == 0 ? Ints() : listOf(*at));
        const gert::StorageShape shape(shapeOf({static_cast<int64_t>(values.back().size())}));
        inputs.emplace_back(shape, values.back().empty() ? nullptr : values.back().data());
    }
    for (++at; *at != nullptr; ++at) {
        attributes.push_back(listOf(*at));
    }
    gert::NodeCall call{type, {{ge::DT_FLOAT16, ge::FORMAT_ND}}, {{ge::DT_UNDEFINED, ge::FORMAT_ND}}, inputs, {},
                        gert::RuntimeAttrs(attributes)};
    const gert::OpImplFunctions &functions = gert::OpImplRegistry::OfCurrent(type);
    gert::InferShapeContext shapes(call);
    gert::InferDataTypeContext dtypes(call);
    if (functions.inferShape(&shapes) != ge::GRAPH_SUCCESS || functions.inferDataType(&dtypes) != ge::GRAPH_SUCCESS ||
        dtypes.GetOutputDataType(0) != ge::DT_FLOAT16) {
        return 4;
    }
    const gert::Shape &shape = *shapes.GetOutputShape(0);
    for (size_t axis = 0; axis < shape.GetDimNum(); ++axis) {
        std::printf("%s%lld", axis == 0 ? "" : ",", static_cast<long long>(shape.GetDim(axis)));
    }
    std::printf("\n");
    return 0;
}
