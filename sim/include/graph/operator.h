// A node of a graph, as a framework plug-in sees it: its type and its attributes by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/types.h"

namespace ge {

class Operator {
public:
    Operator(const char *name, const char *type) : name_(name), type_(type) {}

    graphStatus GetOpType(AscendString &type) const
    {
        type = AscendString(type_.c_str());
        return GRAPH_SUCCESS;
    }

    Operator &SetAttr(const char *name, const AscendString &value) { return set(texts_, name, value); }
    Operator &SetAttr(const char *name, const std::vector<int64_t> &value) { return set(lists_, name, value); }

    graphStatus GetAttr(const char *name, AscendString &value) const { return get(texts_, name, value); }
    graphStatus GetAttr(const char *name, std::vector<int64_t> &value) const { return get(lists_, name, value); }

private:
    template <typename Value> using Attributes = std::map<std::string, Value>;

    template <typename Value> Operator &set(Attributes<Value> &attributes, const char *name, const Value &value)
    {
        attributes[name] = value;
        return *this;
    }

    template <typename Value>
    static graphStatus get(const Attributes<Value> &attributes, const char *name, Value &value)
    {
        const auto found = attributes.find(name);
        if (found == attributes.end()) {
            return GRAPH_FAILED;
        }
        value = found->second;
        return GRAPH_SUCCESS;
    }

    std::string name_, type_;
    Attributes<AscendString> texts_;
    Attributes<std::vector<int64_t>> lists_;
};

} // namespace ge
