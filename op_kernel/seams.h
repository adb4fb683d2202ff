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

// Some of the 256 bytes that one repeat of an instruction takes, element by element.
struct ElementMask {
    uint64_t bits[2] = {0, 0};

    __aicore__ inline void add(uint32_t offset, uint32_t count)
    {
        const int32_t begin = static_cast<int32_t>(offset);
        const int32_t end = static_cast<int32_t>(offset + count);
        bits[0] |= maskBits(begin, end);
        bits[1] |= maskBits(begin - 64, end - 64);
    }
};

// Zero the elements of the mask, `repeats` times, `stride` blocks apart.
template <typename M>
__aicore__ inline void zeroRepeatedly(const AscendC::LocalTensor<M> &input, ElementMask &mask, uint32_t repeats,
                                      uint32_t stride)
{
    const uint32_t most = stride <= kMaxRepeat ? kMaxRepeat : 1;
    for (uint32_t done = 0; done < repeats; done += most) {
        const uint32_t now = repeats - done < most ? repeats - done : most;
        AscendC::Duplicate(input[done * stride * kBlockBytes / sizeof(M)], static_cast<M>(0.0f), mask.bits,
                           static_cast<uint8_t>(now), 1, static_cast<uint8_t>(now > 1 ? stride : 0));
    }
}

// Spans to zero: `seams` of `span` elements, the first at `first`, `pitch` elements apart.
struct Seams {
    uint32_t first;
    uint32_t span;
    uint32_t seams;
    uint32_t pitch;
};

// Zero seam `seam`, and so many after it, within one repeat's reach; and the same again, `repeats` times in all, every
// `period` seams, which lie at the same place of a block.
template <typename M>
__aicore__ inline void zeroNeighbours(const AscendC::LocalTensor<M> &input, const Seams &all, uint32_t seam,
                                      uint32_t neighbours, uint32_t repeats, uint32_t period)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    const uint32_t begin = all.first + seam * all.pitch;
    for (uint32_t done = 0; done < all.span;) {
        const uint32_t offset = (begin + done) % kPerBlock;
        const uint32_t room = kVectorBytes / sizeof(M) - offset; // where one seam is beyond it
        const uint32_t now = all.span - done < room ? all.span - done : room;
        ElementMask mask;
        for (uint32_t i = 0; i < neighbours; ++i) {
            mask.add(offset + i * all.pitch, now);
        }
        zeroRepeatedly(input[begin + done - offset], mask, repeats, period * all.pitch / kPerBlock);
        done += now;
    }
}

template <typename M> __aicore__ inline void zeroSeams(const AscendC::LocalTensor<M> &input, const Seams &all)
{
    constexpr uint32_t kPerBlock = kBlockBytes / sizeof(M);
    constexpr uint32_t kPerRepeat = kVectorBytes / sizeof(M);
    uint32_t period = 1;
    while (period * all.pitch % kPerBlock != 0) {
        period *= 2;
    }
    const uint32_t different = period < all.seams ? period : all.seams;
    for (uint32_t seam = 0; seam < different;) {
        const uint32_t offset = (all.first + seam * all.pitch) % kPerBlock;
        uint32_t neighbours = 1;
        while (seam + neighbours < different && offset + neighbours * all.pitch + all.span <= kPerRepeat) {
            ++neighbours;
        }
        const uint32_t repeats = (all.seams - seam - neighbours) / period + 1;
        zeroNeighbours(input, all, seam, neighbours, repeats, period);
        const uint32_t last = seam + repeats * period;
        if (last < all.seams) { // not all of the neighbours once more
            zeroNeighbours(input, all, last, all.seams - last, 1, period);
        }
        seam += neighbours;
    }
}

} // namespace col2im
