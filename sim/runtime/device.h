// Devices: their memory, kept apart from the host's, and the contexts that bind threads to them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core.h"

namespace simrt {

class Device;
class Stream;

// What aclrtSetDevice and aclrtCreateContext bind a thread to.
struct Context {
    explicit Context(Device &owner) : device(owner) {}
    Stream &defaultStream(); // made on first use

    Device &device;
    std::mutex mutex;
    std::unique_ptr<Stream> stream;
};

// One device. Its memory is mapped twice: at the addresses that callers get, where every page is closed (a host
// access is a segmentation fault), and at a fixed distance from them, where the runtime and kernels work. There,
// pages are open only while allocated, and one closed page follows every allocation.
class Device {
public:
    explicit Device(int id);
    int id() const { return id_; }
    Context &primary() { return primary_; }

    void *allocate(uint64_t bytes); // null when full; filled with 0xFF bytes: NaN in every float type
    bool release(void *address);
    bool contains(const void *address) const;
    void *hostView(const void *address, uint64_t bytes) const; // null unless inside one live allocation
    uint64_t capacity() const { return capacity_; }
    uint64_t used() const;

private:
    struct Allocation {
        uint64_t reserved; // whole pages
        uint64_t bytes;
    };

    int id_;
    uint64_t capacity_;
    uint8_t *address_; // closed
    uint8_t *view_;    // open where allocated
    mutable std::mutex mutex_;
    std::map<uint64_t, Allocation> live_; // by offset
    uint64_t used_ = 0;
    Context primary_;
};

int deviceCount();
Device *device(int id);                       // null if there is no such device
Device *deviceOf(const void *address);        // null for host memory
Context *currentContext();                    // of this thread; null if none
void setCurrentContext(Context *context);
void *hostView(const void *address, uint64_t bytes);

} // namespace simrt

// The thread's context, or return the status that CANN gives a thread without one.
#define SIM_CONTEXT(name)                                                                              \
    ::simrt::Context *name = ::simrt::currentContext();                                                \
    if (name == nullptr) {                                                                             \
        return ::simrt::fail(ACL_ERROR_RT_CONTEXT_NULL, "%s: this thread has no device: call "        \
                             "aclrtSetDevice first", __func__);                                        \
    }
