// Moves between global memory and UB: blocks of bytes at regular pitches.
#pragma once

#include <cstdint>

#include "core.h"

namespace sim {

struct Move {
    Api api;
    uint32_t count = 1;   // blocks
    uint32_t bytes = 0;   // of one block
    uint64_t gmPitch = 0; // from block to block, in global memory
    uint64_t ubPitch = 0; // and in UB
    uint8_t elemBytes = 1;
    Dtype dtype = kU8;
};

// What fills UB around the bytes of each block (DataCopyPad).
struct Padding {
    bool given = false;           // isPad
    uint32_t left = 0, right = 0; // bytes
    uint64_t value = 0;
};

// Global memory -> UB. `gm` and `ub` are where the first block starts.
void load(const UbView& dst, const GmView& src, uint64_t gm, const Move& move, const Padding& padding);
// UB -> global memory.
void store(const GmView& dst, uint64_t gm, const UbView& src, const Move& move);

} // namespace sim
