/* The simulator's C interface, for ctypes. A launch is created, given its tiling and its GM arguments in the order
 * of the kernel's parameters, run once, and asked what happened. Strings belong to the launch. */
#ifndef SIM_C_API_H
#define SIM_C_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimLaunch SimLaunch;

enum { SIM_IN = 0, SIM_OUT = 1, SIM_INOUT = 2 }; /* role of a GM argument */
enum { SIM_CHECK = 1, SIM_RECORD = 2 };          /* options: check every access; record the timeline */

uint32_t sim_arch(void);          /* __NPU_ARCH__ the library's kernels were compiled for */
const char* sim_kernels(void);    /* names, one a line */
const char* sim_products(void);   /* names of this architecture, one a line */
const char* sim_last_error(void); /* why sim_create or sim_run refused */

SimLaunch* sim_create(const char* kernel, const char* product, uint32_t cores, uint32_t options); /* NULL: refused */
void sim_tiling(SimLaunch* launch, uint64_t key, const void* bytes, uint64_t size);
void sim_argument(SimLaunch* launch, void* bytes, uint64_t size, int role);
int64_t sim_run(SimLaunch* launch);                                   /* number of violations; -1: refused */
const char* sim_violation(SimLaunch* launch, uint32_t index);         /* one sentence; NULL: no such violation */
/* JSON; what any kernel would have to move and to add (float32 elements) for the same result sets the floor */
const char* sim_report(SimLaunch* launch, uint64_t compulsory_bytes, uint64_t compulsory_additions);
const char* sim_trace(SimLaunch* launch, int assumption);             /* JSON, Chrome trace events; 0 opt, 1 pess */
double sim_time(SimLaunch* launch, int assumption);                   /* modelled us, without launch cost; needs SIM_RECORD */
void sim_destroy(SimLaunch* launch);

#ifdef __cplusplus
}
#endif

#endif
