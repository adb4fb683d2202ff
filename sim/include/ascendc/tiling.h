// How a kernel gets its tiling: the macros that the operator compile script provides on the device.
#pragma once

#include <cstring>

#include "core.h"
#include "types.h"

namespace sim {

template <typename T>
inline void getTiling(T& tiling)
{
    Core& core = sim::core();
    if (core.tiling.size() < sizeof(T)) {
        core.fail(Api::Tiling,
                  cat("the launch's tiling has ", core.tiling.size(), " bytes, the structure ", sizeof(T)));
        throw Hang();
    }
    std::memcpy(static_cast<void*>(&tiling), core.tiling.data(), sizeof(T));
}

} // namespace sim

#define TILING_KEY_IS(key) (sim::core().tilingKey == static_cast<uint64_t>(key))
#define TILING_KEY_VAR (sim::core().tilingKey)
#define REGISTER_TILING_DEFAULT(tiling_struct) using SimDefaultTiling = tiling_struct
#define REGISTER_TILING_FOR_TILINGKEY(condition, tiling_struct)
#define GET_TILING_DATA_WITH_STRUCT(tiling_struct, tiling_data, tiling_arg) \
    tiling_struct tiling_data;                                              \
    (void)(tiling_arg);                                                     \
    sim::getTiling(tiling_data)
#define GET_TILING_DATA(tiling_data, tiling_arg) GET_TILING_DATA_WITH_STRUCT(SimDefaultTiling, tiling_data, tiling_arg)
#define KERNEL_TASK_TYPE(key, type) KERNEL_TASK_TYPE_DEFAULT(type)
#if __NPU_ARCH__ == 2201
#define KERNEL_TASK_TYPE_DEFAULT(type) \
    static_assert((type) == KERNEL_TYPE_AIV_ONLY, "the simulated NPU launches vector-only kernels alone")
#else
#define KERNEL_TASK_TYPE_DEFAULT(type) \
    static_assert((type) == KERNEL_TYPE_MAX, "setting the kernel type is not supported on Atlas 200I/500 A2")
#endif
