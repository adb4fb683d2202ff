// Arguments as an op receives them, spread over the spatial axes: the rules rank (of the axes) and arity.
#pragma once

#include "geometry.h"
#include "targets.h"

namespace col2im {

// Per-axis arguments: lists of one value (for every axis) or D; `pads` one value or all begins, then all ends.
struct Arguments {
    Ints outputSize;
    Ints kernelSize;
    Ints strides;
    Ints pads;
    Ints dilations;
};

inline Verdict checkAxisCount(const char *name, size_t axes, const Target &target)
{
    if (axes == 0) {
        return {"rank", std::string(name) + " is empty; needs one size per spatial axis"};
    }
    if (axes > target.maxAxes) {
        return {"rank", std::string(name) + " has " + std::to_string(axes) + " axes; " + target.name + " takes 1 to " +
                            std::to_string(target.maxAxes)};
    }
    return {};
}

inline Verdict spread(const char *name, size_t axes, const Ints &values, Ints &perAxis)
{
    if (values.size() == axes) {
        perAxis = values;
    } else if (values.size() == 1) {
        perAxis.assign(axes, values[0]);
    } else {
        const std::string lengths = axes == 1 ? "1 value" : "1 or " + std::to_string(axes) + " values";
        return {"arity", std::string(name) + " has " + std::to_string(values.size()) + " values, " + listed(values) +
                             "; must have " + lengths};
    }
    return {};
}

inline Verdict spreadPads(size_t axes, const Ints &pads, Parameters &parameters)
{
    if (pads.size() == 1) {
        parameters.padBegin.assign(axes, pads[0]);
        parameters.padEnd.assign(axes, pads[0]);
    } else if (pads.size() == 2 * axes) {
        parameters.padBegin.assign(pads.begin(), pads.begin() + static_cast<Ints::difference_type>(axes));
        parameters.padEnd.assign(pads.begin() + static_cast<Ints::difference_type>(axes), pads.end());
    } else {
        return {"arity", "padding has " + std::to_string(pads.size()) + " values, " + listed(pads) +
                             "; must have 1 or " + std::to_string(2 * axes) +
                             " values, all begins and then all ends"};
    }
    return {};
}

inline Verdict spreadAll(size_t axes, const Arguments &given, Parameters &parameters)
{
    Verdict verdict = spread("output_size", axes, given.outputSize, parameters.outputSize);
    if (verdict.holds()) {
        verdict = spread("kernel_size", axes, given.kernelSize, parameters.kernelSize);
    }
    if (verdict.holds()) {
        verdict = spread("stride", axes, given.strides, parameters.stride);
    }
    if (verdict.holds()) {
        verdict = spread("dilation", axes, given.dilations, parameters.dilation);
    }
    return verdict.holds() ? spreadPads(axes, given.pads, parameters) : verdict;
}

// `output_size` fixes the number of axes.
inline Verdict col2imParameters(const Target &target, const Arguments &given, Parameters &parameters)
{
    const size_t axes = given.outputSize.size();
    const Verdict verdict = checkAxisCount("output_size", axes, target);
    return verdict.holds() ? spreadAll(axes, given, parameters) : verdict;
}

// `kernel_size` fixes the number of axes; the image's shape gives `output_size`.
inline Verdict im2colParameters(const Target &target, const Ints &imageShape, Arguments given, Parameters &parameters)
{
    const size_t axes = given.kernelSize.size();
    const Verdict verdict = checkAxisCount("kernel_size", axes, target);
    if (!verdict.holds()) {
        return verdict;
    }
    if (imageShape.size() != axes + 1 && imageShape.size() != axes + 2) {
        return {"rank", "x has " + std::to_string(imageShape.size()) + " axes, shape " + listed(imageShape) +
                            "; kernel_size has " + std::to_string(axes) + ", so x needs " + std::to_string(axes + 2) +
                            " (N, C, *spatial), or " + std::to_string(axes + 1) + " (C, *spatial) unbatched"};
    }
    given.outputSize.assign(imageShape.end() - static_cast<Ints::difference_type>(axes), imageShape.end());
    return spreadAll(axes, given, parameters);
}

} // namespace col2im
