// What each product has of the ops: their information for the framework, and the kernel binaries to build.
#include <cctype>
#include <stdexcept>

#include "../kernel_name.h"
#include "generate.h"

namespace op_build {

namespace {

using Params = std::vector<ops::OpParamDef>;

// The op's parameters with those that the product's configuration has of its own in their place.
Params merged(const Params &base, const Params &own)
{
    Params params = base;
    for (ops::OpParamDef &param : params) {
        for (const ops::OpParamDef &replacement : own) {
            if (replacement.name == param.name) {
                param.dtypes = replacement.dtypes;
                param.formats = replacement.formats;
            }
        }
    }
    return params;
}

size_t columnsOf(const ProductOp &op)
{
    const size_t columns = op.inputs.at(0).dtypes.size();
    for (const Params *params : {&op.inputs, &op.outputs}) {
        for (const ops::OpParamDef &param : *params) {
            if (param.dtypes.size() != columns || param.formats.size() != columns || columns == 0) {
                throw std::runtime_error(op.op.type + ": " + param.name + " has " +
                                         std::to_string(param.dtypes.size()) + " data types and " +
                                         std::to_string(param.formats.size()) + " formats; must have " +
                                         std::to_string(columns) + " of each, as the first input");
            }
            for (const ge::Format format : param.formats) {
                if (format != ge::FORMAT_ND) {
                    throw std::runtime_error(op.op.type + ": " + param.name +
                                             " has another format than ND; the simulated toolkit has ND alone");
                }
            }
        }
    }
    return columns;
}

// Keys and values of one op, in order.
using Info = std::vector<std::pair<std::string, std::string>>;

void addParams(const char *kind, const Params &params, Info &info)
{
    for (size_t i = 0; i < params.size(); ++i) {
        std::string dtypes, formats;
        for (const ge::DataType value : params[i].dtypes) {
            dtypes += (dtypes.empty() ? "" : ",") + std::string(dtype(value).name);
            formats += formats.empty() ? "ND" : ",ND";
        }
        const std::string key = kind + std::to_string(i) + ".";
        info.emplace_back(key + "name", params[i].name);
        info.emplace_back(key + "paramType", "required");
        info.emplace_back(key + "dtype", dtypes);
        info.emplace_back(key + "format", formats);
        if (readByHost(params[i])) {
            info.emplace_back(key + "valueDepend", "required");
        }
    }
}

Info infoOf(const ProductOp &op)
{
    Info info;
    addParams("input", op.inputs, info);
    addParams("output", op.outputs, info);
    std::string names;
    for (const ops::OpAttrDef &attribute : op.op.attributes) {
        names += (names.empty() ? "" : ",") + attribute.name;
    }
    info.emplace_back("attr.list", names);
    for (const ops::OpAttrDef &attribute : op.op.attributes) {
        std::string values;
        for (const int64_t value : attribute.values) {
            values += (values.empty() ? "" : ",") + std::to_string(value);
        }
        info.emplace_back("attr_" + attribute.name + ".type", attribute.isList ? "listInt" : "int");
        info.emplace_back("attr_" + attribute.name + ".defaultValue", attribute.isList ? "[" + values + "]" : values);
    }
    for (const auto &flag : op.config.flags) {
        info.emplace_back(flag.first + ".flag", flag.second ? "true" : "false");
    }
    info.emplace_back("opFile.value", snakeCase(op.op.type));
    info.emplace_back("opInterface.value", snakeCase(op.op.type));
    return info;
}

// `input0.dtype` becomes the member `dtype` of `input0`.
std::string json(const Info &info)
{
    std::string text, open;
    for (const auto &row : info) {
        const size_t dot = row.first.find('.');
        const std::string object = row.first.substr(0, dot);
        text += object == open ? ", " : (open.empty() ? "" : "},\n") + ("    \"" + object + "\": {");
        text += "\"" + row.first.substr(dot + 1) + "\": \"" + row.second + "\"";
        open = object;
    }
    return text + "}\n";
}

std::string upper(std::string text)
{
    for (char &c : text) {
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return text;
}

} // namespace

std::vector<ProductOp> productOps(const Ops &ops, const std::string &soc)
{
    std::vector<ProductOp> found;
    for (const ops::OpDef &op : ops) {
        for (const auto &config : op.aicore.configs) {
            if (config.first == soc) {
                found.push_back({op, config.second, merged(op.inputs.params, config.second.inputs.params),
                                 merged(op.outputs.params, config.second.outputs.params)});
                columnsOf(found.back());
            }
        }
    }
    return found;
}

std::string opsInfoIni(const std::vector<ProductOp> &ops)
{
    std::string text;
    for (const ProductOp &op : ops) {
        text += "[" + op.op.type + "]\n";
        for (const auto &row : infoOf(op)) {
            text += row.first + "=" + row.second + "\n";
        }
    }
    return text;
}

std::string opsInfoJson(const std::vector<ProductOp> &ops)
{
    std::string text;
    for (const ProductOp &op : ops) {
        text += (text.empty() ? "" : ",\n") + ("  \"" + op.op.type + "\": {\n") + json(infoOf(op)) + "  }";
    }
    return "{\n" + text + "\n}\n";
}

std::string supports(const ops::OpDef &op)
{
    std::string text;
    for (const auto &config : op.aicore.configs) {
        const Ops alone = {op};
        const ProductOp product = productOps(alone, config.first).front();
        std::string columns;
        for (size_t column = 0; column < columnsOf(product); ++column) {
            std::string dtypes;
            for (const Params *params : {&product.inputs, &product.outputs}) {
                for (const ops::OpParamDef &param : *params) {
                    dtypes += (dtypes.empty() ? "" : ", ") + std::string(dtype(param.dtypes[column]).enumerator);
                }
            }
            columns += (columns.empty() ? "{" : ", {") + dtypes + "}";
        }
        text += "\n        {\"" + config.first + "\", {" + columns + "}},";
    }
    return text;
}

std::string kernelList(const std::vector<ProductOp> &ops)
{
    std::string text;
    for (const ProductOp &op : ops) {
        for (size_t column = 0; column < columnsOf(op); ++column) {
            std::vector<ge::DataType> dtypes;
            std::string macros;
            for (const Params *params : {&op.inputs, &op.outputs}) {
                for (const ops::OpParamDef &param : *params) {
                    dtypes.push_back(param.dtypes[column]);
                    macros += (macros.empty() ? "" : ";") + ("DTYPE_" + upper(param.name)) + "=" +
                              dtype(param.dtypes[column]).kernel;
                }
            }
            text += op.op.type + " " + snakeCase(op.op.type) + " " + npu_sim::kernelName(op.op.type, dtypes) + " " +
                    macros + "\n";
        }
    }
    return text;
}

} // namespace op_build
