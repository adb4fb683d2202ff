// Im2ColNd: a tile is up to sixteen window rows, of one plane, one window depth and one row of taps.
//
// For each tap the image rows below the window rows come as sixteen lanes. A transpose turns them pixel by pixel, so
// that any shift and stride is a whole number of blocks; the transpose back takes every stride-th pixel.
#pragma once

#include "axis.h"
#include "transfer.h"
#include "transpose.h"

namespace col2im {

// `M` is a type of the element's width: values are moved, never computed with.
template <typename M> class Unfold {
public:
    __aicore__ inline Unfold(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR image, GM_ADDR col)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth])
    {
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        pipe.InitBuffer(input_, 2, kLanes * tiling.stage * sizeof(M));
        pipe.InitBuffer(output_, 2, kLanes * tiling.pitch * sizeof(M));
        pipe.InitBuffer(pixels_, kLanes * tiling.phase * sizeof(M));
    }

    __aicore__ inline void process()
    {
        const Range units = unitsOfThisCore(tiling_.units);
        for (int64_t unit = units.begin; unit < units.end; ++unit) {
            locate(unit);
            unfold();
        }
    }

private:
    // Set the tile of one unit. From the fastest: column tile, row tile, window depth, tap row, tap depth, plane.
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
        tapRow_ = unit % height_.taps;
        unit /= height_.taps;
        tapDepth_ = unit % depth_.taps;
        plane_ = unit / depth_.taps;
    }

    __aicore__ inline void unfold()
    {
        const int64_t z = pixelOf(depth_, tapDepth_, windowDepth_);
        const Pixels vertical = pixelsOf(height_, tapRow_, rows_);
        const bool inside = z >= 0 && !vertical.windows.empty();
        const int64_t taps = ((plane_ * depth_.taps + tapDepth_) * height_.taps + tapRow_) * width_.taps;
        const int64_t slice = (plane_ * depth_.pixels + (inside ? z : 0)) * height_.pixels;
        Tap wide(width_);
        for (int64_t k = 0; k < width_.taps; ++k) {
            Pixels horizontal{{0, 0}, 0};
            if (k >= width_.tapBegin && k < width_.tapEnd) {
                horizontal = covered(width_, wide, columns_);
                wide.next();
            }
            AscendC::LocalTensor<M> output = output_.template AllocTensor<M>();
            if (inside && !horizontal.windows.empty()) {
                copyWindows(output, (slice + vertical.first) * width_.pixels, vertical, horizontal);
            } else {
                AscendC::Duplicate(output, static_cast<M>(0.0f), static_cast<int32_t>(kLanes * tiling_.pitch));
            }
            output_.EnQue(output);
            output = output_.template DeQue<M>();
            const int64_t row =
                ((taps + k) * depth_.windows + windowDepth_) * height_.windows + rows_.begin;
            storeRuns(col_[row * width_.windows + columns_.begin], output, rows_.size(), columns_.size(),
                      tiling_.pitch, width_.windows);
            output_.FreeTensor(output);
        }
    }

    // The windows of a range that a tap finds inside the image, and the pixel of the first of them.
    struct Pixels {
        Range windows;
        int64_t first;
    };

    __aicore__ inline static Pixels covered(const AxisTiling &axis, const Tap &tap, const Range &windows)
    {
        const int64_t length = tap.r() < axis.pixels ? (axis.pixels - 1 - tap.r()) / axis.stride + 1 : 0;
        const Range inside = intersect(windows, {-tap.q(), length - tap.q()});
        return {inside, (inside.begin + tap.q()) * axis.stride + tap.r()};
    }

    __aicore__ inline static Pixels pixelsOf(const AxisTiling &axis, int64_t k, const Range &windows)
    {
        if (k < axis.tapBegin || k >= axis.tapEnd) {
            return {{0, 0}, 0};
        }
        Tap tap(axis);
        while (tap.k() < k) {
            tap.next();
        }
        return covered(axis, tap, windows);
    }

    // The pixel that a tap finds for one window, or -1.
    __aicore__ inline static int64_t pixelOf(const AxisTiling &axis, int64_t k, int64_t window)
    {
        const Pixels pixels = pixelsOf(axis, k, {window, window + 1});
        return pixels.windows.empty() ? -1 : pixels.first;
    }

    // Fill the tile for one tap from the image rows that begin at `row`, with zeros beyond the image.
    __aicore__ inline void copyWindows(const AscendC::LocalTensor<M> &output, int64_t row, const Pixels &vertical,
                                       const Pixels &horizontal)
    {
        constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
        const uint32_t step = tiling_.columns > 1 ? static_cast<uint32_t>(width_.stride) : 1;
        const uint32_t span = static_cast<uint32_t>(horizontal.windows.size() - 1) * step + 1;
        const uint32_t first = static_cast<uint32_t>(horizontal.windows.begin - columns_.begin) * step;
        const uint32_t above = static_cast<uint32_t>(vertical.windows.begin - rows_.begin);
        const uint32_t below = static_cast<uint32_t>(rows_.end - vertical.windows.end);
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        loadRuns(input[above * tiling_.stage], image_[row + horizontal.first], vertical.windows.size(), span,
                 height_.stride * width_.pixels, 0,
                 static_cast<uint32_t>((tiling_.stage - alignUp(span, kPerBlock)) / kPerBlock));
        input_.EnQue(input);
        input = input_.template DeQue<M>();
        AscendC::LocalTensor<M> pixels = pixels_.template Get<M>();
        AscendC::Duplicate(pixels, static_cast<M>(0.0f), static_cast<int32_t>(kLanes * tiling_.phase));
        lanesToRows(pixels[first * kLanes], input, tiling_.stage, span);
        input_.FreeTensor(input);
        rowsToLanes(output, pixels, tiling_.pitch, tiling_.columns, step);
        // Lanes without an image row hold anything.
        zeroRows(output, 0, above);
        zeroRows(output, static_cast<uint32_t>(rows_.size()) - below, below);
    }

    __aicore__ inline void zeroRows(const AscendC::LocalTensor<M> &output, uint32_t first, uint32_t count)
    {
        if (count > 0) {
            AscendC::Duplicate(output[first * tiling_.pitch], static_cast<M>(0.0f),
                               static_cast<int32_t>(count * tiling_.pitch));
        }
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
    int64_t windowDepth_ = 0;
    int64_t tapRow_ = 0;
    int64_t tapDepth_ = 0;
    int64_t plane_ = 0;
};

} // namespace col2im
