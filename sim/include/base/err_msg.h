// How host code reports an error that the user reads through aclGetRecentErrMsg.
#pragma once

#include <cstdint>

#define REPORT_INNER_ERR_MSG(error_code, format, ...) \
    (void)ge::ReportInnerErrMsg(__FILE__, __func__, __LINE__, (error_code), (format), ##__VA_ARGS__)

namespace ge {

// Weak, as in CANN: absent where the error manager is not loaded.
int32_t ReportInnerErrMsg(const char *file, const char *function, uint32_t line, const char *code, const char *format,
                          ...) __attribute__((format(printf, 5, 6), weak));

} // namespace ge
