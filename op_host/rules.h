// The validation rules, in the order and with the sentences of ascend_col2im/rules.py.
#pragma once

#include "parameters.h"

namespace col2im {

// A tensor as the rules see it; the dtype by NumPy's name.
struct Tensor {
    const char *name;
    std::string dtype;
    std::string format;
    Ints shape;
};

inline Verdict checkDtype(const Tensor &tensor, const Target &target)
{
    const std::string accepted = ", " + std::string(target.dtypes) + ",";
    if (accepted.find(", " + tensor.dtype + ",") == std::string::npos) {
        return {"dtype", std::string(tensor.name) + " is " + tensor.dtype + "; " + target.name + " takes " +
                             target.dtypes};
    }
    return {};
}

inline Verdict checkOutDtype(const Tensor &tensor, const Tensor &out)
{
    if (out.dtype != tensor.dtype) {
        return {"dtype", "out is " + out.dtype + "; must be " + tensor.dtype + ", the dtype of " + tensor.name};
    }
    return {};
}

inline Verdict checkFormat(const Tensor &tensor, const char *name)
{
    if (tensor.format != "ND" && tensor.format != "NCHW") {
        return {"format", std::string(name) + " has format " + tensor.format + "; must be ND or NCHW"};
    }
    return {};
}

inline Verdict checkTensors(const Tensor &tensor, const Tensor &out, const Target &target)
{
    Verdict verdict = checkDtype(tensor, target);
    if (verdict.holds()) {
        verdict = checkOutDtype(tensor, out);
    }
    if (verdict.holds()) {
        verdict = checkFormat(tensor, tensor.name);
    }
    return verdict.holds() ? checkFormat(out, "out") : verdict;
}

inline Verdict checkAtLeastOne(const std::string &name, int64_t value)
{
    return value < 1 ? Verdict{"positive", name + " is " + decimal(value) + "; must be >= 1"} : Verdict{};
}

inline Verdict checkArraySize(const Tensor &tensor, const char *symbol, int64_t size)
{
    if (size < 1) {
        return {"positive", std::string(tensor.name) + " has " + symbol + " = " + decimal(size) + ", shape " +
                                listed(tensor.shape) + "; must be >= 1"};
    }
    return {};
}

inline Verdict checkBatch(const Tensor &tensor, int64_t batch, const Target &target)
{
    if (batch < 1) {
        return {"positive", std::string(tensor.name) + " has N = " + decimal(batch) + ", shape " +
                                listed(tensor.shape) + "; " + target.name + " needs N >= 1"};
    }
    return {};
}

inline Verdict checkParameters(const Parameters &parameters)
{
    const struct {
        const char *name;
        const Ints &values;
    } positives[] = {{"output_size", parameters.outputSize},
                     {"kernel_size", parameters.kernelSize},
                     {"stride", parameters.stride},
                     {"dilation", parameters.dilation}};
    for (const auto &positive : positives) {
        for (size_t axis = 0; axis < positive.values.size(); ++axis) {
            const Verdict verdict =
                checkAtLeastOne(std::string(positive.name) + "[" + std::to_string(axis) + "]", positive.values[axis]);
            if (!verdict.holds()) {
                return verdict;
            }
        }
    }
    for (size_t axis = 0; axis < parameters.axes(); ++axis) {
        const Ints pair = {parameters.padBegin[axis], parameters.padEnd[axis]};
        if (pair[0] < 0 || pair[1] < 0) {
            return {"padding", "padding[" + std::to_string(axis) + "] is " + listed(pair) + "; must be >= 0"};
        }
    }
    return {};
}

inline std::string paddedSizeText(const Parameters &parameters, size_t axis)
{
    return "output_size[" + std::to_string(axis) + "] + padding = " + decimal(parameters.outputSize[axis]) + " + " +
           decimal(parameters.padBegin[axis]) + " + " + decimal(parameters.padEnd[axis]) + " = " +
           decimal(paddedSize(parameters, axis));
}

// Refuse columns that are neither (N, C*K, L) nor (C*K, L).
inline Verdict checkColRank(const Ints &shape)
{
    if (shape.size() != 2 && shape.size() != 3) {
        return {"rank", "col has " + std::to_string(shape.size()) + " axes, shape " + listed(shape) +
                            "; must have 3 (N, C*K, L), or 2 (C*K, L) unbatched"};
    }
    return {};
}

inline Verdict checkFits(const Parameters &parameters)
{
    for (size_t axis = 0; axis < parameters.axes(); ++axis) {
        const int64_t kernel = parameters.kernelSize[axis];
        if (kernel > paddedSize(parameters, axis)) {
            return {"kernel", "kernel_size[" + std::to_string(axis) + "] is " + decimal(kernel) +
                                  "; must be at most the padded image, " + paddedSizeText(parameters, axis)};
        }
    }
    for (size_t axis = 0; axis < parameters.axes(); ++axis) {
        if (windowCount(parameters, axis) < 1) {
            const int64_t kernel = parameters.kernelSize[axis];
            const int64_t dilation = parameters.dilation[axis];
            return {"windows", "a window spans dilation * (kernel_size - 1) + 1 = " + decimal(dilation) + " * (" +
                                   decimal(kernel) + " - 1) + 1 = " + decimal(span(kernel, dilation)) +
                                   " along axis " + std::to_string(axis) + "; must be at most the padded image, " +
                                   paddedSizeText(parameters, axis)};
        }
    }
    return {};
}

inline Verdict checkChannels(int64_t columns, const Ints &kernelSize)
{
    if (static_cast<uint64_t>(columns) % productOf(kernelSize).saturated() != 0) {
        return {"channels", "col has " + decimal(columns) + " channels; must be a multiple of K = " +
                                productText(kernelSize) + ", the product of kernel_size " + listed(kernelSize)};
    }
    return {};
}

inline Verdict checkLength(int64_t length, const Parameters &parameters)
{
    const std::vector<Wide> windows = windowsOf(parameters);
    if (static_cast<uint64_t>(length) == productOf(windows).saturated()) {
        return {};
    }
    return {"length", "col has L = " + decimal(length) + "; output_size " + listed(parameters.outputSize) +
                          ", kernel_size " + listed(parameters.kernelSize) + ", stride " + listed(parameters.stride) +
                          ", padding " + listed(parameters.padBegin) + " + " + listed(parameters.padEnd) +
                          ", dilation " + listed(parameters.dilation) + " give " + productText(windows) + " windows"};
}

// `shape` is the result's, as the sentences write it: its sizes may be beyond 64 bits.
inline Verdict checkOutShape(const Ints &outShape, const std::string &shape)
{
    if (listed(outShape) != shape) {
        return {"output", "out has shape " + listed(outShape) + "; the result has " + shape};
    }
    return {};
}

// Refuse arrays whose offsets do not fit in a signed 64-bit integer.
inline Verdict checkSize(const char *name, const Ints &shape, unsigned itemsize)
{
    Natural bytes = productOf(shape);
    bytes.multiply(itemsize);
    if (bytes.saturated() > static_cast<uint64_t>(INT64_MAX)) {
        return {"size", std::string(name) + " of shape " + listed(shape) + " takes " + bytes.text() +
                            " bytes; offsets of 64 bits reach at most " + decimal(INT64_MAX)};
    }
    return {};
}

} // namespace col2im
