// Tiles of the schedule "rows", op_kernel/rows.h.
#pragma once

#include "schedule.h"

namespace col2im {

// Plan the schedule that runs any fold.
class RowsPlan {
public:
    RowsPlan(const Fold &fold, const Machine &machine)
        : tiling_(foldTiling(fold)), machine_(machine), size_(fold.itemsize), bfloat16_(fold.bfloat16),
          height_(tiling_.axes[kHeight]), width_(tiling_.axes[kWidth])
    {}

    Plan best()
    {
        tiling_.residues = static_cast<uint32_t>(std::min(width_.residues, std::min(width_.stride, kMaxWoven)));
        tiling_.groups = sheetsInStack(tiling_);
        tiling_.sheets = 1;
        tiling_.rowResidues = 1;
        tiling_.taps = 1;
        const int64_t perBlock = kBlock / size_;
        const int64_t most = mostPhase();
        int64_t columns = width_.length;
        if (columns > most) {
            columns = most / perBlock * perBlock;
        }
        if (tiling_.residues < width_.residues) { // every t is a run of its own when stored
            columns = std::min(columns, static_cast<int64_t>(fitsGap(Wide(width_.stride) * size_) ? kMaxRuns : 1));
        }
        tiling_.columns = static_cast<uint32_t>(columns);
        tiling_.columnTiles = tilesOf(width_.length, columns);
        tiling_.pitch = static_cast<uint32_t>(roundUp(columns, perBlock));
        tiling_.rowPitch = tiling_.pitch * tiling_.residues;
        int64_t rows = std::min({most / tiling_.pitch, height_.length, kMaxRuns});
        if (!fitsGap(Wide(width_.windows) * size_) || !fitsGap(Wide(height_.stride) * width_.pixels * size_)) {
            rows = 1;
        }
        Plan plan = cut(rows);
        for (int64_t tiles = tilesOf(height_.length, rows) + 1; tiles <= height_.length && tiles < kMaxTiles; ++tiles) {
            const Plan other = cut(tilesOf(height_.length, tiles));
            if (other.cost < plan.cost) {
                plan = other;
            }
        }
        return plan;
    }

private:
    bool woven() const { return tiling_.residues > 1; }
    int64_t phaseUnit() const { return woven() ? kWovenUnit : kBlock; }

    // Most elements of one phase, by the bytes of UB for each of them over all buffers.
    int64_t mostPhase() const
    {
        const int64_t sums = size_ == 4 && !woven() ? 0 : 4;
        const int64_t bytes = 2 * size_ + (bfloat16_ ? 4 : 0) +
                              tiling_.residues * (2 * size_ + sums + (woven() ? size_ : 0));
        return (machine_.ubBytes - 8 * kSlack) / bytes / phaseUnit() * phaseUnit();
    }

    // The plan with tiles of so many rows.
    Plan cut(int64_t rows)
    {
        FoldTiling &tiling = tiling_;
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.phase = static_cast<uint32_t>(roundUp(rows * tiling.pitch, phaseUnit()));
        tiling.stage = static_cast<uint32_t>(rows * tiling.pitch + kSlack / size_);
        tiling.units = tiling.planes * tiling.axes[kDepth].pixels * height_.residues *
                       tilesOf(height_.length, rows) * tilesOf(width_.residues, tiling.residues) *
                       tiling.columnTiles;
        const int64_t cores = std::min({machine_.cores, tiling.units, worthwhileCores(tiling, size_)});
        const int64_t tiles = tilesOf(tiling.units, cores);
        return {tiling, kRows, cores, tilesCost(tileCost(tiles), double(tiles))};
    }

    TileCost tileCost(int64_t tiles) const
    {
        const double loads = tiling_.residues * tapsPerPixel(tiling_.axes[kDepth]) * rowTaps(height_, tiles) *
                             tapsPerPixel(width_);
        const double rows = tiling_.rows;
        const double columns = static_cast<double>(std::min<int64_t>(tiling_.columns, width_.windows));
        const double bytes = static_cast<double>(size_);
        // Shifted rows are cut, so that they do not follow each other.
        const double cut = width_.taps > 1 ? bytes : 0;
        const double load = moveCost(rows, columns * bytes - cut, double(width_.windows) * bytes);
        const double elements = rows * tiling_.pitch;
        const double add = vectorCost((bfloat16_ ? 2 : 1) * rows, (bfloat16_ ? 2 : 1) * elements / kFloatsPerCycle);
        return {loads * load, load, 2, storeCost(rows, columns, bytes), loads * add, finishCost(tiling_, size_)};
    }

    double storeCost(double rows, double columns, double bytes) const
    {
        const double pitch = double(width_.pixels) * bytes;
        if (tiling_.residues < width_.stride) { // a run for every t
            return moveCost(rows * columns, tiling_.residues * bytes, double(width_.stride) * bytes);
        }
        const double run = std::min(columns * tiling_.residues * bytes, pitch);
        return moveCost(rows, run, pitch * double(height_.stride));
    }

    FoldTiling tiling_;
    const Machine machine_;
    const int64_t size_;
    const bool bfloat16_;
    const AxisTiling &height_;
    const AxisTiling &width_;
};

} // namespace col2im
