// Shape and dtype inference of every op. Only graphs come here; a direct call brings its output along.
#pragma once

#include <algorithm>

#include "exe_graph/runtime/infer_datatype_context.h"

#include "arguments.h"

namespace col2im {

// How a graph writes a shape of unknown rank.
inline Ints unknownRank()
{
    return {-2};
}

template <typename Op> ge::graphStatus inferShape(gert::InferShapeContext *context)
{
    const gert::Shape *input = context->GetInputShape(0);
    gert::Shape *output = context->GetOutputShape(0);
    if (input == nullptr || output == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const Ints sizes = sizesOf(*input);
    const bool known = std::find_if(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; }) == sizes.end();
    Arguments arguments;
    if (!known || !Op::read(*context, arguments)) {
        setShape(unknownRank(), *output);
        return ge::GRAPH_SUCCESS;
    }
    // A graph is inferred without a product; the dtypes are checked when the op is tiled.
    const Tensor tensor = {Op::kInput, "float32", "ND", sizes};
    const Call call = {everyTarget(), arguments, tensor, nullptr};
    Fold fold;
    Ints shape;
    const Verdict verdict = checkOp<Op>(call, fold, shape);
    if (!verdict.holds()) {
        return refuse(Op::kName, verdict);
    }
    setShape(shape, *output);
    return ge::GRAPH_SUCCESS;
}

inline ge::graphStatus inferDataType(gert::InferDataTypeContext *context)
{
    return context->SetOutputDataType(0, context->GetInputDataType(0));
}

} // namespace col2im
