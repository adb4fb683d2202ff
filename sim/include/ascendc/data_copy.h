// DataCopy and DataCopyPad: moves between global memory and UB, and within UB on Atlas A2.
#pragma once

#include <cstdint>

#include "dma.h"
#include "params.h"
#include "tensor.h"
#include "vector_instr.h"

namespace sim {

constexpr int64_t kMaxBlockCount = 4095;
constexpr int64_t kMaxBlockBytes = 2097151;

template <typename T>
Move moveOf(Api api, uint32_t count, uint64_t bytes)
{
    Move move{api};
    move.count = count;
    move.bytes = static_cast<uint32_t>(bytes);
    move.elemBytes = sizeof(T);
    move.dtype = dtypeOf<T>();
    return move;
}

// DataCopy moves whole 32-byte blocks; the device drops the rest silently.
template <typename T>
uint32_t wholeBlocks(Core& core, Api api, uint32_t count)
{
    const uint64_t bytes = uint64_t(count) * sizeof(T);
    if (bytes % kBlock != 0) {
        core.fail(api, cat("count=", count, " of ", sizeof(T), "-byte elements is ", bytes,
                           " bytes, must be a multiple of ", kBlock, ": the device drops the rest"));
    }
    return static_cast<uint32_t>(bytes / kBlock * kBlock);
}

template <typename T>
void checkGmAlign(Core& core, Api api, uint64_t offset)
{
    if (offset % sizeof(T) != 0) {
        core.fail(api,
                  cat("the GM address is ", offset, " bytes into its argument, must be a multiple of ", sizeof(T)));
    }
}

inline bool checkStrided(Core& core, Api api, const AscendC::DataCopyParams& p)
{
    return core.inRange(api, {{"blockCount", p.blockCount.given(), 0, kMaxBlockCount},
                              {"blockLen", p.blockLen.given(), 0, 65535},
                              {"srcGap", p.srcGap.given(), 0, 65535},
                              {"dstGap", p.dstGap.given(), 0, 65535}});
}

// blockCount or blockLen 0 is documented as doing nothing on Atlas A2 only.
inline bool isNop(Core& core, Api api, int64_t blockCount, int64_t blockLen)
{
    if (blockCount != 0 && blockLen != 0) {
        return false;
    }
    if (core.product().arch != 2201) {
        core.fail(api, cat("blockCount=", blockCount, ", blockLen=", blockLen,
                           ": the effect of 0 is not documented for ", core.product().name));
    }
    return true;
}

template <typename T>
bool checkPadded(Core& core, Api api, const AscendC::DataCopyExtParams& p, AscendC::TPosition position)
{
    bool good = core.inRange(api, {{"blockCount", p.blockCount.given(), 0, kMaxBlockCount},
                                   {"blockLen", p.blockLen.given(), 0, kMaxBlockBytes},
                                   {"srcStride", p.srcStride.given(), 0, 0xffffffffLL},
                                   {"dstStride", p.dstStride.given(), 0, 0xffffffffLL}});
    if (p.blockLen % sizeof(T) != 0) {
        core.fail(api,
                  cat("blockLen=", p.blockLen.given(), ", must be a multiple of the element's ", sizeof(T), " bytes"));
    }
    if (position == AscendC::TPosition::VECCALC) {
        core.fail(api, "the UB tensor is VECCALC, must be VECIN or VECOUT");
    }
    return good;
}

} // namespace sim

namespace AscendC {

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams)
{
    sim::Core& core = sim::core();
    constexpr sim::Api api = sim::Api::DataCopyIn;
    sim::checkGmAlign<T>(core, api, src.byteOffset());
    if (!sim::checkStrided(core, api, repeatParams)) {
        return;
    }
    sim::Move move = sim::moveOf<T>(api, repeatParams.blockCount, uint64_t(repeatParams.blockLen) * sim::kBlock);
    move.gmPitch = move.bytes + uint64_t(repeatParams.srcGap) * sim::kBlock;
    move.ubPitch = move.bytes + uint64_t(repeatParams.dstGap) * sim::kBlock;
    sim::load(dst.view(), src.view(), src.byteOffset(), move, {});
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams)
{
    sim::Core& core = sim::core();
    constexpr sim::Api api = sim::Api::DataCopyOut;
    sim::checkGmAlign<T>(core, api, dst.byteOffset());
    if (!sim::checkStrided(core, api, repeatParams)) {
        return;
    }
    sim::Move move = sim::moveOf<T>(api, repeatParams.blockCount, uint64_t(repeatParams.blockLen) * sim::kBlock);
    move.gmPitch = move.bytes + uint64_t(repeatParams.dstGap) * sim::kBlock;
    move.ubPitch = move.bytes + uint64_t(repeatParams.srcGap) * sim::kBlock;
    sim::store(dst.view(), dst.byteOffset(), src.view(), move);
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count)
{
    constexpr sim::Api api = sim::Api::DataCopyIn;
    sim::checkGmAlign<T>(sim::core(), api, src.byteOffset());
    const sim::Move move = sim::moveOf<T>(api, 1, sim::wholeBlocks<T>(sim::core(), api, count));
    sim::load(dst.view(), src.view(), src.byteOffset(), move, {});
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count)
{
    constexpr sim::Api api = sim::Api::DataCopyOut;
    sim::checkGmAlign<T>(sim::core(), api, dst.byteOffset());
    const sim::Move move = sim::moveOf<T>(api, 1, sim::wholeBlocks<T>(sim::core(), api, count));
    sim::store(dst.view(), dst.byteOffset(), src.view(), move);
}

// UB to UB: bursts of blocks on the vector pipe.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams)
{
    sim::Core& core = sim::core();
    constexpr sim::Api api = sim::Api::DataCopyUb;
    if (!sim::checkStrided(core, api, repeatParams)) {
        return;
    }
    const uint32_t bytes = repeatParams.blockLen * sim::kBlock;
    for (uint32_t i = 0; i < repeatParams.blockCount; ++i) {
        sim::VectorInstr in{api};
        const uint32_t dstAt = i * (bytes + repeatParams.dstGap * sim::kBlock);
        const uint32_t srcAt = i * (bytes + repeatParams.srcGap * sim::kBlock);
        in.op[0] = {"dst", dst.view()};
        in.op[1] = {"src", src.view()};
        in.op[0].view.begin += dstAt;
        in.op[1].view.begin += srcAt;
        in.operands = 2;
        in.perRepeat = 256;
        in.counter = true;
        in.total = bytes;
        if (!sim::begin(core, in, sim::dtypeOf<T>())) {
            return;
        }
        in.forEachRun([&](const uint32_t* at, uint32_t n) {
            core.touch(in, at, n);
            std::memmove(core.ub<uint8_t>(at[0]), core.ub<uint8_t>(at[1]), n);
        });
    }
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count)
{
    const uint32_t bytes = sim::wholeBlocks<T>(sim::core(), sim::Api::DataCopyUb, count);
    DataCopy(dst, src, DataCopyParams(1, bytes / sim::kBlock, 0, 0));
}

template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<T>& padParams)
{
    sim::Core& core = sim::core();
    constexpr sim::Api api = sim::Api::DataCopyPadIn;
    const DataCopyExtParams& p = dataCopyParams;
    constexpr int64_t mostElements = sim::kBlock / sizeof(T);
    const bool moves = sim::checkPadded<T>(core, api, p, dst.view().position);
    const bool good = moves && core.inRange(api, {{"leftPadding", padParams.leftPadding.given(), 0, mostElements},
                                                  {"rightPadding", padParams.rightPadding.given(), 0, mostElements}});
    if (!good || sim::isNop(core, api, p.blockCount, p.blockLen)) {
        return;
    }
    sim::Padding padding;
    padding.given = padParams.isPad;
    padding.left = padParams.leftPadding * uint32_t(sizeof(T));
    padding.right = padParams.rightPadding * uint32_t(sizeof(T));
    std::memcpy(&padding.value, &padParams.paddingValue, sizeof(T));
    if (sizeof(T) == 8 && padding.value != 0) {
        core.fail(api, "paddingValue of a 64-bit type must be 0");
    }
    sim::Move move = sim::moveOf<T>(api, p.blockCount, p.blockLen);
    const uint64_t footprint = (uint64_t(padding.left) + move.bytes + padding.right + 31) / sim::kBlock * sim::kBlock;
    move.gmPitch = uint64_t(move.bytes) + p.srcStride;
    move.ubPitch = footprint + uint64_t(p.dstStride) * sim::kBlock;
    sim::load(dst.view(), src.view(), src.byteOffset(), move, padding);
}

template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams)
{
    sim::Core& core = sim::core();
    constexpr sim::Api api = sim::Api::DataCopyPadOut;
    const DataCopyExtParams& p = dataCopyParams;
    if (!sim::checkPadded<T>(core, api, p, src.view().position) || sim::isNop(core, api, p.blockCount, p.blockLen)) {
        return;
    }
    sim::Move move = sim::moveOf<T>(api, p.blockCount, p.blockLen);
    move.gmPitch = uint64_t(move.bytes) + p.dstStride;
    move.ubPitch = (uint64_t(move.bytes) + 31) / sim::kBlock * sim::kBlock + uint64_t(p.srcStride) * sim::kBlock;
    sim::store(dst.view(), dst.byteOffset(), src.view(), move);
}

// The older overloads: the same moves with every field 16 bits wide.
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        const DataCopyPadParams& padParams)
{
    if (!sim::checkStrided(sim::core(), sim::Api::DataCopyPadIn, dataCopyParams)) {
        return;
    }
    T value;
    std::memcpy(&value, &padParams.paddingValue, sizeof(T));
    const DataCopyExtParams wide(dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
                                 dataCopyParams.dstStride, 0);
    DataCopyPad(dst, src, wide,
                DataCopyPadExtParams<T>(padParams.isPad, padParams.leftPadding, padParams.rightPadding, value));
}

template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams)
{
    if (!sim::checkStrided(sim::core(), sim::Api::DataCopyPadOut, dataCopyParams)) {
        return;
    }
    DataCopyPad(dst, src,
                DataCopyExtParams(dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
                                  dataCopyParams.dstStride, 0));
}

template <typename T, TPosition pos = TPosition::MAX>
inline void SetPadValue(T paddingValue)
{
    sim::core().padValue = 0;
    std::memcpy(&sim::core().padValue, &paddingValue, sizeof(T));
    sim::core().padValueSet = true;
}

} // namespace AscendC
