// half and bfloat16_t: storage types with exact conversions to and from float.
//
// Rounding follows the RoundMode table of the Cast documentation (asc-devkit,
// docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换/Cast.md). Overflow of a conversion to half gives
// infinity (the Inf/NaN mode of the device; its saturating mode is not modelled).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace AscendC {
enum class RoundMode : uint8_t { CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };
} // namespace AscendC

namespace sim {

inline uint32_t floatBits(float x)
{
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float floatFromBits(uint32_t bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Branch-free so that loops over it vectorise: the multiplication re-biases the exponent and is exact.
inline float halfToFloat(uint16_t h)
{
    const float scaled = floatFromBits(uint32_t(h & 0x7fff) << 13) * 0x1p112f;
    const uint32_t infNan = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
    return floatFromBits(floatBits(scaled) | infNan | uint32_t(h & 0x8000) << 16);
}

// Round to nearest even, branch-free: adding a constant of the right exponent makes the FPU round subnormals.
inline uint16_t floatToHalf(float x)
{
    const uint32_t bits = floatBits(x);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t subnormal = floatBits(floatFromBits(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? nan : half;
    return uint16_t(sign | half);
}

inline float bfloat16ToFloat(uint16_t b)
{
    return floatFromBits(uint32_t(b) << 16);
}

inline uint16_t floatToBfloat16(float x)
{
    const uint32_t bits = floatBits(x);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t nan = bits >> 16 | 0x40;
    return uint16_t((bits & 0x7fffffff) > 0x7f800000u ? nan : rounded);
}

// Drops the low `shift` bits of a sign-magnitude number by any rounding mode.
inline uint64_t roundMagnitude(bool negative, uint64_t magnitude, int shift, AscendC::RoundMode mode)
{
    if (shift <= 0) {
        return magnitude << -shift;
    }
    const uint64_t kept = shift > 63 ? 0 : magnitude >> shift;
    const uint64_t lost = shift > 63 ? magnitude : magnitude & ((uint64_t(1) << shift) - 1);
    if (lost == 0) {
        return kept;
    }
    const uint64_t tie = shift > 63 ? ~uint64_t(0) : uint64_t(1) << (shift - 1);
    switch (mode) {
    case AscendC::RoundMode::CAST_FLOOR: return kept + negative;
    case AscendC::RoundMode::CAST_CEIL: return kept + !negative;
    case AscendC::RoundMode::CAST_ROUND: return kept + (lost >= tie);
    case AscendC::RoundMode::CAST_TRUNC: return kept;
    case AscendC::RoundMode::CAST_ODD: return kept | 1;
    default: return kept + (lost > tie || (lost == tie && (kept & 1)));
    }
}

// float to a 16-bit format with `fraction` explicit mantissa bits and exponent bias `bias`, any rounding mode.
inline uint16_t floatToNarrow(float x, int fraction, int bias, AscendC::RoundMode mode)
{
    const uint32_t bits = floatBits(x);
    const bool negative = bits >> 31;
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t infinity = uint32_t(2 * bias + 1) << fraction;
    uint32_t result;
    if (magnitude > 0x7f800000u) {
        result = infinity | 1u << (fraction - 1);
    } else if (magnitude == 0x7f800000u) {
        result = infinity;
    } else {
        const int field = int(magnitude >> 23);
        const uint32_t mantissa = (magnitude & 0x7fffff) | (field ? 0x800000u : 0u);
        const int exponent = (field ? field : 1) - 127 + bias; // of the narrow format, when normal there
        const int shift = 23 - fraction + (exponent < 1 ? 1 - exponent : 0);
        const uint64_t rounded = roundMagnitude(negative, mantissa, shift, mode);
        // A carry out of the mantissa moves into the exponent field by itself.
        const uint64_t biased = exponent < 1 ? rounded : rounded + (uint64_t(exponent - 1) << fraction);
        const bool truncates = mode == AscendC::RoundMode::CAST_TRUNC || mode == AscendC::RoundMode::CAST_ODD ||
                               (mode == AscendC::RoundMode::CAST_FLOOR && !negative) ||
                               (mode == AscendC::RoundMode::CAST_CEIL && negative);
        result = biased < infinity ? uint32_t(biased) : truncates ? infinity - 1 : infinity;
    }
    return uint16_t(result | (negative ? 0x8000u : 0u));
}

} // namespace sim

// Arithmetic on the scalar unit goes through float, as the device's compiler does.
struct half {
    uint16_t bits;

    half() = default;
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    half(T value) : bits(sim::floatToHalf(static_cast<float>(value)))
    {
    }
    operator float() const { return sim::halfToFloat(bits); }
};

struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    bfloat16_t(T value) : bits(sim::floatToBfloat16(static_cast<float>(value)))
    {
    }
    operator float() const { return sim::bfloat16ToFloat(bits); }
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2 && std::is_trivially_copyable_v<half>);
