// Mistakes that the model does not see, as no call of AscendC makes them: a sanitizer does.
#include "launch.h"

#include "kernel_operator.h"
#include "tiling.h"

extern "C" __global__ __aicore__ void unseen(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(given, tiling);
    __gm__ float *values = reinterpret_cast<__gm__ float *>(x);
    __gm__ float *result = reinterpret_cast<__gm__ float *>(z);
    const int32_t most = INT32_MAX - 1 + static_cast<int32_t>(given.parameter);
    if (TILING_KEY_IS(1)) { // a pointer beyond its argument
        result[0] = values[given.length];
    } else if (TILING_KEY_IS(2)) { // a sum beyond its type
        result[0] = static_cast<float>(most + 1);
    } else if (TILING_KEY_IS(3)) { // an array of the kernel's own
        int32_t own[4] = {};
        own[given.length & 7] = most;
        result[0] = static_cast<float>(own[0]);
    }
}

SIM_REGISTER_KERNEL(unseen);
