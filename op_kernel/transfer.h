// Moves between global memory and UB of several runs, one pitch apart on either side.
#pragma once

#include "element.h"

namespace col2im {

// Load `runs` runs of `length` elements, `sourcePitch` elements apart, each completed with zeros to whole blocks:
// `left` of them before it. In UB run follows run, with `gapBlocks` blocks between.
template <typename M>
__aicore__ inline void loadRuns(const AscendC::LocalTensor<M> &target, const AscendC::GlobalTensor<M> &source,
                                int64_t runs, int64_t length, int64_t sourcePitch, uint32_t left,
                                uint32_t gapBlocks = 0)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    const uint32_t right = static_cast<uint32_t>(alignUp(left + length, kPerBlock) - left - length);
    const AscendC::DataCopyExtParams params(static_cast<uint16_t>(runs), static_cast<uint32_t>(length * sizeof(M)),
                                            static_cast<uint32_t>((sourcePitch - length) * sizeof(M)), gapBlocks, 0);
    const AscendC::DataCopyPadExtParams<M> pad(left + right > 0, static_cast<uint8_t>(left),
                                               static_cast<uint8_t>(right), static_cast<M>(0.0f));
    AscendC::DataCopyPad(target, source, params, pad);
}

// Store `runs` runs of `length` elements, `sourcePitch` elements apart in UB (whole blocks) and `targetPitch` in
// global memory. Nothing beyond a run is touched.
template <typename M>
__aicore__ inline void storeRuns(const AscendC::GlobalTensor<M> &target, const AscendC::LocalTensor<M> &source,
                                 int64_t runs, int64_t length, int64_t sourcePitch, int64_t targetPitch)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    const uint32_t gapBlocks = runs > 1 ? static_cast<uint32_t>((sourcePitch - alignUp(length, kPerBlock)) / kPerBlock)
                                        : 0;
    const uint32_t gapBytes = runs > 1 ? static_cast<uint32_t>((targetPitch - length) * sizeof(M)) : 0;
    const AscendC::DataCopyExtParams params(static_cast<uint16_t>(runs), static_cast<uint32_t>(length * sizeof(M)),
                                            gapBlocks, gapBytes, 0);
    AscendC::DataCopyPad(target, source, params);
}

} // namespace col2im
