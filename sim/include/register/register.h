// How a framework's node is mapped to an op: what a plug-in registers, and how the converter finds it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/operator.h"

namespace domi {

using Status = uint32_t;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;

enum FrameworkType { CAFFE = 0, MINDSPORE = 1, TENSORFLOW = 3, ANDROID_NN, ONNX };
enum class ImplyType : unsigned int { BUILDIN = 0, TVM, CUSTOM, AI_CPU, CCE, GELOCAL, HCCL, INVALID = 0xFFFFFFFF };

using ParseParamByOpFunc = std::function<Status(const ge::Operator &, ge::Operator &)>;

class OpRegistrationData {
public:
    explicit OpRegistrationData(const char *type) : type(type) {}
    OpRegistrationData &FrameworkType(const domi::FrameworkType &value)
    {
        framework = value;
        return *this;
    }
    OpRegistrationData &OriginOpType(const std::vector<ge::AscendString> &types)
    {
        for (const ge::AscendString &origin : types) {
            origins.emplace_back(origin.GetString());
        }
        return *this;
    }
    OpRegistrationData &ParseParamsByOperatorFn(const ParseParamByOpFunc &function)
    {
        parse = function;
        return *this;
    }
    OpRegistrationData &ImplyType(const domi::ImplyType &value)
    {
        implementation = value;
        return *this;
    }

    std::string type;
    domi::FrameworkType framework = CAFFE;
    std::vector<std::string> origins;
    ParseParamByOpFunc parse;
    domi::ImplyType implementation = domi::ImplyType::INVALID;
};

class OpReceiver {
public:
    OpReceiver(const OpRegistrationData &registration);
    static const OpRegistrationData *Find(const char *origin); // null if no plug-in maps it
};

} // namespace domi

#define NPU_SIM_RECEIVER2(counter, name)                                                                             \
    static domi::OpReceiver register_op##counter __attribute__((unused)) = domi::OpRegistrationData(name)
#define NPU_SIM_RECEIVER(counter, name) NPU_SIM_RECEIVER2(counter, name)
#define REGISTER_CUSTOM_OP(name) NPU_SIM_RECEIVER(__COUNTER__, name)
