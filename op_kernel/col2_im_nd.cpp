// Kernel of the op Col2ImNd: fold `col` into `x`. The two shapes are known to the host, which planned with them.
#include "channels.h"
#include "flat.h"
#include "neighbours.h"
#include "rows.h"

extern "C" __global__ __aicore__ void col2_im_nd(GM_ADDR col, GM_ADDR image_shape, GM_ADDR block_shape, GM_ADDR x,
                                                 GM_ADDR workspace, GM_ADDR tiling)
{
    (void)image_shape;
    (void)block_shape;
    (void)workspace;
    REGISTER_TILING_DEFAULT(col2im::FoldTiling);
    GET_TILING_DATA(tilingData, tiling);
#if __NPU_ARCH__ == 2201
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#endif
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        col2im::Rows<DTYPE_COL>(tilingData, pipe, col, x).process();
    } else if (TILING_KEY_IS(2)) {
        col2im::Flat<DTYPE_COL>(tilingData, pipe, col, x).process();
    } else if (TILING_KEY_IS(3)) {
        col2im::Channels<DTYPE_COL>(tilingData, pipe, col, x).process();
    } else if (TILING_KEY_IS(4)) {
        col2im::Neighbours<DTYPE_COL>(tilingData, pipe, col, x).process();
    }
}
