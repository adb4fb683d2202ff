// The rules behind a C interface, for the parity test.
#include "../../op_host/folds.h"

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

} // namespace

// Lists in order: input shape, out shape, output_size (col2im only), kernel_size, strides, pads, dilations. Writes
// the rule (empty: all hold) and the sentence as `rule\nsentence`.
extern "C" void check(int im2col, const char *targetName, const char *dtype, const char *outDtype, const char *format,
                      const int64_t *values, const int64_t *lengths, char *answer, size_t size)
{
    Lists lists(values, lengths);
    const Tensor input = {im2col ? "x" : "col", dtype, format, lists.next()};
    const Tensor out = {"out", outDtype, "ND", lists.next()};
    Arguments arguments;
    arguments.outputSize = im2col ? Ints() : lists.next();
    arguments.kernelSize = lists.next();
    arguments.strides = lists.next();
    arguments.pads = lists.next();
    arguments.dilations = lists.next();
    const Call call = {*findTarget(targetName), arguments, input, &out};
    Fold fold;
    Ints shape;
    const Verdict verdict = im2col ? checkIm2Col(call, fold, shape) : checkCol2Im(call, fold, shape);
    std::strncpy(answer, (verdict.rule + "\n" + verdict.sentence).c_str(), size - 1);
}

extern "C" const char *target_dtypes(const char *name)
{
    const Target *target = findTarget(name);
    return target ? target->dtypes : "";
}
