// One simulated core: its Unified Buffer, what is known about every byte of it, and the order of its pipes.
//
// Every instruction gets the next number of one counter. known_[p][q] is the number of the last instruction of
// pipe q that pipe p knows to be complete; flags, queues and barriers raise it. A UB block remembers who wrote it
// last and who read it last, so a conflicting access that is not covered by known_ is a missing synchronisation.
// Granularity: definedness per byte; ordering per 32-byte block, the unit in which the pipes access UB.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "apis.h"
#include "global_memory.h"
#include "products.h"
#include "trace.h"
#include "types.h"

namespace sim {

inline constexpr uint32_t kBlock = 32;

template <typename... Parts>
std::string cat(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

std::string hex(uint64_t value);
const char* positionName(AscendC::TPosition position);

// Ends a core's run where the device would hang.
struct Hang {};

struct Buffer {
    enum class State : uint8_t { Free, Occupied, Queued };
    uint32_t begin, end; // bytes of UB
    AscendC::TPosition position;
    State state;
    uint32_t generation; // raised by every free: a handle of an older generation is dangling
    uint16_t index;      // within its queue
};

// A piece of UB that an instruction names: a tensor, or the buffer around a raw address.
struct UbView {
    uint32_t begin = 0, end = 0;
    uint16_t buffer = kNoBuffer;
    uint32_t generation = 0;
    AscendC::TPosition position = AscendC::TPosition::VECCALC;
    static constexpr uint16_t kNoBuffer = 0xffff;
};

struct VectorInstr;

// A field of an instruction: what it was given and what it may be.
struct Range {
    const char* field;
    int64_t given, low, high;
};

class Core {
public:
    void start(const Product& product, GlobalMemory& gm, Trace& trace, uint32_t index, uint32_t count, bool checking);
    void finish();

    const Product& product() const { return *product_; }
    GlobalMemory& gm() { return *gm_; }
    Trace& trace() { return *trace_; }
    uint32_t index() const { return index_; }
    uint32_t count() const { return count_; }
    bool checking() const { return checking_; }
    template <typename T>
    T* ub(uint32_t address)
    {
        return reinterpret_cast<T*>(ub_.data() + address);
    }

    // Violations.
    void fail(Api api, const std::string& text);
    bool supports(Api api, Dtype dtype);
    bool inRange(Api api, const char* field, int64_t given, int64_t low, int64_t high);
    bool inRange(Api api, std::initializer_list<Range> fields);

    // UB buffers (TPipe and its queues).
    uint16_t allocate(uint32_t bytes, AscendC::TPosition position, uint16_t indexInQueue);
    Buffer& buffer(uint16_t id) { return buffers_[id]; }
    void release(Buffer& buffer);
    void undefine(uint32_t begin, uint32_t end, uint32_t origin);
    UbView viewOfAddress(uint64_t address) const;
    bool usable(Api api, const char* operand, const UbView& view, uint64_t begin, uint64_t end);
    std::string describe(uint32_t begin, uint32_t end) const;

    // Order. issue() numbers an instruction; access checks name the operand and the bytes.
    uint32_t issue(Api api, Pipe pipe);
    void read(Api api, Pipe pipe, const char* operand, uint32_t begin, uint32_t bytes);
    void write(Api api, Pipe pipe, const char* operand, uint32_t begin, uint32_t bytes);
    void scalarSync(uint32_t begin, uint32_t bytes); // what the compiler's automatic synchronisation inserts
    void barrier(Pipe pipe);
    uint32_t signal(Pipe from);
    void await(Pipe to, uint32_t token);
    const uint32_t* known(Pipe pipe) const { return known_[pipe]; }
    Api apiOf(uint32_t number) const { return number < base_ ? Api::Kernel : issued_[number - base_]; }
    uint32_t ordinal(uint32_t number) const { return number < base_ ? 0 : number - base_ + 1; }

    // Definedness.
    bool defined(uint32_t begin, uint32_t bytes) const;
    void define(uint32_t begin, uint32_t bytes);
    void touch(const VectorInstr& instr, const uint32_t* at, uint32_t elems);
    void requireDefined(Api api, const char* operand, uint32_t begin, uint32_t bytes, const char* use);
    void copyDefinedness(uint32_t to, uint32_t from, uint32_t bytes);
    uint32_t originOf(uint32_t address) const { return origin_[address / kBlock]; }

    // Global memory: bounds are the caller's to check, these note who touched what.
    bool gmInside(Api api, const GmView& view, uint64_t begin, uint64_t bytes);
    void gmRead(Api api, Pipe pipe, const GmView& view, uint64_t begin, uint64_t bytes);
    void gmWrite(Api api, Pipe pipe, const GmView& view, uint64_t begin, uint64_t bytes);

    // Flags of SetFlag/WaitFlag, one per event and id; event ids of AllocEventID.
    void setFlag(Api api, AscendC::HardEvent event, int64_t id);
    void waitFlag(Api api, AscendC::HardEvent event, int64_t id);
    int8_t allocEvent(Api api, AscendC::HardEvent event);
    void releaseEvent(AscendC::HardEvent event, int8_t id);

    // State of the scalar unit that steers the other pipes.
    struct {
        bool counter = false;
        uint64_t high = ~uint64_t(0), low = ~uint64_t(0);
    } mask;
    uint64_t padValue = 0;
    bool padValueSet = false; // by SetPadValue, not left over from an instruction
    uint16_t atomic = 0;      // Dtype of SetAtomicAdd, 0: off
    uint64_t tilingKey = 0;
    void* pipe = nullptr; // the kernel's TPipe
    std::vector<uint8_t> tiling;

private:
    struct GmWrite {
        int32_t buffer;
        Pipe pipe;
        uint64_t begin, end;
        uint32_t number;
    };
    struct Signal {
        uint32_t known[kPipes];
    };
    struct Flag {
        bool set = false;
        uint32_t token = 0;
    };
    void expectKnown(Api api, Pipe pipe, const char* operand, uint32_t begin, uint32_t bytes, bool writes, Pipe other,
                     bool otherWrote);
    bool flagUsable(Api api, AscendC::HardEvent event, int64_t id);
    void conflict(Api api, Pipe pipe, const char* operand, uint32_t block, bool writes, Pipe otherPipe, uint32_t other,
                  bool otherWrote);
    void gmOrder(Api api, Pipe pipe, const GmView& view, const GlobalMemory::Finding& found, bool writes);

    const Product* product_ = nullptr;
    GlobalMemory* gm_ = nullptr;
    Trace* trace_ = nullptr;
    uint32_t index_ = 0, count_ = 0;
    bool checking_ = true;
    std::vector<uint8_t> ub_;
    std::vector<uint32_t> definedBits_; // one bit per byte, one word per block
    std::vector<uint32_t> origin_;      // per block: the instruction that left bytes undefined, 0 = nobody wrote them
    // Per pipe and block: its last write (V, MTE2, S) and its last read (V, MTE3). An older write of another pipe may
    // stay: whoever knows the later one knows it too. Signed, because that compares faster.
    std::vector<int32_t> writer_[kPipes], reader_[kPipes];
    std::vector<uint16_t> owner_; // buffer of each block
    std::vector<Buffer> buffers_;
    uint32_t allocated_ = 0;
    uint32_t now_ = 0, base_ = 1;
    uint32_t last_[kPipes] = {}, known_[kPipes][kPipes] = {};
    std::vector<Api> issued_;
    std::vector<Signal> signals_;
    std::vector<GmWrite> gmWrites_;
    Flag flags_[static_cast<size_t>(AscendC::HardEvent::MAX)][8];
    uint8_t eventsInUse_[static_cast<size_t>(AscendC::HardEvent::MAX)] = {}; // a bit per id
    uint8_t queueEvents_[static_cast<size_t>(AscendC::HardEvent::MAX)] = {}; // those that queues hold
    uint32_t lastConflict_ = 0;
};

Core& core();
struct EventPipes {
    Pipe from, to;
    bool vector; // an event of the vector core
};
EventPipes pipesOf(AscendC::HardEvent event);
const char* eventName(AscendC::HardEvent event);

} // namespace sim
