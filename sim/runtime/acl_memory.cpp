// AscendCL: device and page-locked host memory, and copies between them.
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "core.h"
#include "device.h"
#include "stream.h"

using namespace simrt;

namespace {

Handles &hostBlocks()
{
    static auto &instance = *new Handles("host_blocks");
    return instance;
}

aclError allocate(const char *symbol, void **pointer, size_t size)
{
    if (pointer == nullptr || size == 0) {
        return fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes to %p; needs a place for the pointer, and a size",
                    symbol, size, static_cast<void *>(pointer));
    }
    SIM_CONTEXT(context);
    *pointer = context->device.allocate(size);
    return *pointer != nullptr ? ACL_SUCCESS
                               : fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                      "%s: %zu bytes; %llu of device %d's %llu bytes are in use", symbol, size,
                                      static_cast<unsigned long long>(context->device.used()), context->device.id(),
                                      static_cast<unsigned long long>(context->device.capacity()));
}

// Where each side of a copy lives.
struct Sides {
    bool fromDevice, toDevice;
};

bool sidesOf(aclrtMemcpyKind kind, const void *destination, const void *source, Sides *sides)
{
    switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST: *sides = {false, false}; return true;
    case ACL_MEMCPY_HOST_TO_DEVICE: *sides = {false, true}; return true;
    case ACL_MEMCPY_DEVICE_TO_HOST: *sides = {true, false}; return true;
    case ACL_MEMCPY_DEVICE_TO_DEVICE: *sides = {true, true}; return true;
    case ACL_MEMCPY_DEFAULT: *sides = {deviceOf(source) != nullptr, deviceOf(destination) != nullptr}; return true;
    default: return false;
    }
}

// Checks one side of a copy and returns the address at which the runtime reaches it.
void *reach(const char *symbol, const char *side, void *address, size_t count, bool onDevice)
{
    if (!onDevice && deviceOf(address) == nullptr) {
        return address;
    }
    void *view = onDevice ? hostView(address, count) : nullptr;
    if (view == nullptr) {
        fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s %p + %zu bytes is not %s", symbol, side, address, count,
             onDevice ? "inside one live device allocation" : "host memory");
    }
    return view;
}

aclError copy(const char *symbol, void *destination, size_t room, const void *source, size_t count,
              aclrtMemcpyKind kind)
{
    Sides sides{};
    if (count > room || destination == nullptr || source == nullptr || !sidesOf(kind, destination, source, &sides)) {
        return fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes from %p to %p with room for %zu, kind %d", symbol, count,
                    source, destination, room, kind);
    }
    void *to = reach(symbol, "destination", destination, count, sides.toDevice);
    void *from = to == nullptr ? nullptr : reach(symbol, "source", const_cast<void *>(source), count, sides.fromDevice);
    if (from == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    std::memmove(to, from, count);
    return ACL_SUCCESS;
}

aclError fill(const char *symbol, void *destination, size_t room, int32_t value, size_t count)
{
    if (count > room) {
        return fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes to %p with room for %zu", symbol, count, destination, room);
    }
    void *to = reach(symbol, "destination", destination, count, deviceOf(destination) != nullptr);
    if (to == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    std::memset(to, value, count);
    return ACL_SUCCESS;
}

} // namespace

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy)
{
    SIM_ENTER();
    return allocate(__func__, devPtr, size);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy)
{
    SIM_ENTER();
    return allocate(__func__, devPtr, size);
}

aclError aclrtFree(void *devPtr)
{
    SIM_ENTER();
    Device *owner = deviceOf(devPtr);
    if (owner == nullptr || !owner->release(devPtr)) {
        ++quantity("misuse");
        return fail(ACL_ERROR_RT_MEMORY_FREE, "aclrtFree: %p was not allocated, or is free", devPtr);
    }
    return ACL_SUCCESS;
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(hostPtr);
    *hostPtr = std::aligned_alloc(64, (size + 63) / 64 * 64);
    if (*hostPtr == nullptr) {
        return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocHost: %zu bytes", size);
    }
    hostBlocks().add(*hostPtr);
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *hostPtr)
{
    SIM_ENTER();
    if (!hostBlocks().remove(hostPtr)) {
        return fail(ACL_ERROR_RT_MEMORY_FREE, "aclrtFreeHost: %p was not allocated, or is free", hostPtr);
    }
    std::free(hostPtr);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    return copy(__func__, dst, destMax, src, count, kind);
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    SIM_ENTER();
    int status = 0;
    Stream *queue = streamOf(__func__, stream, &status);
    if (queue != nullptr) {
        queue->submit([=] { return copy("aclrtMemcpyAsync", dst, destMax, src, count, kind); });
    }
    return status;
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    return fill(__func__, devPtr, maxCount, value, count);
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    SIM_ENTER();
    int status = 0;
    Stream *queue = streamOf(__func__, stream, &status);
    if (queue != nullptr) {
        queue->submit([=] { return fill("aclrtMemsetAsync", devPtr, maxCount, value, count); });
    }
    return status;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t *free, size_t *total)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(free);
    SIM_REQUIRE_POINTER(total);
    SIM_CONTEXT(context);
    *total = context->device.capacity();
    *free = *total - context->device.used();
    return ACL_SUCCESS;
}
