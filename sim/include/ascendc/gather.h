// Gather (elements by byte offset) and GatherMask (compress by a pattern of bits).
//
// Sources: asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/离散与聚合/Gather.md and 比较与选择/GatherMask.md.
#pragma once

#include "vector.h"

namespace sim {

// srcOffset holds one 32-bit offset per element of dst; repeats take it contiguously.
template <typename T>
void runGather(Core& core, VectorInstr& in, const AscendC::LocalTensor<T>& src, uint32_t base)
{
    in.defines = Defines::Always;
    if (base % sizeof(T) != 0) {
        core.fail(in.api, cat("srcBaseOffset=", base, ", must be a multiple of ", sizeof(T)));
    }
    if (src.view().begin == in.op[0].view.begin) {
        core.fail(in.api, cat("dst and src are both UB ", src.view().begin, ", must differ"));
    }
    if (!begin(core, in, dtypeOf<T>())) {
        return;
    }
    const uint64_t limit = core.product().arch == 3002 && sizeof(T) == 2 ? uint64_t(1) << 17 : uint64_t(1) << 32;
    in.forEachRun([&](const uint32_t* at, uint32_t n) {
        core.requireDefined(in.api, "srcOffset", at[1], n * 4, "takes as offsets");
        core.touch(in, at, n);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t offset = core.ub<uint32_t>(at[1])[i];
            const uint64_t from = uint64_t(src.view().begin) + base + offset;
            if (offset % sizeof(T) != 0 || offset >= limit || from + sizeof(T) > src.view().end) {
                core.fail(in.api, cat("srcOffset[", i, "]=", offset, ", must be a multiple of ", sizeof(T), " below ",
                                      limit, " and inside src's ", src.view().end - src.view().begin, " bytes"));
                return;
            }
            const auto source = static_cast<uint32_t>(from);
            const uint32_t to = at[0] + i * uint32_t(sizeof(T));
            if (core.checking()) {
                core.read(in.api, V, "src", source, sizeof(T));
                core.copyDefinedness(to, source, sizeof(T));
            }
            *core.ub<T>(to) = *core.ub<T>(source);
        }
    });
}

template <typename T>
VectorInstr gatherInstr(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<uint32_t>& offset)
{
    VectorInstr in{Api::Gather};
    in.perRepeat = 256 / sizeof(T);
    in.op[0] = operandOf("dst", dst);
    in.op[1] = operandOf("srcOffset", offset, 1, in.perRepeat * 4 / kBlock);
    in.operands = 2;
    return in;
}

template <typename T, typename Mask>
void gatherMasked(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                  const AscendC::LocalTensor<uint32_t>& offset, uint32_t base, Mask mask, const U8& repeatTime,
                  const U16& dstRepStride)
{
    Core& core = sim::core();
    VectorInstr in = gatherInstr(dst, offset);
    in.op[0].repStride = dstRepStride;
    const bool masked = takeMask(core, in, mask, repeatTime, true);
    if (core.inRange(in.api, "dstRepStride", dstRepStride.given(), 0, 65535) && masked) {
        runGather(core, in, src, base);
    }
}

inline bool inPattern(uint8_t pattern, uint32_t element)
{
    switch (pattern) {
    case 1: return element % 2 == 0;
    case 2: return element % 2 == 1;
    case 7: return true;
    default: return element % 4 == pattern - 3u;
    }
}

// Calls selected(repeat, element) for every source element and packs those it takes.
template <typename T, typename Selected>
void compress(Core& core, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src, bool reduceMode,
              uint32_t mask, const AscendC::GatherMaskParams& p, uint64_t& kept, Selected selected)
{
    constexpr Api api = Api::GatherMask;
    kept = 0;
    core.trace().cores[core.index()].scalarCalls += 1;
    const bool supported = core.supports(api, dtypeOf<T>());
    if (!(core.inRange(api, {{"src0BlockStride", p.src0BlockStride.given(), 0, 255},
                             {"repeatTimes", p.repeatTimes.given(), 0, 65535},
                             {"src0RepeatStride", p.src0RepeatStride.given(), 0, 65535},
                             {"src1RepeatStride", p.src1RepeatStride.given(), 0, 255}}) &&
          supported)) {
        return;
    }
    const uint32_t perRepeat = reduceMode ? mask : 256 / sizeof(T);
    if (perRepeat == 0) {
        core.fail(api, "mask=0 in counter mode, must be at least 1");
        return;
    }
    enter(core, api, sizeof(T), uint32_t((uint64_t(p.repeatTimes) * perRepeat * sizeof(T) + 255) / 256));
    constexpr uint32_t perBlock = kBlock / sizeof(T);
    for (uint32_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        for (uint32_t e = 0; e < perRepeat; ++e) {
            const uint64_t from = src.view().begin +
                                  uint64_t(kBlock) * (uint64_t(repeat) * p.src0RepeatStride +
                                                      uint64_t(e / perBlock) * p.src0BlockStride) +
                                  e % perBlock * sizeof(T);
            const uint64_t to = dst.view().begin + kept * sizeof(T);
            if (!selected(repeat, e)) {
                continue;
            }
            if (!core.usable(api, "src0", src.view(), from, from + sizeof(T)) ||
                !core.usable(api, "dst", dst.view(), to, to + sizeof(T))) {
                return;
            }
            const auto source = static_cast<uint32_t>(from), target = static_cast<uint32_t>(to);
            if (core.checking()) {
                core.read(api, V, "src0", source, sizeof(T));
                core.write(api, V, "dst", target, sizeof(T));
                core.copyDefinedness(target, source, sizeof(T));
            }
            *core.ub<T>(target) = *core.ub<T>(source);
            ++kept;
        }
    }
    core.mask = {}; // back to normal mask mode
}

} // namespace sim

namespace AscendC {

template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint64_t mask, const sim::U8& repeatTime,
                   const sim::U16& dstRepStride)
{
    sim::gatherMasked(dst, src, srcOffset, srcBaseOffset, mask, repeatTime, dstRepStride);
}

template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint64_t mask[], const sim::U8& repeatTime,
                   const sim::U16& dstRepStride)
{
    sim::gatherMasked(dst, src, srcOffset, srcBaseOffset, mask, repeatTime, dstRepStride);
}

template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint32_t count)
{
    sim::Core& core = sim::core();
    sim::VectorInstr in = sim::gatherInstr(dst, srcOffset);
    if (core.product().arch == 2201 && count >= 256 * in.perRepeat) {
        core.fail(in.api, sim::cat("count=", count, ", must be below ", 256 * in.perRepeat,
                                   ": the library keeps the number of repeats in 8 bits"));
        return;
    }
    sim::takeCount(core, in, count);
    sim::runGather(core, in, src, srcBaseOffset);
}

template <typename T, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const sim::U8& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt)
{
    sim::Core& core = sim::core();
    if (core.inRange(sim::Api::GatherMask, "src1Pattern", src1Pattern.given(), 1, 7)) {
        sim::compress(core, dst, src0, reduceMode, mask, gatherMaskParams, rsvdCnt,
                      [&](uint32_t, uint32_t e) { return sim::inPattern(src1Pattern, e); });
    }
}

template <typename T, typename U, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt)
{
    static_assert(sizeof(T) == sizeof(U) && std::is_unsigned_v<U>, "the pattern is uint16_t or uint32_t, as wide as T");
    sim::Core& core = sim::core();
    sim::compress(core, dst, src0, reduceMode, mask, gatherMaskParams, rsvdCnt, [&](uint32_t repeat, uint32_t e) {
        const uint64_t at =
            src1Pattern.view().begin + uint64_t(repeat) * gatherMaskParams.src1RepeatStride * sim::kBlock + e / 8;
        if (!core.usable(sim::Api::GatherMask, "src1Pattern", src1Pattern.view(), at, at + 1)) {
            return false;
        }
        core.requireDefined(sim::Api::GatherMask, "src1Pattern", static_cast<uint32_t>(at), 1, "selects by");
        return (*core.ub<uint8_t>(static_cast<uint32_t>(at)) >> e % 8 & 1) != 0;
    });
}

} // namespace AscendC
