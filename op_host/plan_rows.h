// Tiles of the schedules "rows" and "flat", op_kernel/rows.h.
#pragma once

#include "schedule.h"

namespace col2im {

// Plan the schedules "rows" and "flat", which share their buffers.
class RowsPlan {
public:
    // Flat or not; with the taps of one residue turn loaded together or one by one.
    RowsPlan(const Fold &fold, const Machine &machine, bool flat, bool together)
        : tiling_(foldTiling(fold)), machine_(machine), flat_(flat), together_(together), size_(fold.itemsize),
          bfloat16_(fold.bfloat16), height_(tiling_.axes[kHeight]), width_(tiling_.axes[kWidth]),
          perBlock_(kBlock / size_)
    {}

    // Whether the schedule can run this fold. "rows" runs any.
    bool possible() const
    {
        if (together_ && (width_.stepQ != 0 || width_.stepR != 1 || mostPhase() < kWovenUnit ||
                          !fitsGap(Wide(size_) * width_.windows * height_.windows * tiling_.axes[kDepth].windows))) {
            return false;
        }
        if (!flat_) {
            return true;
        }
        const bool same = width_.windows == width_.length && width_.residues == width_.stride &&
                          width_.stride <= kMaxWoven && width_.length <= mostPhase();
        return same && (woven() || oneRun() || alignedRows());
    }

    Plan best()
    {
        tiling_.residues = static_cast<uint32_t>(residues());
        tiling_.taps = static_cast<uint32_t>(taps());
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
        tiling_.rowPitch = static_cast<uint32_t>(rowPitch(tiling_.pitch));
        int64_t rows = std::min({most / tiling_.pitch, height_.length, kMaxRuns});
        if (!fitsGap(Wide(width_.windows) * size_) || !fitsGap(Wide(height_.stride) * width_.pixels * size_)) {
            rows = 1;
        }
        if (together_ && !flat_) { // one level of runs: taps, or rows
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

    // Rows of so many elements until one begins at the same place of a block.
    int64_t seamPlaces(int64_t pitch) const
    {
        int64_t places = 1;
        while (pitch * places % perBlock_ != 0) {
            places *= 2;
        }
        return places;
    }

    int64_t residues() const { return std::min(width_.residues, std::min(width_.stride, kMaxWoven)); }
    // Flat: whether the tile's rows are one run of the image.
    bool oneRun() const { return height_.stride == 1 && width_.length * width_.stride == width_.pixels; }
    // Flat: whether the result's rows begin with a block in UB, one behind the other.
    bool alignedRows() const { return width_.length * width_.stride % perBlock_ == 0; }
    // Flat: whether the weaving has to give every row a place of its own.
    bool padded() const { return flat_ && woven() && !oneRun() && !alignedRows(); }

    // Elements from row to row of the result.
    int64_t rowPitch(int64_t pitch) const
    {
        return padded() ? roundUp(pitch * residues(), kLanes) : pitch * residues();
    }

    // What a phase is a multiple of: sixteen lanes of blocks, or of as many rows as are whole blocks.
    int64_t phaseUnit() const
    {
        return padded() ? kLanes * seamPlaces(width_.length) * width_.length : woven() ? kWovenUnit : kBlock;
    }

    int64_t taps() const { return together_ ? std::min(residues(), width_.taps) : 1; }
    bool woven() const { return residues() > 1; }

    // Bytes of UB for each element of a phase, over all buffers.
    int64_t bytesPerElement() const
    {
        const bool isFloat = size_ == 4;
        const int64_t sums = isFloat && !woven() ? 0 : 4;
        const int64_t weave = !woven() ? 0 : isFloat ? size_ : 2 * size_;
        return (2 * size_ + (bfloat16_ ? 4 : 0)) * taps() + residues() * (2 * size_ + sums + weave) +
               (padded() ? 2 * size_ * kLanes / width_.length + 1 : 0);
    }

    // Most elements of one phase.
    int64_t mostPhase() const
    {
        return (machine_.ubBytes - 6 * kSlack) / bytesPerElement() / phaseUnit() * phaseUnit();
    }

    // The plan with tiles of so many rows.
    Plan cut(int64_t rows)
    {
        FoldTiling &tiling = tiling_;
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.phase = static_cast<uint32_t>(roundUp(rows * tiling.pitch, phaseUnit()));
        tiling.stage = static_cast<uint32_t>((together_ ? taps() * tiling.phase : rows * tiling.pitch) + kSlack / size_);
        tiling.units = tiling.planes * tiling.axes[kDepth].pixels * height_.residues *
                       tilesOf(height_.length, rows) * tilesOf(width_.residues, tiling.residues) *
                       tiling.columnTiles;
        const int64_t cores = std::min({machine_.cores, tiling.units, worthwhileCores(tiling, size_)});
        const int64_t tiles = tilesOf(tiling.units, cores);
        return {tiling, flat_ ? kFlat : kRows, cores, tilesCost(tileCost(tiles), double(tiles))};
    }

    // Taps that reach one row residue: on average, and by as much more as a core gets if its tiles do not hold every
    // residue equally often.
    double rowTaps(int64_t tiles) const
    {
        const double average = tapsPerPixel(height_);
        const double most = double(tilesOf(height_.taps, height_.residues));
        return tiles % height_.residues == 0 ? average : average + std::max(0.0, most - average) / double(tiles);
    }

    TileCost tileCost(int64_t tiles) const
    {
        const double loads = tiling_.residues * tapsPerPixel(tiling_.axes[kDepth]) * rowTaps(tiles) *
                             tapsPerPixel(width_);
        const double rows = tiling_.rows;
        const double columns = static_cast<double>(std::min<int64_t>(tiling_.columns, width_.windows));
        const double bytes = static_cast<double>(size_);
        const double together = tiling_.taps;
        const double pitch = double(width_.windows) * bytes;
        const double plane = double(tiling_.axes[kDepth].windows * height_.windows) * pitch;
        const bool run = flat_ || (width_.taps == 1 && columns == double(width_.windows));
        const double load = run ? moveCost(together, rows * columns * bytes, plane)
                                : moveCost(rows * together, columns * bytes, together > 1 ? plane : pitch);
        return {loads / together * load, 2 * load, storeCost(rows, columns, bytes), loads * addCost(), finishCost()};
    }

    double storeCost(double rows, double columns, double bytes) const
    {
        const double pitch = double(width_.pixels) * bytes;
        if (tiling_.residues < width_.stride) { // a run for every t
            return moveCost(rows * columns, tiling_.residues * bytes, double(width_.stride) * bytes);
        }
        const double run = std::min(columns * tiling_.residues * bytes, pitch);
        return height_.stride == 1 && run == pitch ? moveCost(1, rows * run, pitch) : moveCost(rows, run, pitch);
    }

    // The vector instructions for one load.
    double addCost() const
    {
        const double rows = tiling_.rows;
        const double adds = (bfloat16_ ? 2 : 1) * rows * tiling_.pitch / kFloatsPerCycle;
        // Flat: one addition, and seams to zero at as many places of a block as rows have; else an addition a row.
        const double seams = double(width_.taps) <= double(width_.stride) ? 0 : std::min(rows - 1, double(seamPlaces(tiling_.pitch)));
        const double additions = double(width_.taps) <= double(width_.stride) ? 1.0 / tiling_.taps : 1;
        return flat_ ? vectorCost(additions + seams, adds + rows) : vectorCost(rows * additions, adds);
    }

    double finishCost() const
    {
        const double pixels = double(tiling_.rows) * tiling_.pitch * tiling_.residues;
        const double weave = woven() ? 2 * pixels * double(size_) / kTransposedPerCycle : 0;
        return vectorCost(2 + (woven() ? 2 * tiling_.residues : 0), 2 * pixels / kFloatsPerCycle + weave);
    }

    FoldTiling tiling_;
    const Machine machine_;
    const bool flat_;
    const bool together_;
    const int64_t size_;
    const bool bfloat16_;
    const AxisTiling &height_;
    const AxisTiling &width_;
    const int64_t perBlock_;
};

} // namespace col2im
