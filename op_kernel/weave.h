// The phases of a tile woven together.
#pragma once

#include "fold_tiling.h"
#include "transpose.h"

namespace col2im {

// Accumulators of a tile.
__aicore__ inline uint32_t phasesOf(const FoldTiling &tiling)
{
    return tiling.residues * tiling.rowResidues;
}

// result[t * residues + r] = phases[r][t]: the lanes are sixteen equal parts of each phase. Where the result's rows
// would not begin with a block, a part is whole rows and every row is turned by itself.
template <typename M>
__aicore__ inline void weave(const FoldTiling &tiling, const AscendC::LocalTensor<M> &result,
                             const AscendC::LocalTensor<M> &phases, const AscendC::LocalTensor<M> &weft)
{
    const uint32_t part = tiling.phase / kLanes;
    for (uint32_t r = 0; r < tiling.residues; ++r) {
        lanesToRows(weft, phases[r * tiling.phase], part, part, tiling.residues, r);
    }
    const uint32_t run = tiling.pitch * tiling.residues;
    if (tiling.rowPitch == run) {
        rowsToLanes(result, weft, part * tiling.residues, part * tiling.residues);
        return;
    }
    const uint32_t rows = part / tiling.pitch;
    for (uint32_t row = 0; row < rows; ++row) {
        rowsToLanes(result[row * tiling.rowPitch], weft[row * run * kLanes], rows * tiling.rowPitch, run);
    }
}

// result[y * rowResidues + ry][x * residues + rx] = phases[ry][rx][y][x]: the lanes are sixteen times some rows y.
template <typename M>
__aicore__ inline void weaveRows(const FoldTiling &tiling, const AscendC::LocalTensor<M> &result,
                                 const AscendC::LocalTensor<M> &phases, const AscendC::LocalTensor<M> &weft)
{
    const uint32_t part = tiling.phase / kLanes;
    for (uint32_t phase = 0; phase < phasesOf(tiling); ++phase) {
        const uint32_t ry = phase / tiling.residues;
        lanesToRows(weft[ry * tiling.phase * tiling.residues], phases[phase * tiling.phase], part, part,
                    tiling.residues, phase % tiling.residues);
    }
    // Transposes are repeated along a row of whole sixteens; or down the rows, which are alike after one of each
    // residue, where those are whole sixteens.
    const uint32_t width = tiling.residues * tiling.pitch;
    const uint32_t all = part * phasesOf(tiling);
    const uint32_t period = width * tiling.rowResidues;
    const bool along = width % kLanes == 0;
    const bool down = !along && period % kLanes == 0;
    const uint32_t apart = down ? period : kLanes;
    const uint32_t repeats = along ? width / kLanes : down ? all / period : 1;
    uint32_t x = 0;
    uint32_t y = 0;
    for (uint32_t done = 0; done < (down ? period : all); done += along ? width : kLanes) {
        uint32_t pixels[kLanes]; // sixteen in a row, in `weft`
        for (uint32_t i = 0; i < kLanes; ++i) {
            pixels[i] = y % tiling.rowResidues * part * tiling.residues + y / tiling.rowResidues * width + x;
            if (++x == width) {
                x = 0;
                ++y;
            }
        }
        if (along && x > 0) {
            x = 0;
            ++y;
        }
        pixelsToLanes(result[done], weft, all, pixels, repeats, apart, down ? width : kLanes);
    }
}

// The buffers in which sums become a result.
template <typename T> class Loom {
public:
    using M = typename Element<T>::Moved;

    // Elements of the result of one tile in UB.
    __aicore__ inline static uint32_t resultSize(const FoldTiling &tiling)
    {
        const bool padded = tiling.rowPitch != tiling.pitch * tiling.residues;
        return padded ? tiling.phase / tiling.pitch * tiling.rowPitch : tiling.phase * phasesOf(tiling);
    }

    __aicore__ inline Loom(const FoldTiling &tiling, AscendC::TPipe &pipe)
        : tiling_(tiling), woven_(tiling.residues > 1)
    {
        const uint32_t pixels = tiling.phase * phasesOf(tiling);
        if (!Element<T>::kIsFloat || woven_) {
            pipe.InitBuffer(sums_, (pixels + kLanes * kLanes) * sizeof(float));
        }
        if (woven_) {
            pipe.InitBuffer(other_, (pixels + kLanes * kLanes) * sizeof(M)); // the last row is turned in sixteens
        }
    }

    // The sums of a tile whose result this is.
    __aicore__ inline AscendC::LocalTensor<float> sums(const AscendC::LocalTensor<M> &result)
    {
        if constexpr (Element<T>::kIsFloat) {
            return woven_ ? sums_.template Get<float>() : result;
        } else {
            return sums_.template Get<float>();
        }
    }

    // Room for as many floats as half the tile's pixels, until `finish`.
    __aicore__ inline AscendC::LocalTensor<float> emptyRoom() { return other_.template Get<float>(); }

    // Turn the sums of all phases into the result: round, and weave the phases.
    __aicore__ inline void finish(const AscendC::LocalTensor<M> &result)
    {
        const AscendC::LocalTensor<float> sum = sums(result);
        if constexpr (Element<T>::kIsFloat) {
            if (woven_) {
                weaveAll(result, sum, other_.template Get<M>());
            }
        } else if (woven_) { // rounded, the sums give way
            AscendC::LocalTensor<M> rounded = other_.template Get<M>();
            roundSums<T>(rounded, sum, static_cast<int32_t>(tiling_.phase * phasesOf(tiling_)));
            weaveAll(result, rounded, sum.template ReinterpretCast<M>());
        } else {
            roundSums<T>(result, sum, static_cast<int32_t>(tiling_.phase));
        }
    }

private:
    __aicore__ inline void weaveAll(const AscendC::LocalTensor<M> &result, const AscendC::LocalTensor<M> &phases,
                                    const AscendC::LocalTensor<M> &weft) const
    {
        if (tiling_.rowResidues > 1) {
            weaveRows(tiling_, result, phases, weft);
        } else {
            weave(tiling_, result, phases, weft);
        }
    }

    const FoldTiling &tiling_;
    const bool woven_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> other_; // float32: for weaving; else rounded sums
};

} // namespace col2im
