// Axpy, Duplicate and Copy.
#pragma once

#include "vector.h"

namespace sim {

// dst += scalar * src. The product of two halves is exact in float; float products round once more.
template <typename T, typename U>
void runAxpy(Core& core, VectorInstr& in, const U& scalar)
{
    in.accumulates = true;
    const auto s = static_cast<float>(scalar);
    if (dtypeOf<T>() != dtypeOf<U>() && !(dtypeOf<T>() == kF32 && dtypeOf<U>() == kF16)) {
        core.fail(in.api, cat(dtypeName(dtypeOf<U>()), " to ", dtypeName(dtypeOf<T>()), " is not supported"));
        return;
    }
    runUnary<T, U>(core, in, dtypeOf<U>(),
                   [s](U x, T sum) { return static_cast<T>(static_cast<float>(sum) + s * static_cast<float>(x)); });
}

// impl/basic_api/dav_m300/kernel_operator_vec_ternary_scalar_impl.h loads the half operand with a 32-bit predicate
// in the mask forms: every odd element is lost, silently.
template <typename T, typename U>
bool axpyMaskFaulty(Core& core)
{
    if (core.product().arch == 2201 || sizeof(T) == sizeof(U)) {
        return false;
    }
    core.fail(Api::Axpy, cat("the mask form of half to float loses every odd element on ", core.product().name,
                             ": use the count form"));
    return true;
}

template <typename T>
void runDuplicate(Core& core, VectorInstr& in, const T& value)
{
    in.defines = Defines::Always;
    if (!begin(core, in, dtypeOf<T>())) {
        return;
    }
    in.forEachRun([&](const uint32_t* at, uint32_t n) {
        core.touch(in, at, n);
        std::fill_n(core.ub<T>(at[0]), n, value);
    });
}

template <typename T>
VectorInstr duplicateInstr(const AscendC::LocalTensor<T>& dst)
{
    VectorInstr in{Api::Duplicate};
    in.op[0] = operandOf("dst", dst);
    in.perRepeat = 256 / sizeof(T);
    return in;
}

template <typename T, typename Mask>
void duplicateMask(const AscendC::LocalTensor<T>& dst, const T& value, Mask mask, const U8& repeatTime,
                   const U16& dstBlockStride, const U8& dstRepeatStride, bool isSetMask)
{
    Core& core = sim::core();
    VectorInstr in = duplicateInstr(dst);
    in.op[0].blkStride = dstBlockStride;
    in.op[0].repStride = dstRepeatStride;
    const bool masked = takeMask(core, in, mask, repeatTime, isSetMask);
    if (core.inRange(in.api, {{"dstBlockStride", dstBlockStride.given(), 0, 65535},
                              {"dstRepeatStride", dstRepeatStride.given(), 0, 255}}) &&
        masked) {
        runDuplicate(core, in, value);
    }
}

template <typename T, typename Mask>
void copyMask(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src, Mask mask, const U8& repeatTime,
              const AscendC::CopyRepeatParams& p, bool isSetMask)
{
    Core& core = sim::core();
    VectorInstr in = unaryInstr(Api::Copy, dst, src);
    in.op[0].blkStride = p.dstStride, in.op[0].repStride = p.dstRepeatSize;
    in.op[1].blkStride = p.srcStride, in.op[1].repStride = p.srcRepeatSize;
    const bool masked = takeMask(core, in, mask, repeatTime, isSetMask);
    if (core.inRange(in.api, {{"dstStride", p.dstStride.given(), 0, 65535},
                              {"srcStride", p.srcStride.given(), 0, 65535},
                              {"dstRepeatSize", p.dstRepeatSize.given(), 0, 4095},
                              {"srcRepeatSize", p.srcRepeatSize.given(), 0, 4095}}) &&
        masked) {
        runUnary<T, T>(core, in, dtypeOf<T>(), [](T x) { return x; });
    }
}

} // namespace sim

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask,
                 const sim::U8& repeatTime, const UnaryRepeatParams& repeatParams)
{
    sim::VectorInstr in = sim::unaryInstr(sim::Api::Axpy, dst, src);
    if (!sim::axpyMaskFaulty<T, U>(sim::core()) &&
        sim::unaryMask<T, U>(sim::core(), in, mask, repeatTime, repeatParams, isSetMask)) {
        sim::runAxpy<T, U>(sim::core(), in, scalarValue);
    }
}

template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask[],
                 const sim::U8& repeatTime, const UnaryRepeatParams& repeatParams)
{
    sim::VectorInstr in = sim::unaryInstr(sim::Api::Axpy, dst, src);
    if (!sim::axpyMaskFaulty<T, U>(sim::core()) &&
        sim::unaryMask<T, U>(sim::core(), in, mask, repeatTime, repeatParams, isSetMask)) {
        sim::runAxpy<T, U>(sim::core(), in, scalarValue);
    }
}

template <typename T, typename U>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count)
{
    sim::VectorInstr in = sim::unaryInstr(sim::Api::Axpy, dst, src);
    sim::takeCount(sim::core(), in, count);
    sim::runAxpy<T, U>(sim::core(), in, scalarValue);
}

template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask, const sim::U8& repeatTime,
                      const sim::U16& dstBlockStride, const sim::U8& dstRepeatStride)
{
    sim::duplicateMask(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride, isSetMask);
}

template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[], const sim::U8& repeatTime,
                      const sim::U16& dstBlockStride, const sim::U8& dstRepeatStride)
{
    sim::duplicateMask(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride, isSetMask);
}

template <typename T>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count)
{
    sim::VectorInstr in = sim::duplicateInstr(dst);
    sim::takeCount(sim::core(), in, count);
    sim::runDuplicate(sim::core(), in, scalarValue);
}

template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const sim::U8& repeatTime,
                 const CopyRepeatParams& repeatParams)
{
    sim::copyMask(dst, src, mask, repeatTime, repeatParams, isSetMask);
}

template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask, const sim::U8& repeatTime,
                 const CopyRepeatParams& repeatParams)
{
    sim::copyMask(dst, src, mask, repeatTime, repeatParams, isSetMask);
}

} // namespace AscendC
