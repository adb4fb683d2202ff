// Checks common to all vector instructions, and what a run of elements does to the knowledge about UB.
#include "vector_instr.h"

#include <map>

#include "costs.h"

namespace sim {

namespace {

uint64_t lastByte(const VectorInstr& in, int k)
{
    const Operand& o = in.op[k];
    if (in.contiguous()) {
        const uint64_t n = in.counter ? in.total : uint64_t(in.repeats - 1) * in.perRepeat + in.prefix;
        return o.view.begin + n * o.elemBytes;
    }
    // The last element of a repeat has the largest address; the last repeat of a counter may be shorter.
    uint64_t end = 0;
    for (const uint32_t repeat : {in.repeats - 1, in.repeats > 1 ? in.repeats - 2 : 0}) {
        uint32_t last = in.masked() ? in.perRepeat : in.takenIn(repeat);
        while (in.masked() && last > 0 && !in.selected(last - 1)) {
            --last;
        }
        for (uint32_t block = 0; last > 0 && block * (kBlock / o.elemBytes) < last; ++block) {
            const uint32_t perBlock = kBlock / o.elemBytes;
            const uint32_t inBlock = std::min(last - block * perBlock, perBlock);
            end = std::max<uint64_t>(end, uint64_t(o.view.begin) +
                                              uint64_t(kBlock) *
                                                  (uint64_t(repeat) * o.repStride + uint64_t(block) * o.blkStride) +
                                              inBlock * o.elemBytes);
        }
    }
    return end;
}

bool disjoint(uint64_t a, uint64_t aEnd, uint64_t b, uint64_t bEnd)
{
    return aEnd <= b || bEnd <= a;
}

// Overlap of dst with a source: within a repeat all or nothing, none across repeats
// (asc-devkit docs/zh/api/SIMD-API/通用说明和约束.md, 通用地址重叠约束).
void checkOverlap(Core& core, const VectorInstr& in, int k)
{
    const Operand &dst = in.op[0], &src = in.op[k];
    if (disjoint(dst.view.begin, lastByte(in, 0), src.view.begin, lastByte(in, k))) {
        return;
    }
    const bool sameShape =
        dst.elemBytes == src.elemBytes && dst.blkStride == src.blkStride && dst.repStride == src.repStride;
    if (in.api == Api::Axpy && dst.elemBytes != src.elemBytes) {
        core.fail(in.api, cat("dst at UB ", dst.view.begin, " and src at UB ", src.view.begin,
                              " overlap: half to float does not support it"));
        return;
    }
    if (dst.view.begin == src.view.begin && sameShape && (dst.repStride != 0 || in.repeats == 1)) {
        return;
    }
    if (in.foldsRepeats && k == 2 && dst.view.begin == src.view.begin && (dst.repStride == 0 || src.repStride == 0)) {
        return;
    }
    std::map<uint32_t, uint32_t> writtenBy; // block of UB -> run that writes it
    uint32_t run = 0;
    in.forEachRun([&](const uint32_t* at, uint32_t n) {
        for (uint32_t b = at[0] / kBlock; b <= (at[0] + n * dst.elemBytes - 1) / kBlock; ++b) {
            writtenBy.emplace(b, run);
        }
        ++run;
    });
    run = 0;
    bool bad = false;
    in.forEachRun([&](const uint32_t* at, uint32_t n) {
        for (uint32_t b = at[k] / kBlock; b <= (at[k] + n * src.elemBytes - 1) / kBlock; ++b) {
            const auto w = writtenBy.find(b);
            bad =
                bad || (w != writtenBy.end() && (w->second != run || at[0] != at[k] || dst.elemBytes != src.elemBytes));
        }
        ++run;
    });
    if (bad) {
        core.fail(in.api, cat("dst at UB ", dst.view.begin, " and ", src.name, " at UB ", src.view.begin,
                              " overlap partly; only full overlap within a repeat is supported"));
    }
}

bool checkOperands(Core& core, const VectorInstr& in)
{
    bool usable = true;
    for (int k = 0; k < in.operands; ++k) {
        const Operand& o = in.op[k];
        if (o.view.begin % kBlock != 0) {
            core.fail(in.api, cat(o.name, " starts at UB byte ", o.view.begin, ", must be a multiple of ", kBlock));
        }
        usable = core.usable(in.api, o.name, o.view, o.view.begin, lastByte(in, k)) && usable;
    }
    const Operand& dst = in.op[0];
    if (dst.blkStride == 0) {
        core.fail(in.api, "dst block stride is 0: undefined");
    }
    const bool folds = in.foldsRepeats && in.op[2].view.begin == dst.view.begin;
    if (dst.repStride == 0 && in.repeats > 1 && !folds) {
        core.fail(in.api, cat("dst repeat stride is 0 with ", in.repeats,
                              " repeats: each would overwrite the one before (256 wraps to 0 in 8 bits)"));
    }
    for (int k = 1; k < in.operands && usable; ++k) {
        checkOverlap(core, in, k);
    }
    return usable;
}

} // namespace

bool begin(Core& core, VectorInstr& in, Dtype dtype)
{
    core.trace().cores[core.index()].scalarCalls += 1;
    const bool known = core.supports(in.api, dtype);
    if (in.counter) {
        in.repeats = static_cast<uint32_t>((in.total + in.perRepeat - 1) / in.perRepeat);
    }
    if (!known || in.repeats == 0 || (in.counter && in.total == 0)) {
        return false;
    }
    if (!checkOperands(core, in)) {
        return false;
    }
    uint8_t widest = 1;
    for (int k = 0; k < in.operands; ++k) {
        widest = std::max(widest, in.op[k].elemBytes);
    }
    enter(core, in.api, widest, in.repeats);
    return true;
}

void enter(Core& core, Api api, uint32_t elemBytes, uint32_t repeats)
{
    core.issue(api, V);
    PipeTotals& totals = core.trace().cores[core.index()].pipes[V];
    totals.instructions += 1;
    totals.bytes += uint64_t(repeats) * 256;
    const float perRepeat = elemBytes <= 2 ? row(api).cycles16 : row(api).cycles32;
    core.trace().step(
        core.index(),
        {Step::Kind::Work, V, api, 0, repeats * 256, kVectorIssueCycles + perRepeat * static_cast<float>(repeats), {}});
}

namespace {

// Whether element i of the result is defined whatever the undefined source holds.
bool absorbs(Core& core, const VectorInstr& in, const uint32_t* at, uint32_t i)
{
    const uint16_t absorbing = in.defines == Defines::ByBitsAnd ? 0 : 0xffff;
    for (int k = 1; k <= 2; ++k) {
        const uint32_t a = at[k] + i * 2;
        if (core.defined(a, 2) && *core.ub<uint16_t>(a) == absorbing) {
            return true;
        }
    }
    return false;
}

} // namespace

void Core::touch(const VectorInstr& in, const uint32_t* at, uint32_t elems)
{
    if (!checking_) {
        return;
    }
    bool allDefined = true;
    for (int k = in.accumulates ? 0 : 1; k < in.operands; ++k) {
        const uint32_t bytes = elems * in.op[k].elemBytes;
        read(in.api, V, in.op[k].name, at[k], bytes);
        allDefined = allDefined && defined(at[k], bytes);
    }
    write(in.api, V, in.op[0].name, at[0], elems * in.op[0].elemBytes);
    if (allDefined || in.defines == Defines::Always) {
        define(at[0], elems * in.op[0].elemBytes);
        return;
    }
    for (uint32_t i = 0; i < elems; ++i) {
        const uint32_t dst = at[0] + i * in.op[0].elemBytes;
        uint32_t origin = 0;
        bool good = true;
        for (int k = in.accumulates ? 0 : 1; k < in.operands; ++k) {
            const uint32_t src = at[k] + i * in.op[k].elemBytes;
            if (!defined(src, in.op[k].elemBytes)) {
                good = false;
                origin = origin_[src / kBlock];
            }
        }
        if (!good && (in.defines == Defines::ByBitsAnd || in.defines == Defines::ByBitsOr)) {
            good = absorbs(*this, in, at, i);
        }
        if (good) {
            define(dst, in.op[0].elemBytes);
        } else {
            undefine(dst, dst + in.op[0].elemBytes, origin);
        }
    }
}

} // namespace sim
