// A refusal where the log is the one of CANN 8 (AlogRecord alone) or of CANN 9 (DlogRecord too): prints who took it.
#include <cstdarg>
#include <cstdio>

#include "../../op_host/context.h"

inline void print(const char *function, uint32_t module, int32_t level, const char *format, va_list arguments)
{
    std::printf("%s %u %d ", function, module, level);
    std::vprintf(format, arguments);
}

#ifdef HAS_DLOG
extern "C" void DlogRecord(int32_t module, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print("DlogRecord", static_cast<uint32_t>(module), level, format, arguments);
    va_end(arguments);
}
#endif

#ifdef HAS_ALOG
extern "C" int32_t AlogRecord(uint32_t module, uint32_t, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print("AlogRecord", module, level, format, arguments);
    va_end(arguments);
    return 0;
}
#endif

int main()
{
    return col2im::refuse("Col2Im", {"rank", "100% of it"}) == ge::GRAPH_FAILED ? 0 : 1;
}
