// Source: hicann/opbase, src/nnopbase/individual_op/executor: no binary for a call's dtypes and formats is
// ACLNN_ERR_PARAM_INVALID where the definition has no such column, ACLNN_ERR_INNER_FIND_KERNEL_ERROR where it has no
// configuration for the product; both are error EZ1009 and list the parameters.
#include "support.h"

#include <algorithm>
#include <string>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "op_launch.h"

#include "../model/products.h"

namespace npu_sim {

namespace {

std::string dtypeText(ge::DataType dtype)
{
    static const struct {
        ge::DataType dtype;
        const char *name;
    } names[] = {
        {ge::DT_FLOAT, "DT_FLOAT"},     {ge::DT_FLOAT16, "DT_FLOAT16"}, {ge::DT_BF16, "DT_BF16"},
        {ge::DT_DOUBLE, "DT_DOUBLE"},   {ge::DT_BOOL, "DT_BOOL"},       {ge::DT_INT8, "DT_INT8"},
        {ge::DT_INT16, "DT_INT16"},     {ge::DT_INT32, "DT_INT32"},     {ge::DT_INT64, "DT_INT64"},
        {ge::DT_UINT8, "DT_UINT8"},     {ge::DT_UINT16, "DT_UINT16"},   {ge::DT_UINT32, "DT_UINT32"},
        {ge::DT_UINT64, "DT_UINT64"},   {ge::DT_COMPLEX64, "DT_COMPLEX64"},
        {ge::DT_COMPLEX128, "DT_COMPLEX128"},
    };
    for (const auto &known : names) {
        if (known.dtype == dtype) {
            return known.name;
        }
    }
    return "data type " + std::to_string(dtype);
}

std::string formatText(ge::Format format)
{
    return format == ge::FORMAT_ND        ? "ND"
           : format == ge::FORMAT_NC1HWC0 ? "NC1HWC0"
                                          : "format " + std::to_string(format);
}

using Descs = std::vector<gert::CompileTimeTensorDesc>;

// `col (DT_FLOAT, ND), x (DT_FLOAT, ND)`
std::string listed(const PackagedOp &op, const Descs &descs)
{
    std::string text;
    for (size_t i = 0; i < descs.size(); ++i) {
        text += (i == 0 ? "" : ", ") + op.parameters()[i] + " (" + dtypeText(descs[i].GetDataType()) +
                ", " + formatText(descs[i].GetStorageFormat()) + ")";
    }
    return text;
}

Descs descsOf(const Support::Column &column)
{
    Descs descs;
    for (const ge::DataType dtype : column) {
        descs.emplace_back(dtype, ge::FORMAT_ND);
    }
    return descs;
}

bool same(const gert::CompileTimeTensorDesc &a, const gert::CompileTimeTensorDesc &b)
{
    return a.GetDataType() == b.GetDataType() && a.GetStorageFormat() == b.GetStorageFormat();
}

} // namespace

ge::Format seenFormat(ge::Format format)
{
    static const ge::Format likeNd[] = {ge::FORMAT_NCHW, ge::FORMAT_NHWC, ge::FORMAT_NCDHW, ge::FORMAT_DHWCN,
                                        ge::FORMAT_NCL};
    return std::count(std::begin(likeNd), std::end(likeNd), format) != 0 ? ge::FORMAT_ND : format;
}

aclnnStatus checkSupported(const PackagedOp &op, const gert::NodeCall &call, const sim::Product &product)
{
    const auto support = std::find_if(op.supports().begin(), op.supports().end(), [&](const Support &candidate) {
        return candidate.soc == product.soc;
    });
    if (support == op.supports().end()) {
        npuSimReport("EZ1009: %s: the op's definition has no configuration for %s", op.type(), product.soc);
        return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
    }
    Descs given = call.inputDescs;
    given.insert(given.end(), call.outputDescs.begin(), call.outputDescs.end());
    std::string columns;
    for (const Support::Column &column : support->columns) {
        const Descs wanted = descsOf(column);
        if (std::equal(given.begin(), given.end(), wanted.begin(), wanted.end(), same)) {
            return ACL_SUCCESS;
        }
        columns += (columns.empty() ? "" : "; ") + listed(op, wanted);
    }
    npuSimReport("EZ1009: %s: the op's definition for %s has no %s; it has %s", op.type(), product.soc,
                 listed(op, given).c_str(), columns.c_str());
    return ACLNN_ERR_PARAM_INVALID;
}

} // namespace npu_sim
