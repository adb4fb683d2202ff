// The language extensions of a kernel source, as a host compiler sees them: the qualifiers vanish.
#pragma once

#include <cstdint>

#if !defined(__NPU_ARCH__) || (__NPU_ARCH__ != 2201 && __NPU_ARCH__ != 3002)
#error "compile with -D__NPU_ARCH__=2201 (Atlas A2) or -D__NPU_ARCH__=3002 (Atlas 200I/500 A2)"
#endif

#define __aicore__
#define __gm__
#define __ubuf__
#define __global__
#define __sync_alias__
#define __inout_pipe__(pipe)
#define __BLOCK_LOCAL__ thread_local
#define GM_ADDR __gm__ uint8_t*

#if __NPU_ARCH__ == 2201
// A vector-only launch runs on the AIV half of a split core.
#define ASCEND_IS_AIV constexpr(true)
#define ASCEND_IS_AIC constexpr(false)
#else
#define ASCEND_IS_AIV constexpr(true)
#define ASCEND_IS_AIC constexpr(true)
#endif
