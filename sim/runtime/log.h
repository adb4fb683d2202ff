// The one log that both libraries of the log write to.
#pragma once

#include <cstdarg>
#include <cstdint>

#include "base/log_types.h"

namespace simlog {

// Writes an entry; false where there is no place for it or its level is not wanted.
LOG_FUNC_VISIBILITY bool record(uint32_t module, int32_t level, const char *format, va_list arguments);

} // namespace simlog
