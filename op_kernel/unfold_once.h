// Im2ColNd: a tile is some window rows of one plane, window depth and depth tap, with all taps of the other axes.
//
// The image rows below the tile are loaded once, zeros around them, and turned sixteen at a time: pixel after pixel,
// each the sixteen rows' elements. Rows of one residue are neighbouring lanes. Then a tap is a place to begin, and the
// transpose back takes every stride-th pixel and puts the rows that the tap's windows need where they belong.
#pragma once

#include "axis.h"
#include "transfer.h"
#include "transpose.h"

namespace col2im {

// `M` is a type of the element's width: values are moved, never computed with.
template <typename M> class UnfoldOnce {
public:
    __aicore__ inline UnfoldOnce(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR image, GM_ADDR col)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth])
    {
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        const uint32_t lines = static_cast<uint32_t>(pixelsOf(height_, {0, tiling.rows}).size());
        residues_ = lines < height_.stride ? lines : static_cast<uint32_t>(height_.stride);
        all_ = static_cast<uint32_t>(alignUp(residues_ * tiling.residues, kLanes)) * tiling.phase;
        pipe.InitBuffer(input_, 2, lines * tiling.stage * sizeof(M));
        pipe.InitBuffer(output_, 2, (tiling.rows + 1) * tiling.pitch * sizeof(M));
        pipe.InitBuffer(pixels_, all_ * sizeof(M));
    }

    __aicore__ inline void process()
    {
        const Range units = unitsOfThisCore(tiling_.units);
        for (int64_t unit = units.begin; unit < units.end; ++unit) {
            locate(unit);
            takePixels();
            giveWindows();
        }
    }

private:
    // `tiling.residues` is the number of lanes of one row residue.
    static constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);

    // Set the tile of one unit. From the fastest: column tile, row tile, window depth, depth tap, plane.
    __aicore__ inline void locate(int64_t unit)
    {
        const int64_t column = unit % tiling_.columnTiles * tiling_.columns;
        unit /= tiling_.columnTiles;
        columns_ = intersect({column, column + tiling_.columns}, {0, width_.windows});
        const int64_t rowTiles = (height_.windows + tiling_.rows - 1) / tiling_.rows;
        const int64_t row = unit % rowTiles * tiling_.rows;
        unit /= rowTiles;
        rows_ = intersect({row, row + tiling_.rows}, {0, height_.windows});
        windowDepth_ = unit % depth_.windows;
        unit /= depth_.windows;
        tapDepth_ = unit % depth_.taps;
        plane_ = unit / depth_.taps;
    }

    __aicore__ inline static int64_t dilationOf(const AxisTiling &axis) { return axis.stepQ * axis.stride + axis.stepR; }

    // The pixel, of the image or of its padding, that tap 0 finds for a window.
    __aicore__ inline static int64_t firstPixel(const AxisTiling &axis, int64_t window)
    {
        return (window + axis.firstQ) * axis.stride + axis.firstR - axis.tapBegin * dilationOf(axis);
    }

    // The pixels that all taps of a range of windows find.
    __aicore__ inline static Range pixelsOf(const AxisTiling &axis, const Range &windows)
    {
        const int64_t last = firstPixel(axis, windows.end - 1) + (axis.taps - 1) * dilationOf(axis);
        return {firstPixel(axis, windows.begin), last + 1};
    }

    // Fill the buffer of turned pixels for the tile.
    __aicore__ inline void takePixels()
    {
        lines_ = pixelsOf(height_, rows_);
        points_ = pixelsOf(width_, columns_);
        const int64_t z = firstPixel(depth_, windowDepth_) + tapDepth_ * dilationOf(depth_);
        const Range lines = intersect(lines_, {0, z >= 0 && z < depth_.pixels ? height_.pixels : 0});
        const Range points = intersect(points_, {0, width_.pixels});
        const AscendC::LocalTensor<M> pixels = pixels_.template Get<M>();
        if (lines.empty() || points.empty()) {
            zero(pixels, 0, all_);
            return;
        }
        AscendC::LocalTensor<M> input = load((z * height_.pixels + lines.begin) * width_.pixels + points.begin, lines,
                                             points);
        const uint32_t left = static_cast<uint32_t>(points.begin - points_.begin);
        const uint32_t turned = static_cast<uint32_t>(alignUp(points.size(), kPerBlock));
        const uint32_t all = static_cast<uint32_t>(points_.size());
        Lane lane{0, 0};
        for (uint32_t group = 0; group < all_; group += tiling_.phase * kLanes) {
            zero(pixels, group, left * kLanes);
            if (left + turned < all) {
                zero(pixels, group + (left + turned) * kLanes, (all - left - turned) * kLanes);
            }
            turn(pixels[group + left * kLanes], input, lane, turned);
        }
        input_.FreeTensor(input);
    }

    // Load the tile's image rows, `lines` of which are in the image; the others are zeros.
    __aicore__ inline AscendC::LocalTensor<M> load(int64_t offset, const Range &lines, const Range &points)
    {
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        const uint32_t above = static_cast<uint32_t>(lines.begin - lines_.begin);
        const uint32_t behind = static_cast<uint32_t>(lines.end - lines_.begin);
        zero(input, 0, above * tiling_.stage);
        zero(input, behind * tiling_.stage, (static_cast<uint32_t>(lines_.size()) - behind) * tiling_.stage);
        const int64_t slice = depth_.pixels * height_.pixels * width_.pixels;
        loadRuns(input[above * tiling_.stage], image_[plane_ * slice + offset], lines.size(), points.size(),
                 width_.pixels, 0,
                 static_cast<uint32_t>((tiling_.stage - alignUp(points.size(), kPerBlock)) / kPerBlock));
        input_.EnQue(input);
        return input_.template DeQue<M>();
    }

    __aicore__ inline static void zero(const AscendC::LocalTensor<M> &tensor, uint32_t first, uint32_t count)
    {
        if (count > 0) {
            AscendC::Duplicate(tensor[first], static_cast<M>(0.0f), static_cast<int32_t>(count));
        }
    }

    // The image row of a lane: row t * stride + residue of the tile's.
    struct Lane {
        uint32_t residue;
        uint32_t t;
    };

    // Turn the rows of the next sixteen lanes: target[p][i] = input[row of lane i][p]. Lanes behind the last row repeat
    // it.
    __aicore__ inline void turn(const AscendC::LocalTensor<M> &target, const AscendC::LocalTensor<M> &input, Lane &lane,
                                uint32_t columns)
    {
        const uint32_t last = static_cast<uint32_t>(lines_.size()) - 1;
        uint64_t source[kLanes];
        uint64_t rows[kLanes];
        for (uint32_t i = 0; i < kLanes; ++i) {
            const uint32_t line = lane.t * static_cast<uint32_t>(height_.stride) + lane.residue;
            if (++lane.t == tiling_.residues) {
                lane = {lane.residue + 1, 0};
            }
            source[i] = addressOf(input, (line < last ? line : last) * tiling_.stage);
            rows[i] = addressOf(target, i / kRowBlocks<M> * kLanes + i % kRowBlocks<M> * kPerBlock);
        }
        transposeRepeatedly<M>(rows, source, columns / kPerBlock, kPerBlock * kRowBlocks<M>, 1);
    }

    // Write the tile's windows of every tap.
    __aicore__ inline void giveWindows()
    {
        const int64_t taps = (plane_ * depth_.taps + tapDepth_) * height_.taps * width_.taps;
        uint32_t t = 0; // of the tile's first row, for the tap
        uint32_t residue = 0;
        for (int64_t i = 0; i < height_.taps; ++i) {
            for (int64_t j = 0; j < width_.taps; ++j) {
                AscendC::LocalTensor<M> output = output_.template AllocTensor<M>();
                turnBack(output, residue * tiling_.residues + t, static_cast<uint32_t>(j * dilationOf(width_)));
                output_.EnQue(output);
                output = output_.template DeQue<M>();
                const int64_t tap = taps + i * width_.taps + j;
                const int64_t row = (tap * depth_.windows + windowDepth_) * height_.windows + rows_.begin;
                store(row * width_.windows + columns_.begin, output);
                output_.FreeTensor(output);
            }
            t += static_cast<uint32_t>(height_.stepQ);
            residue += static_cast<uint32_t>(height_.stepR);
            if (residue >= height_.stride) {
                residue -= static_cast<uint32_t>(height_.stride);
                ++t;
            }
        }
    }

    __aicore__ inline void store(int64_t offset, const AscendC::LocalTensor<M> &output)
    {
        if (tiling_.pitch == width_.windows) { // rows follow each other on both sides
            storeRuns(col_[offset], output, 1, rows_.size() * width_.windows, 0, 0);
        } else {
            storeRuns(col_[offset], output, rows_.size(), columns_.size(), tiling_.pitch, width_.windows);
        }
    }

    // Fill `output` with the windows of the tap that begins with row `lane` and pixel `right` of the tile's pixels.
    __aicore__ inline void turnBack(const AscendC::LocalTensor<M> &output, uint32_t lane, uint32_t right)
    {
        const uint32_t rows = static_cast<uint32_t>(rows_.size());
        constexpr uint32_t kPart = kLanes / kRowBlocks<M>; // lanes that one instruction turns
        const AscendC::LocalTensor<M> pixels = pixels_.template Get<M>();
        uint32_t row = 0;
        while (row < rows) {
            const uint32_t part = lane / kPart;
            uint32_t place[kPart];
            for (uint32_t i = 0; i < kPart; ++i) {
                place[i] = tiling_.rows; // behind all rows, where nothing is stored from
            }
            for (; row < rows && lane / kPart == part; ++row, ++lane) {
                place[lane % kPart] = row;
            }
            const uint32_t group = part / kRowBlocks<M> * tiling_.phase;
            turnPart(output, pixels[(group + right) * kLanes + part % kRowBlocks<M> * kPerBlock], place);
        }
    }

    // output[place[i]][c] = source[c * stride][i]; windows behind the last of a narrow tile repeat it.
    __aicore__ inline void turnPart(const AscendC::LocalTensor<M> &output, const AscendC::LocalTensor<M> &source,
                                    const uint32_t *place)
    {
        const uint32_t step = static_cast<uint32_t>(width_.stride);
        uint64_t rows[kLanes];
        uint64_t target[kLanes];
        for (uint32_t i = 0; i < kLanes; ++i) {
            const uint32_t window = i < tiling_.columns ? i : tiling_.columns - 1;
            rows[i] = addressOf(source, window * step * kLanes);
            target[i] = addressOf(output, place[i / kRowBlocks<M>] * tiling_.pitch + i % kRowBlocks<M> * kPerBlock);
        }
        transposeRepeatedly<M>(target, rows, tiling_.pitch / kLanes, kRowBlocks<M>, kLanes * step * kRowBlocks<M>);
    }

    const FoldTiling &tiling_;
    const AxisTiling &width_;
    const AxisTiling &height_;
    const AxisTiling &depth_;
    AscendC::GlobalTensor<M> image_;
    AscendC::GlobalTensor<M> col_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> input_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> output_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pixels_;
    Range columns_{0, 0};
    Range rows_{0, 0};
    Range lines_{0, 0}; // image rows, and columns below, that the tile's windows cover, in the image or not
    Range points_{0, 0};
    uint32_t residues_; // of rows that a tile has
    uint32_t all_; // elements of the turned pixels
    int64_t windowDepth_ = 0;
    int64_t tapDepth_ = 0;
    int64_t plane_ = 0;
};

} // namespace col2im
