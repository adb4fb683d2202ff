// Global memory as a launch sees it: the buffers the caller passed, exact bounds, and who touched which byte.
//
// Cores run one after another here, so a byte that one core writes and another reads or writes is reported
// whatever the order was: on the device there is none. Bytes of read-only buffers are not tracked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

enum class Role : uint8_t { In = 0, Out = 1, InOut = 2 };

struct GmBuffer {
    uint8_t* data;
    uint64_t bytes;
    Role role;
    std::vector<uint16_t> writer; // core + 1 per byte; allocated at the first write
    std::vector<uint16_t> reader; // core + 1, or kMany
    uint64_t rewritten = 0;       // bytes written again
};

// What a GlobalTensor may touch: [begin, end) of one buffer, set by SetGlobalBuffer.
struct GmView {
    int32_t buffer = -1;
    uint64_t begin = 0, end = 0;
};

class GlobalMemory {
public:
    static constexpr uint16_t kMany = 0xffff, kAtomic = 0xfffe;
    enum class Clash : uint8_t { None, OtherCore, SameCore, Undefined };
    struct Finding {
        Clash clash = Clash::None;
        uint64_t offset = 0;
        uint32_t core = 0;
    };

    void clear() { buffers_.clear(); }
    int add(void* data, uint64_t bytes, Role role);
    GmBuffer& buffer(int index) { return buffers_[static_cast<size_t>(index)]; }
    const std::vector<GmBuffer>& buffers() const { return buffers_; }
    int find(const void* address) const;
    uint8_t* at(const GmView& view, uint64_t offset) { return buffer(view.buffer).data + offset; }
    std::string describe(int index, uint64_t offset, uint64_t bytes) const;

    Finding noteWrite(int index, uint64_t offset, uint64_t bytes, uint32_t core, bool atomic);
    Finding noteRead(int index, uint64_t offset, uint64_t bytes, uint32_t core);
    uint64_t writtenBytes(int index) const;

private:
    std::vector<GmBuffer> buffers_;
};

} // namespace sim
