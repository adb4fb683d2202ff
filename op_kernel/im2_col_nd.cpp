// Kernel of the op Im2ColNd: unfold `x` into `col`. The block shape is known to the host, which planned with it.
#include "unfold.h"
#include "unfold_once.h"

extern "C" __global__ __aicore__ void im2_col_nd(GM_ADDR x, GM_ADDR block_shape, GM_ADDR col, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    (void)block_shape;
    (void)workspace;
    REGISTER_TILING_DEFAULT(col2im::FoldTiling);
    GET_TILING_DATA(tilingData, tiling);
#if __NPU_ARCH__ == 2201
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#endif
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(0)) {
        col2im::Unfold<col2im::Element<DTYPE_X>::Moved>(tilingData, pipe, x, col).process();
    } else if (TILING_KEY_IS(5)) {
        col2im::UnfoldOnce<col2im::Element<DTYPE_X>::Moved>(tilingData, pipe, x, col).process();
    }
}
