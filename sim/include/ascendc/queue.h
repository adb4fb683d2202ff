// TPipe, TQueBind, TQue, TBuf: buffers of the Unified Buffer and the queues that hand them between pipes.
//
// EnQue sets a flag from the producing pipe to the consuming one, DeQue waits for it; FreeTensor sets the flag back,
// and the next AllocTensor of the same buffer waits for it (impl/basic_api/kernel_tquebind_impl.h, kernel_event.h).
#pragma once

#include <cstdint>

#include "core.h"
#include "params.h"
#include "qualifiers.h"
#include "tensor.h"

namespace AscendC {

constexpr bool IsUb(TPosition position)
{
    return position == TPosition::VECIN || position == TPosition::VECOUT || position == TPosition::VECCALC;
}

// The event of a queue from src to dst, forward (EnQue) or back (FreeTensor).
constexpr HardEvent GetQueEvt(TPosition src, TPosition dst, bool forward)
{
    if (src == TPosition::GM) {
        return forward ? HardEvent::MTE2_V : HardEvent::V_MTE2;
    }
    if (dst == TPosition::GM) {
        return forward ? HardEvent::V_MTE3 : HardEvent::MTE3_V;
    }
    return forward ? HardEvent::MTE2_MTE3 : HardEvent::MTE3_MTE2;
}

constexpr TPosition GetBufferLogicPos(TPosition pos, bool isSrc)
{
    switch (pos) {
    case TPosition::VECIN: return isSrc ? TPosition::GM : TPosition::VECIN;
    case TPosition::VECOUT: return isSrc ? TPosition::VECOUT : TPosition::GM;
    default: return pos;
    }
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
public:
    static constexpr TPosition position = src == TPosition::GM ? dst : src;
    static constexpr HardEvent enQueEvt = GetQueEvt(src, dst, true);
    static constexpr HardEvent freeBufEvt = GetQueEvt(src, dst, false);
    static constexpr bool isTQue = true;
    static_assert(IsUb(position), "the simulated vector core has no L1, L0 or cube queues");

    template <typename T>
    LocalTensor<T> AllocTensor()
    {
        static_assert(depth != 0, "must use AllocTensor(LocalTensor&) while the queue's depth is zero");
        return LocalTensor<T>(alloc());
    }
    template <typename T>
    void AllocTensor(LocalTensor<T>& tensor)
    {
        static_assert(depth == 0, "cannot AllocTensor in place while the queue's depth is not zero");
        tensor = LocalTensor<T>(alloc());
    }

    template <typename T>
    void FreeTensor(LocalTensor<T>& tensor)
    {
        Slot* slot = slotOf(tensor, "FreeTensor");
        if (slot == nullptr) {
            return;
        }
        sim::Core& core = sim::core();
        sim::Buffer& buffer = core.buffer(slot->id);
        if (buffer.state == sim::Buffer::State::Queued) {
            core.fail(sim::Api::Queue,
                      sim::cat("FreeTensor: ", label(*slot), " is still in the queue: DeQue it first"));
        }
        slot->freeEventId = depth != 0 ? core.allocEvent(sim::Api::Queue, freeBufEvt) : int8_t(0);
        slot->freeToken = core.signal(sim::pipesOf(freeBufEvt).from);
        slot->freePending = true;
        core.release(buffer);
    }

    template <typename T>
    bool EnQue(const LocalTensor<T>& tensor)
    {
        return enQue(tensor, enQueEvt);
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    bool EnQue(const LocalTensor<T>& tensor)
    {
        return enQue(tensor, userEvent<srcUserPos, dstUserPos>());
    }

    template <typename T>
    LocalTensor<T> DeQue()
    {
        static_assert(depth != 0, "must use DeQue(LocalTensor&) while the queue's depth is zero");
        return LocalTensor<T>(deQue(enQueEvt));
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    LocalTensor<T> DeQue()
    {
        return LocalTensor<T>(deQue(userEvent<srcUserPos, dstUserPos>()));
    }
    template <typename T>
    void DeQue(LocalTensor<T>& tensor)
    {
        static_assert(depth == 0, "cannot DeQue in place while the queue's depth is not zero");
        if (Slot* slot = slotOf(tensor, "DeQue")) {
            take(*slot, enQueEvt);
        }
    }

    bool VacantInQue() const { return queued_ < static_cast<uint32_t>(depth); }
    bool HasTensorInQue() const { return queued_ != 0; }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(queued_); }
    bool HasIdleBuffer() const
    {
        for (uint32_t i = 0; i < count_; ++i) {
            if (sim::core().buffer(slots_[i].id).state == sim::Buffer::State::Free) {
                return true;
            }
        }
        return false;
    }
    void FreeAllEvent() {}

protected:
    friend class TPipe;
    struct Slot {
        uint16_t id = 0;
        bool freePending = false;
        int8_t freeEventId = 0, enQueEventId = 0;
        HardEvent enQueEvent = HardEvent::MAX;
        uint32_t freeToken = 0, enQueToken = 0;
    };

    void init(sim::Core& core, uint32_t count, uint32_t bytes)
    {
        for (count_ = 0; count_ < count; ++count_) {
            slots_[count_] = Slot{core.allocate(bytes, position, static_cast<uint16_t>(count_))};
        }
    }

    static std::string label(const Slot& slot)
    {
        return sim::cat(sim::positionName(position), " buffer ", sim::core().buffer(slot.id).index);
    }

    template <TPosition srcUserPos, TPosition dstUserPos>
    static constexpr HardEvent userEvent()
    {
        static_assert(depth != 0, "user positions need a queue with a depth");
        static_assert(srcUserPos != TPosition::GM || dstUserPos != TPosition::GM, "GM to GM passes no UB buffer");
        return GetQueEvt(srcUserPos, dstUserPos, true);
    }

    template <typename T>
    Slot* slotOf(const LocalTensor<T>& tensor, const char* what)
    {
        for (uint32_t i = 0; i < count_; ++i) {
            if (slots_[i].id == tensor.view().buffer) {
                sim::Buffer& buffer = sim::core().buffer(slots_[i].id);
                if (buffer.generation == tensor.view().generation && buffer.state != sim::Buffer::State::Free) {
                    return &slots_[i];
                }
                sim::core().fail(sim::Api::Queue, sim::cat(what, ": ", label(slots_[i]), " was freed already"));
                return nullptr;
            }
        }
        sim::core().fail(sim::Api::Queue, sim::cat(what, ": the tensor was not allocated from this ",
                                                   sim::positionName(position), " queue"));
        return nullptr;
    }

    sim::UbView viewOf(const Slot& slot) const
    {
        const sim::Buffer& buffer = sim::core().buffer(slot.id);
        return {buffer.begin, buffer.end, slot.id, buffer.generation, position};
    }

    sim::UbView alloc()
    {
        sim::Core& core = sim::core();
        core.trace().cores[core.index()].scalarCalls += 1;
        for (uint32_t tried = 0; tried < count_; ++tried) {
            Slot& slot = slots_[cursor_];
            cursor_ = (cursor_ + 1) % count_;
            sim::Buffer& buffer = core.buffer(slot.id);
            if (buffer.state != sim::Buffer::State::Free) {
                continue;
            }
            buffer.state = sim::Buffer::State::Occupied;
            if (slot.freePending) {
                core.await(sim::pipesOf(freeBufEvt).to, slot.freeToken);
                if (depth != 0) {
                    core.releaseEvent(freeBufEvt, slot.freeEventId);
                }
                slot.freePending = false;
            }
            return viewOf(slot);
        }
        core.fail(sim::Api::Queue,
                  sim::cat("AllocTensor: all ", count_, " buffers of the ", sim::positionName(position),
                           " queue are in use: the device would hang; FreeTensor first"));
        throw sim::Hang();
    }

    template <typename T>
    bool enQue(const LocalTensor<T>& tensor, HardEvent event)
    {
        sim::Core& core = sim::core();
        core.trace().cores[core.index()].scalarCalls += 1;
        Slot* slot = slotOf(tensor, "EnQue");
        if (slot == nullptr) {
            return false;
        }
        sim::Buffer& buffer = core.buffer(slot->id);
        if (buffer.state == sim::Buffer::State::Queued) {
            core.fail(sim::Api::Queue, sim::cat("EnQue: ", label(*slot), " is in the queue already"));
        }
        if (depth != 0 && queued_ >= static_cast<uint32_t>(depth)) {
            core.fail(sim::Api::Queue,
                      sim::cat("EnQue: ", queued_ + 1, " tensors in a queue of depth ", depth, ": DeQue one first"));
        }
        buffer.state = sim::Buffer::State::Queued;
        slot->enQueEvent = event;
        slot->enQueEventId =
            depth != 0 && event != HardEvent::V_V ? core.allocEvent(sim::Api::Queue, event) : int8_t(0);
        slot->enQueToken = core.signal(sim::pipesOf(event).from);
        if (depth != 0) {
            ring_[(head_ + queued_++) % QBUF_MAX_LEN] = static_cast<uint8_t>(slot - slots_);
        }
        return true;
    }

    sim::UbView deQue(HardEvent event)
    {
        if (queued_ == 0) {
            sim::core().fail(sim::Api::Queue,
                             sim::cat("DeQue: the ", sim::positionName(position), " queue is empty: EnQue first"));
            throw sim::Hang();
        }
        Slot& slot = slots_[ring_[head_]];
        head_ = (head_ + 1) % QBUF_MAX_LEN;
        --queued_;
        take(slot, event);
        return viewOf(slot);
    }

    void take(Slot& slot, HardEvent event)
    {
        sim::Core& core = sim::core();
        core.trace().cores[core.index()].scalarCalls += 1;
        sim::Buffer& buffer = core.buffer(slot.id);
        if (buffer.state != sim::Buffer::State::Queued) {
            core.fail(sim::Api::Queue, sim::cat("DeQue: ", label(slot), " is not in the queue: EnQue first"));
            return;
        }
        if (event != slot.enQueEvent) {
            core.fail(sim::Api::Queue, sim::cat("DeQue: waits for ", sim::eventName(event), " but EnQue set ",
                                                sim::eventName(slot.enQueEvent)));
        }
        buffer.state = sim::Buffer::State::Occupied;
        core.await(sim::pipesOf(slot.enQueEvent).to, slot.enQueToken);
        if (depth != 0 && event != HardEvent::V_V) {
            core.releaseEvent(slot.enQueEvent, slot.enQueEventId);
        }
    }

    Slot slots_[QBUF_MAX_LEN];
    uint32_t count_ = 0, cursor_ = 0;
    uint8_t ring_[QBUF_MAX_LEN]; // slots in the queue, from head_
    uint32_t head_ = 0, queued_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<GetBufferLogicPos(pos, true), GetBufferLogicPos(pos, false), depth, mask> {};

template <TPosition pos = TPosition::LCM>
class TBuf {
public:
    static constexpr bool isTQue = false;
    static_assert(IsUb(pos), "the simulated vector core has no L1, L0 or cube buffers");

    template <typename T>
    LocalTensor<T> Get()
    {
        return Get<T>((view_.end - view_.begin) / uint32_t(sizeof(T)));
    }
    template <typename T>
    LocalTensor<T> Get(uint32_t len)
    {
        return GetWithOffset<T>(len, 0);
    }
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset)
    {
        const uint64_t bytes = uint64_t(size) * sizeof(T) + bufOffset;
        sim::UbView part = view_;
        part.begin += bufOffset;
        part.end = std::min<uint64_t>(view_.begin + bytes, view_.end);
        if (size == 0 || bytes > view_.end - view_.begin) {
            sim::core().fail(sim::Api::Tensor,
                             sim::cat("TBuf::Get: ", size, " elements of ", sizeof(T), " bytes at offset ", bufOffset,
                                      " from a buffer of ", view_.end - view_.begin, " bytes"));
        }
        return LocalTensor<T>(part);
    }

private:
    friend class TPipe;
    sim::UbView view_;
};

class TPipe {
public:
    TPipe()
    {
        sim::Core& core = sim::core();
        if (core.pipe != nullptr) {
            core.fail(sim::Api::TPipe, "a second TPipe: a kernel has exactly one");
        }
        core.pipe = this;
    }
    TPipe(const TPipe&) = delete;

    void Init() {}
    void Destroy() { sim::core().barrier(sim::kAllPipes); }

    template <class T>
    bool InitBuffer(T& que, sim::U8 num, uint32_t len)
    {
        static_assert(T::isTQue, "InitBuffer(que, num, len) does not take a TBuf");
        sim::Core& core = sim::core();
        if (core.inRange(sim::Api::TPipe, "InitBuffer: num", num.given(), 1, QBUF_MAX_LEN)) {
            que.init(core, num, len);
        }
        return true;
    }
    template <TPosition pos>
    bool InitBuffer(TBuf<pos>& buf, uint32_t len)
    {
        sim::Core& core = sim::core();
        const uint16_t id = core.allocate(len, pos, 0);
        sim::Buffer& buffer = core.buffer(id);
        buffer.state = sim::Buffer::State::Occupied;
        buf.view_ = {buffer.begin, buffer.end, id, buffer.generation, pos};
        return true;
    }

    template <HardEvent evt>
    TEventID AllocEventID()
    {
        portable("AllocEventID");
        return sim::core().allocEvent(sim::Api::TPipe, evt);
    }
    template <HardEvent evt>
    void ReleaseEventID(TEventID id)
    {
        sim::core().releaseEvent(evt, id);
    }
    template <HardEvent evt>
    TEventID FetchEventID()
    {
        return FetchEventID(evt);
    }
    TEventID FetchEventID(HardEvent evt)
    {
        portable("FetchEventID");
        const TEventID id = sim::core().allocEvent(sim::Api::TPipe, evt);
        sim::core().releaseEvent(evt, id);
        return id;
    }

private:
    static void portable(const char* what)
    {
        if (sim::core().product().arch != 2201) {
            sim::core().fail(sim::Api::TPipe, sim::cat(what, ": not supported on ", sim::core().product().name));
        }
    }
};

} // namespace AscendC

inline AscendC::TPipe* GetTPipePtr()
{
    return static_cast<AscendC::TPipe*>(sim::core().pipe);
}
