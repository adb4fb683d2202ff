// One launch: a registered kernel, a product, a number of cores, a tiling and the GM arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core.h"
#include "global_memory.h"
#include "products.h"
#include "trace.h"

namespace sim {

using KernelEntry = void (*)(uint8_t* const* arguments);

struct Kernel {
    std::string name;
    KernelEntry entry;
    uint32_t arguments; // GM addresses, the tiling last
};

// Of every library loaded so far; a deque, so that rows stay where launches found them.
std::deque<Kernel>& kernels();

struct Launch {
    const Product* product = nullptr;
    const Kernel* kernel = nullptr;
    uint32_t cores = 1;
    uint64_t tilingKey = 0;
    std::vector<uint8_t> tiling;
    bool checking = true;
    GlobalMemory gm;
    Trace trace;
    std::string text; // the last report handed out

    void run();
};

// Registers a kernel of any number of GM_ADDR parameters under a name.
template <auto function>
struct KernelOf;
template <typename... Addresses, void (*function)(Addresses...)>
struct KernelOf<function> {
    template <size_t... i>
    static void call(uint8_t* const* arguments, std::index_sequence<i...>)
    {
        function(arguments[i]...);
    }
    static void entry(uint8_t* const* arguments) { call(arguments, std::index_sequence_for<Addresses...>()); }
    static constexpr uint32_t count = sizeof...(Addresses);
};

template <auto function>
struct RegisterKernel {
    explicit RegisterKernel(const char* name)
    {
        kernels().push_back({name, &KernelOf<function>::entry, KernelOf<function>::count});
    }
};

} // namespace sim

#define SIM_REGISTER_KERNEL(function) static const sim::RegisterKernel<&function> sim_register_##function(#function)
