// Tiles of the schedules "rows" and "flat", op_kernel/rows.h.
#pragma once

#include "schedule.h"

namespace col2im {

// Plan the schedules "rows" and "flat", which share their buffers.
class RowsPlan {
public:
    RowsPlan(const Fold &fold, const Machine &machine, bool flat)
        : tiling_(foldTiling(fold)), machine_(machine), flat_(flat), size_(fold.itemsize),
          bfloat16_(fold.bfloat16), height_(tiling_.axes[kHeight]), width_(tiling_.axes[kWidth]),
          perBlock_(kBlock / size_)
    {}

    // Whether the schedule can run this fold. "rows" runs any.
    bool possible() const
    {
        if (!flat_) {
            return true;
        }
        const bool same = width_.windows == width_.length && width_.residues == width_.stride &&
                          width_.stride <= kMaxWoven && width_.length <= mostPhase();
        const bool oneRun = height_.stride == 1 && width_.length * width_.stride == width_.pixels;
        return same && (oneRun || width_.length * width_.stride % perBlock_ == 0);
    }

    Plan best()
    {
        tiling_.residues = static_cast<uint32_t>(residues());
        const int64_t most = mostPhase();
        const int64_t unit = flat_ ? 1 : perBlock_;
        int64_t columns = width_.length;
        if (columns > most) {
            columns = most / unit * unit;
        }
        if (residues() < width_.residues) { // every t is a run of its own when stored
            columns = std::min(columns, static_cast<int64_t>(fitsGap(Wide(width_.stride) * size_) ? kMaxRuns : 1));
        }
        tiling_.columns = static_cast<uint32_t>(columns);
        tiling_.columnTiles = tilesOf(width_.length, columns);
        tiling_.pitch = static_cast<uint32_t>(roundUp(columns, unit));
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
    static constexpr int64_t kMaxTiles = 512; // along the rows, that are compared

    int64_t seamPlaces() const
    {
        int64_t places = perBlock_;
        while (places > 1 && tiling_.pitch * places / 2 % perBlock_ == 0) {
            places /= 2;
        }
        return places;
    }

    int64_t residues() const { return std::min(width_.residues, std::min(width_.stride, kMaxWoven)); }
    bool woven() const { return residues() > 1; }

    // Bytes of UB for each element of a phase, over all buffers.
    int64_t bytesPerElement() const
    {
        const bool isFloat = size_ == 4;
        const int64_t sums = isFloat && !woven() ? 0 : 4;
        const int64_t weave = !woven() ? 0 : isFloat ? size_ : 2 * size_;
        return 2 * size_ + (bfloat16_ ? 4 : 0) + residues() * (2 * size_ + sums + weave);
    }

    // Most elements of one phase.
    int64_t mostPhase() const
    {
        const int64_t unit = woven() ? kWovenUnit : kBlock;
        return (machine_.ubBytes - 4 * kSlack) / bytesPerElement() / unit * unit;
    }

    // The plan with tiles of so many rows.
    Plan cut(int64_t rows)
    {
        FoldTiling &tiling = tiling_;
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.phase = static_cast<uint32_t>(roundUp(rows * tiling.pitch, woven() ? kWovenUnit : kBlock));
        tiling.stage = static_cast<uint32_t>(rows * tiling.pitch + kSlack / size_);
        tiling.units = tiling.planes * tiling.axes[kDepth].pixels * height_.residues *
                       tilesOf(height_.length, rows) * tilesOf(width_.residues, tiling.residues) *
                       tiling.columnTiles;
        const int64_t cores = std::min({machine_.cores, tiling.units, worthwhileCores(tiling, size_)});
        return {tiling, flat_ ? kFlat : kRows, cores, double(tilesOf(tiling.units, cores)) * tileCost()};
    }

    double tileCost() const
    {
        const double taps = tapsPerPixel(tiling_.axes[kDepth]) * tapsPerPixel(height_) * tapsPerPixel(width_);
        return std::max(moves(taps * tiling_.residues), vectors(taps * tiling_.residues));
    }

    double moves(double loads) const
    {
        const double rows = tiling_.rows;
        const double columns = static_cast<double>(std::min<int64_t>(tiling_.columns, width_.windows));
        const double bytes = static_cast<double>(size_);
        const double run = tiling_.residues == width_.stride ? columns * tiling_.residues : tiling_.residues;
        const bool joined = flat_ || (width_.taps == 1 && columns == double(width_.windows));
        const bool joinedStore = height_.stride == 1 && run >= double(width_.pixels);
        const double runs = rows * columns * tiling_.residues / run;
        return loads * moveCost(joined ? 1 : rows, (joined ? rows * columns : columns) * bytes) +
               moveCost(joinedStore ? 1 : runs, (joinedStore ? rows * double(width_.pixels) : run) * bytes);
    }

    double vectors(double loads) const
    {
        const double rows = tiling_.rows;
        const double elements = rows * tiling_.pitch;
        const double adds = (bfloat16_ ? 2 : 1) * elements / kFloatsPerCycle;
        // Flat: one addition, and seams to zero at as many places of a block as rows have; else an addition a row.
        const double seams = width_.taps == 1 ? 0 : std::min(rows - 1, double(seamPlaces()));
        const double each = flat_ ? vectorCost(1 + seams, adds + rows) : vectorCost(rows, adds);
        const double pixels = elements * tiling_.residues;
        const double weave = woven() ? 2 * pixels * double(size_) / kTransposedPerCycle : 0;
        return loads * each + vectorCost(2 + 2 * tiling_.residues, 2 * pixels / kFloatsPerCycle + weave);
    }

    FoldTiling tiling_;
    const Machine machine_;
    const bool flat_;
    const int64_t size_;
    const bool bfloat16_;
    const AxisTiling &height_;
    const AxisTiling &width_;
    const int64_t perBlock_;
};

} // namespace col2im
