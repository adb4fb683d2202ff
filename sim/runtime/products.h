// What the runtime answers about a product beyond the model's table, one row each; ASCEND_SIM_SOC chooses the row.
//
// Source: data/platform_config/<SoC>.ini of CANN 8.1.RC1: ai_core_cnt or cube_core_cnt, l2_size.
#pragma once

#include <cstdint>

#include "../model/products.h"

namespace simrt {

struct Product {
    const char *soc; // "Ascend" and the name in the model's table
    int64_t aiCores;
    int64_t l2Bytes;
    bool bfloat16;

    int64_t vectorCores() const { return sim::findProduct(soc + sizeof "Ascend" - 1)->cores; }
};

inline constexpr int64_t kMiB = 1 << 20;

inline constexpr Product kProducts[] = {
    // SoC              AI  L2          bfloat16
    {"Ascend910B1",     24, 192 * kMiB, true},
    {"Ascend910B3",     20, 192 * kMiB, true},
    {"Ascend910B4",     20, 96 * kMiB,  true},
    {"Ascend910_9391",  24, 192 * kMiB, true},
    {"Ascend310B1",     1,  4 * kMiB,   false},
    {"Ascend310B4",     1,  4 * kMiB,   false},
};

const Product *product(); // the row of ASCEND_SIM_SOC, or null after reporting which there are

} // namespace simrt
