// Right kernels in the queue style: every tile is copied in, computed and copied out, double-buffered.
// DTYPE_X and DTYPE_Z come from the compile command, as from the operator compile script.
#include "kernel_operator.h"
#include "tiling.h"

using namespace AscendC;

template <typename T, typename U, typename Compute>
__aicore__ inline void PerTile(TPipe& pipe, GM_ADDR x, GM_ADDR z, const TestTiling& tiling, Compute compute)
{
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, tiling.tile * sizeof(T));
    pipe.InitBuffer(out, 2, tiling.tile * sizeof(U));
    GlobalTensor<T> from;
    GlobalTensor<U> to;
    from.SetGlobalBuffer((__gm__ T*)x + GetBlockIdx() * tiling.length, tiling.length);
    to.SetGlobalBuffer((__gm__ U*)z + GetBlockIdx() * tiling.length, tiling.length);
    for (uint32_t at = 0; at < tiling.length; at += tiling.tile) {
        LocalTensor<T> source = in.AllocTensor<T>();
        DataCopy(source, from[at], tiling.tile);
        in.EnQue(source);
        source = in.DeQue<T>();
        LocalTensor<U> result = out.AllocTensor<U>();
        compute(result, source, static_cast<int32_t>(tiling.tile));
        out.EnQue(result);
        in.FreeTensor(source);
        result = out.DeQue<U>();
        DataCopy(to[at], result, tiling.tile);
        out.FreeTensor(result);
    }
}

// z = x + x
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    PerTile<DTYPE_X, DTYPE_X>(pipe, x, z, t,
                              [](auto& result, auto& source, int32_t n) { Add(result, source, source, n); });
}

// z = 3 x, accumulated from zero
extern "C" __global__ __aicore__ void axpy(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    PerTile<DTYPE_X, DTYPE_Z>(pipe, x, z, t, [](auto& result, auto& source, int32_t n) {
        Duplicate(result, static_cast<DTYPE_Z>(0), n);
        Axpy(result, source, static_cast<DTYPE_X>(1), n);
        Axpy(result, source, static_cast<DTYPE_X>(2), n);
    });
}

// z = x in another dtype; the parameter is the rounding mode
extern "C" __global__ __aicore__ void cast(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    const auto mode = static_cast<RoundMode>(t.parameter);
    PerTile<DTYPE_X, DTYPE_Z>(pipe, x, z, t,
                              [mode](auto& result, auto& source, int32_t n) { Cast(result, source, mode, n); });
}
