// Where the windows of one fold lie: exact integers only. The names are those of ascend_col2im/geometry.py.
#pragma once

#include "messages.h"

namespace col2im {

// One int per spatial axis in every list, not yet checked against the rules.
struct Parameters {
    Ints outputSize;
    Ints kernelSize;
    Ints stride;
    Ints padBegin;
    Ints padEnd;
    Ints dilation;

    size_t axes() const { return outputSize.size(); }
};

inline Wide floorDiv(Wide a, Wide b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Pixels from a window's first tap to its last, both included.
inline Wide span(int64_t kernelSize, int64_t dilation)
{
    return static_cast<Wide>(dilation) * (kernelSize - 1) + 1;
}

inline Wide paddedSize(const Parameters &parameters, size_t axis)
{
    return static_cast<Wide>(parameters.outputSize[axis]) + parameters.padBegin[axis] + parameters.padEnd[axis];
}

// Windows along one axis; zero or negative if none fits.
inline Wide windowCount(const Parameters &parameters, size_t axis)
{
    const Wide room = paddedSize(parameters, axis) - span(parameters.kernelSize[axis], parameters.dilation[axis]);
    return floorDiv(room, parameters.stride[axis]) + 1;
}

inline std::vector<Wide> windowsOf(const Parameters &parameters)
{
    std::vector<Wide> windows;
    for (size_t axis = 0; axis < parameters.axes(); ++axis) {
        windows.push_back(windowCount(parameters, axis));
    }
    return windows;
}

} // namespace col2im
