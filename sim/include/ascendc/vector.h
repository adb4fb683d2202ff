// Element-wise vector instructions: arithmetic, logic, Axpy, Duplicate, Copy; and the mask register.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "params.h"
#include "tensor.h"
#include "vector_instr.h"

namespace sim {

template <typename T>
Operand operandOf(const char* name, const AscendC::LocalTensor<T>& tensor, uint32_t blkStride = 1,
                  uint32_t repStride = 8)
{
    return {name, tensor.view(), sizeof(T), blkStride, repStride};
}

// The number-of-elements form. On Atlas A2 it is counter mode, which leaves a full mask behind.
inline void takeCount(Core& core, VectorInstr& in, int64_t count)
{
    if (count < 0) {
        core.fail(in.api, cat("count=", count, ", must be at least 0"));
        count = 0;
    }
    in.counter = true;
    in.total = static_cast<uint64_t>(count);
    for (int k = 0; k < in.operands; ++k) {
        in.op[k].repStride = in.perRepeat * in.op[k].elemBytes / kBlock;
    }
    if (core.product().arch == 2201) {
        core.mask = {};
    }
}

// The mask register as it stands, in the mode it is in.
inline void takeRegister(Core& core, VectorInstr& in)
{
    if (core.mask.counter) {
        in.counter = true;
        in.total = core.mask.low;
        return;
    }
    in.bits[0] = core.mask.low;
    in.bits[1] = in.perRepeat > 64 ? core.mask.high : 0;
    uint32_t ones = 0;
    while (ones < in.perRepeat && in.selected(ones)) {
        ++ones;
    }
    uint32_t rest = ones;
    while (rest < in.perRepeat && !in.selected(rest)) {
        ++rest;
    }
    in.prefix = rest == in.perRepeat ? ones : 0;
}

inline void setContiguousMask(Core& core, uint64_t elements)
{
    core.mask.low = elements >= 64 ? ~uint64_t(0) : (uint64_t(1) << elements) - 1;
    core.mask.high = elements >= 128 ? ~uint64_t(0) : elements > 64 ? (uint64_t(1) << (elements - 64)) - 1 : 0;
}

// The high-dimensional forms: a mask of the first `mask` elements, or one bit per element.
inline bool takeMask(Core& core, VectorInstr& in, uint64_t mask, const U8& repeatTime, bool isSetMask)
{
    if (isSetMask && core.mask.counter) {
        core.mask.low = mask;
    } else if (isSetMask) {
        if (!core.inRange(in.api, "mask", static_cast<int64_t>(mask), 0, in.perRepeat)) {
            return false;
        }
        setContiguousMask(core, mask);
    }
    in.repeats = repeatTime;
    takeRegister(core, in);
    return core.inRange(in.api, "repeatTime", repeatTime.given(), 0, 255);
}

inline bool takeMask(Core& core, VectorInstr& in, const uint64_t mask[], const U8& repeatTime, bool isSetMask)
{
    if (isSetMask) {
        core.mask.low = mask[0];
        core.mask.high = mask[1];
        if (!core.mask.counter && in.perRepeat <= 64 && mask[1] != 0) {
            core.fail(in.api, cat("mask[1]=", hex(mask[1]), ", must be 0: a repeat has ", in.perRepeat, " elements"));
        }
    }
    in.repeats = repeatTime;
    takeRegister(core, in);
    return core.inRange(in.api, "repeatTime", repeatTime.given(), 0, 255);
}

inline bool takeStrides(Core& core, const VectorInstr& in, const AscendC::BinaryRepeatParams& p)
{
    return core.inRange(in.api, {{"dstBlkStride", p.dstBlkStride.given(), 0, 255},
                                 {"src0BlkStride", p.src0BlkStride.given(), 0, 255},
                                 {"src1BlkStride", p.src1BlkStride.given(), 0, 255},
                                 {"dstRepStride", p.dstRepStride.given(), 0, 255},
                                 {"src0RepStride", p.src0RepStride.given(), 0, 255},
                                 {"src1RepStride", p.src1RepStride.given(), 0, 255}});
}

inline bool takeStrides(Core& core, const VectorInstr& in, const AscendC::UnaryRepeatParams& p)
{
    return core.inRange(in.api, {{"dstBlkStride", p.dstBlkStride.given(), 0, 65535},
                                 {"srcBlkStride", p.srcBlkStride.given(), 0, 65535},
                                 {"dstRepStride", p.dstRepStride.given(), 0, 255},
                                 {"srcRepStride", p.srcRepStride.given(), 0, 255}});
}

template <typename T, typename Function>
void runBinary(Core& core, VectorInstr& in, Function function)
{
    if (!begin(core, in, dtypeOf<T>())) {
        return;
    }
    in.forEachRun([&](const uint32_t* at, uint32_t n) {
        core.touch(in, at, n);
        T* dst = core.ub<T>(at[0]);
        const T *a = core.ub<T>(at[1]), *b = core.ub<T>(at[2]);
        SIM_INDEPENDENT
        for (uint32_t i = 0; i < n; ++i) {
            dst[i] = function(a[i], b[i]);
        }
    });
}

// dst = function(src), or function(src, dst) of an instruction that accumulates.
template <typename T, typename U, typename Function>
void runUnary(Core& core, VectorInstr& in, Dtype dtype, Function function)
{
    if (!begin(core, in, dtype)) {
        return;
    }
    in.forEachRun([&](const uint32_t* at, uint32_t n) {
        core.touch(in, at, n);
        T* dst = core.ub<T>(at[0]);
        const U* src = core.ub<U>(at[1]);
        SIM_INDEPENDENT
        for (uint32_t i = 0; i < n; ++i) {
            if constexpr (std::is_invocable_v<Function, U, T>) {
                dst[i] = function(src[i], dst[i]);
            } else {
                dst[i] = function(src[i]);
            }
        }
    });
}

template <typename T>
VectorInstr binaryInstr(Api api, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                        const AscendC::LocalTensor<T>& src1)
{
    VectorInstr in{api};
    in.op[0] = operandOf("dst", dst);
    in.op[1] = operandOf("src0", src0);
    in.op[2] = operandOf("src1", src1);
    in.operands = 3;
    in.perRepeat = 256 / sizeof(T);
    in.foldsRepeats = api <= Api::Min && (dtypeOf<T>() & (kF16 | kI32 | kF32)) != 0;
    in.defines = api == Api::And ? Defines::ByBitsAnd : api == Api::Or ? Defines::ByBitsOr : Defines::FromSources;
    return in;
}

template <typename T, typename U>
VectorInstr unaryInstr(Api api, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& src)
{
    VectorInstr in{api};
    in.op[0] = operandOf("dst", dst, 1, sizeof(T) >= sizeof(U) ? 8 : 8 * sizeof(T) / sizeof(U));
    in.op[1] = operandOf("src", src, 1, sizeof(U) >= sizeof(T) ? 8 : 8 * sizeof(U) / sizeof(T));
    in.operands = 2;
    in.perRepeat = 256 / (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U));
    return in;
}

inline void setStrides(VectorInstr& in, const AscendC::BinaryRepeatParams& p)
{
    in.op[0].blkStride = p.dstBlkStride, in.op[0].repStride = p.dstRepStride;
    in.op[1].blkStride = p.src0BlkStride, in.op[1].repStride = p.src0RepStride;
    in.op[2].blkStride = p.src1BlkStride, in.op[2].repStride = p.src1RepStride;
}

inline void setStrides(VectorInstr& in, const AscendC::UnaryRepeatParams& p)
{
    in.op[0].blkStride = p.dstBlkStride, in.op[0].repStride = p.dstRepStride;
    in.op[1].blkStride = p.srcBlkStride, in.op[1].repStride = p.srcRepStride;
}

// Integers wrap; half goes through float, exactly rounded once.
struct AddOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return wrap<T>(a, b, [](auto x, auto y) { return x + y; });
    }
    template <typename T, typename F>
    static T wrap(T a, T b, F f)
    {
        if constexpr (std::is_integral_v<T>) {
            using Wide = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;
            return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
        } else {
            return T(f(static_cast<float>(a), static_cast<float>(b)));
        }
    }
};
struct SubOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return AddOf::wrap<T>(a, b, [](auto x, auto y) { return x - y; });
    }
};
struct MulOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return AddOf::wrap<T>(a, b, [](auto x, auto y) { return x * y; });
    }
};
// NaN handling of Max and Min is not documented; a NaN in either operand gives NaN here.
struct MaxOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return a != a ? a : b != b ? b : a < b ? b : a;
    }
};
struct MinOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return a != a ? a : b != b ? b : b < a ? b : a;
    }
};
struct AndOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(a & b);
    }
};
struct OrOf {
    template <typename T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(a | b);
    }
};

} // namespace sim

namespace AscendC {

template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow)
{
    sim::core().mask.high = maskHigh;
    sim::core().mask.low = maskLow;
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t len)
{
    if (mode == MaskMode::COUNTER || sim::core().mask.counter) {
        sim::core().mask.high = 0;
        sim::core().mask.low = static_cast<uint64_t>(len);
    } else {
        sim::setContiguousMask(sim::core(), static_cast<uint64_t>(len));
    }
}

inline void ResetMask()
{
    sim::core().mask.high = sim::core().mask.low = ~uint64_t(0);
}
inline void SetMaskCount()
{
    sim::core().mask.counter = true;
}
inline void SetMaskNorm()
{
    sim::core().mask.counter = false;
}

// The three forms of a two-operand instruction.
#define SIM_BINARY(Name)                                                                                               \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     uint64_t mask[], const sim::U8& repeatTime, const BinaryRepeatParams& repeatParams)               \
    {                                                                                                                  \
        sim::binaryMask<T, sim::Name##Of, isSetMask>(sim::Api::Name, dst, src0, src1, mask, repeatTime, repeatParams); \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask, \
                     const sim::U8& repeatTime, const BinaryRepeatParams& repeatParams)                                \
    {                                                                                                                  \
        sim::binaryMask<T, sim::Name##Of, isSetMask>(sim::Api::Name, dst, src0, src1, mask, repeatTime, repeatParams); \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const int32_t& count)                                                                             \
    {                                                                                                                  \
        sim::VectorInstr in = sim::binaryInstr(sim::Api::Name, dst, src0, src1);                                       \
        sim::takeCount(sim::core(), in, count);                                                                        \
        sim::runBinary<T>(sim::core(), in, sim::Name##Of());                                                           \
    }

} // namespace AscendC

namespace sim {

template <typename T, typename Function, bool isSetMask, typename Mask>
void binaryMask(Api api, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                const AscendC::LocalTensor<T>& src1, Mask mask, const U8& repeatTime,
                const AscendC::BinaryRepeatParams& p)
{
    Core& core = sim::core();
    VectorInstr in = binaryInstr(api, dst, src0, src1);
    setStrides(in, p);
    const bool masked = takeMask(core, in, mask, repeatTime, isSetMask);
    if (takeStrides(core, in, p) && masked) {
        runBinary<T>(core, in, Function());
    }
}

// The common part of one-operand instructions in the mask forms; false: do not run it.
template <typename T, typename U, typename Mask>
bool unaryMask(Core& core, VectorInstr& in, Mask mask, const U8& repeatTime, const AscendC::UnaryRepeatParams& p,
               bool isSetMask)
{
    setStrides(in, p);
    const bool masked = takeMask(core, in, mask, repeatTime, isSetMask);
    return takeStrides(core, in, p) && masked;
}

} // namespace sim

namespace AscendC {

SIM_BINARY(Add)
SIM_BINARY(Sub)
SIM_BINARY(Mul)
SIM_BINARY(Max)
SIM_BINARY(Min)
SIM_BINARY(And)
SIM_BINARY(Or)
#undef SIM_BINARY

// The three forms of an instruction with a scalar.
#define SIM_SCALAR(Name, function)                                                                                     \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask[],      \
                     const sim::U8& repeatTime, const UnaryRepeatParams& repeatParams)                                 \
    {                                                                                                                  \
        sim::VectorInstr in = sim::unaryInstr(sim::Api::Name, dst, src);                                               \
        if (sim::unaryMask<T, T>(sim::core(), in, mask, repeatTime, repeatParams, isSetMask)) {                        \
            sim::runUnary<T, T>(sim::core(), in, sim::dtypeOf<T>(),                                                    \
                                [scalarValue](T x) { return function()(x, scalarValue); });                            \
        }                                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask,        \
                     const sim::U8& repeatTime, const UnaryRepeatParams& repeatParams)                                 \
    {                                                                                                                  \
        sim::VectorInstr in = sim::unaryInstr(sim::Api::Name, dst, src);                                               \
        if (sim::unaryMask<T, T>(sim::core(), in, mask, repeatTime, repeatParams, isSetMask)) {                        \
            sim::runUnary<T, T>(sim::core(), in, sim::dtypeOf<T>(),                                                    \
                                [scalarValue](T x) { return function()(x, scalarValue); });                            \
        }                                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count) \
    {                                                                                                                  \
        sim::VectorInstr in = sim::unaryInstr(sim::Api::Name, dst, src);                                               \
        sim::takeCount(sim::core(), in, count);                                                                        \
        sim::runUnary<T, T>(sim::core(), in, sim::dtypeOf<T>(),                                                        \
                            [scalarValue](T x) { return function()(x, scalarValue); });                                \
    }

SIM_SCALAR(Adds, sim::AddOf)
SIM_SCALAR(Muls, sim::MulOf)
#undef SIM_SCALAR

} // namespace AscendC
