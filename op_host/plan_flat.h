// Tiles of the schedule "flat", op_kernel/flat.h.
#pragma once

#include "schedule.h"

namespace col2im {

class FlatPlan {
public:
    // With neighbouring taps loaded together or one by one; with tiles of all row residues or of one.
    FlatPlan(const Fold &fold, const Machine &machine, bool together, bool all)
        : tiling_(foldTiling(fold)), machine_(machine), together_(together), all_(all), size_(fold.itemsize),
          bfloat16_(fold.bfloat16), depth_(tiling_.axes[kDepth]), height_(tiling_.axes[kHeight]),
          width_(tiling_.axes[kWidth]), perBlock_(kBlock / size_)
    {
        const int64_t most = 64; // taps that are looked at
        int64_t q = width_.firstQ, r = width_.firstR, taps = 0;
        for (int64_t k = width_.tapBegin; k < width_.tapEnd && taps < most; ++k, ++taps) {
            const bool joined = taps > 0 && width_.stepQ == 0 && width_.stepR == 1 && r + 1 < width_.stride;
            if (taps > 0) {
                q += width_.stepQ + (r + width_.stepR >= width_.stride ? 1 : 0);
                r = (r + width_.stepR) % width_.stride;
            }
            runs_ += joined ? 0 : 1;
            shifted_ += q != 0 ? 1 : 0;
        }
        runs_ /= std::max<double>(1, double(taps));
        shifted_ /= std::max<double>(1, double(taps));
    }

    // Whether a row has as many windows as pixels of one residue, the tile all residues, and its result a form that
    // can be stored.
    bool possible()
    {
        tiling_.residues = static_cast<uint32_t>(std::min(width_.residues, kMaxWoven));
        tiling_.rowResidues = static_cast<uint32_t>(all_ ? height_.stride : 1);
        const bool same = width_.windows == width_.length && width_.residues == width_.stride &&
                          width_.stride <= kMaxWoven;
        if (!same || !(woven() || oneRun() || alignedRows()) || width_.length > machine_.ubBytes ||
            !fitsGap(Wide(height_.stride) * width_.pixels * size_) || (together_ && !neighbours()) ||
            (all_ && !wholeResidues())) {
            return false;
        }
        tiling_.columns = static_cast<uint32_t>(width_.length);
        tiling_.columnTiles = 1;
        tiling_.pitch = tiling_.columns;
        tiling_.rowPitch = static_cast<uint32_t>(padded() ? roundUp(tiling_.pitch * tiling_.residues, kLanes)
                                                          : tiling_.pitch * tiling_.residues);
        return cut(together_ ? std::min<int64_t>(tiling_.residues, width_.taps) : 1, 1, sheetsInStack(tiling_));
    }

    Plan best()
    {
        bestOf(together_ ? std::min<int64_t>(tiling_.residues, width_.taps) : 1);
        return best_;
    }

private:
    static constexpr int64_t kMostBuffers = 4;

    bool woven() const { return tiling_.residues > 1; }
    // Whether neighbouring taps have neighbouring residues, and their windows one pitch.
    bool neighbours() const
    {
        return width_.stepQ == 0 && width_.stepR == 1 && woven() &&
               fitsGap(Wide(size_) * width_.windows * height_.windows * depth_.windows);
    }
    // Whether every residue of rows and columns has the same pixels, so that a tile can be whole image rows.
    bool wholeResidues() const
    {
        return woven() && height_.stride > 1 && height_.stride <= kMaxWoven &&
               width_.length * width_.stride == width_.pixels && height_.length * height_.stride == height_.pixels;
    }
    // Whether the tile's rows are one run of the image.
    bool oneRun() const
    {
        return height_.stride == tiling_.rowResidues && width_.length * width_.stride == width_.pixels;
    }
    // Whether the result's rows begin with a block in UB, one behind the other.
    bool alignedRows() const { return width_.length * width_.stride % perBlock_ == 0; }
    // Whether the weaving has to give every row a place of its own.
    bool padded() const { return woven() && !oneRun() && !alignedRows(); }

    // Rows until one begins at the same place of a block.
    int64_t seamPlaces() const
    {
        int64_t places = 1;
        while (width_.length * places % perBlock_ != 0) {
            places *= 2;
        }
        return places;
    }

    int64_t phases() const { return int64_t(tiling_.residues) * tiling_.rowResidues; }
    int64_t rowResidueTiles() const { return tiling_.rowResidues > 1 ? 1 : height_.residues; }

    // What a phase is a multiple of: sixteen lanes of blocks, or of as many rows as are whole blocks.
    int64_t phaseUnit() const
    {
        if (tiling_.rowResidues > 1) {
            int64_t rows = 1;
            while (rows * width_.length % kLanes != 0) {
                rows *= 2;
            }
            return kLanes * rows * width_.length;
        }
        return padded() ? kLanes * seamPlaces() * width_.length : woven() ? kWovenUnit : kBlock;
    }

    // Whether tiles may hold several sheets: whole ones that begin with a block, and whose windows have no gap either.
    bool stacks() const
    {
        const bool whole = height_.pixels % height_.stride == 0 && height_.length * width_.length % perBlock_ == 0;
        return whole && (depth_.pixels == 1 || (depth_.stride == 1 && height_.windows == height_.length));
    }

    // The best tiles with so many taps loaded together: of some rows, or of several sheets.
    void bestOf(int64_t taps)
    {
        const int64_t stack = sheetsInStack(tiling_);
        const int64_t rowBytes = width_.length * size_ * (2 * taps + 2 * phases()); // of inputs and results, the least
        const int64_t most = std::max<int64_t>(1, std::min(height_.length, machine_.ubBytes / rowBytes));
        const int64_t least = tilesOf(height_.length, most);
        for (int64_t tiles = least; tiles <= height_.length && tiles < least + kMaxTiles; ++tiles) {
            cut(taps, tilesOf(height_.length, tiles), stack);
        }
        if (!stacks()) {
            return;
        }
        const int64_t each = rowResidueTiles() * (tiling_.planes * depth_.pixels / stack); // tiles for each group
        for (int64_t sheets = 2; sheets <= stack && cut(taps, height_.length, tilesOf(stack, sheets)); ++sheets) {
            const int64_t turns = tilesOf(tilesOf(stack, sheets) * each, machine_.cores);
            cut(taps, height_.length, std::min(stack, turns * machine_.cores / each));
        }
    }

    // Compare the plan with such tiles to the best until now; false if they do not fit.
    bool cut(int64_t taps, int64_t rows, int64_t groups)
    {
        FoldTiling &tiling = tiling_;
        const int64_t sheets = tilesOf(sheetsInStack(tiling), groups);
        if (Wide(sheets) * rows * width_.length > machine_.ubBytes) {
            return false;
        }
        tiling.rows = static_cast<uint32_t>(rows);
        tiling.taps = static_cast<uint32_t>(taps);
        tiling.sheets = static_cast<uint32_t>(sheets);
        tiling.groups = groups;
        tiling.phase = static_cast<uint32_t>(roundUp(sheets * rows * tiling.pitch, phaseUnit()));
        tiling.stage = static_cast<uint32_t>(taps * tiling.phase + kSlack / size_);
        tiling.buffers = 2;
        if (bytes() > machine_.ubBytes) {
            return false;
        }
        tiling.units = tiling.planes * depth_.pixels / sheetsInStack(tiling) * groups * rowResidueTiles() *
                       tilesOf(height_.length, rows);
        const int64_t cores = std::min({machine_.cores, tiling.units, worthwhileCores(tiling, size_)});
        const int64_t tiles = tilesOf(tiling.units, cores);
        const TileCost two = tileCost(tiles);
        // The end of a tile, and the start of the next one, hide behind the loads that have a buffer.
        while (tiling.buffers < kMostBuffers && 2 * two.finish > tiling.buffers * two.load &&
               bytes() + int64_t(tiling.stage) * size_ <= machine_.ubBytes) {
            ++tiling.buffers;
        }
        const Plan plan = {tiling, kFlat, cores, tilesCost(tileCost(tiles), double(tiles))};
        if (best_.cores == 0 || plan.cost < best_.cost) {
            best_ = plan;
        }
        return true;
    }

    int64_t bytes() const
    {
        const int64_t pixels = int64_t(tiling_.phase) * phases();
        const int64_t result = padded() ? int64_t(tiling_.phase) / tiling_.pitch * tiling_.rowPitch : pixels;
        const int64_t sums = size_ == 4 && !woven() ? 0 : 4 * (pixels + kLanes * kLanes);
        const int64_t other = woven() ? size_ * (pixels + kLanes * kLanes) : 0;
        const bool cast = bfloat16_ && !(woven() && phases() * size_ >= int64_t(tiling_.taps) * 4);
        return int64_t(tiling_.stage) * (tiling_.buffers * size_ + (cast ? 4 : 0)) + 2 * result * size_ + sums +
               other + kSlack;
    }

    TileCost tileCost(int64_t tiles) const
    {
        // Of the busiest core, on average.
        const double groups = std::max<double>(1, std::floor(double(tiles) / double(rowResidueTiles())));
        const double sheets = tiling_.sheets == 1 ? 1 : std::ceil(double(sheetsInStack(tiling_)) * groups /
                                                                  double(tiling_.groups)) / groups;
        const double rows = tiling_.rows;
        const double bytes = static_cast<double>(size_);
        const double high = tiling_.rowResidues > 1 ? tapsPerPixel(height_) * double(height_.stride)
                                                    : rowTaps(height_, tiles);
        const double taps = tapsPerPixel(depth_) * high * double(width_.taps);
        const double loads = taps * (tiling_.taps > 1 ? runs_ : 1);
        const double together = taps / loads;
        const double plane = double(depth_.windows * height_.windows * width_.windows) * bytes;
        const double run = rows * double(width_.windows) * bytes;
        const double most = tiling_.sheets;
        const double load = depth_.pixels > 1 ? sheets / most * moveCost(together, most * run, plane)
                                              : sheets * moveCost(together, run, plane);
        const double image = double(width_.pixels) * bytes;
        const bool joined = oneRun();
        const double store = joined ? sheets / most * moveCost(1, most * rows * image * tiling_.rowResidues, 0)
                                    : sheets * moveCost(rows, image, image * double(height_.stride));
        return {loads * load,
                load,
                double(tiling_.buffers),
                store,
                addCost(taps, loads, sheets),
                finishCost(tiling_, size_)};
    }

    // The vector instructions that add so many taps.
    double addCost(double taps, double loads, double sheets) const
    {
        const double rows = sheets * tiling_.rows;
        const double elements = rows * double(width_.length);
        const double reach = std::max(1.0, std::floor(kFloatsPerCycle * 4 / double(size_) / double(width_.length)));
        const double seams = std::ceil(double(seamPlaces()) / reach);
        const double added = tiling_.taps > 1 ? std::max(elements, double(tiling_.phase)) : elements;
        const double clipped = 0.6 * taps; // reach not all rows
        const double instructions = sheets > 1 ? loads + clipped : loads + clipped * (1 - loads / taps);
        const double casts = bfloat16_ ? 2 : 1;
        return vectorCost(casts * instructions + shifted_ * taps * 1.5 * seams,
                          casts * taps * added / kFloatsPerCycle + shifted_ * taps * rows / reach);
    }

    FoldTiling tiling_;
    const Machine machine_;
    const bool together_;
    const bool all_;
    const int64_t size_;
    const bool bfloat16_;
    const AxisTiling &depth_;
    const AxisTiling &height_;
    const AxisTiling &width_;
    const int64_t perBlock_;
    double runs_ = 0; // of neighbouring taps that shift alike, for each tap of a row
    double shifted_ = 0; // share of the taps of a row that shift by whole columns
    Plan best_ = {};
};

} // namespace col2im
