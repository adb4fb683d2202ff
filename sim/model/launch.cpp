#include "launch.h"

namespace sim {

std::deque<Kernel>& kernels()
{
    static std::deque<Kernel> all;
    return all;
}

void Launch::run()
{
    trace.cores.assign(cores, {});
    trace.violations.clear();
    trace.violationCount = 0;
    std::vector<uint8_t*> arguments;
    for (const GmBuffer& buffer : gm.buffers()) {
        arguments.push_back(buffer.data);
    }
    arguments.push_back(tiling.data());
    Core& core = sim::core();
    core.tiling = tiling;
    core.tilingKey = tilingKey;
    for (uint32_t i = 0; i < cores; ++i) {
        core.start(*product, gm, trace, i, cores, checking);
        try {
            kernel->entry(arguments.data());
            core.finish();
        } catch (const Hang&) {
            // Reported where it was thrown; the other cores still run.
        }
    }
}

} // namespace sim
