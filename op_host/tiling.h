// From a checked fold to the kernel's three spatial axes.
#pragma once

#include <algorithm>

#include "../op_kernel/fold_tiling.h"
#include "folds.h"

namespace col2im {

inline Wide ceilDiv(Wide a, Wide b)
{
    return -floorDiv(-a, b);
}

inline AxisTiling axisTiling(int64_t pixels, int64_t windows, int64_t taps, int64_t stride, int64_t padBegin,
                             int64_t dilation)
{
    AxisTiling axis = {};
    axis.pixels = pixels;
    axis.windows = windows;
    axis.stride = stride;
    axis.residues = std::min(stride, pixels);
    axis.length = static_cast<int64_t>(ceilDiv(pixels, stride));
    axis.taps = taps;
    // Tap k reaches a pixel unless its last window ends before the image or its first begins behind it.
    const Wide reach = static_cast<Wide>(windows - 1) * stride;
    const Wide begin = std::max<Wide>(0, ceilDiv(padBegin - reach, dilation));
    const Wide end = std::min<Wide>(taps, (static_cast<Wide>(padBegin) + pixels - 1) / dilation + 1);
    if (begin < end) {
        const Wide shift = begin * dilation - padBegin;
        axis.tapBegin = static_cast<int64_t>(begin);
        axis.tapEnd = static_cast<int64_t>(end);
        axis.firstQ = static_cast<int64_t>(floorDiv(shift, stride));
        axis.firstR = static_cast<int64_t>(shift - floorDiv(shift, stride) * stride);
        axis.stepQ = dilation / stride;
        axis.stepR = dilation % stride;
    }
    return axis;
}

// The fold with its axes brought to three: missing ones come first and have one pixel and one window.
inline FoldTiling foldTiling(const Fold &fold)
{
    const Parameters &p = fold.parameters;
    FoldTiling tiling = {};
    const size_t missing = kAxes - p.axes();
    for (size_t i = 0; i < missing; ++i) {
        tiling.axes[i] = axisTiling(1, 1, 1, 1, 0, 1);
    }
    for (size_t i = 0; i < p.axes(); ++i) {
        tiling.axes[missing + i] =
            axisTiling(p.outputSize[i], fold.windows[i], p.kernelSize[i], p.stride[i], p.padBegin[i], p.dilation[i]);
    }
    tiling.planes = fold.planes;
    return tiling;
}

} // namespace col2im
