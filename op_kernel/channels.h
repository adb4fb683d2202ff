// The schedule "channels": sixteen planes at a time are the lanes of every vector instruction.
//
// The planes' runs of `col` are long and have one pitch. A transpose turns them pixel by pixel: then a pixel is whole
// blocks, and every shift is an address. Each residue of rows and columns has an accumulator (a phase), so that every
// addition is contiguous. At the end the phases take their places in the image, and a transpose turns it back.
#pragma once

#include "axis.h"
#include "place.h"
#include "transfer.h"
#include "transpose.h"

namespace col2im {

template <typename T> class Channels {
public:
    using M = typename Element<T>::Moved;
    using Added = typename Element<T>::Added;
    static constexpr uint32_t kPerBlock = Element<T>::kPerBlock;

    __aicore__ inline Channels(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR col, GM_ADDR image)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth]),
          phases_(static_cast<uint32_t>(height_.residues * width_.residues)),
          same_(width_.windows == width_.length)
    {
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        pipe.InitBuffer(input_, 2, kLanes * tiling.stage * sizeof(M));
        pipe.InitBuffer(turned_, kLanes * turnedPixels() * sizeof(M));
        pipe.InitBuffer(sums_, kLanes * sumPixels() * sizeof(float));
        // One buffer is enough: a tile's stores have the next tile's loads to hide behind.
        pipe.InitBuffer(output_, 1, kLanes * tiling.pitch * sizeof(M));
        if (!Element<T>::kIsFloat || phases_ > 1) {
            pipe.InitBuffer(placed_, kLanes * tiling.pitch * sizeof(M));
        }
        if constexpr (Element<T>::kNeedsCast) {
            pipe.InitBuffer(cast_, kLanes * turnedPixels() * sizeof(float));
        }
    }

    __aicore__ inline void process()
    {
        const Range units = unitsOfThisCore(tiling_.units);
        sum_ = sums_.template Get<float>();
        turnedPixels_ = turned_.template Get<M>();
        if constexpr (Element<T>::kNeedsCast) {
            pixels_ = cast_.template Get<float>();
        } else {
            pixels_ = turnedPixels_;
        }
        for (int64_t unit = units.begin; unit < units.end; ++unit) {
            locate(unit);
            AscendC::Duplicate(sum_, 0.0f, static_cast<int32_t>(kLanes * sumPixels()));
            if (tiling_.taps > 1) {
                addWholePlanes(unit + 1 == units.end);
            } else {
                addTapByTap();
            }
            finish();
        }
    }

private:
    // Pixels of the accumulators: whole transposes, so that they can be turned where they are.
    __aicore__ inline uint32_t sumPixels() const
    {
        return static_cast<uint32_t>(alignUp(tiling_.phase * phases_, kLanes));
    }

    // Pixels that are turned at once. Where they are some of the loaded taps, the first may lie within a block.
    __aicore__ inline uint32_t turnedPixels() const
    {
        const int64_t windows = tiling_.turned * height_.windows * width_.windows;
        return tiling_.turned < tiling_.taps ? static_cast<uint32_t>(alignUp(windows, kLanes) + kLanes) : tiling_.stage;
    }

    // Set the tile of one unit. From the fastest: rows, depth, planes.
    __aicore__ inline void locate(int64_t unit)
    {
        const int64_t rowTiles = (height_.length + tiling_.rows - 1) / tiling_.rows;
        const int64_t row = unit % rowTiles * tiling_.rows;
        unit /= rowTiles;
        rows_ = intersect({row, row + tiling_.rows}, {0, height_.length});
        z_ = unit % depth_.pixels;
        const Range planes = part(tiling_.planes, tiling_.groups, unit / depth_.pixels);
        plane_ = planes.begin;
        lanes_ = planes.size();
    }

    // Taps to load together from tap `k` on. A core's last load is short: what is left to do then is not hidden.
    __aicore__ inline int64_t together(int64_t k, bool lastTile) const
    {
        const int64_t left = height_.taps * width_.taps - k;
        return lastTile && left <= tiling_.taps && left > tiling_.lastTaps ? left - tiling_.lastTaps : tiling_.taps;
    }

    // The tile holds all windows of its planes: several taps are one contiguous run, loaded together.
    __aicore__ inline void addWholePlanes(bool lastTile)
    {
        const int64_t windows = height_.windows * width_.windows;
        const int64_t taps = height_.taps * width_.taps;
        AscendC::LocalTensor<M> input;
        Range loaded{0, 0};
        Range turned{0, 0};
        for (Tap high(height_); high.valid(); high.next()) {
            for (Tap wide(width_); wide.valid(); wide.next()) {
                const int64_t k = high.k() * width_.taps + wide.k();
                if (k >= loaded.end) {
                    if (!loaded.empty()) {
                        input_.FreeTensor(input);
                    }
                    loaded = intersect({k, k + together(k, lastTile)}, {0, taps});
                    input = load((plane_ * taps + k) * windows, loaded.size() * windows);
                }
                if (k >= turned.end) {
                    turned = intersect({k, k + tiling_.turned}, loaded);
                    turn(input, (k - loaded.begin) * windows, turned.size() * windows);
                }
                add(high, wide, first_ + static_cast<uint32_t>((k - turned.begin) * windows));
            }
        }
        if (!loaded.empty()) {
            input_.FreeTensor(input);
        }
    }

    __aicore__ inline void addTapByTap()
    {
        for (Tap deep(depth_); deep.valid(); deep.next()) {
            const int64_t window = z_ / depth_.stride - deep.q();
            if (deep.r() != z_ % depth_.stride || window < 0 || window >= depth_.windows) {
                continue;
            }
            for (Tap high(height_); high.valid(); high.next()) {
                const Range rows = high.reach(rows_);
                if (high.r() >= height_.residues || rows.empty()) {
                    continue;
                }
                const int64_t taps = ((plane_ * depth_.taps + deep.k()) * height_.taps + high.k()) * width_.taps;
                const int64_t row = rows.begin - high.q();
                for (Tap wide(width_); wide.valid(); wide.next()) {
                    if (wide.r() < width_.residues && !wide.reach({0, width_.length}).empty()) {
                        const int64_t slice = (taps + wide.k()) * depth_.windows + window;
                        const int64_t length = rows.size() * width_.windows;
                        AscendC::LocalTensor<M> input =
                            load((slice * height_.windows + row) * width_.windows, length);
                        turn(input, 0, length);
                        input_.FreeTensor(input);
                        add(high, wide, 0, row);
                    }
                }
            }
        }
    }

    // Load `length` elements of every plane, those of the first at `source`.
    __aicore__ inline AscendC::LocalTensor<M> load(int64_t source, int64_t length)
    {
        const int64_t pitch = tapsOf(depth_) * tapsOf(height_) * tapsOf(width_);
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        loadRuns(input, col_[source], lanes_, length, pitch, 0,
                 static_cast<uint32_t>((tiling_.stage - alignUp(length, kPerBlock)) / kPerBlock));
        input_.EnQue(input);
        return input_.template DeQue<M>();
    }

    // Turn `length` loaded elements of every plane, from element `begin` on.
    __aicore__ inline void turn(const AscendC::LocalTensor<M> &input, int64_t begin, int64_t length)
    {
        first_ = static_cast<uint32_t>(begin % kPerBlock);
        const uint32_t pixels = static_cast<uint32_t>(length) + first_;
        lanesToRows(turnedPixels_, input[static_cast<uint32_t>(begin) - first_], tiling_.stage, pixels);
        if constexpr (Element<T>::kNeedsCast) {
            AscendC::Cast(pixels_, turnedPixels_.template ReinterpretCast<T>(), AscendC::RoundMode::CAST_NONE,
                          static_cast<int32_t>(pixels * kLanes));
        }
    }

    __aicore__ inline static int64_t tapsOf(const AxisTiling &axis) { return axis.taps * axis.windows; }

    // Add one tap, whose window row `firstRow` begins at the turned pixel `begin`.
    __aicore__ inline void add(const Tap &high, const Tap &wide, uint32_t begin, int64_t firstRow = 0)
    {
        const Range rows = high.reach(rows_);
        const Range columns = wide.reach({0, width_.length});
        if (high.r() >= height_.residues || wide.r() >= width_.residues || rows.empty() || columns.empty()) {
            return;
        }
        const uint32_t windows = static_cast<uint32_t>(width_.windows);
        const uint32_t length = static_cast<uint32_t>(width_.length);
        const uint32_t source = begin + static_cast<uint32_t>(rows.begin - high.q() - firstRow) * windows +
                                static_cast<uint32_t>(columns.begin - wide.q());
        const uint32_t target = static_cast<uint32_t>(high.r() * width_.residues + wide.r()) * tiling_.phase +
                                static_cast<uint32_t>(rows.begin - rows_.begin) * length +
                                static_cast<uint32_t>(columns.begin);
        const uint32_t count = static_cast<uint32_t>(rows.size());
        const uint32_t run = static_cast<uint32_t>(columns.size());
        if (same_) { // one run; what wraps from row to row must not be added
            zeroSeams(source + run, windows - run, count - 1);
            addRun(target, source, (count - 1) * windows + run);
            return;
        }
        for (uint32_t row = 0; row < count; ++row) {
            addRun(target + row * length, source + row * windows, run);
        }
    }

    __aicore__ inline void addRun(uint32_t target, uint32_t source, uint32_t count)
    {
        const AscendC::LocalTensor<float> sum = sum_[target * kLanes];
        const int32_t elements = static_cast<int32_t>(count * kLanes);
        if constexpr (Element<T>::kNeedsCast) {
            AscendC::Add(sum, sum, pixels_[source * kLanes], elements);
        } else {
            accumulate<T>(sum, pixels_[source * kLanes], AscendC::LocalTensor<float>(), elements);
        }
    }

    // Zero `seams` spans of `span` pixels, the first at `first`, one window row apart.
    __aicore__ inline void zeroSeams(uint32_t first, uint32_t span, uint32_t seams)
    {
        const uint32_t windows = static_cast<uint32_t>(width_.windows);
        const uint32_t stride = windows * kRowBlocks<Added>;
        if (span == 0) {
            return;
        }
        if (span * kLanes * sizeof(Added) > kVectorBytes || stride > kMaxRepeat) {
            for (uint32_t seam = 0; seam < seams; ++seam) {
                AscendC::Duplicate(pixels_[(first + seam * windows) * kLanes], static_cast<Added>(0.0f),
                                   static_cast<int32_t>(span * kLanes));
            }
            return;
        }
        for (uint32_t done = 0; done < seams; done += kMaxRepeat) {
            const uint32_t now = seams - done < kMaxRepeat ? seams - done : kMaxRepeat;
            AscendC::Duplicate(pixels_[(first + done * windows) * kLanes], static_cast<Added>(0.0f),
                               static_cast<uint64_t>(span * kLanes), static_cast<uint8_t>(now), 1,
                               static_cast<uint8_t>(now > 1 ? stride : 0));
        }
    }

    // Bring the sums into the image's order, turn them back to planes and store them.
    __aicore__ inline void finish()
    {
        const int64_t y = rows_.begin * height_.stride;
        const int64_t left = height_.pixels - y;
        const int64_t rows = rows_.size() * height_.stride < left ? rows_.size() * height_.stride : left;
        const uint32_t pixels = static_cast<uint32_t>(rows * width_.pixels);
        AscendC::LocalTensor<M> output = output_.template AllocTensor<M>();
        rowsToLanes(output, placed(static_cast<uint32_t>(rows), pixels), tiling_.pitch, pixels);
        output_.EnQue(output);
        output = output_.template DeQue<M>();
        const int64_t row = (plane_ * depth_.pixels + z_) * height_.pixels + y;
        storeRuns(image_[row * width_.pixels], output, lanes_, pixels, tiling_.pitch,
                  depth_.pixels * height_.pixels * width_.pixels);
        output_.FreeTensor(output);
    }

    // The rounded pixels of the tile's image rows, in order.
    __aicore__ inline AscendC::LocalTensor<M> placed(uint32_t rows, uint32_t pixels)
    {
        if constexpr (Element<T>::kIsFloat) {
            if (phases_ == 1) {
                return sum_;
            }
        }
        AscendC::LocalTensor<M> placed = placed_.template Get<M>();
        if constexpr (!Element<T>::kIsFloat) {
            if (phases_ == 1) {
                roundSums<T>(placed, sum_, static_cast<int32_t>(pixels * kLanes));
                return placed;
            }
        }
        const uint32_t width = static_cast<uint32_t>(width_.pixels);
        const uint32_t step = static_cast<uint32_t>(width_.stride);
        for (uint32_t y = 0; y < rows; ++y) {
            const uint32_t t = y / static_cast<uint32_t>(height_.residues);
            const uint32_t phase = y % static_cast<uint32_t>(height_.residues) * static_cast<uint32_t>(width_.residues);
            for (uint32_t r = 0; r < width_.residues; ++r) {
                const uint32_t source = (phase + r) * tiling_.phase + t * static_cast<uint32_t>(width_.length);
                place<T>(placed[(y * width + r) * kLanes], sum_[source * kLanes], (width - r + step - 1) / step, step);
            }
        }
        return placed;
    }

    const FoldTiling &tiling_;
    const AxisTiling &width_;
    const AxisTiling &height_;
    const AxisTiling &depth_;
    const uint32_t phases_;
    const bool same_;
    AscendC::GlobalTensor<M> col_;
    AscendC::GlobalTensor<M> image_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> input_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> output_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> turned_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> placed_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> cast_;
    AscendC::LocalTensor<float> sum_;
    AscendC::LocalTensor<M> turnedPixels_;
    AscendC::LocalTensor<Added> pixels_;
    Range rows_{0, 0};
    int64_t z_ = 0;
    int64_t plane_ = 0;
    int64_t lanes_ = 0;
    uint32_t first_ = 0; // of the turned pixels, the one that was asked for
};

} // namespace col2im
