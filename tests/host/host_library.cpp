// The rules and the tiling plan behind a C interface, for the tests.
#include "../../ascend_col2im/kernel_model/plan.cpp"

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
