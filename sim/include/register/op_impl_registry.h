// How an op's host functions become known to the runtime that calls them.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"

namespace gert {

// The host functions of one op; null where none was registered.
struct OpImplFunctions {
    ge::graphStatus (*inferShape)(InferShapeContext *) = nullptr;
    ge::graphStatus (*inferDataType)(InferDataTypeContext *) = nullptr;
    ge::graphStatus (*tiling)(TilingContext *) = nullptr;
    ge::graphStatus (*tilingParse)(TilingParseContext *) = nullptr;
    size_t maxTilingBytes = 0;
    uint64_t valueDependentInputs = 0; // bit i: input i
};

// The functions that libraries register while they are loaded, by op type. A library that is loaded inside `Collect`
// registers there, so that packages with ops of the same type do not mix.
class OpImplRegistry {
public:
    class Collect {
    public:
        explicit Collect(OpImplRegistry &registry);
        ~Collect();
        Collect(const Collect &) = delete;
        Collect &operator=(const Collect &) = delete;

    private:
        OpImplRegistry *before_;
    };

    static OpImplFunctions &OfCurrent(const char *type);
    const OpImplFunctions *Find(const char *type) const;

private:
    struct Entry {
        const char *type;
        OpImplFunctions functions;
    };
    std::vector<Entry *> entries_; // never freed: libraries are never unloaded
};

class OpImplRegisterV2 {
public:
    explicit OpImplRegisterV2(const char *type) : functions_(&OpImplRegistry::OfCurrent(type)) {}
    OpImplRegisterV2 &InferShape(ge::graphStatus (*function)(InferShapeContext *))
    {
        functions_->inferShape = function;
        return *this;
    }
    OpImplRegisterV2 &InferDataType(ge::graphStatus (*function)(InferDataTypeContext *))
    {
        functions_->inferDataType = function;
        return *this;
    }
    OpImplRegisterV2 &Tiling(ge::graphStatus (*function)(TilingContext *), size_t maxTilingBytes = 2048)
    {
        functions_->tiling = function;
        functions_->maxTilingBytes = maxTilingBytes;
        return *this;
    }
    template <typename CompileInfo> OpImplRegisterV2 &TilingParse(ge::graphStatus (*function)(TilingParseContext *))
    {
        functions_->tilingParse = function;
        return *this;
    }
    OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> inputs)
    {
        for (const int32_t input : inputs) {
            functions_->valueDependentInputs |= uint64_t{1} << input;
        }
        return *this;
    }

private:
    OpImplFunctions *functions_;
};

} // namespace gert

#define NPU_SIM_JOIN2(a, b) a##b
#define NPU_SIM_JOIN(a, b) NPU_SIM_JOIN2(a, b)
#define IMPL_OP(op_type)                                                                                              \
    static gert::OpImplRegisterV2 NPU_SIM_JOIN(op_impl_register_##op_type, __COUNTER__) __attribute__((unused)) =     \
        gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_INFERSHAPE(op_type) IMPL_OP(op_type)
#define IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
