// The rules and the tiling plan behind a C interface, for the tests.
#include "../../op_host/plan.h"

#include <cstring>

using namespace col2im;

namespace {

// Lists arrive one after the other in `values`, their lengths in `lengths`.
class Lists {
public:
    Lists(const int64_t *values, const int64_t *lengths) : values_(values), lengths_(lengths) {}

    Ints next()
    {
        const Ints list(values_, values_ + *lengths_);
        values_ += *lengths_++;
        return list;
    }

private:
    const int64_t *values_;
    const int64_t *lengths_;
};

Arguments nextArguments(Lists &lists, int im2col)
{
    Arguments arguments;
    arguments.outputSize = im2col ? Ints() : lists.next();
    arguments.kernelSize = lists.next();
    arguments.strides = lists.next();
    arguments.pads = lists.next();
    arguments.dilations = lists.next();
    return arguments;
}

Verdict checkedFold(int im2col, const Call &call, Fold &fold)
{
    Ints shape;
    return im2col ? checkIm2Col(call, fold, shape) : checkCol2Im(call, fold, shape);
}

} // namespace

// Lists in order: input shape, out shape, output_size (col2im only), kernel_size, strides, pads, dilations. Writes
// the rule (empty: all hold) and the sentence as `rule\nsentence`.
extern "C" void check(int im2col, const char *targetName, const char *dtype, const char *outDtype, const char *format,
                      const int64_t *values, const int64_t *lengths, char *answer, size_t size)
{
    Lists lists(values, lengths);
    const Tensor input = {im2col ? "x" : "col", dtype, format, lists.next()};
    const Tensor out = {"out", outDtype, "ND", lists.next()};
    const Arguments arguments = nextArguments(lists, im2col);
    const Call call = {*findTarget(targetName), arguments, input, &out};
    Fold fold;
    const Verdict verdict = checkedFold(im2col, call, fold);
    std::strncpy(answer, (verdict.rule + "\n" + verdict.sentence).c_str(), size - 1);
}

extern "C" const char *target_dtypes(const char *name)
{
    const Target *target = findTarget(name);
    return target ? target->dtypes : "";
}

// The target's name, or null.
extern "C" const char *target_of_soc(const char *soc)
{
    const Target *target = findTargetOfSoc(soc);
    return target ? target->name : nullptr;
}

// What `plan` writes beside the tiling.
struct Launch {
    uint64_t key;
    int64_t cores;
    double cost;
};

// Plan one call; the lists are those of `check` without an out shape. `choice` picks one of the fold's plans, or the
// cheapest if it is negative. Returns the tiling's size; 0 if a rule fails or there is no such choice.
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
