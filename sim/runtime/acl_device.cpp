// AscendCL: the process, its devices and contexts.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>

#include "acl/acl.h"
#include "core.h"
#include "device.h"
#include "products.h"
#include "stream.h"

using namespace simrt;

namespace {

std::atomic<bool> initialised{false};

Handles &contexts()
{
    static auto &instance = *new Handles("aclrtContext");
    return instance;
}

Device *deviceOrFail(const char *symbol, int32_t id)
{
    Device *found = device(id);
    if (found == nullptr) {
        fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %d; there are %d", symbol, id, deviceCount());
    }
    return found;
}

struct DtypeSize {
    aclDataType dtype;
    size_t bytes;
};

constexpr DtypeSize kDtypeSizes[] = {
    {ACL_FLOAT, 4},  {ACL_FLOAT16, 2}, {ACL_INT8, 1},   {ACL_INT32, 4},     {ACL_UINT8, 1},
    {ACL_INT16, 2},  {ACL_UINT16, 2},  {ACL_UINT32, 4}, {ACL_INT64, 8},     {ACL_UINT64, 8},
    {ACL_DOUBLE, 8}, {ACL_BOOL, 1},    {ACL_BF16, 2},   {ACL_COMPLEX64, 8}, {ACL_COMPLEX128, 16},
};

} // namespace

aclError aclInit(const char *)
{
    SIM_ENTER();
    if (product() == nullptr) {
        return ACL_ERROR_INVALID_PARAM;
    }
    return initialised.exchange(true) ? fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: called before") : ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    SIM_ENTER();
    return initialised.exchange(false) ? ACL_SUCCESS : fail(ACL_ERROR_UNINITIALIZE, "aclFinalize: aclInit was not called");
}

const char *aclGetRecentErrMsg(void)
{
    thread_local std::string text;
    text = takeMessage();
    return text.empty() ? nullptr : text.c_str();
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    if (logLevel < environmentNumber("ASCEND_SIM_LOG_LEVEL", ACL_ERROR + 1)) {
        return;
    }
    va_list arguments;
    va_start(arguments, fmt);
    std::fprintf(stderr, "%s:%u %s: ", file, line, func);
    std::vfprintf(stderr, fmt, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
}

size_t aclDataTypeSize(aclDataType dataType)
{
    for (const DtypeSize &row : kDtypeSizes) {
        if (row.dtype == dataType) {
            return row.bytes;
        }
    }
    return 0;
}

const char *aclrtGetSocName(void)
{
    SIM_ENTER_POINTER();
    const Product *row = product();
    return row == nullptr ? nullptr : row->soc;
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(value);
    const Product *row = product();
    if (row == nullptr || deviceOrFail(__func__, static_cast<int32_t>(deviceId)) == nullptr) {
        return ACL_ERROR_INVALID_PARAM;
    }
    switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM: *value = row->aiCores; return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM: *value = row->vectorCores(); return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE: *value = row->l2Bytes; return ACL_SUCCESS;
    default: return fail(ACL_ERROR_INVALID_PARAM, "%s: deviceInfo %d", __func__, deviceInfo);
    }
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    SIM_ENTER();
    static const aclCannAttr available[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_JIT_COMPILE, ACL_CANN_ATTR_BF16};
    const Product *row = product();
    *cannAttrList = available;
    *num = row != nullptr && row->bfloat16 ? 3 : 2;
    return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(value);
    const Product *row = product();
    *value = cannAttr != ACL_CANN_ATTR_BF16 || (row != nullptr && row->bfloat16);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(count);
    *count = static_cast<uint32_t>(deviceCount());
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(runMode);
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t deviceId)
{
    SIM_ENTER();
    Device *found = deviceOrFail(__func__, deviceId);
    if (found == nullptr) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    setCurrentContext(&found->primary());
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId)
{
    SIM_ENTER();
    Device *found = deviceOrFail(__func__, deviceId);
    if (found == nullptr) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    const int status = synchronizeDevice(*found, -1);
    if (currentContext() == &found->primary()) {
        setCurrentContext(nullptr);
    }
    return status;
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(deviceId);
    SIM_CONTEXT(context);
    *deviceId = context->device.id();
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    return synchronizeDevice(context->device, timeout);
}

aclError aclrtSynchronizeDevice(void)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    return synchronizeDevice(context->device, -1);
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(context);
    Device *found = deviceOrFail(__func__, deviceId);
    if (found == nullptr) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    auto *made = new Context(*found);
    contexts().add(made);
    setCurrentContext(made);
    *context = made;
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    SIM_ENTER();
    if (!contexts().remove(context)) {
        return fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyContext: %p is no context made by aclrtCreateContext", context);
    }
    if (currentContext() == context) {
        setCurrentContext(nullptr);
    }
    delete static_cast<Context *>(context);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    SIM_ENTER();
    bool known = contexts().holds(context);
    for (int id = 0; id < deviceCount(); ++id) {
        known = known || context == &device(id)->primary();
    }
    if (!known) {
        return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetCurrentContext: %p is no context", context);
    }
    setCurrentContext(static_cast<Context *>(context));
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(context);
    SIM_CONTEXT(current);
    *context = current;
    return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(canAccessPeer);
    *canAccessPeer = deviceId != peerDeviceId && device(deviceId) != nullptr && device(peerDeviceId) != nullptr;
    return ACL_SUCCESS;
}
