// A vector instruction: its operands and the elements it takes, repeat by repeat.
//
// One repeat is 256 bytes of the widest operand: 8 blocks of 32 bytes, blkStride blocks apart; repeats follow
// repStride blocks apart. A narrower operand uses fewer blocks per repeat. Source: asc-devkit,
// docs/zh/api/SIMD-API/基础API/Memory矢量计算/SIMD计算说明 (高维切分, 掩码, 连续计算).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core.h"

// The elements of a run do not depend on each other: dst is a source exactly, or apart from it.
#if defined(__clang__)
#define SIM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
// Clang warns where it asks for vectors and the loop still has none.
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define SIM_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace sim {

struct Operand {
    const char* name = "";
    UbView view;
    uint8_t elemBytes = 1;
    uint32_t blkStride = 1;
    uint32_t repStride = 8;
};

// What decides whether a result is defined.
enum class Defines : uint8_t { FromSources, Always, ByBitsAnd, ByBitsOr };

struct VectorInstr {
    Api api;
    Operand op[3] = {}; // dst, src0, src1
    uint8_t operands = 1;
    bool accumulates = false; // dst is read too
    Defines defines = Defines::FromSources;
    bool foldsRepeats = false; // Add, Sub, Mul, Max, Min: dst may be src1 across repeats with a stride of 0

    uint32_t perRepeat = 64; // elements
    uint32_t repeats = 1;
    uint32_t prefix = 0; // elements of each repeat when the mask is a prefix of it
    uint64_t bits[2] = {0, 0};
    uint64_t total = 0; // counter mode: elements over all repeats
    bool counter = false;

    uint32_t takenIn(uint32_t repeat) const
    {
        return counter ? static_cast<uint32_t>(std::min<uint64_t>(perRepeat, total - uint64_t(repeat) * perRepeat))
                       : prefix;
    }
    bool masked() const { return !counter && prefix == 0 && (bits[0] | bits[1]) != 0; }
    bool selected(uint32_t element) const { return bits[element / 64] >> (element % 64) & 1; }

    bool contiguous() const
    {
        for (int k = 0; k < operands; ++k) {
            if (op[k].blkStride != 1 || (repeats > 1 && op[k].repStride * kBlock != perRepeat * op[k].elemBytes)) {
                return false;
            }
        }
        return counter || (prefix != 0 && (repeats == 1 || prefix == perRepeat));
    }

    uint32_t address(int k, uint32_t repeat, uint32_t element) const
    {
        const uint32_t perBlock = kBlock / op[k].elemBytes;
        return op[k].view.begin + kBlock * (repeat * op[k].repStride + element / perBlock * op[k].blkStride) +
               element % perBlock * op[k].elemBytes;
    }

    // Calls run(addresses, elements) for stretches that are contiguous in every operand, in the device's order.
    template <typename Run>
    void forEachRun(Run&& run) const
    {
        uint32_t at[3];
        if (contiguous()) {
            for (int k = 0; k < operands; ++k) {
                at[k] = op[k].view.begin;
            }
            const uint64_t n = counter ? total : uint64_t(repeats - 1) * perRepeat + prefix;
            if (n != 0 && repeats != 0) {
                run(static_cast<const uint32_t*>(at), static_cast<uint32_t>(n));
            }
            return;
        }
        uint32_t granule = perRepeat;
        for (int k = 0; k < operands; ++k) {
            granule = op[k].blkStride == 1 ? granule : std::min(granule, kBlock / op[k].elemBytes);
        }
        for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
            const uint32_t end = masked() ? perRepeat : takenIn(repeat);
            for (uint32_t from = 0; from < end;) {
                uint32_t to = std::min(end, (from / granule + 1) * granule);
                if (masked()) {
                    while (from < to && !selected(from))
                        ++from;
                    uint32_t stop = from;
                    while (stop < to && selected(stop))
                        ++stop;
                    if (stop == from)
                        continue;
                    to = stop;
                }
                for (int k = 0; k < operands; ++k) {
                    at[k] = address(k, repeat, from);
                }
                run(static_cast<const uint32_t*>(at), to - from);
                from = to;
            }
        }
    }
};

// Checks an instruction and enters it in the trace; false: it cannot be carried out, or has nothing to do.
bool begin(Core& core, VectorInstr& instr, Dtype dtype);
// Enters an instruction of so many 256-byte repeats in the trace.
void enter(Core& core, Api api, uint32_t elemBytes, uint32_t repeats);

} // namespace sim
