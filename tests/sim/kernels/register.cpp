// Gives the test kernels their names in the simulator library. The kernels themselves are plain AscendC.
#include "launch.h"

#define TEST_KERNEL(name)                                                              \
    extern "C" void name(uint8_t* x, uint8_t* z, uint8_t* workspace, uint8_t* tiling); \
    SIM_REGISTER_KERNEL(name)

#if defined(DTYPE_X)
TEST_KERNEL(twice);
TEST_KERNEL(axpy);
TEST_KERNEL(cast);
#else
TEST_KERNEL(copy_through);
TEST_KERNEL(pad_rows);
TEST_KERNEL(transpose);
TEST_KERNEL(strided);
TEST_KERNEL(pick);
TEST_KERNEL(unused_lanes);
TEST_KERNEL(accumulate);
TEST_KERNEL(fault);
#endif
