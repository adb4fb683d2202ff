// Device memory and contexts; see device.h for how memory is kept apart.
#include "device.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "products.h"
#include "stream.h"

namespace simrt {
namespace {

constexpr uint64_t kPage = 4096;

thread_local Context *current = nullptr;

uint8_t *reserve(uint64_t bytes)
{
    void *pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        std::perror("simulated device memory: mmap");
        std::abort();
    }
    return static_cast<uint8_t *>(pages);
}

std::vector<Device *> &devices()
{
    static auto &all = *[] {
        auto *list = new std::vector<Device *>;
        const int64_t count = environmentNumber("ASCEND_SIM_DEVICES", 1);
        for (int id = 0; id < count; ++id) {
            list->push_back(new Device(id));
        }
        return list;
    }();
    return all;
}

} // namespace

Stream &Context::defaultStream()
{
    const std::lock_guard<std::mutex> lock(mutex);
    if (!stream) {
        stream = std::make_unique<Stream>(*this);
    }
    return *stream;
}

Device::Device(int id)
    : id_(id), capacity_(static_cast<uint64_t>(environmentNumber("ASCEND_SIM_MEMORY_MIB", 4096)) * kMiB),
      address_(reserve(capacity_)), view_(reserve(capacity_)), primary_(*this)
{
}

void *Device::allocate(uint64_t bytes)
{
    if (bytes > capacity_) {
        return nullptr;
    }
    const uint64_t reserved = (bytes + kPage - 1) / kPage * kPage + kPage; // the last page stays closed
    const std::lock_guard<std::mutex> lock(mutex_);
    uint64_t offset = 0;
    for (const auto &[begin, allocation] : live_) {
        if (begin - offset >= reserved) {
            break;
        }
        offset = begin + allocation.reserved;
    }
    if (offset + reserved > capacity_ ||
        mprotect(view_ + offset, reserved - kPage, PROT_READ | PROT_WRITE) != 0) {
        return nullptr;
    }
    std::memset(view_ + offset, 0xFF, reserved - kPage);
    live_[offset] = {reserved, bytes};
    used_ += reserved;
    quantity("device_bytes") += static_cast<int64_t>(bytes);
    return address_ + offset;
}

bool Device::release(void *address)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(static_cast<uint64_t>(static_cast<uint8_t *>(address) - address_));
    if (found == live_.end()) {
        return false;
    }
    const auto [offset, allocation] = *found;
    // A new closed mapping gives the memory back to the host, and makes use after free fault.
    mmap(view_ + offset, allocation.reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    used_ -= allocation.reserved;
    quantity("device_bytes") -= static_cast<int64_t>(allocation.bytes);
    live_.erase(found);
    return true;
}

bool Device::contains(const void *address) const
{
    const auto *byte = static_cast<const uint8_t *>(address);
    return byte >= address_ && byte < address_ + capacity_;
}

void *Device::hostView(const void *address, uint64_t bytes) const
{
    const auto offset = static_cast<uint64_t>(static_cast<const uint8_t *>(address) - address_);
    const std::lock_guard<std::mutex> lock(mutex_);
    auto after = live_.upper_bound(offset);
    if (after == live_.begin()) {
        return nullptr;
    }
    const auto &[begin, allocation] = *--after;
    const uint64_t end = begin + allocation.bytes;
    return offset <= end && bytes <= end - offset ? view_ + offset : nullptr;
}

uint64_t Device::used() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_;
}

int deviceCount()
{
    return static_cast<int>(devices().size());
}

Device *device(int id)
{
    return id >= 0 && id < deviceCount() ? devices()[static_cast<size_t>(id)] : nullptr;
}

Device *deviceOf(const void *address)
{
    for (Device *candidate : devices()) {
        if (candidate->contains(address)) {
            return candidate;
        }
    }
    return nullptr;
}

Context *currentContext()
{
    return current;
}

void setCurrentContext(Context *context)
{
    current = context;
}

void *hostView(const void *address, uint64_t bytes)
{
    const Device *owner = deviceOf(address);
    return owner == nullptr ? nullptr : owner->hostView(address, bytes);
}

const Product *product()
{
    const std::string soc = environment("ASCEND_SIM_SOC", "Ascend910B1");
    std::string names;
    for (const Product &row : kProducts) {
        if (soc == row.soc) {
            return &row;
        }
        names += names.empty() ? row.soc : std::string(", ") + row.soc;
    }
    fail(ACL_ERROR_INVALID_PARAM, "ASCEND_SIM_SOC is '%s'; must be one of %s", soc.c_str(), names.c_str());
    return nullptr;
}

} // namespace simrt

void *npuSimHostView(const void *device, uint64_t bytes)
{
    return simrt::hostView(device, bytes);
}
