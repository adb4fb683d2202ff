#include "report.h"

#include <iomanip>

#include "costs.h"

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

} // namespace

std::string violationText(const Launch& launch, const Violation& v)
{
    return cat(launch.product->name, " core ", v.core, ", instruction ", v.instruction, ": ", row(v.api).name, ": ", v.text);
}

std::string reportJson(const Launch& launch, uint64_t compulsoryBytes)
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
        json << (i ? ", " : "") << "{\"bytes\": " << b.bytes << ", \"written\": "
             << launch.gm.writtenBytes(static_cast<int>(i)) << ", \"rewritten\": " << b.rewritten << "}";
    }
    json << "]}";
    return json.str();
}

std::string chromeTrace(const Launch&, Assumption)
{
    return "[]";
}

} // namespace sim
