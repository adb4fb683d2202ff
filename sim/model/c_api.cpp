#include "c_api.h"

#include "report.h"
#include "timeline.h"

struct SimLaunch : sim::Launch {};

namespace {

thread_local std::string lastText;

bool refuse(const std::string& why)
{
    lastText = why;
    return false;
}

template <typename Rows, typename Take>
const char* lines(const Rows& rows, Take take)
{
    lastText.clear();
    for (const auto& r : rows) {
        take(r);
    }
    return lastText.c_str();
}

} // namespace

uint32_t sim_arch(void)
{
    return __NPU_ARCH__;
}

const char* sim_kernels(void)
{
    return lines(sim::kernels(), [](const sim::Kernel& k) { lastText += k.name + "\n"; });
}

const char* sim_products(void)
{
    return lines(sim::kProducts, [](const sim::Product& p) {
        if (p.arch == __NPU_ARCH__) {
            lastText += std::string(p.name) + "\n";
        }
    });
}

const char* sim_last_error(void)
{
    return lastText.c_str();
}

SimLaunch* sim_create(const char* kernel, const char* product, uint32_t cores, uint32_t options)
{
    const sim::Product* row = sim::findProduct(product);
    if (row == nullptr || row->arch != __NPU_ARCH__) {
        refuse(sim::cat("product ", product, " is not one of this library, built for architecture ", __NPU_ARCH__));
        return nullptr;
    }
    if (cores < 1 || cores > 65535) {
        refuse(sim::cat("cores=", cores, ", must be 1..65535"));
        return nullptr;
    }
    for (const sim::Kernel& k : sim::kernels()) {
        if (k.name == kernel) {
            auto* launch = new SimLaunch();
            launch->product = row;
            launch->kernel = &k;
            launch->cores = cores;
            launch->checking = (options & SIM_CHECK) != 0;
            launch->trace.recording = (options & SIM_RECORD) != 0;
            return launch;
        }
    }
    refuse(sim::cat("no kernel named ", kernel, " in this library"));
    return nullptr;
}

void sim_tiling(SimLaunch* launch, uint64_t key, const void* bytes, uint64_t size)
{
    const auto* from = static_cast<const uint8_t*>(bytes);
    launch->tilingKey = key;
    launch->tiling.assign(from, from + size);
}

void sim_argument(SimLaunch* launch, void* bytes, uint64_t size, int role)
{
    launch->gm.add(bytes, size, static_cast<sim::Role>(role));
}

int64_t sim_run(SimLaunch* launch)
{
    const size_t given = launch->gm.buffers().size() + 1;
    if (given != launch->kernel->arguments) {
        refuse(sim::cat("kernel ", launch->kernel->name, " takes ", launch->kernel->arguments, " addresses, got ",
                        given - 1, " GM arguments and the tiling"));
        return -1;
    }
    launch->run();
    return static_cast<int64_t>(launch->trace.violationCount);
}

const char* sim_violation(SimLaunch* launch, uint32_t index)
{
    if (index >= launch->trace.violations.size()) {
        return nullptr;
    }
    launch->text = sim::violationText(*launch, launch->trace.violations[index]);
    return launch->text.c_str();
}

const char* sim_report(SimLaunch* launch, uint64_t compulsory_bytes, uint64_t compulsory_additions)
{
    launch->text = sim::reportJson(*launch, compulsory_bytes, compulsory_additions);
    return launch->text.c_str();
}

const char* sim_trace(SimLaunch* launch, int assumption)
{
    launch->text = sim::chromeTrace(*launch, static_cast<sim::Assumption>(assumption));
    return launch->text.c_str();
}

double sim_time(SimLaunch* launch, int assumption)
{
    return sim::schedule(*launch, static_cast<sim::Assumption>(assumption)).longest() / launch->product->mhz;
}

void sim_destroy(SimLaunch* launch)
{
    delete launch;
}
