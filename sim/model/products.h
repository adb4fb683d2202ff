// The products the simulator knows, one row each.
//
// Sources: the platform files data/platform_config/<SoC>.ini of CANN 8.1.RC1 (cores, frequency, ddr_rate, UB size);
// asc-devkit impl/basic_api/utils/kernel_utils_constants.h (TMP_UB_OFFSET, what a kernel may allocate);
// memory bandwidth of 910B1: 1.6 TB/s, the lower published figure (asc-devkit, L2-Cache切分.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace sim {

struct Product {
    const char* name;        // as the platform file is called
    const char* soc;         // build name (--soc=)
    uint16_t arch;           // __NPU_ARCH__
    uint16_t cores;          // vector cores
    uint16_t mhz;
    uint32_t ubBytes;        // what TPipe may hand out
    double gmBytesPerCycle;  // one core alone: ddr_rate of the platform file
    double gmGBytesPerSec;   // the whole chip; 0: unpublished, then cores * gmBytesPerCycle * MHz
};

inline constexpr uint32_t kUbA2 = 184 * 1024;   // 192 KiB less the 8 KiB the library reserves
inline constexpr uint32_t kUb310B = 248 * 1024; // 253952 bytes

inline constexpr Product kProducts[] = {
    // name         soc             arch  cores MHz   UB       B/cycle GB/s
    {"910B1",     "ascend910b",   2201, 48, 1850, kUbA2,   32, 1600},
    {"910B3",     "ascend910b",   2201, 40, 1800, kUbA2,   32, 1600},
    {"910B4",     "ascend910b",   2201, 40, 1500, kUbA2,   32, 0},
    {"910_9391",  "ascend910_93", 2201, 48, 1850, kUbA2,   32, 1600},
    {"310B1",     "ascend310b",   3002, 1,  1224, kUb310B, 17, 0},
    {"310B4",     "ascend310b",   3002, 1,  500,  kUb310B, 8,  0},
};

inline const Product* findProduct(std::string_view name)
{
    for (const Product& product : kProducts) {
        if (name == product.name || (name == "910_93" && std::string_view(product.soc) == "ascend910_93")) {
            return &product;
        }
    }
    return nullptr;
}

} // namespace sim
