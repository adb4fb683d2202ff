// The tiling plan: which schedule a fold runs, how it is cut into tiles, and on how many cores.
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
enum Schedule { kUnfold = 0, kRows = 1, kFlat = 2 };

struct Plan {
    FoldTiling tiling;
    Schedule schedule;
    int64_t cores;
    double cost;
};

constexpr int64_t kBlock = 32; // bytes, what UB addresses are aligned to
constexpr int64_t kSlack = 512; // bytes of a buffer that are read or masked beyond its last element
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

inline bool fitsGap(Wide bytes)
{
    return bytes <= kMaxGap;
}

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
        const double rows = tiling_.rows;
        const double columns = std::min<double>(tiling_.columns, width_.windows);
        const double taps = tapsPerPixel(tiling_.axes[kDepth]) * tapsPerPixel(height_) * tapsPerPixel(width_);
        const bool joined = columns == width_.windows;
        const double loads = taps * tiling_.residues;
        const double run = tiling_.residues == width_.stride ? columns * tiling_.residues : tiling_.residues;
        const bool joinedStore = height_.stride == 1 && run >= double(width_.pixels);
        const double runs = rows * columns * tiling_.residues / run;
        return loads * moveCost(joined ? 1 : rows, (joined ? rows * columns : columns) * size_) +
               moveCost(joinedStore ? 1 : runs, (joinedStore ? rows * width_.pixels : run) * size_);
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

// Plan Im2ColNd, which has one schedule.
inline Plan planIm2Col(const Fold &fold, const Machine &machine)
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

inline Plan planCol2Im(const Fold &fold, const Machine &machine)
{
    RowsPlan rows(fold, machine, false);
    RowsPlan flat(fold, machine, true);
    Plan plan = rows.best();
    if (flat.possible()) {
        const Plan other = flat.best();
        plan = other.cost <= plan.cost ? other : plan;
    }
    return plan;
}

} // namespace col2im
