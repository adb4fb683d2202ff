// The tiling of every test kernel.
#pragma once

#include <cstdint>

struct TestTiling {
    uint32_t length;    // elements per core
    uint32_t tile;      // elements per tile
    uint32_t parameter; // meaning depends on the kernel
    uint32_t second;
};
