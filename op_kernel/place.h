// Sums whose pixels are sixteen lanes, rounded and moved to where the result has them.
#pragma once

#include "element.h"

namespace col2im {

// `repeats` times `pixels` pixels.
template <typename T>
__aicore__ inline void placeRepeatedly(const AscendC::LocalTensor<typename Element<T>::Moved> &target,
                                       const AscendC::LocalTensor<float> &source, uint32_t pixels, uint8_t repeats,
                                       uint32_t step)
{
    if constexpr (Element<T>::kIsFloat) {
        // A pixel is two blocks: one copy for the low lanes, one for the high.
        const AscendC::CopyRepeatParams params(static_cast<uint16_t>(2 * step), 2,
                                               static_cast<uint16_t>(2 * step * 8), 2 * 8);
        for (uint32_t part = 0; part < kLanes; part += Element<T>::kPerBlock) {
            AscendC::Copy(target[part], source[part], static_cast<uint64_t>(pixels * Element<T>::kPerBlock), repeats,
                          params);
        }
    } else {
        const AscendC::UnaryRepeatParams params(static_cast<uint16_t>(step), 1, static_cast<uint8_t>(4 * step), 8);
        AscendC::Cast(target.template ReinterpretCast<T>(), source, AscendC::RoundMode::CAST_RINT,
                      static_cast<uint64_t>(pixels * kLanes), repeats, params);
    }
}

// Round `count` neighbouring pixels of one phase to pixels `step` apart.
template <typename T>
__aicore__ inline void place(const AscendC::LocalTensor<typename Element<T>::Moved> &target,
                             const AscendC::LocalTensor<float> &source, uint32_t count, uint32_t step)
{
    constexpr uint32_t kPixels = kFloatsPerRepeat / (Element<T>::kIsFloat ? kLanes / 2 : kLanes); // per repeat
    constexpr uint32_t kMost = kMaxRepeat * kPixels;
    for (uint32_t done = 0; done < count;) {
        const uint32_t left = count - done < kMost ? count - done : kMost;
        const uint32_t repeats = left < kPixels ? 1 : left / kPixels;
        const uint32_t now = left < kPixels ? left : repeats * kPixels;
        placeRepeatedly<T>(target[done * step * kLanes], source[done * kLanes], now / repeats,
                           static_cast<uint8_t>(repeats), step);
        done += now;
    }
}

} // namespace col2im
