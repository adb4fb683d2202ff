// The schedule "flat", where a row has as many windows as pixels of one residue: window rows lie without a gap, as in
// `col`, and so do a tile's rows. A tap is one contiguous run, shifted while it is loaded, and one vector instruction;
// the columns that wrap into a neighbouring row are zeroed.
//
// A tile is some image rows of one sheet (a plane at one depth), of one row residue or of all; or the rows of several
// sheets, one behind the other: neighbouring planes, or neighbouring depths of one plane, whose windows are one run as
// well. With a stride, neighbouring taps of a row reach neighbouring column residues in the same way: several are
// loaded together, each into its phase's place.
#pragma once

#include "row_tile.h"
#include "seams.h"
#include "weave.h"

namespace col2im {

template <typename T> class Flat {
public:
    using M = typename Element<T>::Moved;
    static constexpr uint32_t kPerBlock = Element<T>::kPerBlock;

    __aicore__ inline Flat(const FoldTiling &tiling, AscendC::TPipe &pipe, GM_ADDR col, GM_ADDR image)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth]),
          tile_(tiling), loom_(tiling, pipe)
    {
        col_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(col));
        image_.SetGlobalBuffer(reinterpret_cast<__gm__ M *>(image));
        pipe.InitBuffer(input_, tiling.buffers, tiling.stage * sizeof(M));
        pipe.InitBuffer(output_, 2, Loom<T>::resultSize(tiling) * sizeof(M));
        if constexpr (Element<T>::kNeedsCast) {
            if (!castsIntoLoom()) {
                pipe.InitBuffer(cast_, tiling.stage * sizeof(float));
            }
        }
    }

    __aicore__ inline void process()
    {
        defineInput();
        const Range units = unitsOfThisCore(tiling_.units);
        for (int64_t unit = units.begin; unit < units.end; ++unit) {
            tile_.locate(unit);
            if (!tile_.rows.empty()) { // as residues beyond the image's last row are
                fold();
            }
        }
    }

private:
    // Whether the loom's room for rounded sums, which stands empty until the end, holds the cast taps of one load.
    __aicore__ inline bool castsIntoLoom() const
    {
        return tiling_.residues > 1 && phasesOf(tiling_) * sizeof(M) >= tiling_.taps * sizeof(float);
    }

    // Where several runs are added at once, so is what lies between them: define it.
    __aicore__ inline void defineInput()
    {
        const uint32_t buffers = tiling_.taps > 1 || tiling_.sheets > 1 ? tiling_.buffers : 0;
        for (uint32_t buffer = 0; buffer < buffers; ++buffer) { // the queue hands them out in turn
            AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
            AscendC::Duplicate(input, static_cast<M>(0.0f), static_cast<int32_t>(tiling_.stage));
            input_.EnQue(input);
            input = input_.template DeQue<M>();
            input_.FreeTensor(input);
        }
    }

    __aicore__ inline void fold()
    {
        AscendC::LocalTensor<M> result = output_.template AllocTensor<M>();
        sum_ = loom_.sums(result);
        AscendC::Duplicate(sum_, 0.0f, static_cast<int32_t>(tiling_.phase * phasesOf(tiling_)));
        const int64_t tz = tile_.z / depth_.stride;
        for (Tap deep(depth_); deep.valid(); deep.next()) {
            // Depths are stacked only where the stride is one; planes have the same depth.
            const int64_t depths = depth_.pixels > 1 ? tile_.sheets : 1;
            const Range z = deep.reach({tz, tz + depths});
            if (deep.r() == tile_.z % depth_.stride && !z.empty()) {
                sheets_ = depth_.pixels > 1 ? Range{z.begin - tz, z.end - tz} : Range{0, tile_.sheets};
                addSlice(deep.k(), z.begin - deep.q());
            }
        }
        loom_.finish(result);
        output_.EnQue(result);
        result = output_.template DeQue<M>();
        tile_.store(image_, result);
        output_.FreeTensor(result);
    }

    // Taps that are loaded together, from `source` on: where the phase of the first begins, and by how many columns
    // they shift.
    struct Group {
        int64_t source;
        uint32_t taps;
        uint32_t phase;
        int64_t q;
    };

    // Add all taps of one kernel depth, the windows of the first sheet lying at `windowDepth`.
    __aicore__ inline void addSlice(int64_t k, int64_t windowDepth)
    {
        for (Tap high(height_); high.valid(); high.next()) {
            const Range rows = high.reach(tile_.rows);
            const int64_t residue = high.r() - tile_.rowResidue;
            if (residue < 0 || residue >= tiling_.rowResidues || rows.empty()) {
                continue;
            }
            const int64_t taps = ((tile_.plane * depth_.taps + k) * height_.taps + high.k()) * width_.taps;
            for (Tap wide(width_); wide.valid();) {
                if (wide.reach({0, width_.length}).empty()) {
                    wide.next();
                    continue;
                }
                const int64_t row = ((taps + wide.k()) * depth_.windows + windowDepth) * height_.windows +
                                    rows.begin - high.q();
                const Group group{row * width_.windows, togetherFrom(wide),
                                  static_cast<uint32_t>(residue * tiling_.residues + wide.r()) * tiling_.phase,
                                  wide.q()};
                add(group, {rows.begin - tile_.rows.begin, rows.end - tile_.rows.begin});
                wide.skip(group.taps);
            }
        }
    }

    // Taps from this one on that have the same q.
    __aicore__ inline uint32_t togetherFrom(const Tap &wide) const
    {
        const int64_t wrap = width_.stride - wide.r();
        const int64_t taps = width_.tapEnd - wide.k();
        const int64_t most = wrap < taps ? wrap : taps;
        return most < tiling_.taps ? static_cast<uint32_t>(most) : tiling_.taps;
    }

    // Elements of one sheet in a phase.
    __aicore__ inline int64_t sheetSize() const { return tile_.rows.size() * width_.windows; }

    // Add whole window rows to the given tile rows of some phases, on all sheets.
    __aicore__ inline void add(const Group &group, const Range &rows)
    {
        const int64_t behind = group.q > 0 ? group.q : 0;
        const int64_t ahead = group.q > 0 ? 0 : -group.q;
        const bool stacked = depth_.pixels > 1; // the sheets are one run
        const int64_t size = sheetSize();
        const int64_t begin = rows.begin * width_.windows + behind;
        const int64_t end = rows.end * width_.windows - ahead;
        AscendC::LocalTensor<M> input = input_.template AllocTensor<M>();
        for (int64_t sheet = sheets_.begin; sheet < sheets_.end; sheet = stacked ? sheets_.end : sheet + 1) {
            const int64_t last = stacked ? sheets_.end - 1 : sheet;
            load(input, group, group.source + ahead + sheet * (stacked ? 0 : planePitch()),
                 {sheet * size + begin, last * size + end});
        }
        input_.EnQue(input);
        input = input_.template DeQue<M>();
        for (uint32_t tap = 0; tap < group.taps; ++tap) {
            zeroWhatWraps(input[tap * tiling_.phase], rows, static_cast<uint32_t>(behind + ahead), behind > 0);
        }
        if (tile_.sheets > 1) {
            accumulateTaps(input, group, static_cast<uint32_t>(sheets_.begin * size),
                           static_cast<uint32_t>(sheets_.end * size));
        } else {
            accumulateTaps(input, group, static_cast<uint32_t>(begin - begin % kPerBlock),
                           static_cast<uint32_t>(alignUp(end, kPerBlock)));
        }
        input_.FreeTensor(input);
    }

    // Elements from plane to plane of `col`.
    __aicore__ inline int64_t planePitch() const
    {
        return depth_.taps * depth_.windows * height_.taps * height_.windows * width_.taps * width_.windows;
    }

    // Load one run of each of the group's taps to elements `run` of its phase's place.
    __aicore__ inline void load(const AscendC::LocalTensor<M> &input, const Group &group, int64_t source,
                                const Range &run)
    {
        const uint32_t left = static_cast<uint32_t>(run.begin % kPerBlock);
        const int64_t pitch = depth_.windows * height_.windows * width_.windows;
        const int64_t gap = tiling_.phase - alignUp(left + run.size(), kPerBlock);
        loadRuns(input[static_cast<uint32_t>(run.begin) - left], col_[source], group.taps, run.size(),
                 group.taps > 1 ? pitch : run.size(), left,
                 group.taps > 1 ? static_cast<uint32_t>(gap / kPerBlock) : 0);
    }

    // Zero the columns that have wrapped into a neighbouring row; of several sheets, also the rows that have no window.
    __aicore__ inline void zeroWhatWraps(const AscendC::LocalTensor<M> &input, const Range &rows, uint32_t columns,
                                         bool first)
    {
        const uint32_t windows = static_cast<uint32_t>(width_.windows);
        const uint32_t sheets = static_cast<uint32_t>(sheets_.size());
        const uint32_t size = static_cast<uint32_t>(sheetSize());
        const uint32_t begin = static_cast<uint32_t>(sheets_.begin) * size;
        const uint32_t row = begin + static_cast<uint32_t>(tile_.sheets > 1 ? 0 : rows.begin) * windows;
        const uint32_t all = tile_.sheets > 1 ? size / windows * sheets : static_cast<uint32_t>(rows.size());
        if (columns > 0) {
            zeroSeams(input, {row + (first ? 0 : windows - columns), columns, all, windows});
        }
        if (tile_.sheets > 1) {
            const uint32_t above = static_cast<uint32_t>(rows.begin) * windows;
            const uint32_t below = static_cast<uint32_t>(rows.end) * windows;
            zeroSeams(input, {begin, above, above > 0 ? sheets : 0, size});
            zeroSeams(input, {begin + below, size - below, below < size ? sheets : 0, size});
        }
    }

    // Add elements `begin .. end` of every tap to its phase.
    __aicore__ inline void accumulateTaps(const AscendC::LocalTensor<M> &input, const Group &group, uint32_t begin,
                                          uint32_t end)
    {
        AscendC::LocalTensor<float> cast;
        if constexpr (Element<T>::kNeedsCast) {
            cast = castsIntoLoom() ? loom_.emptyRoom() : cast_.template Get<float>();
        }
        if (begin == 0 && end >= tile_.sheets * sheetSize()) { // beyond them is nothing that will be stored
            accumulate<T>(sum_[group.phase], input, cast,
                          static_cast<int32_t>((group.taps - 1) * tiling_.phase + end));
            return;
        }
        for (uint32_t tap = 0; tap < group.taps; ++tap) {
            const uint32_t at = tap * tiling_.phase + begin;
            accumulate<T>(sum_[group.phase + at], input[at], cast, static_cast<int32_t>(end - begin));
        }
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
    Range sheets_{0, 1}; // that the taps of one kernel depth reach
};

} // namespace col2im
