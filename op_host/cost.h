// What a move costs, by which the plan compares tiles and schedules: every constant in one place, so that a run on a
// device can correct it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../op_kernel/fold_tiling.h"

namespace col2im {

// Costs are in bytes: what the same time would have moved in long aligned runs.
//
// Moves (asc-devkit's sample data_copy, 48 vector cores, 1.6 TB/s): runs of 128 B reach 1.29 TB/s, of 2 KiB 1.40, of
// 16 KiB all; a move takes at least 20 cycles. Nothing is published for runs below 128 B: they are taken to cost 128.
struct RunRate {
    double bytes;
    double share; // of the full rate
};
constexpr RunRate kRunRates[] = {{128, 0.806}, {2048, 0.875}, {16384, 1}};
constexpr double kLineBytes = 128;
constexpr double kUnalignedShare = 0.784; // rows of 12287 half instead of 12288, same sample
constexpr double kPublished = 0.75; // how far the published rates are trusted, against the worst: an assumption
constexpr double kCycleBytes = 18; // one vector core's share of the memory's rate, per cycle
constexpr double kMoveCycles = 20;
// Vector instructions (table of vector throughput; sample bank_conflict_ub): 64 floats or 256 bytes of a transpose a
// cycle, and about 22 cycles for each instruction beside.
constexpr double kFloatsPerCycle = 64;
constexpr double kTransposedPerCycle = 256; // bytes
constexpr int64_t kLanes = 16; // rows of a transpose
constexpr double kIssueCycles = 22;
constexpr double kCoreBytes = 8192; // what makes another core worth starting

inline double runShare(double bytes)
{
    double share = kRunRates[0].share;
    for (int i = 1; i < 3; ++i) {
        const RunRate &low = kRunRates[i - 1];
        const RunRate &high = kRunRates[i];
        const double between = std::log2(bytes / low.bytes) / std::log2(high.bytes / low.bytes);
        share += (high.share - low.share) * std::min(1.0, std::max(0.0, between));
    }
    return share;
}

// One move of so many runs of so many bytes, `pitch` apart in global memory. Whether runs that follow each other are
// one to the memory, and what a run costs beside its bytes, is not published: a place between two ends is taken. At
// one, runs have the rates above; at the other each pays whole lines, and the loss where it is not whole blocks.
inline double moveCost(double runs, double bytes, double pitch)
{
    const bool adjacent = runs == 1 || pitch == bytes;
    const double run = std::max(adjacent ? runs * bytes : bytes, kLineBytes);
    const double least = (adjacent ? 1 : runs) * run / runShare(run);
    const bool blocks = std::fmod(bytes, 32) == 0 && std::fmod(pitch, 32) == 0;
    const bool lines = std::fmod(bytes, kLineBytes) == 0 && std::fmod(pitch, kLineBytes) == 0;
    const double touched = lines ? bytes : bytes + kLineBytes - (blocks ? 32 : 1);
    const double most = runs * touched / (blocks ? 1 : kUnalignedShare);
    return std::max(kMoveCycles * kCycleBytes, kPublished * least + (1 - kPublished) * most);
}

// So many vector instructions that take so many cycles beside their issue.
inline double vectorCost(double instructions, double cycles)
{
    return kCycleBytes * (instructions * kIssueCycles + cycles);
}

// What one tile costs: its loads, one of them, and for how many there are buffers; its stores; the additions, which run
// beside the loads; and what turns the sums into the result.
struct TileCost {
    double loads;
    double load;
    double buffers;
    double store;
    double add;
    double finish;
};

// So many tiles one after the other on one core. While one is finished, the next one's loads fill the buffers; the last
// one's last additions have nothing to run beside.
inline double tilesCost(const TileCost &tile, double tiles)
{
    const double stall = std::max(0.0, tile.finish - tile.buffers * tile.load);
    const double last = tile.add * std::min(1.0, tile.load / tile.loads);
    return tiles * (std::max(tile.loads + tile.store, tile.add + tile.finish) + stall) + last + tile.finish;
}

// Taps that reach a pixel along one axis, on average.
inline double tapsPerPixel(const AxisTiling &axis)
{
    return static_cast<double>(axis.taps) * static_cast<double>(axis.windows) / static_cast<double>(axis.pixels);
}

// Taps that reach one row residue: on average, and by as much more as a core gets if its tiles do not hold every
// residue equally often.
inline double rowTaps(const AxisTiling &height, int64_t tiles)
{
    const double average = tapsPerPixel(height);
    const double most = std::ceil(double(height.taps) / double(height.residues));
    return tiles % height.residues == 0 ? average : average + std::max(0.0, most - average) / double(tiles);
}

// What turns the sums of a tile of rows into its result.
inline double finishCost(const FoldTiling &tiling, int64_t itemsize)
{
    const double phases = double(tiling.residues) * tiling.rowResidues;
    const double pixels = double(tiling.phase) * phases;
    const bool woven = tiling.residues > 1;
    const double weave = woven ? 2 * pixels * double(itemsize) / kTransposedPerCycle : 0;
    // Where all row residues are woven, a row is turned at a time; or sixteen pixels of one row of each residue.
    const int64_t width = int64_t(tiling.pitch) * tiling.residues;
    const double rows = pixels / kLanes / double(width);
    const double turned = width % kLanes == 0 ? rows : double(width * tiling.rowResidues / kLanes);
    const double pieces = tiling.rowResidues == 1 ? phases : turned;
    return vectorCost(2 + (woven ? phases + pieces * double(itemsize) / 2 : 0), 2 * pixels / kFloatsPerCycle + weave);
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
