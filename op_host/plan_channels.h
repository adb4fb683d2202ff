// Tiles of the schedule "channels", op_kernel/channels.h.
#pragma once

#include "schedule.h"

namespace col2im {

class ChannelsPlan {
public:
    ChannelsPlan(const Fold &fold, const Machine &machine)
        : tiling_(foldTiling(fold)), machine_(machine), size_(fold.itemsize), bfloat16_(fold.bfloat16),
          depth_(tiling_.axes[kDepth]), height_(tiling_.axes[kHeight]), width_(tiling_.axes[kWidth])
    {}

    // Whether one row of every residue fits, and every stride of an instruction.
    bool possible()
    {
        const Wide planeBytes = Wide(size_) * depth_.pixels * height_.pixels * width_.pixels;
        const Wide colBytes = Wide(size_) * depth_.taps * depth_.windows * height_.taps * height_.windows;
        if (!fitsGap(planeBytes) || !fitsGap(colBytes) || !fitsGap(colBytes * width_.taps * width_.windows) ||
            width_.stride > kMaxCastStride) {
            return false;
        }
        setTile(1, 1);
        return bytes() <= machine_.ubBytes;
    }

    Plan best()
    {
        int64_t most = 1;
        while (most < height_.length && fits(most + 1)) {
            ++most;
        }
        Plan plan = cut(most);
        for (int64_t tiles = tilesOf(height_.length, most) + 1; tiles <= height_.length; ++tiles) {
            const Plan other = cut(tilesOf(height_.length, tiles));
            if (other.cost < plan.cost) {
                plan = other;
            }
        }
        return plan;
    }

private:
    // Whether there is nothing to loop over along the depth: one pixel, which the one tap of the one window reaches.
    bool flatDepth() const
    {
        return depth_.pixels == 1 && depth_.windows == 1 && depth_.taps == 1 && depth_.tapEnd == 1 &&
               depth_.firstQ == 0 && depth_.firstR == 0;
    }

    int64_t phases() const { return height_.residues * width_.residues; }

    void setTile(int64_t rows, int64_t taps)
    {
        const int64_t windowRows = taps > 1 ? height_.windows : std::min(rows, height_.windows);
        tiling_.rows = static_cast<uint32_t>(rows);
        tiling_.taps = static_cast<uint32_t>(taps);
        tiling_.turned = tiling_.taps;
        tiling_.lastTaps = static_cast<uint32_t>(tilesOf(taps, 3));
        tiling_.phase = static_cast<uint32_t>(rows * width_.length);
        tiling_.stage = static_cast<uint32_t>(lanePitch(taps * windowRows * width_.windows, size_));
        tiling_.pitch = static_cast<uint32_t>(lanePitch(rows * height_.residues * width_.pixels, size_));
    }

    int64_t bytes() const
    {
        const bool isFloat = size_ == 4;
        const int64_t placed = isFloat && phases() == 1 ? 0 : tiling_.pitch * size_;
        const int64_t cast = bfloat16_ ? turnedPixels() * 4 : 0;
        return kLanes * ((2 * int64_t(tiling_.stage) + turnedPixels()) * size_ +
                         (tiling_.phase * phases() + kLanes) * 4 + tiling_.pitch * size_ +
                         placed + cast) +
               kSlack;
    }

    int64_t turnedPixels() const
    {
        const int64_t windows = tiling_.turned * height_.windows * width_.windows;
        return tiling_.turned < tiling_.taps ? roundUp(windows, kLanes) + kLanes : int64_t(tiling_.stage);
    }

    bool fits(int64_t rows)
    {
        setTile(rows, 1);
        return bytes() <= machine_.ubBytes;
    }

    // The plan with tiles of so many rows, and groups of planes that fill the cores.
    Plan cut(int64_t rows)
    {
        setTogether(rows);
        const int64_t each = depth_.pixels * tilesOf(height_.length, rows); // units of one group
        const int64_t least = tilesOf(tiling_.planes, kLanes);
        Plan plan = spread(least, each);
        const int64_t turns = tilesOf(least * each, machine_.cores);
        const int64_t groups = turns * machine_.cores / each;
        if (groups > least && groups <= tiling_.planes) {
            const Plan other = spread(groups, each);
            if (other.cost < plan.cost) {
                plan = other;
            }
        }
        return plan;
    }

    Plan spread(int64_t groups, int64_t each)
    {
        tiling_.groups = groups;
        tiling_.units = groups * each;
        const int64_t cores = std::min({machine_.cores, tiling_.units, worthwhileCores(tiling_, size_)});
        return {tiling_, kChannels, cores, tilesCost(tileCost(), double(tilesOf(tiling_.units, cores)))};
    }

    // Tiles of so many rows, and as many taps together as there is room for.
    void setTogether(int64_t rows)
    {
        setTile(rows, 1);
        if (rows < height_.length || !flatDepth()) {
            return;
        }
        const int64_t taps = height_.taps * width_.taps;
        for (int64_t loads = 1; loads < taps; ++loads) {
            if (fitsTogether(rows, tilesOf(taps, loads))) { // equal loads
                return;
            }
        }
        setTile(rows, 1);
    }

    // Whether so many taps can be loaded together: turned all at once, or else in as few parts as there is room for.
    bool fitsTogether(int64_t rows, int64_t taps)
    {
        setTile(rows, taps);
        for (int64_t parts = 1; parts <= taps && bytes() > machine_.ubBytes; ++parts) {
            tiling_.turned = static_cast<uint32_t>(tilesOf(taps, parts));
        }
        return bytes() <= machine_.ubBytes;
    }

    // One load of so many taps.
    double loadCost(int64_t taps) const
    {
        const double windows = double(std::min<int64_t>(tiling_.rows, height_.windows)) * double(width_.windows);
        const double plane =
            tapsPerPixel(depth_) * double(height_.taps * width_.taps * height_.windows * width_.windows);
        return moveCost(double(tilesOf(tiling_.planes, tiling_.groups)), double(taps) * windows * double(size_),
                        plane * double(size_));
    }

    TileCost tileCost() const
    {
        const double taps = tapsPerPixel(depth_) * double(height_.taps * width_.taps);
        const double windows = double(std::min<int64_t>(tiling_.rows, height_.windows)) * double(width_.windows);
        const double pixels = double(tiling_.rows) * double(height_.residues) * double(width_.pixels);
        const double bytes = static_cast<double>(size_);
        const double loads = taps / tiling_.taps;
        const double lanes = double(tilesOf(tiling_.planes, tiling_.groups));
        const double load = loadCost(tiling_.taps);
        const double turns = taps / tiling_.turned;
        const double turn = kLanes * bytes / kTransposedPerCycle; // cycles for one pixel
        const double added = kLanes * taps * windows * (bfloat16_ ? 2 : 1) / kFloatsPerCycle;
        const double rows = double(tiling_.rows);
        const double adds = width_.windows == width_.length ? 2 : rows;
        const double places = phases() == 1 ? 1 : rows * double(phases());
        return {loads * load, load, 2, moveCost(lanes, pixels * bytes, double(height_.pixels * width_.pixels) * bytes),
                vectorCost(turns + taps * adds, taps * windows * turn + added),
                vectorCost(3 + places, pixels * turn + 2 * kLanes * pixels / kFloatsPerCycle)};
    }

    FoldTiling tiling_;
    const Machine machine_;
    const int64_t size_;
    const bool bfloat16_;
    const AxisTiling &depth_;
    const AxisTiling &height_;
    const AxisTiling &width_;
};

} // namespace col2im
