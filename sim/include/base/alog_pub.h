// The platform's log, plog. Weak, as in CANN: absent where libascendalog.so is not loaded.
#pragma once

#include <stdint.h>

#include "log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// 0: recorded.
LOG_FUNC_VISIBILITY int32_t AlogRecord(uint32_t moduleId, uint32_t logType, int32_t level, const char *format, ...)
    __attribute__((weak, format(printf, 4, 5)));

#ifdef __cplusplus
}
#endif
