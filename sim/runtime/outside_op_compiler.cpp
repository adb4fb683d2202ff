// libacl_op_compiler.so: system parameters; compiling single operators is not part of the model.
#include <map>
#include <mutex>

#include "acl/acl_rt.h"
#include "outside.h"

namespace {

std::mutex mutex;
std::map<int, int64_t> parameters;

} // namespace

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(value);
    const std::lock_guard<std::mutex> lock(mutex);
    *value = parameters[opt];
    return ACL_SUCCESS;
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    SIM_ENTER();
    const std::lock_guard<std::mutex> lock(mutex);
    parameters[opt] = value;
    return ACL_SUCCESS;
}

SIM_ACCEPTED(aclSetCompileopt)
SIM_ACCEPTED(aclrtCtxSetSysParamOpt)

SIM_NOT_MODELLED(aclopCompileAndExecute)
SIM_NOT_MODELLED(aclopCompileAndExecuteV2)
