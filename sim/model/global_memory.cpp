#include "global_memory.h"

#include <algorithm>
#include <sstream>

namespace sim {

namespace {
int severity(GlobalMemory::Clash clash)
{
    switch (clash) {
    case GlobalMemory::Clash::None: return 0;
    case GlobalMemory::Clash::Undefined: return 1;
    case GlobalMemory::Clash::SameCore: return 2;
    default: return 3;
    }
}
} // namespace

int GlobalMemory::add(void* data, uint64_t bytes, Role role)
{
    buffers_.push_back({static_cast<uint8_t*>(data), bytes, role, {}, {}, 0});
    return static_cast<int>(buffers_.size()) - 1;
}

int GlobalMemory::find(const void* address) const
{
    const auto* byte = static_cast<const uint8_t*>(address);
    for (size_t i = 0; i < buffers_.size(); ++i) {
        const GmBuffer& b = buffers_[i];
        if (byte >= b.data && byte < b.data + std::max<uint64_t>(b.bytes, 1)) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

std::string GlobalMemory::describe(int index, uint64_t offset, uint64_t bytes) const
{
    std::ostringstream text;
    text << "bytes [" << offset << ", " << offset + bytes << ") of GM argument " << index << " ("
         << buffers_[static_cast<size_t>(index)].bytes << " bytes)";
    return text.str();
}

GlobalMemory::Finding GlobalMemory::noteWrite(int index, uint64_t offset, uint64_t bytes, uint32_t core, bool atomic)
{
    GmBuffer& b = buffer(index);
    const auto me = static_cast<uint16_t>(core + 1);
    if (b.writer.empty()) {
        b.writer.resize(b.bytes);
    }
    Finding found;
    uint16_t* writer = b.writer.data() + offset;
    uint16_t seen = 0; // one pass that vectorises; the slow look only when something is there
    for (uint64_t i = 0; i < bytes; ++i) {
        seen |= writer[i];
    }
    for (uint64_t i = 0; seen != 0 && i < bytes; ++i) {
        if (writer[i] == 0) {
            continue;
        }
        ++b.rewritten;
        const bool other = writer[i] != me && !(atomic && writer[i] == kAtomic);
        if (found.clash != Clash::OtherCore && (other || found.clash == Clash::None)) {
            found = {other ? Clash::OtherCore : Clash::SameCore, offset + i, writer[i] - 1u};
        }
    }
    if (!b.reader.empty()) {
        const uint16_t* reader = b.reader.data() + offset;
        for (uint64_t i = 0; i < bytes && found.clash != Clash::OtherCore; ++i) {
            if (reader[i] != 0 && reader[i] != me) {
                found = {Clash::OtherCore, offset + i, reader[i] - 1u};
            }
        }
    }
    std::fill_n(writer, bytes, atomic ? kAtomic : me);
    return found;
}

GlobalMemory::Finding GlobalMemory::noteRead(int index, uint64_t offset, uint64_t bytes, uint32_t core)
{
    GmBuffer& b = buffer(index);
    if (b.role == Role::In) {
        return {};
    }
    const auto me = static_cast<uint16_t>(core + 1);
    if (b.reader.empty()) {
        b.reader.resize(b.bytes);
    }
    Finding found;
    for (uint64_t i = offset; i < offset + bytes; ++i) {
        const uint16_t writer = b.writer.empty() ? 0 : b.writer[i];
        b.reader[i] = b.reader[i] == 0 || b.reader[i] == me ? me : kMany;
        const Clash clash = writer == me          ? Clash::SameCore
                            : writer != 0         ? Clash::OtherCore
                            : b.role == Role::Out ? Clash::Undefined
                                                  : Clash::None;
        if (severity(clash) > severity(found.clash)) {
            found = {clash, i, writer - 1u};
        }
    }
    return found;
}

uint64_t GlobalMemory::writtenBytes(int index) const
{
    const GmBuffer& b = buffers_[static_cast<size_t>(index)];
    return b.bytes - static_cast<uint64_t>(b.writer.empty() ? static_cast<std::ptrdiff_t>(b.bytes)
                                                            : std::count(b.writer.begin(), b.writer.end(), 0));
}

} // namespace sim
