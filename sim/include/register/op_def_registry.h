// How a definition becomes known to op_build. In the tiling and graph libraries definitions register nothing here.
#pragma once

#include "register/op_def.h"

namespace ops {

class OpDefFactory {
public:
    using Create = OpDef (*)(const char *);
    static int OpDefRegister(const char *type, Create create);
    static std::vector<OpDef> All();
};

} // namespace ops

#if defined(OP_PROTO_LIB) || defined(OP_TILING_LIB)
#define OP_ADD(opType, ...) static_assert(sizeof(opType) >= sizeof(ops::OpDef), "an op's definition")
#else
#define OP_ADD(opType, ...)                                                                                          \
    static const int g_##opType##_added __attribute__((unused)) =                                                    \
        ops::OpDefFactory::OpDefRegister(#opType, [](const char *name) -> ops::OpDef { return opType(name); })
#endif
