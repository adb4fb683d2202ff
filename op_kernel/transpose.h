// Sixteen runs in UB turned into rows of sixteen lanes, and back.
#pragma once

#include "element.h"

namespace col2im {

// Blocks that the sixteen lanes of one row take.
template <typename M> constexpr uint32_t kRowBlocks = kLanes * sizeof(M) / kBlockBytes;

template <typename M> __aicore__ inline uint64_t addressOf(const AscendC::LocalTensor<M> &tensor, uint32_t offset)
{
    return reinterpret_cast<uint64_t>(tensor[offset].GetPhyAddr());
}

// Issue `repeats` transposes in calls of at most 255; `source` and `target` hold the addresses of the first.
template <typename M>
__aicore__ inline void transposeRepeatedly(uint64_t *target, uint64_t *source, uint32_t repeats,
                                           uint32_t targetBlocks, uint32_t sourceBlocks)
{
    while (repeats > 0) {
        const uint32_t now = repeats < kMaxRepeat ? repeats : kMaxRepeat;
        const AscendC::TransDataTo5HDParams params(false, false, static_cast<uint8_t>(now),
                                                   static_cast<uint16_t>(now > 1 ? targetBlocks : 0),
                                                   static_cast<uint16_t>(now > 1 ? sourceBlocks : 0));
        AscendC::TransDataTo5HD<M>(target, source, params);
        repeats -= now;
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            target[lane] += static_cast<uint64_t>(now) * targetBlocks * kBlockBytes;
            source[lane] += static_cast<uint64_t>(now) * sourceBlocks * kBlockBytes;
        }
    }
}

// rows[c * step + first][lane] = runs[lane * pitch + c] for 0 <= c < columns, rounded up to whole blocks of columns.
template <typename M>
__aicore__ inline void lanesToRows(const AscendC::LocalTensor<M> &rows, const AscendC::LocalTensor<M> &runs,
                                   uint32_t pitch, uint32_t columns, uint32_t step = 1, uint32_t first = 0)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    uint64_t source[kLanes];
    uint64_t target[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) {
        source[i] = addressOf(runs, i * pitch);
        // 32-bit types: entries alternate between the low and the high lanes of a row.
        const uint32_t row = i / kRowBlocks<M>;
        target[i] = addressOf(rows, (row * step + first) * kLanes + i % kRowBlocks<M> * kPerBlock);
    }
    transposeRepeatedly<M>(target, source, (columns + kPerBlock - 1) / kPerBlock,
                           kPerBlock * step * kRowBlocks<M>, 1);
}

// runs[lane * pitch + c] = rows[pixels[c]][lane] for 0 <= c < 16; and, `repeats` times in all, the same for c that are
// `apart` further on (a multiple of 16) and pixels that are `pixelsApart`.
template <typename M>
__aicore__ inline void pixelsToLanes(const AscendC::LocalTensor<M> &runs, const AscendC::LocalTensor<M> &rows,
                                     uint32_t pitch, const uint32_t (&pixels)[kLanes], uint32_t repeats,
                                     uint32_t apart, uint32_t pixelsApart)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    for (uint32_t part = 0; part < kRowBlocks<M>; ++part) { // 32-bit types: low lanes, then high lanes
        uint64_t source[kLanes];
        uint64_t target[kLanes];
        for (uint32_t i = 0; i < kLanes; ++i) {
            source[i] = addressOf(rows, pixels[i] * kLanes + part * kPerBlock);
            const uint32_t lane = part * kPerBlock + i / kRowBlocks<M>;
            target[i] = addressOf(runs, lane * pitch + i % kRowBlocks<M> * kPerBlock);
        }
        transposeRepeatedly<M>(target, source, repeats, apart / kPerBlock, pixelsApart * kRowBlocks<M>);
    }
}

// runs[lane * pitch + c] = rows[c * step + first][lane] for 0 <= c < columns, rounded up to a multiple of 16.
template <typename M>
__aicore__ inline void rowsToLanes(const AscendC::LocalTensor<M> &runs, const AscendC::LocalTensor<M> &rows,
                                   uint32_t pitch, uint32_t columns, uint32_t step = 1, uint32_t first = 0)
{
    uint32_t pixels[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) {
        pixels[i] = i * step + first;
    }
    pixelsToLanes(runs, rows, pitch, pixels, (columns + kLanes - 1) / kLanes, kLanes, kLanes * step);
}

} // namespace col2im
