// Calls of an operator as flat lists of integers, which is how Python hands them over.
#pragma once

#include <cstring>

#if __has_include("../../op_host/plan.h") // in a checkout
#include "../../op_host/plan.h"
#else // in a wheel
#include "../cann_sources/op_host/plan.h"
#endif

namespace col2im {

// Lists arrive one after the other in `values`, their lengths in `lengths`.
class Lists {
public:
    Lists(const int64_t *values, const int64_t *lengths) : values_(values), lengths_(lengths) {}

    Ints next()
    {
        const Ints list(values_, values_ + *lengths_);
        values_ += *lengths_++;
        return list;
    }

private:
    const int64_t *values_;
    const int64_t *lengths_;
};

inline Arguments nextArguments(Lists &lists, int im2col)
{
    Arguments arguments;
    arguments.outputSize = im2col ? Ints() : lists.next();
    arguments.kernelSize = lists.next();
    arguments.strides = lists.next();
    arguments.pads = lists.next();
    arguments.dilations = lists.next();
    return arguments;
}

inline Verdict checkedFold(int im2col, const Call &call, Fold &fold)
{
    Ints shape;
    return im2col ? checkIm2Col(call, fold, shape) : checkCol2Im(call, fold, shape);
}

} // namespace col2im
