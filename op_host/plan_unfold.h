// Tiles of Im2ColNd: of the schedule that reads the image once, op_kernel/unfold_once.h, and of the one that reads it
// for every tap, op_kernel/unfold.h.
#pragma once

#include "schedule.h"

namespace col2im {

// The schedule that runs every fold.
inline Plan planUnfold(const Fold &fold, const Machine &machine)
{
    constexpr int64_t kLanes = 16;
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
        return fitsGap(Wide(width_.pixels) * size_) && fitsGap(Wide(width_.windows) * size_) && fits(1, 1);
    }

    // The cheapest of the largest tiles for every number of column tiles.
    Plan best() const
    {
        Plan plan = cut(1, 1);
        for (int64_t tiles = 1; tiles <= std::min(width_.windows, kMaxColumnTiles); ++tiles) {
            const int64_t columns = tiles == 1 ? width_.windows : roundUp(tilesOf(width_.windows, tiles), kLanes);
            for (int64_t rows = mostRows(columns); rows >= 1; rows = tilesOf(height_.windows, rows) < kMaxRowTiles
                                                                         ? nextRows(rows)
                                                                         : 0) {
                const Plan other = cut(rows, std::min(columns, width_.windows));
                plan = other.cost < plan.cost ? other : plan;
            }
        }
        return plan;
    }

private:
    static constexpr int64_t kLanes = 16;
    static constexpr int64_t kMostPixels = 1 << 20;
    static constexpr int64_t kMaxColumnTiles = 64, kMaxRowTiles = 64; // that are compared

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
    int64_t phase(int64_t columns) const { return covered(width_, roundUp(columns, kLanes)) + kBlock / size_; }

    bool fits(int64_t rows, int64_t columns) const
    {
        const int64_t lines = covered(height_, rows);
        const Wide input = 2 * Wide(lines) * stage(columns);
        const Wide pixels = Wide(tilesOf(lines, kLanes)) * kLanes * phase(columns);
        const Wide output = 2 * Wide(rows + 1) * roundUp(columns, kLanes);
        return lines <= kMaxRuns && (input + pixels + output) * size_ + 2 * kSlack <= machine_.ubBytes;
    }

    // Most window rows of a tile with so many columns.
    int64_t mostRows(int64_t columns) const
    {
        int64_t fit = 0;
        for (int64_t step = kMaxRuns + 1; step > 0; step /= 2) {
            if (fit + step <= height_.windows && fits(fit + step, columns)) {
                fit += step;
            }
        }
        return fit;
    }

    Plan cut(int64_t rows, int64_t columns) const
    {
        FoldTiling tiling = tiling_;
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.columns = static_cast<uint32_t>(columns);
        tiling.columnTiles = tilesOf(width_.windows, columns);
        tiling.pitch = static_cast<uint32_t>(roundUp(columns, kLanes));
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
        const bool whole = tiling.columnTiles == 1;
        const double taps = double(height_.taps * width_.taps);
        const double load = points == double(width_.pixels) ? moveCost(1, lines * points * bytes)
                                                            : moveCost(lines, points * bytes);
        const double store = whole ? moveCost(1, rows * columns * bytes) : moveCost(rows, columns * bytes);
        // A transpose takes sixteen lanes of two bytes, or eight of four; rows a stride apart leave lanes unused.
        const double lanes = (rows - 1) * double(height_.stride) + 1;
        const double instructions = 1 + lanes * bytes / (2 * kLanes);
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

inline Plan planIm2Col(const Fold &fold, const Machine &machine)
{
    const UnfoldOncePlan once(fold, machine);
    return once.possible() ? once.best() : planUnfold(fold, machine);
}

} // namespace col2im
