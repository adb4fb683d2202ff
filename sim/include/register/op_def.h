// The definition of an op: its inputs, attributes and outputs, and the products it is built for.
//
// Every setter keeps what it is given; the simulated op_build reads it (sim/toolkit/op_build).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/types.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };

class OpParamDef {
public:
    explicit OpParamDef(const char *name) : name(name) {}
    OpParamDef &ParamType(Option value) { return set(paramType, value); }
    OpParamDef &DataType(std::vector<ge::DataType> values) { return set(dtypes, std::move(values)); }
    OpParamDef &Format(std::vector<ge::Format> values) { return set(formats, std::move(values)); }
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format> values) { return set(unknownFormats, std::move(values)); }
    OpParamDef &ValueDepend(Option value) { return set(valueDepend, value); }
    OpParamDef &AutoContiguous() { return set(autoContiguous, true); }

    std::string name;
    Option paramType = REQUIRED;
    Option valueDepend = IGNORE;
    bool autoContiguous = false;
    std::vector<ge::DataType> dtypes;
    std::vector<ge::Format> formats, unknownFormats;

private:
    template <typename T> OpParamDef &set(T &member, T value)
    {
        member = std::move(value);
        return *this;
    }
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char *name) : name(name) {}
    OpAttrDef &AttrType(Option value)
    {
        attrType = value;
        return *this;
    }
    OpAttrDef &Int(int64_t value)
    {
        values = {value};
        return *this;
    }
    OpAttrDef &ListInt(std::vector<int64_t> list)
    {
        values = std::move(list);
        isList = true;
        return *this;
    }

    std::string name;
    Option attrType = REQUIRED;
    bool isList = false;
    std::vector<int64_t> values; // the default
};

// A list of parameters, found or made by name.
class OpParams {
public:
    OpParamDef &get(const char *name)
    {
        for (OpParamDef &param : params) {
            if (param.name == name) {
                return param;
            }
        }
        params.emplace_back(name);
        return params.back();
    }

    std::vector<OpParamDef> params;
};

// What one product has of its own; a parameter named here replaces the op's.
class OpAICoreConfig {
public:
    OpParamDef &Input(const char *name) { return inputs.get(name); }
    OpParamDef &Output(const char *name) { return outputs.get(name); }
    OpAICoreConfig &DynamicCompileStaticFlag(bool value) { return flag("dynamicCompileStatic", value); }
    OpAICoreConfig &DynamicFormatFlag(bool value) { return flag("dynamicFormat", value); }
    OpAICoreConfig &DynamicRankSupportFlag(bool value) { return flag("dynamicRankSupport", value); }
    OpAICoreConfig &DynamicShapeSupportFlag(bool value) { return flag("dynamicShapeSupport", value); }
    OpAICoreConfig &NeedCheckSupportFlag(bool value) { return flag("needCheckSupport", value); }
    OpAICoreConfig &PrecisionReduceFlag(bool value) { return flag("precision_reduce", value); }

    OpParams inputs, outputs;
    std::vector<std::pair<std::string, bool>> flags;

private:
    OpAICoreConfig &flag(const char *name, bool value)
    {
        flags.emplace_back(name, value);
        return *this;
    }
};

class OpAICoreDef {
public:
    void AddConfig(const char *soc, OpAICoreConfig config) { configs.emplace_back(soc, std::move(config)); }

    std::vector<std::pair<std::string, OpAICoreConfig>> configs;
};

class OpDef {
public:
    explicit OpDef(const char *type) : type(type)
    {
        // References that a definition holds stay valid while it adds parameters.
        inputs.params.reserve(kMostParameters);
        outputs.params.reserve(kMostParameters);
        attributes.reserve(kMostParameters);
    }
    OpParamDef &Input(const char *name) { return inputs.get(name); }
    OpParamDef &Output(const char *name) { return outputs.get(name); }
    OpAttrDef &Attr(const char *name)
    {
        attributes.emplace_back(name);
        return attributes.back();
    }
    OpAICoreDef &AICore() { return aicore; }

    std::string type;
    OpParams inputs, outputs;
    std::vector<OpAttrDef> attributes;
    OpAICoreDef aicore;

private:
    static constexpr size_t kMostParameters = 64;
};

} // namespace ops
