// The whole rule table for the two directions: from an op's arguments to a checked `Fold`.
#pragma once

#include "rules.h"

namespace col2im {

// A call that satisfies the rules.
struct Fold {
    Parameters parameters;
    Ints windows;
    int64_t planes; // N * C
    unsigned itemsize; // bytes
    bool bfloat16;
};

// The tensors of one call; without `out` its rules are left out, as where a shape is inferred.
struct Call {
    const Target &target;
    const Arguments &arguments;
    const Tensor &input;
    const Tensor *out;
};

// Run `rules` one by one and return the first verdict that does not hold.
template <typename Rule> Verdict firstOf(const Rule &rule)
{
    return rule();
}

template <typename Rule, typename... Rules> Verdict firstOf(const Rule &rule, const Rules &...rules)
{
    const Verdict verdict = rule();
    return verdict.holds() ? firstOf(rules...) : verdict;
}

inline Verdict checkOut(const Call &call, const std::string &shape)
{
    return call.out ? checkOutShape(call.out->shape, shape) : Verdict{};
}

inline Ints narrowed(const std::vector<Wide> &values)
{
    Ints narrow;
    for (const Wide value : values) {
        narrow.push_back(static_cast<int64_t>(value));
    }
    return narrow;
}

inline Fold foldOf(const Parameters &parameters, int64_t batch, int64_t channels, const Tensor &tensor)
{
    return {parameters, narrowed(windowsOf(parameters)), batch * channels, itemsizeOf(tensor.dtype.c_str()),
            tensor.dtype == "bfloat16"};
}

// The result's shape: the image.
inline Ints imageShape(const Ints &colShape, const Parameters &parameters)
{
    Ints shape(colShape.begin(), colShape.end() - 2);
    shape.push_back(colShape[colShape.size() - 2] / static_cast<int64_t>(productOf(parameters.kernelSize).saturated()));
    shape.insert(shape.end(), parameters.outputSize.begin(), parameters.outputSize.end());
    return shape;
}

// The result's shape: the columns, of any size.
inline std::vector<Natural> columnShape(const Ints &imageShape, const Parameters &parameters)
{
    const size_t leading = imageShape.size() - parameters.axes(); // (N, C) or (C)
    std::vector<Natural> shape;
    if (leading == 2) {
        shape.push_back(Natural(static_cast<uint64_t>(imageShape[0])));
    }
    Natural columns = productOf(parameters.kernelSize);
    columns.multiply(static_cast<uint64_t>(imageShape[leading - 1]));
    shape.push_back(columns);
    shape.push_back(productOf(windowsOf(parameters)));
    return shape;
}

// Check every rule of one col2im call, in order; `fold` and `shape`, the image's, are set where all hold.
inline Verdict checkCol2Im(const Call &call, Fold &fold, Ints &shape)
{
    const Ints &col = call.input.shape;
    const size_t rank = col.size();
    Parameters parameters;
    const auto tensors = [&] { return call.out ? checkTensors(call.input, *call.out, call.target) : Verdict{}; };
    const auto ranks = [&] { return checkColRank(col); };
    const auto spread = [&] { return col2imParameters(call.target, call.arguments, parameters); };
    const auto batch = [&] { return checkBatch(call.input, rank == 3 ? col[0] : 1, call.target); };
    const auto columns = [&] { return checkArraySize(call.input, "C*K", col[rank - 2]); };
    const auto length = [&] { return checkArraySize(call.input, "L", col[rank - 1]); };
    const auto values = [&] { return checkParameters(parameters); };
    const auto channels = [&] { return checkChannels(col[rank - 2], parameters.kernelSize); };
    const auto fits = [&] { return checkFits(parameters); };
    const auto windows = [&] { return checkLength(col[rank - 1], parameters); };
    const auto out = [&] {
        shape = imageShape(col, parameters);
        return checkOut(call, listed(shape));
    };
    const auto colSize = [&] { return checkSize("the column matrix", col, itemsizeOf(call.input.dtype.c_str())); };
    const auto size = [&] { return checkSize("the image", shape, itemsizeOf(call.input.dtype.c_str())); };
    const Verdict verdict = firstOf(tensors, ranks, spread, batch, columns, length, values, channels, fits, windows,
                                    out, colSize, size);
    if (verdict.holds()) {
        fold = foldOf(parameters, rank == 3 ? col[0] : 1, shape[rank - 2], call.input);
    }
    return verdict;
}

// Check every rule of one im2col call, in order; `fold` and `shape`, the columns', are set where all hold.
inline Verdict checkIm2Col(const Call &call, Fold &fold, Ints &shape)
{
    const Ints &x = call.input.shape;
    const size_t axes = call.arguments.kernelSize.size();
    Parameters parameters;
    const auto tensors = [&] { return call.out ? checkTensors(call.input, *call.out, call.target) : Verdict{}; };
    const auto spread = [&] { return im2colParameters(call.target, x, call.arguments, parameters); };
    const auto batch = [&] { return checkBatch(call.input, x.size() == axes + 2 ? x[0] : 1, call.target); };
    const auto channels = [&] { return checkArraySize(call.input, "C", x[x.size() - axes - 1]); };
    const auto values = [&] { return checkParameters(parameters); };
    const auto fits = [&] { return checkFits(parameters); };
    const auto out = [&] {
        std::vector<std::string> sizes;
        for (const Natural &size : columnShape(x, parameters)) {
            sizes.push_back(size.text());
            shape.push_back(static_cast<int64_t>(size.saturated()));
        }
        return checkOut(call, listed(sizes));
    };
    const auto colSize = [&] { return checkSize("the column matrix", shape, itemsizeOf(call.input.dtype.c_str())); };
    const auto size = [&] { return checkSize("the image", x, itemsizeOf(call.input.dtype.c_str())); };
    const Verdict verdict = firstOf(tensors, spread, batch, channels, values, fits, out, colSize, size);
    if (verdict.holds()) {
        fold = foldOf(parameters, x.size() == axes + 2 ? x[0] : 1, x[x.size() - axes - 1], call.input);
    }
    return verdict;
}

} // namespace col2im
