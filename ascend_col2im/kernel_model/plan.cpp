// The host's tiling plan behind a C interface. Compiled as C++11, as the toolkit's template does.
#include "plan_api.h"

using namespace col2im;

// What `plan` writes beside the tiling.
struct Launch {
    uint64_t key;
    int64_t cores;
    double cost;
};

// Plan one call. Lists in order: input shape, output_size (col2im only), kernel_size, strides, pads, dilations.
// `choice` picks one of the fold's plans, or the cheapest if it is negative. Returns the tiling's size; 0 if a rule
// fails or there is no such choice.
extern "C" size_t plan(int im2col, const char *dtype, const int64_t *values, const int64_t *lengths, int64_t cores,
                       int64_t ubBytes, int choice, void *tiling, Launch *launch)
{
    Lists lists(values, lengths);
    const Tensor input = {im2col ? "x" : "col", dtype, "ND", lists.next()};
    const Arguments arguments = nextArguments(lists, im2col);
    const Call call = {*findTarget("ascend910b"), arguments, input, nullptr};
    const Machine machine = {cores, ubBytes};
    Fold fold;
    if (!checkedFold(im2col, call, fold).holds()) {
        return 0;
    }
    Plan made = im2col ? planIm2Col(fold, machine) : planCol2Im(fold, machine);
    if (choice >= 0) {
        const std::vector<Plan> plans = im2col ? im2colPlans(fold, machine) : col2imPlans(fold, machine);
        if (static_cast<size_t>(choice) >= plans.size()) {
            return 0;
        }
        made = plans[static_cast<size_t>(choice)];
    }
    std::memcpy(tiling, &made.tiling, sizeof made.tiling);
    *launch = {static_cast<uint64_t>(made.schedule), made.cores, made.cost};
    return sizeof made.tiling;
}
