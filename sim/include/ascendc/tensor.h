// GlobalTensor and LocalTensor: views of global memory and of the Unified Buffer.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core.h"
#include "qualifiers.h"
#include "types.h"

namespace AscendC {

template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize)
        : view_{addr, addr + tileSize * uint32_t(sizeof(T)), sim::UbView::kNoBuffer, 0, pos}
    {
    }
    explicit LocalTensor(const sim::UbView& view) : view_(view) {}

    // The address within UB, as on the device.
    uint64_t GetPhyAddr() const { return view_.begin; }
    uint64_t GetPhyAddr(const uint32_t offset) const { return view_.begin + uint64_t(offset) * sizeof(T); }

    T GetValue(const uint32_t index) const
    {
        sim::Core& core = sim::core();
        const uint32_t at = view_.begin + index * uint32_t(sizeof(T));
        if (!scalarAccess(sim::Api::GetValue, index)) {
            return T();
        }
        core.scalarSync(at, sizeof(T));
        core.requireDefined(sim::Api::GetValue, "the tensor", at, sizeof(T), "reads");
        return *core.ub<T>(at);
    }

    template <typename U>
    void SetValue(const uint32_t index, const U value) const
    {
        sim::Core& core = sim::core();
        const uint32_t at = view_.begin + index * uint32_t(sizeof(T));
        if (!scalarAccess(sim::Api::SetValue, index)) {
            return;
        }
        core.scalarSync(at, sizeof(T));
        core.issue(sim::Api::SetValue, sim::S);
        core.write(sim::Api::SetValue, sim::S, "the tensor", at, sizeof(T));
        core.define(at, sizeof(T));
        *core.ub<T>(at) = static_cast<T>(value);
    }

    template <typename U>
    LocalTensor<U> ReinterpretCast() const
    {
        return LocalTensor<U>(view_);
    }

    LocalTensor operator[](const uint32_t offset) const
    {
        LocalTensor part(*this);
        const uint64_t begin = view_.begin + uint64_t(offset) * sizeof(T);
        if (begin > view_.end) {
            sim::core().fail(sim::Api::Tensor,
                             sim::cat("offset ", offset, " lies beyond the tensor's ", GetSize(), " elements"));
        }
        part.view_.begin = static_cast<uint32_t>(begin);
        return part;
    }

    int32_t GetPosition() const { return static_cast<int32_t>(view_.position); }
    uint32_t GetSize() const { return view_.end > view_.begin ? (view_.end - view_.begin) / uint32_t(sizeof(T)) : 0; }
    void SetSize(const uint32_t size) { view_.end = view_.begin + size * uint32_t(sizeof(T)); }
    void SetUserTag(int32_t tag) { tag_ = tag; }
    int32_t GetUserTag() const { return tag_; }

    const sim::UbView& view() const { return view_; }

private:
    bool scalarAccess(sim::Api api, uint32_t index) const
    {
        sim::Core& core = sim::core();
        core.trace().cores[core.index()].scalarCalls += 1;
        core.trace().cores[core.index()].pipes[sim::S].instructions += 1;
        const uint64_t at = view_.begin + uint64_t(index) * sizeof(T);
        return core.usable(api, "the tensor", view_, at, at + sizeof(T));
    }

    sim::UbView view_;
    int32_t tag_ = -1;
};

template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    GlobalTensor() = default;

    void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize)
    {
        SetGlobalBuffer(buffer);
        bufferSize_ = bufferSize;
        if (view_.buffer >= 0) {
            view_.end = std::min(view_.end, view_.begin + bufferSize * sizeof(T));
        }
    }

    void SetGlobalBuffer(__gm__ T* buffer)
    {
        sim::Core& core = sim::core();
        address_ = buffer;
        bufferSize_ = 0;
        view_ = {};
        view_.buffer = core.gm().find(buffer);
        if (view_.buffer >= 0) {
            const sim::GmBuffer& argument = core.gm().buffer(view_.buffer);
            offset_ = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(buffer) - argument.data);
            view_.begin = offset_;
            view_.end = argument.bytes;
        }
    }

    const __gm__ T* GetPhyAddr() const { return address_; }
    __gm__ T* GetPhyAddr(const uint64_t offset) const { return address_ + offset; }

    T GetValue(const uint64_t offset) const
    {
        sim::Core& core = sim::core();
        const uint64_t at = offset_ + offset * sizeof(T);
        core.trace().cores[core.index()].scalarCalls += 1;
        if (!core.gmInside(sim::Api::Gm, view_, at, sizeof(T))) {
            return T();
        }
        core.gmRead(sim::Api::Gm, sim::S, view_, at, sizeof(T));
        T value;
        std::memcpy(&value, core.gm().at(view_, at), sizeof(T));
        return value;
    }

    void SetValue(const uint64_t offset, T value)
    {
        sim::Core& core = sim::core();
        const uint64_t at = offset_ + offset * sizeof(T);
        core.trace().cores[core.index()].scalarCalls += 1;
        if (!core.gmInside(sim::Api::Gm, view_, at, sizeof(T))) {
            return;
        }
        core.issue(sim::Api::SetValue, sim::S);
        core.gmWrite(sim::Api::Gm, sim::S, view_, at, sizeof(T));
        std::memcpy(core.gm().at(view_, at), &value, sizeof(T));
    }

    uint64_t GetSize() const { return bufferSize_; }

    GlobalTensor operator[](const uint64_t offset) const
    {
        GlobalTensor part(*this);
        part.address_ += offset;
        part.offset_ += offset * sizeof(T);
        return part;
    }

    template <CacheRwMode rwMode = CacheRwMode::RW>
    void SetL2CacheHint(CacheMode)
    {
    }

    const sim::GmView& view() const { return view_; }
    uint64_t byteOffset() const { return offset_; }

private:
    __gm__ T* address_ = nullptr;
    uint64_t bufferSize_ = 0;
    uint64_t offset_ = 0; // bytes into the launch's argument
    sim::GmView view_;
};

} // namespace AscendC
