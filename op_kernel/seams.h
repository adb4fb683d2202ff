// Zeros where a run of window rows wraps from one image row into the next.
#pragma once

#include "element.h"

namespace col2im {

// The low 64 bits of a mask with bits `begin .. end` set; positions may lie outside.
__aicore__ inline uint64_t maskBits(int32_t begin, int32_t end)
{
    const uint64_t below = end >= 64 ? ~0ULL : end <= 0 ? 0 : (1ULL << end) - 1;
    const uint64_t before = begin >= 64 ? ~0ULL : begin <= 0 ? 0 : (1ULL << begin) - 1;
    return below & ~before;
}

// Zero elements `offset .. offset + count` of one repeat, `repeats` times, `stride` blocks apart.
template <typename M>
__aicore__ inline void zeroRepeatedly(const AscendC::LocalTensor<M> &input, uint32_t offset, uint32_t count,
                                      uint32_t repeats, uint32_t stride)
{
    const int32_t begin = static_cast<int32_t>(offset);
    const int32_t end = static_cast<int32_t>(offset + count);
    uint64_t mask[2] = {maskBits(begin, end), maskBits(begin - 64, end - 64)};
    const uint32_t most = stride <= kMaxRepeat ? kMaxRepeat : 1;
    for (uint32_t done = 0; done < repeats; done += most) {
        const uint32_t now = repeats - done < most ? repeats - done : most;
        AscendC::Duplicate(input[done * stride * kBlockBytes / sizeof(M)], static_cast<M>(0.0f), mask,
                           static_cast<uint8_t>(now), 1, static_cast<uint8_t>(now > 1 ? stride : 0));
    }
}

// Zero `seams` spans of `span` elements, the first at `first`, `pitch` elements apart.
template <typename M>
__aicore__ inline void zeroSeams(const AscendC::LocalTensor<M> &input, uint32_t first, uint32_t span, uint32_t seams,
                                 uint32_t pitch)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    // So many seams apart, they lie at the same place of a block.
    uint32_t period = 1;
    while (period * pitch % kPerBlock != 0) {
        period *= 2;
    }
    for (uint32_t seam = 0; seam < period && seam < seams; ++seam) {
        const uint32_t repeats = (seams - seam + period - 1) / period;
        const uint32_t begin = first + seam * pitch;
        for (uint32_t done = 0; done < span;) {
            const uint32_t offset = (begin + done) % kPerBlock;
            const uint32_t room = kVectorBytes / sizeof(M) - offset;
            const uint32_t now = span - done < room ? span - done : room;
            zeroRepeatedly(input[begin + done - offset], offset, now, repeats, period * pitch / kPerBlock);
            done += now;
        }
    }
}

} // namespace col2im
