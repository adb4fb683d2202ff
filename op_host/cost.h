// What a move costs, by which the plan compares tiles and schedules: every constant in one place, so that a run on a
// device can correct it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../op_kernel/fold_tiling.h"

namespace col2im {

// Costs are in bytes: what the same time would have moved in long aligned runs.
//
// Source: asc-devkit's sample data_copy (48 vector cores, 1.6 TB/s): runs of 128 B reach 1.29 TB/s, of 2048 B 1.40;
// a move of 128 B takes about 20 cycles. For runs below 128 B nothing is published: they are taken to cost 128 B.
constexpr double kLineBytes = 128;
constexpr double kRunBytes = 30; // each run: 128 / 1.29 * 1.6 - 128
constexpr double kCallBytes = 360; // each move: 20 cycles of one core's share, 18 B
constexpr double kCycleBytes = 18; // one vector core's share of the memory's rate, per cycle
// Vector instructions (asc-devkit, table of vector throughput; sample bank_conflict_ub): 64 floats a cycle, 256 bytes
// of a transpose in one, and about 22 cycles for each instruction beside.
constexpr double kFloatsPerCycle = 64;
constexpr double kTransposedPerCycle = 256; // bytes
constexpr double kIssueCycles = 22;
constexpr double kCoreBytes = 8192; // what makes another core worth starting

// One move of so many runs of so many bytes.
inline double moveCost(double runs, double bytes)
{
    return kCallBytes + runs * (kRunBytes + std::max(bytes, kLineBytes));
}

// So many vector instructions that take so many cycles beside their issue.
inline double vectorCost(double instructions, double cycles)
{
    return kCycleBytes * (instructions * kIssueCycles + cycles);
}

// Taps that reach a pixel along one axis, on average.
inline double tapsPerPixel(const AxisTiling &axis)
{
    return static_cast<double>(axis.taps) * static_cast<double>(axis.windows) / static_cast<double>(axis.pixels);
}

// Cores that have enough to do to be worth starting.
inline int64_t worthwhileCores(const FoldTiling &tiling, int64_t itemsize)
{
    double bytes = static_cast<double>(tiling.planes * itemsize);
    double taps = 1;
    for (const AxisTiling &axis : tiling.axes) {
        bytes *= static_cast<double>(axis.pixels);
        taps *= tapsPerPixel(axis);
    }
    return static_cast<int64_t>(std::min(bytes * (1 + taps) / kCoreBytes, 1e6)) + 1;
}

} // namespace col2im
