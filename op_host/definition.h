// What the definitions of the ops share: dtype columns and per-product configurations.
#pragma once

#include <vector>

#include "register/op_def_registry.h"

namespace col2im {

using Dtypes = std::vector<ge::DataType>;

inline std::vector<ge::Format> ndFormats(size_t columns)
{
    return std::vector<ge::Format>(columns, ge::FORMAT_ND);
}

// A tensor of data: any of `dtypes`, made contiguous by the framework where it is an input.
inline void dataColumns(ops::OpParamDef &parameter, const Dtypes &dtypes)
{
    parameter.ParamType(ops::REQUIRED)
        .DataType(dtypes)
        .Format(ndFormats(dtypes.size()))
        .UnknownShapeFormat(ndFormats(dtypes.size()));
}

// A list of sizes whose values the host reads; one column for each dtype of the data.
inline void sizeColumns(ops::OpParamDef &parameter, size_t columns)
{
    parameter.ParamType(ops::REQUIRED)
        .ValueDepend(ops::REQUIRED)
        .DataType(Dtypes(columns, ge::DT_INT64))
        .Format(ndFormats(columns))
        .UnknownShapeFormat(ndFormats(columns));
}

// A configuration of its own sets none of these unless told to.
inline void setFlags(ops::OpAICoreConfig &config)
{
    config.DynamicCompileStaticFlag(true)
        .DynamicFormatFlag(true)
        .DynamicRankSupportFlag(true)
        .DynamicShapeSupportFlag(true)
        .NeedCheckSupportFlag(false)
        .PrecisionReduceFlag(true);
}

// The ops with lists: `data` is folded or unfolded into `result`, and `sizes` are the inputs that the host reads.
// Lists of one value stand for every axis; an empty default would reach the host as a list of garbage.
inline void setListOp(ops::OpDef &op, const char *data, const std::vector<const char *> &sizes, const char *result)
{
    const Dtypes everywhere = {ge::DT_FLOAT, ge::DT_FLOAT16};
    const Dtypes withBfloat16 = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
    const auto setColumns = [&](ops::OpParamDef &input, ops::OpParamDef &output, const Dtypes &dtypes) {
        dataColumns(input, dtypes);
        input.AutoContiguous();
        dataColumns(output, dtypes);
    };
    setColumns(op.Input(data), op.Output(result), withBfloat16);
    for (const char *name : sizes) {
        sizeColumns(op.Input(name), withBfloat16.size());
    }
    op.Attr("dilations").AttrType(ops::OPTIONAL).ListInt({1});
    op.Attr("pads").AttrType(ops::OPTIONAL).ListInt({0});
    op.Attr("strides").AttrType(ops::OPTIONAL).ListInt({1});

    ops::OpAICoreConfig atlasA2;
    setFlags(atlasA2);
    op.AICore().AddConfig("ascend910b", atlasA2);
    op.AICore().AddConfig("ascend910_93", atlasA2);
    // A configuration with fewer columns must repeat every parameter.
    ops::OpAICoreConfig atlas200I;
    setFlags(atlas200I);
    setColumns(atlas200I.Input(data), atlas200I.Output(result), everywhere);
    for (const char *name : sizes) {
        sizeColumns(atlas200I.Input(name), everywhere.size());
    }
    op.AICore().AddConfig("ascend310b", atlas200I);
}

} // namespace col2im
