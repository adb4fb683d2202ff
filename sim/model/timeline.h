// When every instruction of a launch would run, from its trace and the constants of costs.h.
//
// Each pipe takes its instructions in program order; flags, queues and barriers hold it back as recorded. Moves of
// one core share that core's bandwidth: two at once run at half the rate each. A core's bandwidth is its share of the
// chip's, at most what one core can draw alone. The scalar unit issues without cost; its calls are counted apart.
#pragma once

#include <algorithm>
#include <vector>

#include "launch.h"

namespace sim {

struct Span {
    uint32_t step;     // index into CoreTrace::steps
    double begin, end; // cycles
};

struct CoreTimeline {
    double cycles = 0; // end of the last instruction
    double busy[kPipes] = {};
    std::vector<Span> spans;
};

// What a whole launch takes: blocks beyond the product's cores wait for the first ones to end.
struct LaunchTimeline {
    std::vector<double> cycles; // until the last instruction of each core
    double busy[kPipes] = {};   // of all cores
    double longest() const { return *std::max_element(cycles.begin(), cycles.end()); }
};

double coreBytesPerCycle(const Launch& launch);
LaunchTimeline schedule(const Launch& launch, Assumption assumption);
CoreTimeline schedule(const CoreTrace& trace, double bytesPerCycle, Assumption assumption);

} // namespace sim
