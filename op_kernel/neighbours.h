// The schedule "neighbours": sixteen neighbouring taps of a kernel row are the lanes.
//
// Where the stride is long and taps are one pixel apart, sixteen taps reach sixteen pixels side by side: turned, one
// window of theirs is a piece of the image in order. The tile is folded sixteen column residues at a time, and each
// sixteen are then put between the others in the result.
#pragma once

#include "place.h"
#include "row_tile.h"
#include "transpose.h"

namespace col2im {

template <typename T> class Neighbours {
public:
    using M = typename Element<T>::Moved;
    static constexpr uint32_t kPerBlock = Element<T>::kPerBlock;

    __aicore__ inline Neighbours(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR col, GM_ADDR image)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth]),
          tile_(tiling)
    {
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        pipe.InitBuffer(input_, 2, kLanes * tiling.stage * sizeof(M));
        pipe.InitBuffer(turned_, kLanes * tiling.stage * sizeof(M));
        pipe.InitBuffer(sums_, kLanes * tiling.phase * sizeof(float));
        pipe.InitBuffer(output_, 2, tiling.rows * tiling.rowPitch * sizeof(M));
        if constexpr (Element<T>::kNeedsCast) {
            pipe.InitBuffer(cast_, kLanes * tiling.stage * sizeof(float));
        }
    }

    __aicore__ inline void process()
    {
        const Range units = unitsOfThisCore(tiling_.units);
        sum_ = sums_.template Get<float>();
        pixels_ = turned_.template Get<M>();
        for (int64_t unit = units.begin; unit < units.end; ++unit) {
            tile_.locate(unit);
            if (!tile_.rows.empty()) {
                fold();
            }
        }
    }

private:
    __aicore__ inline void fold()
    {
        AscendC::LocalTensor<M> result = output_.template AllocTensor<M>();
        const uint32_t count = static_cast<uint32_t>(tile_.rows.size() * tiling_.pitch);
        for (uint32_t residue = 0; residue < tiling_.residues; residue += kLanes) {
            AscendC::Duplicate(sum_, 0.0f, static_cast<int32_t>(count * kLanes));
            addResidues(tile_.firstResidue + residue);
            place<T>(result[residue], sum_, count, tiling_.residues / kLanes);
        }
        output_.EnQue(result);
        result = output_.template DeQue<M>();
        tile_.store(image_, result);
        output_.FreeTensor(result);
    }

    // Add all taps that reach the sixteen column residues from `residue` on.
    __aicore__ inline void addResidues(int64_t residue)
    {
        const int64_t tz = tile_.z / depth_.stride;
        for (Tap deep(depth_); deep.valid(); deep.next()) {
            const int64_t window = tz - deep.q();
            if (deep.r() != tile_.z % depth_.stride || window < 0 || window >= depth_.windows) {
                continue;
            }
            for (Tap high(height_); high.valid(); high.next()) {
                const Range rows = high.reach(tile_.rows);
                if (high.r() == tile_.rowResidue && !rows.empty()) {
                    const int64_t taps = (tile_.plane * depth_.taps + deep.k()) * height_.taps + high.k();
                    addRow(residue, taps, window, rows, high.q());
                }
            }
        }
    }

    // Add the taps of kernel row `taps`; those of one q are neighbours.
    __aicore__ inline void addRow(int64_t residue, int64_t taps, int64_t windowDepth, const Range &rows, int64_t highQ)
    {
        const int64_t end = residue + kLanes < width_.stride ? residue + kLanes : width_.stride;
        int64_t q = width_.firstQ;
        // Tap `first` has this q and column residue 0.
        for (int64_t first = width_.tapBegin - width_.firstR; first < width_.tapEnd; first += width_.stride, ++q) {
            const Range group = intersect({first + residue, first + end}, {width_.tapBegin, width_.tapEnd});
            const Range columns = intersect(tile_.columns, {q, q + width_.windows});
            if (group.empty() || columns.empty()) {
                continue;
            }
            const int64_t plane = (taps * width_.taps + group.begin) * depth_.windows + windowDepth;
            const int64_t source = (plane * height_.windows + rows.begin - highQ) * width_.windows;
            const uint32_t lane = static_cast<uint32_t>(group.begin - first - residue);
            if (tiling_.columnTiles > 1) { // the tile has one row
                turn(source + columns.begin - q, columns.size(), {lane, lane + group.size()});
                add(static_cast<uint32_t>(columns.begin - tile_.columns.begin), 0, columns.size());
            } else {
                turn(source, rows.size() * width_.windows, {lane, lane + group.size()});
                addRows(rows, columns, q);
            }
        }
    }

    // Load `length` windows of some taps, the first at `source`, and turn them, each to its lane; the others get zeros.
    __aicore__ inline void turn(int64_t source, int64_t length, const Range &lanes)
    {
        const int64_t pitch = depth_.windows * height_.windows * width_.windows;
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        loadRuns(input[static_cast<uint32_t>(lanes.begin) * tiling_.stage], col_[source], lanes.size(), length, pitch,
                 0, static_cast<uint32_t>((tiling_.stage - alignUp(length, kPerBlock)) / kPerBlock));
        input_.EnQue(input);
        input = input_.template DeQue<M>();
        lanesToRows(pixels_, input, tiling_.stage, static_cast<uint32_t>(length));
        input_.FreeTensor(input);
        if (lanes.size() < kLanes) {
            zeroOtherLanes(lanes, static_cast<uint32_t>(length));
        }
    }

    __aicore__ inline void zeroOtherLanes(const Range &lanes, uint32_t length)
    {
        constexpr uint32_t kPixels = kVectorBytes / kLanes / sizeof(M); // per repeat
        uint64_t others = ~(((1ULL << lanes.size()) - 1) << lanes.begin) & 0xFFFF;
        others |= others << 16;
        others |= others << 32;
        uint64_t mask[2] = {others, Element<T>::kIsFloat ? 0 : others};
        const uint32_t repeats = (length + kPixels - 1) / kPixels;
        for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
            const uint32_t now = repeats - done < kMaxRepeat ? repeats - done : kMaxRepeat;
            AscendC::Duplicate(pixels_[done * kPixels * kLanes], static_cast<M>(0.0f), mask, static_cast<uint8_t>(now),
                               1, 8);
        }
    }

    // Add turned window rows, whole ones, to tile rows.
    __aicore__ inline void addRows(const Range &rows, const Range &columns, int64_t q)
    {
        const int64_t target = (rows.begin - tile_.rows.begin) * tiling_.pitch + columns.begin;
        if (columns.size() == width_.windows && columns.size() == tiling_.pitch) {
            add(static_cast<uint32_t>(target), 0, rows.size() * tiling_.pitch);
            return;
        }
        for (int64_t row = 0; row < rows.size(); ++row) {
            add(static_cast<uint32_t>(target + row * tiling_.pitch),
                static_cast<uint32_t>(row * width_.windows + columns.begin - q), columns.size());
        }
    }

    // Add `count` turned windows from `source` on to the pixels from `target` on.
    __aicore__ inline void add(uint32_t target, uint32_t source, int64_t count)
    {
        AscendC::LocalTensor<float> cast;
        if constexpr (Element<T>::kNeedsCast) {
            cast = cast_.template Get<float>();
        }
        accumulate<T>(sum_[target * kLanes], pixels_[source * kLanes], cast, static_cast<int32_t>(count * kLanes));
    }

    const FoldTiling &tiling_;
    const AxisTiling &width_;
    const AxisTiling &height_;
    const AxisTiling &depth_;
    RowTile tile_;
    AscendC::GlobalTensor<M> col_;
    AscendC::GlobalTensor<M> image_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> input_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> output_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> turned_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> cast_;
    AscendC::LocalTensor<float> sum_;
    AscendC::LocalTensor<M> pixels_;
};

} // namespace col2im
