// What the kernels of faults.cpp work on: queues and buffers on the core, an input and an output.
#pragma once

#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t kTile = 256; // elements; 1 KiB of float

struct Fixture {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECIN> plainIn;
    TBuf<TPosition::VECOUT> plainOut;
    GlobalTensor<float> x, z;
    GlobalTensor<half> xHalf, zHalf;

    __aicore__ inline void Init(GM_ADDR xAddress, GM_ADDR zAddress)
    {
        pipe.InitBuffer(in, 2, kTile * sizeof(float));
        pipe.InitBuffer(out, 1, kTile * sizeof(float));
        pipe.InitBuffer(plainIn, 4 * kTile * sizeof(float));
        pipe.InitBuffer(plainOut, 4 * kTile * sizeof(float));
        x.SetGlobalBuffer((__gm__ float*)xAddress);
        z.SetGlobalBuffer((__gm__ float*)zAddress);
        xHalf.SetGlobalBuffer((__gm__ half*)xAddress);
        zHalf.SetGlobalBuffer((__gm__ half*)zAddress);
    }

    // Two tensors that are loaded and complete, for the faults of vector instructions.
    __aicore__ inline void Load()
    {
        DataCopy(plainIn.Get<float>(), x, 4 * kTile);
        PipeBarrier<PIPE_ALL>();
        Duplicate(plainOut.Get<float>(), 0.0f, static_cast<int32_t>(4 * kTile));
    }
};
