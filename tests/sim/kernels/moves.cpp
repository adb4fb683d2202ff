// Right kernels that move and rearrange: a double-buffered copy, padded rows, transposition, gathering, masks, flags.
#include "kernel_operator.h"
#include "tiling.h"

using namespace AscendC;

// One queue from MTE2 to MTE3: no vector instruction in between.
extern "C" __global__ __aicore__ void copy_through(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 0> queue;
    pipe.InitBuffer(queue, 2, t.tile * sizeof(half));
    GlobalTensor<half> from, to;
    from.SetGlobalBuffer((__gm__ half*)x + GetBlockIdx() * t.length, t.length);
    to.SetGlobalBuffer((__gm__ half*)z + GetBlockIdx() * t.length, t.length);
    for (uint32_t at = 0; at < t.length; at += t.tile) {
        LocalTensor<half> tile;
        queue.AllocTensor(tile);
        DataCopy(tile, from[at], t.tile);
        queue.EnQue(tile);
        queue.DeQue(tile);
        DataCopy(to[at], tile, t.tile);
        queue.FreeTensor(tile);
    }
}

// `parameter` rows of `length` halves become rows of `tile`, zeros around them: `second` on the left.
extern "C" __global__ __aicore__ void pad_rows(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, t.parameter * t.tile * sizeof(half));
    GlobalTensor<half> from, to;
    from.SetGlobalBuffer((__gm__ half*)x);
    to.SetGlobalBuffer((__gm__ half*)z);
    LocalTensor<half> rows = queue.AllocTensor<half>();
    DataCopyExtParams in{static_cast<uint16_t>(t.parameter), static_cast<uint32_t>(t.length * sizeof(half)), 0, 0, 0};
    DataCopyPadExtParams<half> zeros{true, static_cast<uint8_t>(t.second),
                                     static_cast<uint8_t>(t.tile - t.length - t.second), static_cast<half>(0)};
    DataCopyPad(rows, from, in, zeros);
    queue.EnQue(rows);
    rows = queue.DeQue<half>();
    DataCopyExtParams out{1, static_cast<uint32_t>(t.parameter * t.tile * sizeof(half)), 0, 0, 0};
    DataCopyPad(to, rows, out);
    queue.FreeTensor(rows);
}

// 16 rows of `length` elements become `length` rows of 16.
template <typename T>
__aicore__ inline void Transpose16(GM_ADDR x, GM_ADDR z, const TestTiling& t)
{
    constexpr uint32_t perBlock = 32 / sizeof(T);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 16 * t.length * sizeof(T));
    pipe.InitBuffer(out, 1, 16 * t.length * sizeof(T));
    GlobalTensor<T> from, to;
    from.SetGlobalBuffer((__gm__ T*)x);
    to.SetGlobalBuffer((__gm__ T*)z);
    LocalTensor<T> source = in.AllocTensor<T>();
    DataCopy(source, from, 16 * t.length);
    in.EnQue(source);
    source = in.DeQue<T>();
    LocalTensor<T> result = out.AllocTensor<T>();
    uint64_t sources[16], results[16];
    for (uint32_t i = 0; i < 16; ++i) {
        sources[i] = (uint64_t)source[i * t.length].GetPhyAddr();
        results[i] = (uint64_t)result[i * perBlock].GetPhyAddr();
    }
    TransDataTo5HDParams params;
    params.repeatTimes = static_cast<uint8_t>(t.length / perBlock);
    params.srcRepStride = params.repeatTimes == 1 ? 0 : 1;
    params.dstRepStride = params.repeatTimes == 1 ? 0 : 16;
    TransDataTo5HD<T>(results, sources, params);
    out.EnQue(result);
    in.FreeTensor(source);
    result = out.DeQue<T>();
    DataCopy(to, result, 16 * t.length);
    out.FreeTensor(result);
}

extern "C" __global__ __aicore__ void transpose(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    if (TILING_KEY_IS(16)) {
        Transpose16<half>(x, z, t);
    } else if (TILING_KEY_IS(32)) {
        Transpose16<float>(x, z, t);
    }
}

// Pixels of 8 floats spread to every `parameter`-th block of z, the rest zero; then all halved by a bit mask's half.
extern "C" __global__ __aicore__ void strided(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TBuf<TPosition::VECIN> in;
    TBuf<TPosition::VECOUT> out;
    pipe.InitBuffer(in, t.length * sizeof(float));
    pipe.InitBuffer(out, t.length * t.parameter * sizeof(float));
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float*)x, t.length);
    to.SetGlobalBuffer((__gm__ float*)z, t.length * t.parameter);
    LocalTensor<float> source = in.Get<float>(), result = out.Get<float>();
    DataCopy(source, from, t.length);
    TQueSync<PIPE_MTE2, PIPE_V> loaded;
    loaded.SetFlag(0);
    Duplicate(result, 0.0f, static_cast<int32_t>(t.length * t.parameter));
    loaded.WaitFlag(0);
    const auto repeats = static_cast<uint8_t>(t.length / 64);
    CopyRepeatParams spread{static_cast<uint16_t>(t.parameter), 1, static_cast<uint16_t>(8 * t.parameter), 8};
    Copy(result, source, 64, repeats, spread);
    uint64_t oddElements[2] = {0xaaaaaaaaaaaaaaaa, 0};
    UnaryRepeatParams step{1, 1, 8, 8};
    Muls(result, result, 0.5f, oddElements, static_cast<uint8_t>(repeats * t.parameter), step);
    TQueSync<PIPE_V, PIPE_MTE3> computed;
    computed.SetFlag(0);
    computed.WaitFlag(0);
    DataCopy(to, result, t.length * t.parameter);
}

// z = the elements of x in reverse order (key 1, Gather) or the even ones, then the odd ones (key 2, GatherMask).
extern "C" __global__ __aicore__ void pick(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TBuf<TPosition::VECIN> in;
    TBuf<TPosition::VECOUT> out;
    TBuf<TPosition::VECCALC> offsets;
    pipe.InitBuffer(in, t.length * sizeof(float));
    pipe.InitBuffer(out, t.length * sizeof(float));
    pipe.InitBuffer(offsets, t.length * sizeof(uint32_t));
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float*)x, t.length);
    to.SetGlobalBuffer((__gm__ float*)z, t.length);
    LocalTensor<float> source = in.Get<float>(), result = out.Get<float>();
    DataCopy(source, from, t.length);
    PipeBarrier<PIPE_ALL>();
    if (TILING_KEY_IS(1)) {
        LocalTensor<uint32_t> offset = offsets.Get<uint32_t>();
        for (uint32_t i = 0; i < t.length; ++i) {
            offset.SetValue(i, static_cast<uint32_t>((t.length - 1 - i) * sizeof(float)));
        }
        Gather(result, source, offset, 0, t.length);
    } else if (TILING_KEY_IS(2)) {
        uint64_t kept = 0;
        GatherMaskParams params{1, static_cast<uint16_t>(t.length / 64), 8, 0};
        GatherMask(result, source, static_cast<uint8_t>(1), false, 0, params, kept);
        GatherMask(result[t.length / 2], source, static_cast<uint8_t>(2), false, 0, params, kept);
    }
    PipeBarrier<PIPE_ALL>();
    DataCopy(to, result, t.length);
}

// Rows of `length` <= 16 halves go through two transpositions in a tile of 16 rows, of which only `parameter` are
// loaded; the padding that DataCopyPad leaves undefined is cleared by And. z has rows of 16.
extern "C" __global__ __aicore__ void unused_lanes(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TBuf<TPosition::VECIN> in;
    TBuf<TPosition::VECOUT> out;
    TBuf<TPosition::VECCALC> turned, keep;
    pipe.InitBuffer(in, 16 * 16 * sizeof(half));
    pipe.InitBuffer(out, 16 * 16 * sizeof(half));
    pipe.InitBuffer(turned, 16 * 16 * sizeof(half));
    pipe.InitBuffer(keep, 16 * 16 * sizeof(half));
    GlobalTensor<half> from, to;
    from.SetGlobalBuffer((__gm__ half*)x, t.parameter * t.length);
    to.SetGlobalBuffer((__gm__ half*)z, t.parameter * 16);
    LocalTensor<half> rows = in.Get<half>(), columns = turned.Get<half>(), result = out.Get<half>();
    DataCopyExtParams load{static_cast<uint16_t>(t.parameter), static_cast<uint32_t>(t.length * sizeof(half)), 0, 0, 0};
    DataCopyPadExtParams<half> undefined{false, 0, static_cast<uint8_t>(16 - t.length), static_cast<half>(0)};
    DataCopyPad(rows, from, load, undefined);
    PipeBarrier<PIPE_ALL>();
    uint64_t rowList[16], columnList[16], resultList[16];
    for (uint32_t i = 0; i < 16; ++i) {
        rowList[i] = (uint64_t)rows[i * 16].GetPhyAddr();
        columnList[i] = (uint64_t)columns[i * 16].GetPhyAddr();
        resultList[i] = (uint64_t)result[i * 16].GetPhyAddr();
    }
    TransDataTo5HDParams once;
    TransDataTo5HD<half>(columnList, rowList, once);
    TransDataTo5HD<half>(resultList, columnList, once);
    LocalTensor<uint16_t> mask = keep.Get<uint16_t>(), bits = result.ReinterpretCast<uint16_t>();
    const auto count = static_cast<int32_t>(t.parameter * 16);
    Duplicate(mask, static_cast<uint16_t>(0), count);
    const auto ones = static_cast<uint16_t>(0xffff);
    const uint64_t row = (uint64_t(1) << t.length) - 1;
    uint64_t loaded[2] = {row * 0x0001000100010001, row * 0x0001000100010001};
    Duplicate(mask, ones, loaded, static_cast<uint8_t>(t.parameter / 8), 1, 8);
    And(bits, bits, mask, count);
    PipeBarrier<PIPE_ALL>();
    DataCopy(to, result, t.parameter * 16);
}

// Every core adds its x to the one z, atomically.
extern "C" __global__ __aicore__ void accumulate(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, t.length * sizeof(float));
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float*)x + GetBlockIdx() * t.length, t.length);
    to.SetGlobalBuffer((__gm__ float*)z, t.length);
    LocalTensor<float> tile = queue.AllocTensor<float>();
    DataCopy(tile, from, t.length);
    queue.EnQue(tile);
    tile = queue.DeQue<float>();
    SetAtomicAdd<float>();
    DataCopy(to, tile, t.length);
    SetAtomicNone();
    queue.FreeTensor(tile);
}
