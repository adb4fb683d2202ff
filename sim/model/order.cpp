// The order of a core's pipes: numbering, conflicts, flags, barriers; and the bookkeeping of global memory.
#include <algorithm>

#include "core.h"

namespace sim {

namespace {
using AscendC::HardEvent;

struct EventRow {
    HardEvent event;
    const char* name;
    Pipe from, to;
};
constexpr EventRow kEvents[] = {
    {HardEvent::MTE2_V, "MTE2_V", MTE2, V},
    {HardEvent::V_MTE2, "V_MTE2", V, MTE2},
    {HardEvent::MTE3_V, "MTE3_V", MTE3, V},
    {HardEvent::V_MTE3, "V_MTE3", V, MTE3},
    {HardEvent::V_V, "V_V", V, V},
    {HardEvent::MTE3_MTE2, "MTE3_MTE2", MTE3, MTE2},
    {HardEvent::MTE2_MTE3, "MTE2_MTE3", MTE2, MTE3},
    {HardEvent::S_V, "S_V", S, V},
    {HardEvent::V_S, "V_S", V, S},
    {HardEvent::S_MTE2, "S_MTE2", S, MTE2},
    {HardEvent::MTE2_S, "MTE2_S", MTE2, S},
    {HardEvent::S_MTE3, "S_MTE3", S, MTE3},
    {HardEvent::MTE3_S, "MTE3_S", MTE3, S},
};

const EventRow* findEvent(HardEvent event)
{
    const auto* found =
        std::find_if(std::begin(kEvents), std::end(kEvents), [event](const EventRow& r) { return r.event == event; });
    return found == std::end(kEvents) ? nullptr : found;
}
} // namespace

EventPipes pipesOf(HardEvent event)
{
    const EventRow* found = findEvent(event);
    return found ? EventPipes{found->from, found->to, true} : EventPipes{S, S, false};
}

const char* eventName(HardEvent event)
{
    const EventRow* found = findEvent(event);
    return found ? found->name : "of the cube core";
}

uint32_t Core::issue(Api api, Pipe pipe)
{
    // The scalar unit issues in program order, so what it waited for is complete for all that follows.
    for (int q = 0; q < kPipes; ++q) {
        known_[pipe][q] = std::max(known_[pipe][q], known_[S][q]);
    }
    issued_.push_back(api);
    last_[pipe] = ++now_;
    return now_;
}

void Core::read(Api api, Pipe pipe, const char* operand, uint32_t begin, uint32_t bytes)
{
    // What the scalar unit wrote needs no check: for LocalTensor::SetValue the compiler synchronises.
    for (const Pipe by : {V, MTE2}) {
        expectKnown(api, pipe, operand, begin, bytes, false, by, true);
    }
    const uint32_t first = begin / kBlock, end = (begin + bytes + kBlock - 1) / kBlock;
    std::fill(reader_[pipe].begin() + first, reader_[pipe].begin() + end, static_cast<int32_t>(now_));
}

void Core::write(Api api, Pipe pipe, const char* operand, uint32_t begin, uint32_t bytes)
{
    for (const Pipe by : {V, MTE2}) {
        expectKnown(api, pipe, operand, begin, bytes, true, by, true);
    }
    for (const Pipe by : {V, MTE3}) {
        expectKnown(api, pipe, operand, begin, bytes, true, by, false);
    }
    const uint32_t first = begin / kBlock, end = (begin + bytes + kBlock - 1) / kBlock;
    std::fill(writer_[pipe].begin() + first, writer_[pipe].begin() + end, static_cast<int32_t>(now_));
}

// Whether `pipe` knows every write (or read) of pipe `other` in these bytes to be complete.
void Core::expectKnown(Api api, Pipe pipe, const char* operand, uint32_t begin, uint32_t bytes, bool writes, Pipe other,
                       bool otherWrote)
{
    if (pipe == other && (pipe == V || !otherWrote)) {
        return; // V after V: the compiler inserts the barrier
    }
    const uint32_t first = begin / kBlock, end = (begin + bytes + kBlock - 1) / kBlock;
    const int32_t* stamps = (otherWrote ? writer_ : reader_)[other].data();
    const auto known = static_cast<int32_t>(known_[pipe][other]), current = static_cast<int32_t>(now_);
    int32_t unknown = 0;
    for (uint32_t block = first; block < end; ++block) {
        unknown |= -static_cast<int32_t>(stamps[block] > known);
    }
    for (uint32_t block = first; unknown != 0 && block < end; ++block) {
        if (stamps[block] > known && stamps[block] != current) {
            conflict(api, pipe, operand, block, writes, other, static_cast<uint32_t>(stamps[block]), otherWrote);
            return;
        }
    }
}

void Core::conflict(Api api, Pipe pipe, const char* operand, uint32_t block, bool writes, Pipe otherPipe,
                    uint32_t other, bool otherWrote)
{
    if (lastConflict_ == now_) {
        return; // one report per instruction
    }
    lastConflict_ = now_;
    const std::string cure = pipe == otherPipe
                                 ? cat("two moves of one pipe are unordered where they overlap: put PipeBarrier<PIPE_",
                                       kPipeNames[pipe], "> between")
                                 : cat("no ", kPipeNames[otherPipe], "_", kPipeNames[pipe],
                                       " synchronisation lies between: EnQue/DeQue, flags or a barrier");
    fail(api, cat(operand, " (", kPipeNames[pipe], ") ", writes ? "writes " : "reads ",
                  describe(block * kBlock, (block + 1) * kBlock), " which ", row(apiOf(other)).name, " (",
                  kPipeNames[otherPipe], ", instruction ", ordinal(other), ") may still be ",
                  otherWrote ? "writing" : "reading", "; ", cure));
}

void Core::scalarSync(uint32_t begin, uint32_t bytes)
{
    for (uint32_t block = begin / kBlock, end = (begin + bytes + kBlock - 1) / kBlock; block < end; ++block) {
        for (const Pipe pipe : {V, MTE2, MTE3}) {
            if (std::max(writer_[pipe][block], reader_[pipe][block]) > static_cast<int32_t>(known_[S][pipe])) {
                known_[S][pipe] = last_[pipe];
                trace_->step(index_, {Step::Kind::ScalarWait, pipe, Api::GetValue, 0, 0, 0, {}});
            }
        }
    }
}

void Core::barrier(Pipe pipe)
{
    for (int p = 0; p < kPipes; ++p) {
        for (int q = 0; q < kPipes; ++q) {
            if (pipe == kAllPipes || (p == pipe && q == pipe)) {
                known_[p][q] = last_[q];
            }
        }
    }
    trace_->step(index_, {Step::Kind::Barrier, pipe, Api::PipeBarrier, 0, 0, 0, {}});
}

// A flag set by a pipe carries all that the pipe knows when its earlier instructions are complete.
uint32_t Core::signal(Pipe from)
{
    Signal s;
    for (int q = 0; q < kPipes; ++q) {
        s.known[q] = std::max(known_[from][q], known_[S][q]);
    }
    s.known[from] = last_[from];
    signals_.push_back(s);
    const auto token = static_cast<uint32_t>(signals_.size() - 1);
    trace_->step(index_, {Step::Kind::Signal, from, Api::SetFlag, token, 0, 0, {}});
    return token;
}

void Core::await(Pipe to, uint32_t token)
{
    for (int q = 0; q < kPipes; ++q) {
        known_[to][q] = std::max(known_[to][q], signals_[token].known[q]);
    }
    trace_->step(index_, {Step::Kind::Await, to, Api::WaitFlag, token, 0, 0, {}});
}

// Queues and kernels share the same hardware flags.
bool Core::flagUsable(Api api, HardEvent event, int64_t id)
{
    if (!pipesOf(event).vector) {
        fail(api, cat("event ", int(event), " is not one of a vector core"));
        return false;
    }
    if (!inRange(api, "eventID", id, 0, 7)) {
        return false;
    }
    if (queueEvents_[static_cast<size_t>(event)] >> id & 1) {
        fail(api, cat("flag ", eventName(event), " id ", id, " is in use by a queue: take another id"));
    }
    return true;
}

void Core::setFlag(Api api, HardEvent event, int64_t id)
{
    if (!flagUsable(api, event, id)) {
        return;
    }
    Flag& flag = flags_[static_cast<size_t>(event)][id];
    if (flag.set) {
        fail(api, cat("flag ", eventName(event), " id ", id, " is set again before WaitFlag took it"));
    }
    flag = {true, signal(pipesOf(event).from)};
}

void Core::waitFlag(Api api, HardEvent event, int64_t id)
{
    if (!flagUsable(api, event, id)) {
        return;
    }
    Flag& flag = flags_[static_cast<size_t>(event)][id];
    if (!flag.set) {
        fail(api, cat("waits for flag ", eventName(event), " id ", id, ", which nothing set: the device would hang"));
        throw Hang();
    }
    await(pipesOf(event).to, flag.token);
    flag.set = false;
}

int8_t Core::allocEvent(Api api, HardEvent event)
{
    const auto e = static_cast<size_t>(event);
    for (int8_t id = 0; id < AscendC::QUE_MAX_EVENT; ++id) {
        const auto bit = static_cast<uint8_t>(1u << id);
        if (eventsInUse_[e] & bit) {
            continue;
        }
        if (api == Api::Queue && flags_[e][id].set) {
            fail(api,
                 cat("takes flag ", eventName(event), " id ", id, ", which the kernel set by itself and did not take"));
        }
        eventsInUse_[e] |= bit;
        queueEvents_[e] = static_cast<uint8_t>(queueEvents_[e] | (api == Api::Queue ? bit : 0));
        return id;
    }
    fail(api, cat("all ", AscendC::QUE_MAX_EVENT, " event ids of ", eventName(event),
                  " are in use: too many tensors between AllocTensor and FreeTensor"));
    return 0;
}

void Core::releaseEvent(HardEvent event, int8_t id)
{
    const auto keep = static_cast<uint8_t>(~(1u << id));
    eventsInUse_[static_cast<size_t>(event)] &= keep;
    queueEvents_[static_cast<size_t>(event)] &= keep;
}

bool Core::gmInside(Api api, const GmView& view, uint64_t begin, uint64_t bytes)
{
    if (view.buffer < 0) {
        fail(api, "the GlobalTensor's address lies in no GM argument of the launch");
        return false;
    }
    const uint64_t end = begin + bytes;
    if (begin >= view.begin && end <= view.end && end >= begin) {
        return true;
    }
    fail(api, cat("touches ", gm_->describe(view.buffer, begin, bytes), " outside the GlobalTensor's [", view.begin,
                  ", ", view.end, ")"));
    return false;
}

// Two accesses of one core to the same global bytes need an order too.
void Core::gmOrder(Api api, Pipe pipe, const GmView& view, const GlobalMemory::Finding& found, bool writes)
{
    for (auto w = gmWrites_.rbegin(); w != gmWrites_.rend(); ++w) {
        if (w->buffer != view.buffer || found.offset < w->begin || found.offset >= w->end) {
            continue;
        }
        if (w->number > known_[pipe][w->pipe] && w->number != now_) {
            fail(api, cat(writes ? "writes " : "reads ", gm_->describe(view.buffer, found.offset, 1), " which ",
                          row(apiOf(w->number)).name, " (", kPipeNames[w->pipe], ", instruction ", ordinal(w->number),
                          ") may still be writing: ",
                          w->pipe == S ? "the compiler does not synchronise GlobalTensor::SetValue"
                                       : "no synchronisation lies between"));
        }
        return;
    }
}

void Core::gmRead(Api api, Pipe pipe, const GmView& view, uint64_t begin, uint64_t bytes)
{
    if (!checking_) {
        return;
    }
    const GlobalMemory::Finding found = gm_->noteRead(view.buffer, begin, bytes, index_);
    if (found.clash == GlobalMemory::Clash::OtherCore) {
        fail(api, cat("reads ", gm_->describe(view.buffer, found.offset, 1), " which core ", found.core, " writes"));
    } else if (found.clash == GlobalMemory::Clash::SameCore) {
        gmOrder(api, pipe, view, found, false);
    } else if (found.clash == GlobalMemory::Clash::Undefined) {
        fail(api, cat("reads ", gm_->describe(view.buffer, found.offset, 1), " of an output that nothing wrote yet"));
    }
}

void Core::gmWrite(Api api, Pipe pipe, const GmView& view, uint64_t begin, uint64_t bytes)
{
    if (!checking_) {
        return;
    }
    if (gm_->buffer(view.buffer).role == Role::In) {
        fail(api, cat("writes ", gm_->describe(view.buffer, begin, bytes), ", an input of the launch"));
    }
    const GlobalMemory::Finding found = gm_->noteWrite(view.buffer, begin, bytes, index_, atomic != 0);
    if (found.clash == GlobalMemory::Clash::OtherCore) {
        fail(api, cat("writes ", gm_->describe(view.buffer, found.offset, 1), " which core ", found.core,
                      " touches too: the cores have no order"));
    } else if (found.clash == GlobalMemory::Clash::SameCore && atomic == 0) {
        gmOrder(api, pipe, view, found, true);
    }
    if (!gmWrites_.empty() && gmWrites_.back().number == now_ && gmWrites_.back().end == begin &&
        gmWrites_.back().buffer == view.buffer) {
        gmWrites_.back().end = begin + bytes;
    } else {
        gmWrites_.push_back({view.buffer, pipe, begin, begin + bytes, now_});
    }
}

} // namespace sim
