// The tiling plan: which schedule a fold runs, how it is cut into tiles, and on how many cores.
#pragma once

#include "plan_channels.h"
#include "plan_rows.h"
#include "plan_unfold.h"

namespace col2im {

inline void keepCheaper(Plan &plan, const Plan &other)
{
    if (other.cost < plan.cost) {
        plan = other;
    }
}

// The cheapest schedule by the cost model; "rows" runs any fold.
inline Plan planCol2Im(const Fold &fold, const Machine &machine)
{
    Plan plan = RowsPlan(fold, machine, false).best();
    RowsPlan flat(fold, machine, true);
    if (flat.possible()) {
        keepCheaper(plan, flat.best());
    }
    ChannelsPlan channels(fold, machine);
    if (channels.possible()) {
        keepCheaper(plan, channels.best());
    }
    return plan;
}

} // namespace col2im
