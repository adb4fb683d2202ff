// The three element types: how each is moved, added to a float32 accumulator and rounded back.
#pragma once

#include "kernel_operator.h"

namespace col2im {

constexpr uint32_t kBlockBytes = 32; // what UB addresses are aligned to
constexpr uint32_t kVectorBytes = 256; // what one repeat of a vector instruction takes
constexpr uint32_t kFloatsPerRepeat = kVectorBytes / sizeof(float);
constexpr uint32_t kMaxRepeat = 255;
constexpr uint32_t kLanes = 16; // rows of a transpose

__aicore__ inline int64_t alignUp(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// `Moved` is the type of the same width that every data movement supports, `Added` one that every addition supports.
template <typename T> struct Element {
    using Moved = T;
    using Added = T;
    static constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
    static constexpr bool kIsFloat = sizeof(T) == sizeof(float);
    static constexpr bool kNeedsCast = false;
};

#if __NPU_ARCH__ == 2201
template <> struct Element<bfloat16_t> {
    using Moved = half;
    using Added = float;
    static constexpr uint32_t kPerBlock = kBlockBytes / sizeof(half);
    static constexpr bool kIsFloat = false;
    static constexpr bool kNeedsCast = true;
};
#endif

// Add `count` elements to the accumulator. `cast` is room for `count` floats where the type needs one.
template <typename T>
__aicore__ inline void accumulate(const AscendC::LocalTensor<float> &sum,
                                  const AscendC::LocalTensor<typename Element<T>::Moved> &source,
                                  const AscendC::LocalTensor<float> &cast, int32_t count)
{
    if constexpr (Element<T>::kIsFloat) {
        AscendC::Add(sum, sum, source, count);
    } else if constexpr (Element<T>::kNeedsCast) {
        AscendC::Cast(cast, source.template ReinterpretCast<T>(), AscendC::RoundMode::CAST_NONE, count);
        AscendC::Add(sum, sum, cast, count);
    } else {
        // Times one is exact, and the count form is right on both architectures (the mask form is not on 3002).
        AscendC::Axpy(sum, source, static_cast<half>(1.0f), count);
    }
}

// Round sums to the element type, to nearest even. Not for float32, whose sums are the result.
template <typename T>
__aicore__ inline void roundSums(const AscendC::LocalTensor<typename Element<T>::Moved> &result,
                                 const AscendC::LocalTensor<float> &sum, int32_t count)
{
    AscendC::Cast(result.template ReinterpretCast<T>(), sum, AscendC::RoundMode::CAST_RINT, count);
}

} // namespace col2im
