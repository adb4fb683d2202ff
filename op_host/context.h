// Between CANN's contexts and the plain host code: names, shapes, arguments, and how a refusal is reported.
#pragma once

#include "base/alog_pub.h"
#include "base/err_msg.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "graph/types.h"

#include "folds.h"

// As hicann/opbase's op_common/log/log.h declares it: slog.h is not at one place in all versions.
extern "C" void DlogRecord(int32_t module, int32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4), weak));

namespace col2im {

// To the platform's log, plog. The libraries that an op's host code depends on bring the first function with CANN 9
// (libunified_dlog.so), the second with CANN 8 (libascendalog.so).
inline void logError(const std::string &text)
{
    if (DlogRecord != nullptr) {
        DlogRecord(OP, DLOG_ERROR, "%s", text.c_str());
    } else if (AlogRecord != nullptr) {
        AlogRecord(OP, DLOG_TYPE_DEBUG, DLOG_ERROR, "%s", text.c_str());
    }
}

// The sentence is logged, and reaches the user through aclGetRecentErrMsg. E89999 is the platform's code for errors in
// an op's host code; the function is absent where the error manager is not loaded.
inline ge::graphStatus refuse(const char *op, const Verdict &verdict)
{
    const std::string sentence = std::string(op) + ": " + verdict.rule + ": " + verdict.sentence;
    logError(sentence);
    if (ge::ReportInnerErrMsg != nullptr) {
        REPORT_INNER_ERR_MSG("E89999", "%s", sentence.c_str());
    }
    return ge::GRAPH_FAILED;
}

inline std::string dtypeName(ge::DataType dtype)
{
    static const struct {
        ge::DataType dtype;
        const char *name;
    } names[] = {
        {ge::DT_FLOAT, "float32"},       {ge::DT_FLOAT16, "float16"}, {ge::DT_BF16, "bfloat16"},
        {ge::DT_DOUBLE, "float64"},      {ge::DT_BOOL, "bool"},       {ge::DT_INT8, "int8"},
        {ge::DT_INT16, "int16"},         {ge::DT_INT32, "int32"},     {ge::DT_INT64, "int64"},
        {ge::DT_UINT8, "uint8"},         {ge::DT_UINT16, "uint16"},   {ge::DT_UINT32, "uint32"},
        {ge::DT_UINT64, "uint64"},       {ge::DT_COMPLEX64, "complex64"},
        {ge::DT_COMPLEX128, "complex128"},
    };
    for (const auto &known : names) {
        if (known.dtype == dtype) {
            return known.name;
        }
    }
    return "CANN's data type " + std::to_string(static_cast<int>(dtype));
}

inline std::string formatName(ge::Format format)
{
    switch (format) {
        case ge::FORMAT_ND:
            return "ND";
        case ge::FORMAT_NCHW:
            return "NCHW";
        case ge::FORMAT_NHWC:
            return "NHWC";
        case ge::FORMAT_NC1HWC0:
            return "NC1HWC0";
        default:
            return "number " + std::to_string(static_cast<int>(format));
    }
}

inline Ints sizesOf(const gert::Shape &shape)
{
    Ints sizes;
    for (size_t axis = 0; axis < shape.GetDimNum(); ++axis) {
        sizes.push_back(shape.GetDim(axis));
    }
    return sizes;
}

inline void setShape(const Ints &sizes, gert::Shape &shape)
{
    shape.SetDimNum(0);
    for (const int64_t size : sizes) {
        shape.AppendDim(size);
    }
}

// A list attribute; empty where it is missing.
template <typename Context> Ints listAttribute(const Context &context, size_t index)
{
    const auto *attributes = context.GetAttrs();
    const auto *list = attributes == nullptr ? nullptr : attributes->GetListInt(index);
    return list == nullptr ? Ints() : Ints(list->GetData(), list->GetData() + list->GetSize());
}

template <typename Context> int64_t intAttribute(const Context &context, size_t index)
{
    const auto *attributes = context.GetAttrs();
    const int64_t *value = attributes == nullptr ? nullptr : attributes->GetInt(index);
    return value == nullptr ? 0 : *value;
}

// An input whose values the host knows; false while a graph is compiled without them.
template <typename Context> bool listInput(const Context &context, size_t index, Ints &values)
{
    const gert::Tensor *tensor = context.GetInputTensor(index);
    const int64_t *data = tensor == nullptr ? nullptr : tensor->template GetData<int64_t>();
    if (data == nullptr) {
        return false;
    }
    values.assign(data, data + tensor->GetShapeSize());
    return true;
}

} // namespace col2im
