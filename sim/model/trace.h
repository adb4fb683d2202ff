// What a launch did, instruction by instruction: the input of the timeline and of the counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis.h"

namespace sim {

struct Violation {
    uint32_t core;
    uint32_t instruction; // ordinal within the core, 0: before the first
    Api api;
    std::string text;
};

// Cost of moving one instruction's bytes, under the two assumptions on short and unaligned bursts.
enum Assumption : uint8_t { kOpt, kPess, kAssumptions };

struct Step {
    enum class Kind : uint8_t { Work, Signal, Await, Barrier, ScalarWait };
    Kind kind;
    Pipe pipe; // Barrier: kAllPipes for PIPE_ALL; ScalarWait: the pipe waited for
    Api api;
    uint32_t token;             // Signal, Await
    uint32_t bytes;             // of global memory, or of the widest vector operand
    float cycles;               // vector work, or the least time of a move
    float memory[kAssumptions]; // bytes' worth of bandwidth a move takes
};

struct PipeTotals {
    uint64_t instructions = 0;
    uint64_t bytes = 0;
};

struct CoreTrace {
    std::vector<Step> steps;
    PipeTotals pipes[kPipes];
    uint64_t scalarCalls = 0; // API calls the scalar unit issues
};

struct Trace {
    bool recording = false;
    std::vector<CoreTrace> cores;
    std::vector<Violation> violations;
    uint64_t violationCount = 0;

    void step(uint32_t core, const Step& what)
    {
        if (recording) {
            cores[core].steps.push_back(what);
        }
    }
};

} // namespace sim
