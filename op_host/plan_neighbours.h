// Tiles of the schedule "neighbours", op_kernel/neighbours.h.
#pragma once

#include "schedule.h"

namespace col2im {

class NeighboursPlan {
public:
    NeighboursPlan(const Fold &fold, const Machine &machine)
        : tiling_(foldTiling(fold)), machine_(machine), size_(fold.itemsize), bfloat16_(fold.bfloat16),
          height_(tiling_.axes[kHeight]), width_(tiling_.axes[kWidth])
    {}

    // Whether sixteen taps can be neighbours, and every stride of an instruction fits.
    bool possible()
    {
        const Wide windows = Wide(tiling_.axes[kDepth].windows) * height_.windows * width_.windows;
        if (width_.stepQ != 0 || width_.stepR != 1 || width_.stride < kLanes || !fitsGap(windows * size_) ||
            !fitsGap(Wide(width_.stride) * size_) || !fitsGap(Wide(height_.stride) * width_.pixels * size_)) {
            return false;
        }
        return cut(1, width_.length, 1); // one t
    }

    Plan best()
    {
        const int64_t most = std::min(tilesOf(width_.residues, kLanes), kMaxCastStride);
        for (int64_t blocks = 1; blocks <= most; ++blocks) {
            bestOf(blocks);
        }
        return best_;
    }

private:
    // The best tiles with so many times sixteen column residues: rows, or a part of one.
    void bestOf(int64_t blocks)
    {
        const int64_t each = kLanes * (4 + 2 * blocks * size_); // bytes of one t, at least
        const int64_t most = std::max<int64_t>(1, machine_.ubBytes / each);
        const int64_t rows = std::max<int64_t>(1, std::min(height_.length, most / width_.length));
        const int64_t rowTiles = tilesOf(height_.length, rows);
        for (int64_t tiles = rowTiles; tiles <= height_.length && tiles < rowTiles + kTried; ++tiles) {
            cut(blocks, 1, tilesOf(height_.length, tiles));
        }
        const int64_t columnTiles = std::max<int64_t>(2, tilesOf(width_.length, most));
        for (int64_t tiles = columnTiles; tiles <= width_.length && tiles < columnTiles + kTried; ++tiles) {
            cut(blocks, tiles, 1);
        }
    }

    // Compare the plan with such tiles to the best until now; false if they do not fit.
    bool cut(int64_t blocks, int64_t columnTiles, int64_t rows)
    {
        FoldTiling &tiling = tiling_;
        tiling.columns = static_cast<uint32_t>(std::min(tilesOf(width_.length, columnTiles), kMaxRuns + 1));
        const int64_t windows = columnTiles > 1 ? tiling.columns : rows * width_.windows;
        const Wide pixels = Wide(rows) * tiling.columns;
        if (tiling.columns > kMaxRuns || pixels * blocks * kLanes * size_ > machine_.ubBytes ||
            Wide(windows) * kLanes > machine_.ubBytes) {
            return false;
        }
        tiling.columnTiles = tilesOf(width_.length, tiling.columns);
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.residues = static_cast<uint32_t>(blocks * kLanes);
        tiling.pitch = tiling.columns;
        tiling.groups = sheetsInStack(tiling);
        tiling.sheets = 1;
        tiling.rowResidues = 1;
        tiling.rowPitch = tiling.pitch * tiling.residues;
        tiling.phase = static_cast<uint32_t>(pixels);
        tiling.stage = static_cast<uint32_t>(lanePitch(windows, size_));
        tiling.units = tiling.planes * tiling.axes[kDepth].pixels * height_.residues * tilesOf(height_.length, rows) *
                       tilesOf(width_.residues, tiling.residues) * tiling.columnTiles;
        const int64_t cores = std::min({machine_.cores, tiling.units, worthwhileCores(tiling, size_)});
        const Plan plan = {tiling, kNeighbours, cores, tilesCost(tileCost(), double(tilesOf(tiling.units, cores)))};
        if (bytes() > machine_.ubBytes) {
            return false;
        }
        if (best_.cores == 0 || plan.cost < best_.cost) {
            best_ = plan;
        }
        return true;
    }

    int64_t bytes() const
    {
        return kLanes * (int64_t(tiling_.stage) * (3 * size_ + (bfloat16_ ? 4 : 0)) + int64_t(tiling_.phase) * 4) +
               2 * int64_t(tiling_.rows) * tiling_.rowPitch * size_ + kSlack;
    }

    TileCost tileCost() const
    {
        const double blocks = double(tiling_.residues) / kLanes;
        const double loads = blocks * tapsPerPixel(tiling_.axes[kDepth]) * tapsPerPixel(height_) * tapsPerPixel(width_);
        const double bytes = static_cast<double>(size_);
        const double rows = tiling_.rows;
        const double windows = tiling_.columnTiles > 1 ? tiling_.columns : rows * double(width_.windows);
        const double load = moveCost(kLanes, windows * bytes,
                                     double(tiling_.axes[kDepth].windows * height_.windows * width_.windows) * bytes);
        const bool run = tiling_.residues == width_.stride;
        const double stride = double(width_.stride) * bytes;
        const double store = run ? moveCost(rows, tiling_.rowPitch * bytes, double(width_.pixels) * bytes)
                                 : moveCost(rows * tiling_.columns, tiling_.residues * bytes, stride);
        const double turn = kLanes * windows * bytes / kTransposedPerCycle;
        const double adds = kLanes * windows * (bfloat16_ ? 2 : 1) / kFloatsPerCycle;
        const double perRow = tiling_.columnTiles > 1 || width_.windows == width_.length ? 1 : rows;
        const double add = vectorCost(1 + perRow * (bfloat16_ ? 2 : 1), turn + adds);
        const double finish = vectorCost(2, 2 * kLanes * rows * tiling_.columns / kFloatsPerCycle);
        return {loads * load, load, 2, store, loads * add + (blocks - 1) * finish, finish};
    }

    FoldTiling tiling_;
    const Machine machine_;
    const int64_t size_;
    const bool bfloat16_;
    const AxisTiling &height_;
    const AxisTiling &width_;
    Plan best_ = {};
};

} // namespace col2im
