// Taps along one axis in ascending order, and the ranges they reach.
#pragma once

#include "fold_tiling.h"
#include "kernel_operator.h"

namespace col2im {

struct Range {
    int64_t begin;
    int64_t end;

    __aicore__ inline bool empty() const { return begin >= end; }
    __aicore__ inline int64_t size() const { return end - begin; }
};

__aicore__ inline Range intersect(const Range &a, const Range &b)
{
    return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

// Tap `k` of one axis, which moves from tap to tap without dividing.
class Tap {
public:
    __aicore__ inline explicit Tap(const AxisTiling &axis)
        : axis_(axis), k_(axis.tapBegin), q_(axis.firstQ), r_(axis.firstR)
    {}

    __aicore__ inline bool valid() const { return k_ < axis_.tapEnd; }
    __aicore__ inline int64_t k() const { return k_; }
    __aicore__ inline int64_t q() const { return q_; }
    __aicore__ inline int64_t r() const { return r_; }

    // The t values within `tile` that some window reaches.
    __aicore__ inline Range reach(const Range &tile) const { return intersect(tile, {q_, q_ + axis_.windows}); }

    __aicore__ inline void next()
    {
        if (++k_ >= axis_.tapEnd) {
            return; // the next shift may be beyond 64 bits
        }
        q_ += axis_.stepQ;
        r_ += axis_.stepR;
        if (r_ >= axis_.stride) {
            r_ -= axis_.stride;
            ++q_;
        }
    }

    // Move on by `taps`, whose shifts are one pixel apart and have the same q.
    __aicore__ inline void skip(int64_t taps)
    {
        k_ += taps - 1;
        r_ += taps - 1;
        next();
    }

private:
    const AxisTiling &axis_;
    int64_t k_;
    int64_t q_;
    int64_t r_;
};

// The `index`-th of `parts` contiguous parts of `whole`, which are equal, give or take one; so are as many neighbours'
// unions.
__aicore__ inline Range part(int64_t whole, int64_t parts, int64_t index)
{
    const int64_t each = whole / parts;
    const int64_t more = whole % parts;
    const int64_t begin = index * each + index * more / parts;
    return {begin, (index + 1) * each + (index + 1) * more / parts};
}

__aicore__ inline Range unitsOfThisCore(int64_t units)
{
    return part(units, AscendC::GetBlockNum(), AscendC::GetBlockIdx());
}

} // namespace col2im
