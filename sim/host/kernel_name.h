// How a kernel binary is called: the op's type and a hash of its dtypes, the same in op_build and at a launch.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "graph/types.h"

namespace npu_sim {

// `dtypes` are those of the inputs, then of the outputs. The hash is FNV-1a of 64 bits.
inline std::string kernelName(const std::string &type, const std::vector<ge::DataType> &dtypes)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const ge::DataType dtype : dtypes) {
        hash = (hash ^ static_cast<uint64_t>(dtype)) * 0x100000001b3;
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return type + "_" + text;
}

} // namespace npu_sim
