// Cast: conversions between dtypes, with the pairs and rounding modes of its documentation page.
#pragma once

#include <cmath>
#include <limits>

#include "vector.h"

namespace sim {

// Modes as bits: 1 << RoundMode.
inline constexpr uint8_t kNone = 1, kRounding = 2 | 4 | 8 | 16 | 32, kOdd = 64;

struct CastRow {
    Dtype src, dst;
    uint8_t modes2201, modes3002;
};
inline constexpr CastRow kCasts[] = {
    {kI8, kF16, kNone, kNone},
    {kU8, kF16, kNone, kNone},
    {kI16, kF16, kRounding | kNone, kRounding | kNone},
    {kI16, kF32, kNone, kNone},
    {kF16, kI8, kRounding | kNone, kRounding | kNone},
    {kF16, kU8, kRounding | kNone, kRounding | kNone},
    {kF16, kI16, kRounding, kRounding},
    {kF16, kI32, kRounding, kRounding},
    {kF16, kF32, kNone, kNone},
    {kBF16, kI32, kRounding, kRounding},
    {kBF16, kF32, kNone, kNone},
    {kI32, kI16, kNone, kNone},
    {kI32, kF32, kRounding | kNone, kRounding | kNone},
    {kI32, kI64, kNone, kNone},
    {kF32, kI16, kRounding, kRounding},
    {kF32, kF16, kRounding | kNone | kOdd, kRounding | kNone | kOdd},
    {kF32, kBF16, kRounding, kRounding},
    {kF32, kI32, kRounding, kRounding},
    {kF32, kF32, kRounding, kRounding},
    {kF32, kI64, kRounding, kRounding},
    {kI64, kI32, kNone, kNone},
    {kI64, kF32, kRounding, kRounding},
};

inline bool castSupported(Core& core, Dtype src, Dtype dst, AscendC::RoundMode mode)
{
    for (const CastRow& r : kCasts) {
        if (r.src == src && r.dst == dst) {
            const uint8_t modes = core.product().arch == 2201 ? r.modes2201 : r.modes3002;
            if (modes >> static_cast<int>(mode) & 1) {
                return true;
            }
            core.fail(Api::Cast, cat(dtypeName(src), " to ", dtypeName(dst), ": roundMode=", int(mode),
                                     " is not supported on ", core.product().name));
            return false;
        }
    }
    core.fail(Api::Cast, cat(dtypeName(src), " to ", dtypeName(dst), " is not supported on ", core.product().name));
    return false;
}

inline float roundToInteger(float x, AscendC::RoundMode mode)
{
    switch (mode) {
    case AscendC::RoundMode::CAST_FLOOR: return std::floor(x);
    case AscendC::RoundMode::CAST_CEIL: return std::ceil(x);
    case AscendC::RoundMode::CAST_ROUND: return std::round(x);
    case AscendC::RoundMode::CAST_TRUNC: return std::trunc(x);
    default: return std::nearbyint(x);
    }
}

// Out of range saturates, NaN becomes 0.
template <typename T>
T saturate(double x)
{
    if (x != x) {
        return 0;
    }
    if (x >= static_cast<double>(std::numeric_limits<T>::max())) {
        return std::numeric_limits<T>::max();
    }
    return x <= static_cast<double>(std::numeric_limits<T>::min()) ? std::numeric_limits<T>::min() : static_cast<T>(x);
}

inline float integerToFloat(int64_t x, AscendC::RoundMode mode)
{
    const bool negative = x < 0;
    const uint64_t magnitude = negative ? ~static_cast<uint64_t>(x) + 1 : static_cast<uint64_t>(x);
    int shift = 0;
    while (magnitude >> shift >= uint64_t(1) << 24) {
        ++shift;
    }
    const float value = std::ldexp(static_cast<float>(roundMagnitude(negative, magnitude, shift, mode)), shift);
    return negative ? -value : value;
}

template <typename T, typename U>
T castOne(U x, AscendC::RoundMode mode)
{
    if constexpr (std::is_integral_v<U> && std::is_integral_v<T>) {
        return saturate<T>(static_cast<double>(x));
    } else if constexpr (std::is_integral_v<U>) {
        return static_cast<T>(integerToFloat(x, mode));
    } else if constexpr (std::is_integral_v<T>) {
        return saturate<T>(roundToInteger(static_cast<float>(x), mode));
    } else if constexpr (std::is_same_v<T, half> && std::is_same_v<U, float>) {
        half y;
        y.bits = mode <= AscendC::RoundMode::CAST_RINT ? floatToHalf(x) : floatToNarrow(x, 10, 15, mode);
        return y;
    } else if constexpr (std::is_same_v<T, bfloat16_t> && std::is_same_v<U, float>) {
        bfloat16_t y;
        y.bits = mode == AscendC::RoundMode::CAST_RINT ? floatToBfloat16(x) : floatToNarrow(x, 7, 127, mode);
        return y;
    } else if constexpr (std::is_same_v<T, U>) {
        return static_cast<T>(roundToInteger(static_cast<float>(x), mode));
    } else {
        return static_cast<T>(static_cast<float>(x));
    }
}

template <typename T, typename U>
void runCast(Core& core, VectorInstr& in, AscendC::RoundMode mode)
{
    if (!castSupported(core, dtypeOf<U>(), dtypeOf<T>(), mode)) {
        return;
    }
    if (mode <= AscendC::RoundMode::CAST_RINT) { // a constant the compiler sees: this loop vectorises
        runUnary<T, U>(core, in, dtypeOf<U>(), [](U x) { return castOne<T, U>(x, AscendC::RoundMode::CAST_RINT); });
    } else {
        runUnary<T, U>(core, in, dtypeOf<U>(), [mode](U x) { return castOne<T, U>(x, mode); });
    }
}

} // namespace sim

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                 const uint64_t mask[], const sim::U8& repeatTime, const UnaryRepeatParams& repeatParams)
{
    sim::VectorInstr in = sim::unaryInstr(sim::Api::Cast, dst, src);
    if (sim::unaryMask<T, U>(sim::core(), in, mask, repeatTime, repeatParams, isSetMask)) {
        sim::runCast<T, U>(sim::core(), in, roundMode);
    }
}

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask,
                 const sim::U8& repeatTime, const UnaryRepeatParams& repeatParams)
{
    sim::VectorInstr in = sim::unaryInstr(sim::Api::Cast, dst, src);
    if (sim::unaryMask<T, U>(sim::core(), in, mask, repeatTime, repeatParams, isSetMask)) {
        sim::runCast<T, U>(sim::core(), in, roundMode);
    }
}

template <typename T, typename U>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count)
{
    sim::VectorInstr in = sim::unaryInstr(sim::Api::Cast, dst, src);
    sim::takeCount(sim::core(), in, count);
    sim::runCast<T, U>(sim::core(), in, roundMode);
}

} // namespace AscendC
