// Flags and barriers between the pipes of one core, atomic accumulation, and what a core knows of itself.
#pragma once

#include <cstdint>

#include "core.h"
#include "params.h"
#include "types.h"

namespace AscendC {

inline int64_t GetBlockIdx()
{
    return sim::core().index();
}
inline int64_t GetBlockNum()
{
    return sim::core().count();
}
inline int64_t GetSubBlockIdx()
{
    return 0;
}
inline constexpr int16_t GetDataBlockSizeInBytes()
{
    return ONE_BLK_SIZE;
}

template <HardEvent event>
inline void SetFlag(int32_t eventID)
{
    if (sim::core().supports(sim::Api::SetFlag, sim::kU8)) {
        sim::core().setFlag(sim::Api::SetFlag, event, eventID);
    }
}

template <HardEvent event>
inline void WaitFlag(int32_t eventID)
{
    if (sim::core().supports(sim::Api::WaitFlag, sim::kU8)) {
        sim::core().waitFlag(sim::Api::WaitFlag, event, eventID);
    }
}

} // namespace AscendC

namespace sim {

constexpr Pipe pipeOf(pipe_t pipe)
{
    switch (pipe) {
    case PIPE_S: return S;
    case PIPE_V: return V;
    case PIPE_MTE2: return MTE2;
    case PIPE_MTE3: return MTE3;
    case PIPE_ALL: return kAllPipes;
    default: return kPipes; // of the cube core
    }
}

constexpr AscendC::HardEvent eventOf(pipe_t src, pipe_t dst)
{
    using AscendC::HardEvent;
    constexpr HardEvent events[4][4] = {
        // to S, V, MTE2, MTE3
        {HardEvent::MAX, HardEvent::S_V, HardEvent::S_MTE2, HardEvent::S_MTE3},
        {HardEvent::V_S, HardEvent::V_V, HardEvent::V_MTE2, HardEvent::V_MTE3},
        {HardEvent::MTE2_S, HardEvent::MTE2_V, HardEvent::MAX, HardEvent::MTE2_MTE3},
        {HardEvent::MTE3_S, HardEvent::MTE3_V, HardEvent::MTE3_MTE2, HardEvent::MAX},
    };
    const Pipe from = pipeOf(src), to = pipeOf(dst);
    return from < kPipes && to < kPipes ? events[from][to] : HardEvent::MAX;
}

} // namespace sim

namespace AscendC {

template <pipe_t pipe>
inline void PipeBarrier()
{
    static_assert(pipe != PIPE_S, "PipeBarrier does not take PIPE_S");
    static_assert(sim::pipeOf(pipe) != sim::kPipes, "the simulated vector core has no such pipe");
    sim::core().barrier(sim::pipeOf(pipe));
}

template <MemDsbT arg0>
inline void DataSyncBarrier()
{
    sim::core().barrier(sim::kAllPipes);
}

template <pipe_t src, pipe_t dst>
class TQueSync {
public:
    static_assert(src != dst, "src and dst pipe cannot be the same");
    static_assert(sim::eventOf(src, dst) != HardEvent::MAX, "pipe not supported");

    void SetFlag(TEventID id) { sim::core().setFlag(sim::Api::TQueSync, sim::eventOf(src, dst), id); }
    void WaitFlag(TEventID id) { sim::core().waitFlag(sim::Api::TQueSync, sim::eventOf(src, dst), id); }
};

template <typename T>
inline void SetAtomicAdd()
{
    if (sim::core().supports(sim::Api::SetAtomic, sim::dtypeOf<T>())) {
        sim::core().atomic = sim::dtypeOf<T>();
    }
}

inline void DisableDmaAtomic()
{
    sim::core().atomic = 0;
}
inline void SetAtomicNone()
{
    sim::core().atomic = 0;
}

} // namespace AscendC
