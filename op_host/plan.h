// The tiling plan: which schedule a fold runs, how it is cut into tiles, and on how many cores.
#pragma once

#include <initializer_list>

#include "plan_channels.h"
#include "plan_flat.h"
#include "plan_neighbours.h"
#include "plan_rows.h"
#include "plan_unfold.h"

namespace col2im {

// The best tiles of every schedule that can run the fold: "rows" always can.
inline std::vector<Plan> col2imPlans(const Fold &fold, const Machine &machine)
{
    std::vector<Plan> plans;
    plans.push_back(RowsPlan(fold, machine).best());
    for (const bool together : {false, true}) {
        for (const bool all : {false, true}) {
            FlatPlan flat(fold, machine, together, all);
            if (flat.possible()) {
                plans.push_back(flat.best());
            }
        }
    }
    ChannelsPlan channels(fold, machine);
    if (channels.possible()) {
        plans.push_back(channels.best());
    }
    NeighboursPlan neighbours(fold, machine);
    if (neighbours.possible()) {
        plans.push_back(neighbours.best());
    }
    return plans;
}

// The cheapest by the cost model.
inline Plan planCol2Im(const Fold &fold, const Machine &machine)
{
    const std::vector<Plan> plans = col2imPlans(fold, machine);
    return *std::min_element(plans.begin(), plans.end(),
                             [](const Plan &a, const Plan &b) { return a.cost < b.cost; });
}

} // namespace col2im
