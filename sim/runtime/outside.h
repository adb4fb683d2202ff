// Rows for functions that exist in CANN, are linked by torch_npu, and do nothing here.
//
// The rows take no parameters: on the machines this builds for, a C function may ignore the ones it is given.
#pragma once

#include "acl/acl_base.h"
#include "core.h"

// Succeeds: what it sets has no meaning for the model.
#define SIM_ACCEPTED(name)                                                                                  \
    extern "C" ACL_FUNC_VISIBILITY aclError name()                                                          \
    {                                                                                                       \
        SIM_ENTER();                                                                                        \
        return ACL_SUCCESS;                                                                                 \
    }

// Fails: what it does is not part of the model.
#define SIM_NOT_MODELLED(name)                                                                              \
    extern "C" ACL_FUNC_VISIBILITY aclError name()                                                          \
    {                                                                                                       \
        SIM_ENTER();                                                                                        \
        return ::simrt::fail(ACL_ERROR_FEATURE_UNSUPPORTED, #name " is not part of the simulated runtime"); \
    }

// The same, for a function that returns a pointer.
#define SIM_NOT_MODELLED_POINTER(name)                                                                      \
    extern "C" ACL_FUNC_VISIBILITY void *name()                                                             \
    {                                                                                                       \
        SIM_ENTER_POINTER();                                                                                \
        ::simrt::fail(ACL_ERROR_FEATURE_UNSUPPORTED, #name " is not part of the simulated runtime");        \
        return nullptr;                                                                                     \
    }
