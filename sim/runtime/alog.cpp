// libascendalog.so: the public way into the log; as in CANN 9, the log itself is libunified_dlog.so's.
#include "base/alog_pub.h"

#include "log.h"

int32_t AlogRecord(uint32_t moduleId, uint32_t, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool recorded = simlog::record(moduleId, level, format, arguments);
    va_end(arguments);
    return recorded ? 0 : -1;
}
