// Tiles of Im2ColNd: of the schedule that reads the image once, op_kernel/unfold_once.h, and of the one that reads it
// for every tap, op_kernel/unfold.h.
#pragma once

#include <vector>

#include "schedule.h"

namespace col2im {

// The schedule that runs every fold.
inline Plan planUnfold(const Fold &fold, const Machine &machine)
{
    FoldTiling tiling = foldTiling(fold);
    const AxisTiling &height = tiling.axes[kHeight];
    const AxisTiling &width = tiling.axes[kWidth];
    const int64_t size = fold.itemsize;
    const int64_t perBlock = kBlock / size;
    // Two inputs and one tile of pixels, and two outputs, for each lane and window.
    const Wide bytesPerWindow = Wide(size) * kLanes * (3 * Wide(width.stride) + 2);
    const int64_t most = static_cast<int64_t>((machine.ubBytes - kLanes * 4 * kSlack) / bytesPerWindow);
    int64_t columns = std::min(most / kLanes * kLanes, roundUp(width.windows, kLanes));
    columns = columns == 0 ? 1 : std::min(columns, width.windows);
    const int64_t pixels = columns == 1 ? 1 : roundUp(columns, kLanes) * width.stride;
    const bool farRows = !fitsGap(Wide(height.stride) * width.pixels * size) ||
                         !fitsGap(Wide(width.windows) * size);
    tiling.columns = static_cast<uint32_t>(columns);
    tiling.columnTiles = tilesOf(width.windows, columns);
    tiling.rows = static_cast<uint32_t>(farRows ? 1 : std::min(kLanes, height.windows));
    tiling.pitch = static_cast<uint32_t>(roundUp(columns, kLanes));
    tiling.stage = static_cast<uint32_t>(roundUp(pixels, perBlock));
    tiling.phase = static_cast<uint32_t>(roundUp(pixels, kLanes) + perBlock);
    tiling.units = tiling.planes * tiling.axes[kDepth].taps * height.taps * tiling.axes[kDepth].windows *
                   tilesOf(height.windows, tiling.rows) * tiling.columnTiles;
    const int64_t cores = std::min({machine.cores, tiling.units, worthwhileCores(tiling, size)});
    return {tiling, kUnfold, cores, 0};
}

// Plan the schedule that reads the image once: possible where all taps of some windows fit UB.
class UnfoldOncePlan {
public:
    UnfoldOncePlan(const Fold &fold, const Machine &machine)
        : tiling_(foldTiling(fold)), machine_(machine), parameters_(fold.parameters), size_(fold.itemsize),
          height_(tiling_.axes[kHeight]), width_(tiling_.axes[kWidth])
    {}

    bool possible() const
    {
        for (size_t axis = 0; axis < parameters_.axes(); ++axis) {
            const Wide pads = Wide(parameters_.padBegin[axis]) + span(parameters_.kernelSize[axis],
                                                                      parameters_.dilation[axis]);
            if (pads > kMostPixels || parameters_.stride[axis] > kMostPixels) {
                return false;
            }
        }
        for (const AxisTiling &axis : tiling_.axes) {
            if (axis.tapBegin >= axis.tapEnd) { // all is padding
                return false;
            }
        }
        return fitsGap(Wide(width_.pixels) * size_) && fitsGap(Wide(width_.windows) * size_) && fits(1, 1, 1);
    }

    // The cheapest of some tiles: of the widest, and those of equal width that follow; of all heights that fit.
    Plan best() const
    {
        const int64_t widest = most(width_.windows, [&](int64_t columns) { return fits(1, columns, 1); });
        Plan plan = cut(1, widest, 1);
        const int64_t tiles = tilesOf(width_.windows, widest);
        for (int64_t more = tiles; more < tiles + kTried; ++more) {
            const int64_t columns = std::min(widest, roundUp(tilesOf(width_.windows, more), kLanes));
            for (const int64_t unit : {kLanes, int64_t(1)}) {
                int64_t rows = most(std::min(height_.windows, kMaxRuns),
                                    [&](int64_t height) { return fits(height, columns, unit); });
                for (int64_t row = 0; row < kTried && rows > 0; ++row, rows = nextRows(rows)) {
                    const Plan other = cut(rows, columns, unit);
                    plan = other.cost < plan.cost ? other : plan;
                }
            }
        }
        return plan;
    }

private:
    static constexpr int64_t kMostPixels = 1 << 20;

    // Rows of one more tile, equal give or take one; 0 where there is none.
    int64_t nextRows(int64_t rows) const
    {
        const int64_t next = tilesOf(height_.windows, tilesOf(height_.windows, rows) + 1);
        return next < rows ? next : rows - 1;
    }

    int64_t dilation(const AxisTiling &axis) const { return axis.stepQ * axis.stride + axis.stepR; }

    // Image rows, or columns, that the taps of so many windows cover.
    int64_t covered(const AxisTiling &axis, int64_t windows) const
    {
        return (windows - 1) * axis.stride + (axis.taps - 1) * dilation(axis) + 1;
    }

    int64_t stage(int64_t columns) const
    {
        return roundUp(std::min(covered(width_, columns), width_.pixels), kBlock / size_);
    }

    // Pixels of one group of lanes: the transposes take whole blocks of pixels, and of windows.
    int64_t phase(int64_t columns) const
    {
        const int64_t behind = columns < kLanes ? 0 : (roundUp(columns, kLanes) - columns) * width_.stride;
        return covered(width_, columns) + behind + kBlock / size_;
    }

    // Lanes of one row residue: one behind the other, or each residue from a multiple of sixteen.
    int64_t lanes(int64_t rows, int64_t unit) const
    {
        return roundUp(tilesOf(covered(height_, rows), height_.stride), unit);
    }

    bool fits(int64_t rows, int64_t columns, int64_t unit) const
    {
        const int64_t lines = covered(height_, rows);
        const Wide input = 2 * Wide(lines) * stage(columns);
        const Wide pixels = Wide(roundUp(std::min(lines, height_.stride) * lanes(rows, unit), kLanes)) * phase(columns);
        const Wide output = 2 * Wide(rows + 1) * roundUp(columns, kLanes);
        return lines <= kMaxRuns && (input + pixels + output) * size_ + 2 * kSlack <= machine_.ubBytes;
    }

    // The largest length up to `limit` that fits; 0 if none does.
    template <typename Fits> static int64_t most(int64_t limit, const Fits &fitting)
    {
        int64_t length = 0;
        for (int64_t step = int64_t(1) << 40; step > 0; step /= 2) {
            if (step <= limit - length && fitting(length + step)) {
                length += step;
            }
        }
        return length;
    }

    Plan cut(int64_t rows, int64_t columns, int64_t unit) const
    {
        FoldTiling tiling = tiling_;
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.columns = static_cast<uint32_t>(columns);
        tiling.columnTiles = tilesOf(width_.windows, columns);
        tiling.pitch = static_cast<uint32_t>(roundUp(columns, kLanes));
        tiling.residues = static_cast<uint32_t>(lanes(rows, unit));
        tiling.stage = static_cast<uint32_t>(stage(columns));
        tiling.phase = static_cast<uint32_t>(phase(columns));
        tiling.units = tiling.planes * tiling.axes[kDepth].taps * tiling.axes[kDepth].windows *
                       tilesOf(height_.windows, rows) * tiling.columnTiles;
        const int64_t cores = std::min({machine_.cores, tiling.units, worthwhileCores(tiling, size_)});
        return {tiling, kUnfoldOnce, cores, cost(tiling) * double(tilesOf(tiling.units, cores))};
    }

    // What one tile costs.
    double cost(const FoldTiling &tiling) const
    {
        const double rows = tiling.rows, columns = tiling.columns, bytes = double(size_);
        const double lines = double(covered(height_, tiling.rows)), points = std::min<double>(tiling.stage, double(width_.pixels));
        const double taps = double(height_.taps * width_.taps);
        const double load = moveCost(lines, points * bytes, double(width_.pixels) * bytes);
        const double store = moveCost(rows, columns * bytes, double(width_.windows) * bytes);
        // A transpose takes sixteen lanes of two bytes, or eight of four.
        const double instructions = (tiling.residues % kLanes == 0 ? 1 : 1.5) + rows * bytes / (2 * kLanes);
        const double turn = vectorCost(instructions, instructions * 2 * kLanes * tiling.pitch / kTransposedPerCycle);
        return std::max(load + taps * store, taps * turn);
    }

    const FoldTiling tiling_;
    const Machine machine_;
    const Parameters &parameters_;
    const int64_t size_;
    const AxisTiling &height_;
    const AxisTiling &width_;
};

// The best tiles of every schedule that can run the unfold, the best schedule last.
inline std::vector<Plan> im2colPlans(const Fold &fold, const Machine &machine)
{
    std::vector<Plan> plans = {planUnfold(fold, machine)};
    const UnfoldOncePlan once(fold, machine);
    if (once.possible()) {
        plans.push_back(once.best());
    }
    return plans;
}

inline Plan planIm2Col(const Fold &fold, const Machine &machine)
{
    return im2colPlans(fold, machine).back();
}

} // namespace col2im
