// Carries out, checks and records the moves between global memory and UB.
//
// Fill rules of DataCopyPad: asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/
// DataCopyPad（GMToUB非对齐数据搬运）.md. Where it says "random" the bytes are undefined here.
#include "dma.h"

#include <algorithm>
#include <cstring>

#include "costs.h"

namespace sim {

namespace {

uint64_t roundUp(uint64_t bytes)
{
    return (bytes + kBlock - 1) / kBlock * kBlock;
}

void record(Core& core, Pipe pipe, const Move& move, uint64_t gm)
{
    CoreTrace& trace = core.trace().cores[core.index()];
    const uint64_t bytes = uint64_t(move.count) * move.bytes;
    trace.scalarCalls += 1;
    trace.pipes[pipe].instructions += 1;
    trace.pipes[pipe].bytes += bytes;
    if (core.trace().recording) {
        Step step{Step::Kind::Work, pipe, move.api, 0, static_cast<uint32_t>(bytes), kMoveIssueCycles, {}};
        burstCost(gm, move.count, move.bytes, move.gmPitch, step.memory);
        trace.steps.push_back(step);
    }
}

// Bounds and alignment; false: the move cannot be carried out.
bool check(Core& core, const Move& move, const char* operand, const UbView& ub, uint64_t ubBlock, const GmView& gmView,
           uint64_t gm)
{
    if (!core.supports(move.api, move.dtype) || move.count == 0 || move.bytes == 0) {
        return false;
    }
    if (ub.begin % kBlock != 0) {
        core.fail(move.api, cat(operand, " starts at UB byte ", ub.begin, ", must be a multiple of ", kBlock));
    }
    const uint64_t ubEnd = ub.begin + (move.count - 1) * move.ubPitch + ubBlock;
    const uint64_t gmBytes = (move.count - 1) * move.gmPitch + move.bytes;
    const bool inUb = core.usable(move.api, operand, ub, ub.begin, ubEnd);
    return core.gmInside(move.api, gmView, gm, gmBytes) && inUb;
}

void fill(uint8_t* at, uint64_t bytes, uint64_t value, uint8_t elemBytes)
{
    for (uint64_t i = 0; i < bytes; ++i) {
        at[i] = static_cast<uint8_t>(value >> (i % elemBytes * 8));
    }
}

// Writes the bytes of UB around one block and says which of them are defined.
void pad(Core& core, const Padding& p, const Move& move, uint32_t at, uint32_t footprint, uint32_t number)
{
    const uint32_t dataEnd = p.left + move.bytes;
    uint8_t* block = core.ub<uint8_t>(at);
    if (p.left == 0 && p.right == 0) {
        uint64_t first = 0; // the tail repeats the block's first element
        std::memcpy(&first, block, move.elemBytes);
        fill(block + dataEnd, footprint - dataEnd, first, move.elemBytes);
        if (p.given) {
            core.undefine(at + dataEnd, at + footprint, number); // the documents disagree for isPad=true
        }
        return;
    }
    fill(block, p.left, core.padValue, move.elemBytes);
    fill(block + dataEnd, footprint - dataEnd, core.padValue, move.elemBytes);
    if (!p.given && !core.padValueSet) {
        core.undefine(at, at + p.left, number);
        core.undefine(at + dataEnd, at + footprint, number);
    }
}

} // namespace

void load(const UbView& dst, const GmView& src, uint64_t gm, const Move& move, const Padding& padding)
{
    Core& core = sim::core();
    const auto footprint = static_cast<uint32_t>(roundUp(uint64_t(padding.left) + move.bytes + padding.right));
    if (!check(core, move, "dst", dst, footprint, src, gm)) {
        return;
    }
    record(core, MTE2, move, gm);
    const uint32_t number = core.issue(move.api, MTE2);
    if (padding.given) {
        core.padValue = padding.value; // a register, which later moves inherit
        core.padValueSet = false;
    }
    for (uint32_t i = 0; i < move.count; ++i) {
        const uint64_t from = gm + i * move.gmPitch;
        const auto at = static_cast<uint32_t>(dst.begin + i * move.ubPitch);
        std::memcpy(core.ub<uint8_t>(at + padding.left), core.gm().at(src, from), move.bytes);
        if (core.checking()) {
            core.gmRead(move.api, MTE2, src, from, move.bytes);
            core.write(move.api, MTE2, "dst", at, footprint);
            core.define(at, footprint);
        }
        if (footprint != move.bytes) {
            pad(core, padding, move, at, footprint, number);
        }
    }
}

namespace {

template <typename T>
void accumulate(uint8_t* dst, const uint8_t* src, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += sizeof(T)) {
        T a, b;
        std::memcpy(&a, dst + i, sizeof(T));
        std::memcpy(&b, src + i, sizeof(T));
        a = static_cast<T>(a + b);
        std::memcpy(dst + i, &a, sizeof(T));
    }
}

void put(uint16_t atomic, uint8_t* dst, const uint8_t* src, uint32_t bytes)
{
    switch (atomic) {
    case 0: std::memcpy(dst, src, bytes); return;
    case kI8: accumulate<int8_t>(dst, src, bytes); return;
    case kI16: accumulate<int16_t>(dst, src, bytes); return;
    case kI32: accumulate<int32_t>(dst, src, bytes); return;
    case kF16: accumulate<half>(dst, src, bytes); return;
    case kBF16: accumulate<bfloat16_t>(dst, src, bytes); return;
    default: accumulate<float>(dst, src, bytes); return;
    }
}

} // namespace

void store(const GmView& dst, uint64_t gm, const UbView& src, const Move& move)
{
    Core& core = sim::core();
    if (!check(core, move, "src", src, move.bytes, dst, gm)) {
        return;
    }
    if (core.atomic != 0 && core.atomic != move.dtype) {
        core.fail(move.api, cat("stores ", dtypeName(move.dtype), " while SetAtomicAdd<",
                                dtypeName(static_cast<Dtype>(core.atomic)), "> is on"));
    }
    record(core, MTE3, move, gm);
    core.issue(move.api, MTE3);
    for (uint32_t i = 0; i < move.count; ++i) {
        const uint64_t to = gm + i * move.gmPitch;
        const auto at = static_cast<uint32_t>(src.begin + i * move.ubPitch);
        if (core.checking()) {
            core.read(move.api, MTE3, "src", at, move.bytes);
            core.requireDefined(move.api, "src", at, move.bytes, "stores");
            core.gmWrite(move.api, MTE3, dst, to, move.bytes);
        }
        put(core.atomic, core.gm().at(dst, to), core.ub<uint8_t>(at), move.bytes);
    }
}

} // namespace sim
