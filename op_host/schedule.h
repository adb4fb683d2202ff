// What every plan is made of: the product's limits, and the decision that the kernel gets.
#pragma once

#include "cost.h"
#include "tiling.h"

namespace col2im {

// What the plan needs to know of the product.
struct Machine {
    int64_t cores;
    int64_t ubBytes; // that a kernel may allocate
};

// Tiling keys, by which the kernel picks its code.
enum Schedule { kUnfold = 0, kRows = 1, kFlat = 2, kChannels = 3, kNeighbours = 4, kUnfoldOnce = 5 };

struct Plan {
    FoldTiling tiling;
    Schedule schedule;
    int64_t cores;
    double cost;
};

constexpr int64_t kBlock = 32; // bytes, what UB addresses are aligned to
constexpr int64_t kSlack = 512; // bytes of a buffer that are read or masked beyond its last element
constexpr int64_t kMaxTiles = 512; // along the rows, that are compared
constexpr int64_t kTried = 64; // cuts of one other kind that are compared
constexpr int64_t kMaxCastStride = 63; // of a cast's repeats: four pixels in an 8-bit count of blocks
constexpr int64_t kMaxRuns = 4095; // of one move
constexpr int64_t kMaxGap = UINT32_MAX; // bytes in global memory between the runs of one move
constexpr int64_t kWovenUnit = 256; // sixteen lanes of sixteen elements
constexpr int64_t kMaxWoven = 32; // column residues woven in one tile; a multiple of 16

inline int64_t roundUp(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

inline int64_t tilesOf(int64_t length, int64_t tile)
{
    return (length - 1) / tile + 1;
}

// Elements of one lane in UB: an odd number of blocks, so that the lanes lie in different banks.
inline int64_t lanePitch(int64_t elements, int64_t itemsize)
{
    const int64_t perBlock = kBlock / itemsize;
    const int64_t blocks = roundUp(elements, kLanes) / perBlock;
    return (blocks + (blocks % 2 == 0 ? 1 : 0)) * perBlock;
}

// Sheets that lie one behind the other: planes, or depths of one plane.
inline int64_t sheetsInStack(const FoldTiling &tiling)
{
    const int64_t depths = tiling.axes[kDepth].pixels;
    return depths == 1 ? tiling.planes : depths;
}

inline bool fitsGap(Wide bytes)
{
    return bytes <= kMaxGap;
}

} // namespace col2im
