// The schedule "rows": a tile is some image rows of one plane, of one depth and one row residue.
//
// Every tap brings its window rows in one move, already shifted: whole blocks of the shift go into the UB address,
// the rest into zeros on the left. Each column residue has an accumulator of its own (a phase); at the end the phases
// are woven together by two transposes.
//
// Flat: where a row has as many windows as pixels of one residue, tile rows lie without a gap, as in `col`. A tap is
// then one contiguous run and one vector instruction; the columns that wrap into a neighbouring row are zeroed.
//
// With a stride, neighbouring taps of a row reach neighbouring column residues in the same way: where a tap is one run,
// several are loaded together, each into its phase's place.
#pragma once

#include "row_tile.h"
#include "seams.h"
#include "transpose.h"

namespace col2im {

template <typename T, bool kFlat> class Rows {
public:
    using M = typename Element<T>::Moved;
    static constexpr uint32_t kPerBlock = Element<T>::kPerBlock;

    __aicore__ inline Rows(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR col, GM_ADDR image)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth]),
          woven_(tiling.residues > 1), tile_(tiling)
    {
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        const uint32_t pixels = tiling.phase * tiling.residues;
        pipe.InitBuffer(input_, 2, tiling.stage * sizeof(M));
        const bool padded = tiling.rowPitch != tiling.pitch * tiling.residues;
        const uint32_t results = padded ? tiling.phase / tiling.pitch * tiling.rowPitch : pixels;
        pipe.InitBuffer(output_, 2, results * sizeof(M));
        if (!Element<T>::kIsFloat || woven_) {
            pipe.InitBuffer(sums_, pixels * sizeof(float));
        }
        if constexpr (Element<T>::kNeedsCast) {
            pipe.InitBuffer(cast_, tiling.stage * sizeof(float));
        }
        if (woven_) {
            pipe.InitBuffer(weft_, (pixels + kLanes * kLanes) * sizeof(M)); // the last row is turned in sixteens
            if constexpr (!Element<T>::kIsFloat) {
                pipe.InitBuffer(rounded_, pixels * sizeof(M));
            }
        }
    }

    __aicore__ inline void process()
    {
        defineInput();
        const Range units = unitsOfThisCore(tiling_.units);
        for (int64_t unit = units.begin; unit < units.end; ++unit) {
            tile_.locate(unit);
            fold();
        }
    }

private:
    // Where several taps are added at once, so is what lies between their runs: define it.
    __aicore__ inline void defineInput()
    {
        for (uint32_t buffer = 0; buffer < 2 && tiling_.taps > 1; ++buffer) {
            AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
            AscendC::Duplicate(input, static_cast<M>(0.0f), static_cast<int32_t>(tiling_.stage));
            input_.EnQue(input);
            inputs_[buffer] = input_.template DeQue<M>();
        }
        for (uint32_t buffer = 0; buffer < 2 && tiling_.taps > 1; ++buffer) {
            input_.FreeTensor(inputs_[buffer]);
        }
    }

    __aicore__ inline void fold()
    {
        if (tile_.rows.empty()) { // the residues beyond the image's last row
            return;
        }
        AscendC::LocalTensor<M> result = output_.template AllocTensor<M>();
        if constexpr (Element<T>::kIsFloat) {
            sum_ = woven_ ? sums_.template Get<float>() : result;
        } else {
            sum_ = sums_.template Get<float>();
        }
        AscendC::Duplicate(sum_, 0.0f, static_cast<int32_t>(tiling_.phase * tiling_.residues));
        const int64_t tz = tile_.z / depth_.stride;
        for (Tap depth(depth_); depth.valid(); depth.next()) {
            const int64_t window = tz - depth.q();
            if (depth.r() == tile_.z % depth_.stride && window >= 0 && window < depth_.windows) {
                addSlice(depth.k(), window);
            }
        }
        finish(result);
        output_.EnQue(result);
        result = output_.template DeQue<M>();
        tile_.store(image_, result);
        output_.FreeTensor(result);
    }

    // Add all taps of one kernel depth, whose windows lie at one depth.
    __aicore__ inline void addSlice(int64_t k, int64_t windowDepth)
    {
        for (Tap high(height_); high.valid(); high.next()) {
            const Range rows = high.reach(tile_.rows);
            if (high.r() != tile_.rowResidue || rows.empty()) {
                continue;
            }
            const int64_t taps = ((tile_.plane * depth_.taps + k) * height_.taps + high.k()) * width_.taps;
            for (Tap wide(width_); wide.valid();) {
                const Range columns = wide.reach(tile_.columns);
                const int64_t residue = wide.r() - tile_.firstResidue;
                if (residue < 0 || residue >= tiling_.residues || columns.empty()) {
                    wide.next();
                    continue;
                }
                const int64_t row = ((taps + wide.k()) * depth_.windows + windowDepth) * height_.windows +
                                    rows.begin - high.q();
                const Group group{togetherFrom(wide, residue), static_cast<uint32_t>(residue) * tiling_.phase};
                if constexpr (kFlat) {
                    addFlat(row * width_.windows, {rows.begin - tile_.rows.begin, rows.end - tile_.rows.begin},
                            wide.q(), group);
                } else {
                    addRows(row * width_.windows + columns.begin - wide.q(), rows, columns, group);
                }
                wide.skip(group.taps);
            }
        }
    }

    // Taps that are loaded together, and where the phase of the first begins.
    struct Group {
        uint32_t taps;
        uint32_t phase;
    };

    // Taps from this one on that have the same q and whose residues follow each other in the tile.
    __aicore__ inline uint32_t togetherFrom(const Tap &wide, int64_t residue) const
    {
        const int64_t residues = tiling_.residues - residue;
        const int64_t wrap = width_.stride - wide.r();
        const int64_t taps = width_.tapEnd - wide.k();
        const int64_t least = residues < wrap ? residues : wrap;
        const int64_t most = least < taps ? least : taps;
        return most < tiling_.taps ? static_cast<uint32_t>(most) : tiling_.taps;
    }

    // Add the windows at `source` and in the rows after it to the given rows and columns of some phases.
    __aicore__ inline void addRows(int64_t source, const Range &rows, const Range &columns, const Group &group)
    {
        const uint32_t shift = static_cast<uint32_t>(columns.begin - tile_.columns.begin);
        const uint32_t left = shift % kPerBlock;
        const uint32_t pitch = static_cast<uint32_t>(alignUp(left + columns.size(), kPerBlock));
        const uint32_t count = static_cast<uint32_t>(rows.size());
        const uint32_t target = static_cast<uint32_t>(rows.begin - tile_.rows.begin) * tiling_.pitch + shift - left;
        if (tiling_.taps > 1) { // the tile has one row
            addGroup(load(source, group.taps, columns.size(), left), group, target, pitch);
            return;
        }
        AscendC::LocalTensor<M> input = load(source, count, columns.size(), left);
        if (pitch == tiling_.pitch) {
            add(group.phase + target, input, count * pitch);
        } else {
            for (uint32_t row = 0; row < count; ++row) {
                add(group.phase + target + row * tiling_.pitch, input[row * pitch], pitch);
            }
        }
        input_.FreeTensor(input);
    }

    // Add whole window rows, the first at `source`, shifted by q columns, to the given tile rows of some phases.
    __aicore__ inline void addFlat(int64_t source, const Range &rows, int64_t q, const Group &group)
    {
        const int64_t behind = q > 0 ? q : 0;
        const int64_t ahead = q > 0 ? 0 : -q;
        const int64_t length = rows.size() * width_.windows - behind - ahead;
        const uint32_t begin = static_cast<uint32_t>(rows.begin * width_.windows + behind);
        const uint32_t left = begin % kPerBlock;
        AscendC::LocalTensor<M> input = load(source + ahead, group.taps, length, left);
        if (q != 0) {
            // The seams between rows, counted from the input's first element.
            const uint32_t first = static_cast<uint32_t>(width_.windows - behind - ahead + left);
            for (uint32_t tap = 0; tap < group.taps; ++tap) {
                zeroSeams(input, {tap * tiling_.phase + first, static_cast<uint32_t>(behind + ahead),
                                  static_cast<uint32_t>(rows.size() - 1), tiling_.pitch});
            }
        }
        addGroup(input, group, begin - left, static_cast<uint32_t>(alignUp(left + length, kPerBlock)));
    }

    // Load `runs` runs: the rows of one tap, or one run of several taps, each at its phase's place.
    __aicore__ inline AscendC::LocalTensor<M> load(int64_t source, int64_t runs, int64_t length, uint32_t left)
    {
        const bool together = tiling_.taps > 1;
        const int64_t sourcePitch =
            together ? depth_.windows * height_.windows * width_.windows : width_.windows;
        const int64_t gap = together ? tiling_.phase - alignUp(left + length, kPerBlock) : 0;
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        loadRuns(input, col_[source], runs, length, runs > 1 ? sourcePitch : length, left,
                 static_cast<uint32_t>(gap / kPerBlock));
        input_.EnQue(input);
        return input_.template DeQue<M>();
    }

    // Add each tap's `count` elements, a phase apart, to its phase from `target` on.
    __aicore__ inline void addGroup(AscendC::LocalTensor<M> input, const Group &group, uint32_t target, uint32_t count)
    {
        const uint32_t all = static_cast<uint32_t>(alignUp(tile_.rows.size() * tiling_.pitch, kPerBlock));
        if (count == all) { // beyond them is nothing that will be stored
            add(group.phase, input, (group.taps - 1) * tiling_.phase + count);
        } else {
            for (uint32_t tap = 0; tap < group.taps; ++tap) {
                add(group.phase + tap * tiling_.phase + target, input[tap * tiling_.phase], count);
            }
        }
        input_.FreeTensor(input);
    }

    __aicore__ inline void add(uint32_t target, const AscendC::LocalTensor<M> &input, uint32_t count)
    {
        AscendC::LocalTensor<float> cast;
        if constexpr (Element<T>::kNeedsCast) {
            cast = cast_.template Get<float>();
        }
        accumulate<T>(sum_[target], input, cast, static_cast<int32_t>(count));
    }

    // Turn the sums of all phases into the result: round, and weave the phases.
    __aicore__ inline void finish(const AscendC::LocalTensor<M> &result)
    {
        const int32_t pixels = static_cast<int32_t>(tiling_.phase * tiling_.residues);
        if constexpr (Element<T>::kIsFloat) {
            if (woven_) {
                weave(result, sum_);
            }
        } else if (woven_) {
            AscendC::LocalTensor<M> rounded = rounded_.template Get<M>();
            roundSums<T>(rounded, sum_, pixels);
            weave(result, rounded);
        } else {
            roundSums<T>(result, sum_, pixels);
        }
    }

    // result[t * residues + r] = phases[r][t]: the lanes are sixteen equal parts of each phase. Where the result's
    // rows would not begin with a block, a part is whole rows and every row is turned by itself.
    __aicore__ inline void weave(const AscendC::LocalTensor<M> &result, const AscendC::LocalTensor<M> &phases)
    {
        AscendC::LocalTensor<M> weft = weft_.template Get<M>();
        const uint32_t part = tiling_.phase / kLanes;
        for (uint32_t r = 0; r < tiling_.residues; ++r) {
            lanesToRows(weft, phases[r * tiling_.phase], part, part, tiling_.residues, r);
        }
        const uint32_t run = tiling_.pitch * tiling_.residues;
        if (tiling_.rowPitch == run) {
            rowsToLanes(result, weft, part * tiling_.residues, part * tiling_.residues);
            return;
        }
        const uint32_t rows = part / tiling_.pitch;
        for (uint32_t row = 0; row < rows; ++row) {
            rowsToLanes(result[row * tiling_.rowPitch], weft[row * run * kLanes], rows * tiling_.rowPitch, run);
        }
    }

    const FoldTiling &tiling_;
    const AxisTiling &width_;
    const AxisTiling &height_;
    const AxisTiling &depth_;
    const bool woven_;
    AscendC::GlobalTensor<M> col_;
    AscendC::GlobalTensor<M> image_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> input_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> output_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> cast_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> weft_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> rounded_;
    AscendC::LocalTensor<float> sum_;
    AscendC::LocalTensor<M> inputs_[2];
    RowTile tile_;
};

} // namespace col2im
