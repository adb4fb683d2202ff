// One row per modelled instruction: which pipe runs it, which dtypes each architecture documents, and its rate.
//
// dtypes: the "数据类型" section of each page under asc-devkit docs/zh/api/SIMD-API/基础API.
// cycles: per 256 bytes of the widest operand, from docs/zh/api/附录/Vector指令理论性能汇总.md (Atlas A2).
// A row marked (assumed) has no published rate there. Nothing is published for Atlas 200I/500 A2: the same
// rates are assumed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "half.h"

namespace sim {

enum Pipe : uint8_t { S, V, MTE2, MTE3, kPipes, kAllPipes };
inline constexpr const char* kPipeNames[] = {"S", "V", "MTE2", "MTE3", "", "ALL"};

enum Dtype : uint16_t {
    kI8 = 1, kU8 = 2, kI16 = 4, kU16 = 8, kF16 = 16, kBF16 = 32, kI32 = 64, kU32 = 128, kF32 = 256,
    kI64 = 512, kU64 = 1024, kF64 = 2048,
};
inline constexpr uint16_t kB8 = kI8 | kU8, kB16 = kI16 | kU16 | kF16, kB32 = kI32 | kU32 | kF32;
inline constexpr uint16_t kB64 = kI64 | kU64 | kF64, kMath = kI16 | kF16 | kI32 | kF32;

template <typename T>
constexpr Dtype dtypeOf()
{
    if constexpr (std::is_same_v<T, half>) return kF16;
    else if constexpr (std::is_same_v<T, bfloat16_t>) return kBF16;
    else if constexpr (std::is_same_v<T, float>) return kF32;
    else if constexpr (std::is_same_v<T, double>) return kF64;
    else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? kI8 : kU8;
    else if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? kI16 : kU16;
    else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? kI32 : kU32;
    else return std::is_signed_v<T> ? kI64 : kU64;
}

const char* dtypeName(Dtype dtype);

enum class Api : uint8_t {
    // clang-format off
    Add, Sub, Mul, Max, Min, Adds, Muls, And, Or, Axpy, Duplicate, Cast, Copy, Gather, GatherMask, TransDataTo5HD,
    DataCopyIn, DataCopyOut, DataCopyUb, DataCopyPadIn, DataCopyPadOut,
    GetValue, SetValue, SetFlag, WaitFlag, PipeBarrier, TQueSync, SetAtomic, Queue, TPipe, Tensor, Tiling, Gm, Kernel,
    kCount,
    // clang-format on
};

struct ApiRow {
    const char* name;
    Pipe pipe;
    uint16_t dtypes2201;
    uint16_t dtypes3002;
    float cycles16; // per 256 bytes, operands up to 16 bits
    float cycles32;
};

inline constexpr uint16_t kMove = kB8 | kB16 | kBF16 | kB32;

inline constexpr ApiRow kApis[] = {
    {"Add",            V,    kMath, kMath, 1, 1},
    {"Sub",            V,    kMath, kMath, 1, 1},
    {"Mul",            V,    kMath, kMath, 1, 1},
    {"Max",            V,    kMath, kMath, 1, 1},
    {"Min",            V,    kMath, kMath, 1, 1},
    {"Adds",           V,    kMath, kMath, 1, 1},
    {"Muls",           V,    kMath, kMath, 1, 1},
    {"And",            V,    kI16 | kU16, kI16 | kU16, 1, 1},
    {"Or",             V,    kI16 | kU16, kI16 | kU16, 1, 1},
    {"Axpy",           V,    kF16 | kF32, kF16 | kF32, 1, 1},
    {"Duplicate",      V,    kB16 | kBF16 | kB32, kB16 | kB32, 1, 1}, // 3002: the header asserts against bfloat16
    {"Cast",           V,    0xffff, 0xffff, 1, 1}, // pairs and modes: kCasts in cast.h
    {"Copy",           V,    kB16 | kBF16 | kB32, kB16 | kBF16 | kB32, 1, 1}, // (assumed)
    {"Gather",         V,    kB16 | kBF16 | kB32, kB8 | kB16 | kB32, 26, 13},
    {"GatherMask",     V,    kB16 | kBF16 | kB32, kB16 | kB32, 2, 2},
    {"TransDataTo5HD", V,    kB8 | kB16 | kB32, kB8 | kB16 | kB32, 1, 1},
    {"DataCopy",       MTE2, kMove | kB64, kMove | kB64, 0, 0},
    {"DataCopy",       MTE3, kMove | kB64, kMove | kB64, 0, 0},
    {"DataCopy",       V,    kMove | kB64, 0, 1, 1}, // UB to UB
    // bfloat16 on 310B: Intrinsic_data_move_pad of the platform file does not list it.
    {"DataCopyPad",    MTE2, kMove | kB64, kMove & ~kBF16, 0, 0},
    {"DataCopyPad",    MTE3, kMove | kB64, kMove & ~kBF16, 0, 0},
    {"GetValue",       S,    0xffff, 0xffff, 0, 0},
    {"SetValue",       S,    0xffff, 0xffff, 0, 0},
    {"SetFlag",        S,    0xffff, 0, 0, 0}, // ISASI: not on Atlas 200I/500 A2
    {"WaitFlag",       S,    0xffff, 0, 0, 0},
    {"PipeBarrier",    S,    0xffff, 0xffff, 0, 0},
    {"TQueSync",       S,    0xffff, 0xffff, 0, 0},
    {"SetAtomicAdd",   S,    kI8 | kI16 | kF16 | kBF16 | kI32 | kF32, kI16 | kF16 | kI32 | kF32, 0, 0},
    {"TQue",           S,    0xffff, 0xffff, 0, 0},
    {"TPipe",          S,    0xffff, 0xffff, 0, 0},
    {"LocalTensor",    S,    0xffff, 0xffff, 0, 0},
    {"GET_TILING_DATA", S,   0xffff, 0xffff, 0, 0},
    {"GlobalTensor",   S,    0xffff, 0xffff, 0, 0},
    {"kernel",         S,    0xffff, 0xffff, 0, 0},
};
static_assert(sizeof kApis / sizeof *kApis == static_cast<size_t>(Api::kCount));

inline const ApiRow& row(Api api) { return kApis[static_cast<size_t>(api)]; }

} // namespace sim
