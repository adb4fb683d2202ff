// The schedule "rows", which runs every fold: a tile is some image rows of one plane, of one depth and one row residue.
//
// Every tap brings its window rows in one move, already shifted: whole blocks of the shift go into the UB address,
// the rest into zeros on the left. Each column residue has an accumulator of its own (a phase); at the end the phases
// are woven together.
#pragma once

#include "row_tile.h"
#include "weave.h"

namespace col2im {

template <typename T> class Rows {
public:
    using M = typename Element<T>::Moved;
    static constexpr uint32_t kPerBlock = Element<T>::kPerBlock;

    __aicore__ inline Rows(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR col, GM_ADDR image)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth]),
          tile_(tiling), loom_(tiling, pipe)
    {
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        pipe.InitBuffer(input_, 2, tiling.stage * sizeof(M));
        pipe.InitBuffer(output_, 2, Loom<T>::resultSize(tiling) * sizeof(M));
        if constexpr (Element<T>::kNeedsCast) {
            pipe.InitBuffer(cast_, tiling.stage * sizeof(float));
        }
    }

    __aicore__ inline void process()
    {
        const Range units = unitsOfThisCore(tiling_.units);
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
        sum_ = loom_.sums(result);
        AscendC::Duplicate(sum_, 0.0f, static_cast<int32_t>(tiling_.phase * tiling_.residues));
        const int64_t tz = tile_.z / depth_.stride;
        for (Tap deep(depth_); deep.valid(); deep.next()) {
            const int64_t window = tz - deep.q();
            if (deep.r() == tile_.z % depth_.stride && window >= 0 && window < depth_.windows) {
                addSlice(deep.k(), window);
            }
        }
        loom_.finish(result);
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
            for (Tap wide(width_); wide.valid(); wide.next()) {
                const Range columns = wide.reach(tile_.columns);
                const int64_t residue = wide.r() - tile_.firstResidue;
                if (residue >= 0 && residue < tiling_.residues && !columns.empty()) {
                    const int64_t row = ((taps + wide.k()) * depth_.windows + windowDepth) * height_.windows +
                                        rows.begin - high.q();
                    addRows(row * width_.windows + columns.begin - wide.q(), rows, columns,
                            static_cast<uint32_t>(residue) * tiling_.phase);
                }
            }
        }
    }

    // Add the windows at `source` and in the rows after it to the given rows and columns of one phase.
    __aicore__ inline void addRows(int64_t source, const Range &rows, const Range &columns, uint32_t phase)
    {
        const uint32_t shift = static_cast<uint32_t>(columns.begin - tile_.columns.begin);
        const uint32_t left = shift % kPerBlock;
        const uint32_t pitch = static_cast<uint32_t>(alignUp(left + columns.size(), kPerBlock));
        const uint32_t count = static_cast<uint32_t>(rows.size());
        const uint32_t target =
            phase + static_cast<uint32_t>(rows.begin - tile_.rows.begin) * tiling_.pitch + shift - left;
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        loadRuns(input, col_[source], count, columns.size(), count > 1 ? width_.windows : columns.size(), left);
        input_.EnQue(input);
        input = input_.template DeQue<M>();
        if (pitch == tiling_.pitch) {
            add(target, input, count * pitch);
        } else {
            for (uint32_t row = 0; row < count; ++row) {
                add(target + row * tiling_.pitch, input[row * pitch], pitch);
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

    const FoldTiling &tiling_;
    const AxisTiling &width_;
    const AxisTiling &height_;
    const AxisTiling &depth_;
    RowTile tile_;
    Loom<T> loom_;
    AscendC::GlobalTensor<M> col_;
    AscendC::GlobalTensor<M> image_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> input_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> output_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> cast_;
    AscendC::LocalTensor<float> sum_;
};

} // namespace col2im
