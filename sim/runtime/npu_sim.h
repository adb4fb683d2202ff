// What the simulated runtime offers beyond AscendCL: looking at it from outside, for tests and for op packages.
//
// Exported by libascendcl.so. Environment variables, read at the moment they matter:
//   ASCEND_SIM_SOC           product of every device, such as Ascend910B1 (default) or Ascend310B1
//   ASCEND_SIM_DEVICES       number of devices, 1 by default
//   ASCEND_SIM_MEMORY_MIB    memory of each device, 4096 by default (address space, taken when touched)
//   ASCEND_SIM_TASK_DELAY_US pause before every task of a stream, so that a missing synchronisation shows
//   ASCEND_SIM_FAIL          calls to fail: `name@n=status:message`, separated by `;`; n counts that function's
//                            calls from 1 since the variable last changed, `*` is every call. A function that
//                            returns a pointer returns null. `Col2Im/kernel` names the kernel of an op
//   ASCEND_SIM_LEAK_REPORT   file (or `stderr`) that takes npuSimLiveReport() when the process ends
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How many of one kind are alive: `device_bytes`, `host_bytes`, `aclTensor`, `aclIntArray`, `aclOpExecutor`,
// `aclrtStream`, `aclrtEvent`, ...; `misuse` counts handles destroyed twice or never made. -1: no such kind.
int64_t npuSimLive(const char *kind);

// Every kind that is not zero, as lines `kind count`; empty when nothing is left. Valid until the thread's next call.
const char *npuSimLiveReport(void);

// Every function called so far, as lines `name calls`. Valid until the thread's next call.
const char *npuSimCallReport(void);

// The address at which the host may touch `bytes` bytes of device memory, or null unless all of them belong to one
// live allocation. Device addresses themselves cannot be read or written: their pages are closed.
void *npuSimHostView(const void *device, uint64_t bytes);

// Whether the task that calls it runs on a stream that times: one that an event with a time was recorded on.
int npuSimTimed(void);

// Lets so many modelled microseconds pass on the stream of the task that calls it. The times of events are sums of
// these: nothing but kernels takes time, and what a launch costs beyond its kernel is not in them.
void npuSimSpend(double microseconds);

// Sets the message that aclGetRecentErrMsg returns to this thread.
void npuSimReport(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif
