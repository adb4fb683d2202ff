// What a tiling function reads, and where it leaves its plan.
#pragma once

#include <cstring>

#include "exe_graph/runtime/extended_kernel_context.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

class TilingContext : public ExtendedKernelContext {
public:
    TilingContext(const NodeCall &call, fe::PlatFormInfos &platform, size_t tilingCapacity)
        : ExtendedKernelContext(call), platform_(platform), tiling_(tilingCapacity)
    {}

    const StorageShape *GetInputShape(size_t index) const
    {
        const Tensor *tensor = GetInputTensor(index);
        return tensor == nullptr ? nullptr : &tensor->GetShape();
    }
    const StorageShape *GetOutputShape(size_t index) const { return at(call().outputShapes, index); }
    fe::PlatFormInfos *GetPlatformInfo() const { return &platform_; }

    // Null if the op registered less room.
    template <typename T> T *GetTilingData()
    {
        if (tiling_.size() < sizeof(T)) {
            return nullptr;
        }
        tilingSize_ = sizeof(T);
        return reinterpret_cast<T *>(tiling_.data());
    }

    size_t *GetWorkspaceSizes(size_t count)
    {
        workspaces_.assign(count, 0);
        return workspaces_.data();
    }

    ge::graphStatus SetTilingKey(uint64_t key)
    {
        key_ = key;
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus SetBlockDim(uint32_t cores)
    {
        cores_ = cores;
        return ge::GRAPH_SUCCESS;
    }

    uint64_t GetTilingKey() const { return key_; }
    uint32_t GetBlockDim() const { return cores_; }
    std::vector<uint8_t> TilingBytes() const { return {tiling_.data(), tiling_.data() + tilingSize_}; }
    const std::vector<size_t> &Workspaces() const { return workspaces_; }

private:
    fe::PlatFormInfos &platform_;
    std::vector<uint8_t> tiling_;
    size_t tilingSize_ = 0;
    std::vector<size_t> workspaces_;
    uint64_t key_ = 0;
    uint32_t cores_ = 0;
};

} // namespace gert
