// The arguments of each op, read from a tiling or a shape-inference context. The order of attributes and inputs is
// that of the op's definition, *_def.cpp.
#pragma once

#include "context.h"

namespace col2im {

struct Col2ImOp {
    static constexpr const char *kName = "Col2Im";
    static constexpr const char *kInput = "col";
    static constexpr bool kIm2Col = false;

    template <typename Context> static bool read(const Context &context, Arguments &arguments)
    {
        arguments.outputSize = {intAttribute(context, 0), intAttribute(context, 1)};
        arguments.kernelSize = {intAttribute(context, 2), intAttribute(context, 3)};
        arguments.strides = {intAttribute(context, 4)};
        arguments.pads = {intAttribute(context, 5)};
        arguments.dilations = {intAttribute(context, 6)};
        return true;
    }
};

template <typename Context> void readLists(const Context &context, Arguments &arguments)
{
    arguments.dilations = listAttribute(context, 0);
    arguments.pads = listAttribute(context, 1);
    arguments.strides = listAttribute(context, 2);
}

struct Col2ImNdOp {
    static constexpr const char *kName = "Col2ImNd";
    static constexpr const char *kInput = "col";
    static constexpr bool kIm2Col = false;

    template <typename Context> static bool read(const Context &context, Arguments &arguments)
    {
        readLists(context, arguments);
        return listInput(context, 1, arguments.outputSize) && listInput(context, 2, arguments.kernelSize);
    }
};

struct Im2ColNdOp {
    static constexpr const char *kName = "Im2ColNd";
    static constexpr const char *kInput = "x";
    static constexpr bool kIm2Col = true;

    template <typename Context> static bool read(const Context &context, Arguments &arguments)
    {
        readLists(context, arguments);
        return listInput(context, 1, arguments.kernelSize);
    }
};

// Check the whole rule table in the op's direction.
template <typename Op> Verdict checkOp(const Call &call, Fold &fold, Ints &shape)
{
    return Op::kIm2Col ? checkIm2Col(call, fold, shape) : checkCol2Im(call, fold, shape);
}

} // namespace col2im
