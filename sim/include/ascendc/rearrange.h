// TransDataTo5HD: transposition of 16 blocks per repeat.
//
// 16-bit: 16 rows of 16 elements become 16 rows of 16. 32-bit: 16 rows of 8 become 8 rows of 16, each in two
// blocks (entries 2j and 2j+1 of the destination list). 8-bit: one half of each block. Lanes a kernel does not use
// may hold anything, so undefined elements travel with their lane. Source: asc-devkit,
// docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据排布转换/TransDataTo5HD.md.
#pragma once

#include <cstdint>
#include <cstring>

#include "vector.h"

namespace sim {

constexpr int kRows = AscendC::NCHW_CONV_ADDR_LIST_SIZE;

// Element e of source row r goes to element (second) of destination row (first).
template <typename T>
constexpr std::pair<int, int> transposed(int r, int e)
{
    if constexpr (sizeof(T) == 4) {
        return {2 * e + r / 8, r % 8};
    } else {
        return {e, r};
    }
}

struct Transposition {
    UbView dst[kRows], src[kRows];
    AscendC::TransDataTo5HDParams params;
};

inline bool checkTransposition(Core& core, const Transposition& t)
{
    constexpr Api api = Api::TransDataTo5HD;
    const AscendC::TransDataTo5HDParams& p = t.params;
    bool good = core.inRange(api, {{"repeatTimes", p.repeatTimes.given(), 0, 255},
                                   {"dstRepStride", p.dstRepStride.given(), 0, 65535},
                                   {"srcRepStride", p.srcRepStride.given(), 0, 65535}});
    if (p.repeatTimes == 1 && (p.dstRepStride != 0 || p.srcRepStride != 0)) {
        core.fail(api, cat("dstRepStride=", p.dstRepStride.given(), ", srcRepStride=", p.srcRepStride.given(),
                           " with repeatTimes=1, must be 0: the device adds them to the addresses"));
    }
    const uint64_t last = p.repeatTimes == 1 ? 1 : p.repeatTimes - 1u;
    for (int i = 0; i < kRows && good && p.repeatTimes != 0; ++i) {
        for (const bool isDst : {true, false}) {
            const UbView& view = isDst ? t.dst[i] : t.src[i];
            const uint64_t end = view.begin + kBlock * (last * (isDst ? p.dstRepStride : p.srcRepStride) + 1);
            if (view.begin % kBlock != 0) {
                core.fail(api,
                          cat(isDst ? "dst" : "src", "List[", i, "]=", view.begin, ", must be a multiple of ", kBlock));
                good = false;
            } else if (isDst || end > view.end) {
                good = core.usable(api, isDst ? "dstList" : "srcList", view, view.begin, end) && good;
            }
        }
    }
    return good && p.repeatTimes != 0;
}

// Definedness element by element, for blocks that are not whole.
template <typename T>
void transposeDefinedness(Core& core, const uint32_t* dst, const uint32_t* src, int srcHalf, int dstHalf, int perRow)
{
    bool defined[kRows][kRows];
    for (int r = 0; r < kRows; ++r) {
        for (int e = 0; e < perRow; ++e) {
            defined[r][e] = core.defined(src[r] + uint32_t(e + srcHalf) * sizeof(T), sizeof(T));
        }
    }
    for (int r = 0; r < kRows; ++r) {
        for (int e = 0; e < perRow; ++e) {
            const auto [row, column] = transposed<T>(r, e);
            const uint32_t at = dst[row] + uint32_t(column + dstHalf) * sizeof(T);
            if (defined[r][e]) {
                core.define(at, sizeof(T));
            } else {
                core.undefine(at, at + sizeof(T), core.originOf(src[r]));
            }
        }
    }
}

template <typename T>
void transposeOnce(Core& core, const uint32_t* dst, const uint32_t* src, int srcHalf, int dstHalf)
{
    constexpr int perRow = sizeof(T) == 1 ? kRows : int(kBlock / sizeof(T));
    T rows[kRows][perRow], columns[kRows][perRow];
    for (int r = 0; r < kRows; ++r) {
        std::memcpy(rows[r], core.ub<T>(src[r]) + srcHalf, sizeof rows[r]);
    }
    for (int r = 0; r < kRows; ++r) {
        for (int e = 0; e < perRow; ++e) {
            const auto [row, column] = transposed<T>(r, e);
            columns[row][column] = rows[r][e];
        }
    }
    for (int r = 0; r < kRows; ++r) {
        std::memcpy(core.ub<T>(dst[r]) + dstHalf, columns[r], sizeof columns[r]);
    }
}

// Calls visit(begin, bytes) for the blocks of 16 rows over all repeats, in as few pieces as they form.
template <typename Visit>
void forEachRange(const UbView (&rows)[kRows], uint32_t stride, uint32_t repeats, Visit&& visit)
{
    bool consecutive = true;
    for (int i = 1; i < kRows; ++i) {
        consecutive = consecutive && rows[i].begin == rows[0].begin + uint32_t(i) * kBlock;
    }
    if (repeats == 1) {
        for (const UbView& row : rows) {
            visit(row.begin + stride * kBlock, kBlock); // documented: one repeat begins a stride further
        }
    } else if (consecutive && stride == kRows) {
        visit(rows[0].begin, repeats * kRows * kBlock);
    } else {
        for (const UbView& row : rows) {
            for (uint32_t repeat = 0; stride != 1 && repeat < repeats; ++repeat) {
                visit(row.begin + repeat * stride * kBlock, kBlock);
            }
            if (stride == 1) {
                visit(row.begin, repeats * kBlock);
            }
        }
    }
}

template <typename T>
void transpose(const Transposition& t)
{
    Core& core = sim::core();
    constexpr Api api = Api::TransDataTo5HD;
    core.trace().cores[core.index()].scalarCalls += 1;
    if (!core.supports(api, dtypeOf<T>()) || !checkTransposition(core, t)) {
        return;
    }
    const uint32_t repeats = t.params.repeatTimes, dstStride = t.params.dstRepStride, srcStride = t.params.srcRepStride;
    enter(core, api, sizeof(T), 2 * repeats); // 512 bytes each
    const int srcHalf = sizeof(T) == 1 && t.params.srcHighHalf ? 16 : 0;
    const int dstHalf = sizeof(T) == 1 && t.params.dstHighHalf ? 16 : 0;
    constexpr int perRow = sizeof(T) == 1 ? kRows : int(kBlock / sizeof(T));
    bool whole = sizeof(T) != 1;
    if (core.checking()) {
        forEachRange(t.src, srcStride, repeats, [&](uint32_t begin, uint32_t bytes) {
            core.read(api, V, "srcList", begin, bytes);
            whole = whole && core.defined(begin, bytes);
        });
        forEachRange(t.dst, dstStride, repeats, [&](uint32_t begin, uint32_t bytes) {
            core.write(api, V, "dstList", begin, bytes);
            if (whole) {
                core.define(begin, bytes);
            }
        });
    }
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        const uint32_t step = repeats == 1 ? 1 : repeat;
        uint32_t dst[kRows], src[kRows];
        for (int i = 0; i < kRows; ++i) {
            dst[i] = t.dst[i].begin + step * dstStride * kBlock;
            src[i] = t.src[i].begin + step * srcStride * kBlock;
        }
        if (core.checking() && !whole) {
            transposeDefinedness<T>(core, dst, src, srcHalf, dstHalf, perRow);
        }
        transposeOnce<T>(core, dst, src, srcHalf, dstHalf);
    }
}

} // namespace sim

namespace AscendC {

template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams)
{
    sim::Transposition t;
    t.params = nchwconvParams;
    for (int i = 0; i < sim::kRows; ++i) {
        t.dst[i] = dstList[i].view();
        t.src[i] = srcList[i].view();
    }
    sim::transpose<T>(t);
}

template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams)
{
    sim::Transposition t;
    t.params = nchwconvParams;
    for (int i = 0; i < sim::kRows; ++i) {
        t.dst[i] = sim::core().viewOfAddress(dstList[i]);
        t.src[i] = sim::core().viewOfAddress(srcList[i]);
    }
    sim::transpose<T>(t);
}

template <typename T>
inline void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                           const TransDataTo5HDParams& nchwconvParams)
{
    uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], srcList[NCHW_CONV_ADDR_LIST_SIZE];
    for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dstList[i] = dst.GetValue(i);
        srcList[i] = src.GetValue(i);
    }
    TransDataTo5HD<T>(dstList, srcList, nchwconvParams);
}

} // namespace AscendC
