// The constants of the modelled timeline, with their sources. Paths are inside asc-devkit; EX is
// examples/01_simd_cpp_api/05_best_practices. Where nothing is published the row says so: vary it before trusting
// a conclusion that rests on it.
#pragma once

#include <cmath>
#include <cstdint>

#include "trace.h"

namespace sim {

// One DataCopy of 128 bytes per instruction, 48 cores: 564.8 us for 12288 x 12288 half, 11.2 ns each, 20 cycles
// (EX/04_memory_access/data_copy/README.md). The floor of any move's time on its pipe.
inline constexpr float kMoveIssueCycles = 20;

// One vector instruction besides its repeats: 47.8 ns for an Add of 64 repeats at 1.8 GHz, 64 + 22 cycles
// (EX/04_memory_access/bank_conflict_ub/README.md).
inline constexpr float kVectorIssueCycles = 22;

// Float32 elements that one core's Add takes per cycle: the lanes (docs/zh/api/附录/Vector指令理论性能汇总.md).
inline constexpr uint32_t kFloatLanes = 64;

// Strided rows of one instruction, as a share of the full rate (same README and the 16 KiB recommendation of
// docs/zh/guide/算子实践参考/SIMD算子性能优化/内存访问/尽量一次搬运较大的数据块.md): 128 bytes 1.29 TB/s, 2048 bytes
// 1.40 TB/s, 16 KiB 1.6 TB/s. Shorter than 128 bytes: nothing published; charged as 128 bytes.
struct BurstRate {
    double bytes, share;
};
inline constexpr BurstRate kBurstRates[] = {{128, 1.29 / 1.6}, {2048, 1.40 / 1.6}, {16384, 1.0}};

// Rows of 12287 half instead of 12288: 275.3 us instead of 215.8 us (same README).
inline constexpr double kUnalignedShare = 0.784;
inline constexpr uint64_t kLineBytes = 128;

// Head cost of a launch on all cores: 20 us (docs/zh/guide/算子实践参考/性能分析/分析性能数据.md); shown apart.
inline constexpr double kLaunchMicroseconds2201 = 20;

inline double burstShare(double bytes)
{
    if (bytes <= kBurstRates[0].bytes) {
        return kBurstRates[0].share;
    }
    for (int i = 1; i < 3; ++i) {
        const BurstRate &low = kBurstRates[i - 1], &high = kBurstRates[i];
        if (bytes < high.bytes) {
            const double t = std::log2(bytes / low.bytes) / std::log2(high.bytes / low.bytes);
            return low.share + t * (high.share - low.share);
        }
    }
    return 1.0;
}

// Bytes' worth of full-rate bandwidth that `count` blocks cost.
//   opt:  the published strided rates; blocks adjacent in global memory are one burst; at least 128 bytes each.
//   pess: every block, adjacent or not, pays the whole 128-byte lines it touches, and the unaligned loss unless it
//         starts and ends on 32 bytes.
inline void burstCost(uint64_t gm, uint32_t count, uint32_t bytes, uint64_t pitch, float (&cost)[kAssumptions])
{
    const bool adjacent = count == 1 || pitch == bytes;
    const double burst = adjacent ? double(count) * bytes : bytes;
    const double bursts = adjacent ? 1 : count;
    cost[kOpt] = static_cast<float>(bursts * std::fmax(burst, kLineBytes) / burstShare(burst));
    double pess = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t begin = gm + i * pitch, end = begin + bytes;
        const uint64_t lines = (end + kLineBytes - 1) / kLineBytes - begin / kLineBytes;
        pess += double(lines * kLineBytes) / (begin % 32 == 0 && end % 32 == 0 ? 1.0 : kUnalignedShare);
    }
    cost[kPess] = static_cast<float>(pess);
}

} // namespace sim
