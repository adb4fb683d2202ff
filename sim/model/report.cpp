#include "report.h"

#include <algorithm>
#include <iomanip>

#include "costs.h"
#include "timeline.h"

namespace sim {

namespace {

std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out + '"';
}

constexpr const char* kAssumptionNames[] = {"opt", "pess"};

double chipBytesPerMicrosecond(const Product& p)
{
    return p.gmGBytesPerSec != 0 ? p.gmGBytesPerSec * 1e3 : p.gmBytesPerCycle * p.mhz * p.cores;
}

double chipAdditionsPerMicrosecond(const Product& p)
{
    return double(kFloatLanes) * p.cores * p.mhz;
}

// Modelled time of the launch: blocks beyond the product's cores wait for the first ones to end.
void writeTiming(std::ostringstream& json, const Launch& launch, Assumption assumption, double floorMicroseconds)
{
    const Product& product = *launch.product;
    const LaunchTimeline all = schedule(launch, assumption);
    const size_t used = all.cycles.size();
    uint64_t calls = 0;
    for (const CoreTrace& core : launch.trace.cores) {
        calls = std::max(calls, core.scalarCalls);
    }
    const double longest = all.longest();
    double sum = 0;
    for (const double c : all.cycles) {
        sum += c;
    }
    json << quoted(kAssumptionNames[assumption]) << ": {\"time_us\": " << longest / product.mhz
         << ", \"floor_us\": " << floorMicroseconds
         << ", \"balance\": " << (longest > 0 ? sum / (longest * double(used)) : 1.0)
         << ", \"cycles_per_scalar_call\": " << (calls ? longest / double(calls) : 0.0) << ", \"share\": {";
    for (const Pipe p : {V, MTE2, MTE3}) {
        json << (p == V ? "" : ", ") << quoted(kPipeNames[p]) << ": " << (sum > 0 ? all.busy[p] / sum : 0.0);
    }
    json << "}, \"core_us\": [";
    for (size_t i = 0; i < used; ++i) {
        json << (i ? ", " : "") << all.cycles[i] / product.mhz;
    }
    json << "]}";
}

} // namespace

std::string violationText(const Launch& launch, const Violation& v)
{
    return cat(launch.product->name, " core ", v.core, ", instruction ", v.instruction, ": ", row(v.api).name, ": ",
               v.text);
}

std::string reportJson(const Launch& launch, uint64_t compulsoryBytes, uint64_t compulsoryAdditions)
{
    std::ostringstream json;
    json << std::setprecision(9);
    json << "{\"kernel\": " << quoted(launch.kernel->name) << ", \"product\": " << quoted(launch.product->name)
         << ", \"cores\": " << launch.cores << ", \"violation_count\": " << launch.trace.violationCount
         << ", \"violations\": [";
    const char* comma = "";
    for (const Violation& v : launch.trace.violations) {
        json << comma << quoted(violationText(launch, v));
        comma = ", ";
    }
    json << "]";
    PipeTotals totals[kPipes];
    uint64_t scalarCalls = 0;
    for (const CoreTrace& core : launch.trace.cores) {
        scalarCalls += core.scalarCalls;
        for (int p = 0; p < kPipes; ++p) {
            totals[p].instructions += core.pipes[p].instructions;
            totals[p].bytes += core.pipes[p].bytes;
        }
    }
    const uint64_t moved = totals[MTE2].bytes + totals[MTE3].bytes;
    json << ", \"moved_bytes\": " << moved << ", \"compulsory_bytes\": " << compulsoryBytes
         << ", \"scalar_calls\": " << scalarCalls << ", \"pipes\": {";
    for (int p = 0; p < kPipes; ++p) {
        json << (p ? ", " : "") << quoted(kPipeNames[p]) << ": {\"instructions\": " << totals[p].instructions
             << ", \"bytes\": " << totals[p].bytes << "}";
    }
    json << "}, \"arguments\": [";
    for (size_t i = 0; i < launch.gm.buffers().size(); ++i) {
        const GmBuffer& b = launch.gm.buffers()[i];
        json << (i ? ", " : "") << "{\"bytes\": " << b.bytes
             << ", \"written\": " << launch.gm.writtenBytes(static_cast<int>(i)) << ", \"rewritten\": " << b.rewritten
             << "}";
    }
    json << "]";
    if (launch.trace.recording) {
        const double floor = std::max(double(compulsoryBytes) / chipBytesPerMicrosecond(*launch.product),
                                      double(compulsoryAdditions) / chipAdditionsPerMicrosecond(*launch.product));
        json << ", \"launch_us\": " << (launch.product->arch == 2201 ? kLaunchMicroseconds2201 : 0)
             << ", \"timing\": {";
        writeTiming(json, launch, kOpt, floor);
        json << ", ";
        writeTiming(json, launch, kPess, floor);
        json << "}";
    }
    json << "}";
    return json.str();
}

std::string chromeTrace(const Launch& launch, Assumption assumption)
{
    std::ostringstream json;
    json << std::setprecision(9) << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
    const char* comma = "";
    for (size_t block = 0; block < launch.trace.cores.size(); ++block) {
        const CoreTrace& trace = launch.trace.cores[block];
        for (const Span& span : schedule(trace, coreBytesPerCycle(launch), assumption).spans) {
            const Step& step = trace.steps[span.step];
            json << comma << "{\"name\": " << quoted(row(step.api).name) << ", \"ph\": \"X\", \"pid\": " << block
                 << ", \"tid\": " << quoted(kPipeNames[step.pipe]) << ", \"ts\": " << span.begin / launch.product->mhz
                 << ", \"dur\": " << (span.end - span.begin) / launch.product->mhz
                 << ", \"args\": {\"bytes\": " << step.bytes << ", \"step\": " << span.step << "}}";
            comma = ", ";
        }
    }
    json << "]}";
    return json.str();
}

} // namespace sim
