// Kernels that each break one rule of the hardware; the tiling key says which. tests/sim/test_faults.py names them.
#include "fixture.h"
#include "tiling.h"

__aicore__ inline void NoWaitLoadToVector(Fixture& f)
{
    LocalTensor<float> a = f.plainIn.Get<float>();
    DataCopy(a, f.x, kTile);
    Add(f.plainOut.Get<float>(), a, a, static_cast<int32_t>(kTile));
}

__aicore__ inline void NoWaitVectorToStore(Fixture& f)
{
    LocalTensor<float> b = f.plainOut.Get<float>();
    Duplicate(b, 1.0f, static_cast<int32_t>(kTile));
    DataCopy(f.z, b, kTile);
}

__aicore__ inline void NoWaitVectorToLoad(Fixture& f)
{
    f.Load();
    LocalTensor<float> a = f.plainIn.Get<float>();
    Add(f.plainOut.Get<float>(), a, a, static_cast<int32_t>(kTile));
    DataCopy(a, f.x, kTile);
}

__aicore__ inline void OverlappingLoads(Fixture& f)
{
    LocalTensor<float> a = f.plainIn.Get<float>();
    DataCopy(a, f.x, kTile);
    DataCopy(a[8], f.x, kTile);
}

__aicore__ inline void FreedThenRead(Fixture& f)
{
    LocalTensor<float> a = f.in.AllocTensor<float>();
    DataCopy(a, f.x, kTile);
    f.in.EnQue(a);
    a = f.in.DeQue<float>();
    f.in.FreeTensor(a);
    Add(f.plainOut.Get<float>(), a, a, static_cast<int32_t>(kTile));
}

__aicore__ inline void DeQueBeforeEnQue(Fixture& f)
{
    LocalTensor<float> a = f.in.AllocTensor<float>();
    DataCopy(a, f.x, kTile);
    a = f.in.DeQue<float>();
    f.in.EnQue(a);
}

__aicore__ inline void UsedWhileQueued(Fixture& f)
{
    LocalTensor<float> a = f.in.AllocTensor<float>();
    DataCopy(a, f.x, kTile);
    f.in.EnQue(a);
    Add(f.plainOut.Get<float>(), a, a, static_cast<int32_t>(kTile));
}

__aicore__ inline void TooManyAllocated(Fixture& f)
{
    for (int i = 0; i < 3; ++i) {
        LocalTensor<float> a = f.in.AllocTensor<float>();
        DataCopy(a, f.x, kTile);
    }
}

__aicore__ inline void UbOverflow(Fixture& f)
{
    TBuf<TPosition::VECCALC> more;
    f.pipe.InitBuffer(more, 250 * 1024);
}

__aicore__ inline void BeyondTensor(Fixture& f)
{
    f.Load();
    LocalTensor<float> a = f.plainIn.Get<float>(kTile);
    Add(f.plainOut.Get<float>(), a, a, static_cast<int32_t>(kTile + 64));
}

__aicore__ inline void MisalignedUb(Fixture& f)
{
    f.Load();
    LocalTensor<float> a = f.plainIn.Get<float>();
    Add(f.plainOut.Get<float>(), a[1], a, 64);
}

__aicore__ inline void BlockCount4096(Fixture& f)
{
    DataCopyExtParams params{4096, 32, 0, 0, 0};
    DataCopyPadExtParams<float> none;
    DataCopyPad(f.plainIn.Get<float>(), f.x, params, none);
}

__aicore__ inline void Repeat256(Fixture& f, uint32_t repeats)
{
    f.Load();
    LocalTensor<float> a = f.plainIn.Get<float>();
    BinaryRepeatParams params{1, 1, 1, 0, 0, 0};
    Add(f.plainOut.Get<float>(), a, a, 64, repeats, params);
}

__aicore__ inline void GmPastEnd(Fixture& f, uint32_t length)
{
    DataCopy(f.plainIn.Get<float>(), f.x[length - kTile + 8], kTile);
}

// Each core owns a row of z, but the store is longer than it.
__aicore__ inline void PastRowEnd(Fixture& f, GM_ADDR z, bool bounded)
{
    f.Load();
    GlobalTensor<float> row;
    __gm__ float* begin = (__gm__ float*)z + GetBlockIdx() * 100;
    if (bounded) {
        row.SetGlobalBuffer(begin, 100);
    } else {
        row.SetGlobalBuffer(begin);
    }
    PipeBarrier<PIPE_ALL>();
    DataCopyExtParams params{1, 104 * sizeof(float), 0, 0, 0};
    DataCopyPad(row, f.plainOut.Get<float>(), params);
}

__aicore__ inline void TwoCoresOneByte(Fixture& f)
{
    f.Load();
    PipeBarrier<PIPE_ALL>();
    DataCopyExtParams params{1, 5 * sizeof(float), 0, 0, 0};
    DataCopyPad(f.z[GetBlockIdx() * 4], f.plainOut.Get<float>(), params);
}

__aicore__ inline void UndefinedPadding(Fixture& f)
{
    LocalTensor<float> a = f.plainIn.Get<float>();
    DataCopyExtParams params{1, 5 * sizeof(float), 0, 0, 0};
    DataCopyPadExtParams<float> undefined{false, 0, 3, 0.0f};
    DataCopyPad(a, f.x, params, undefined);
    PipeBarrier<PIPE_ALL>();
    Add(f.plainOut.Get<float>(), a, a, 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(f.z, f.plainOut.Get<float>(), 8);
}

__aicore__ inline void UnwrittenUb(Fixture& f)
{
    DataCopy(f.z, f.plainOut.Get<float>(), kTile);
}

__aicore__ inline void UbToUb(Fixture& f)
{
    f.Load();
    DataCopy(f.plainOut.Get<float>(), f.plainIn.Get<float>(), kTile);
}

#ifdef SIM_FAULT_BF16
__aicore__ inline void Bfloat16Add(Fixture& f)
{
    f.Load();
    LocalTensor<bfloat16_t> a = f.plainIn.Get<bfloat16_t>();
    Add(f.plainOut.Get<bfloat16_t>(), a, a, 128);
}
#endif

__aicore__ inline void FlagOfVectorCore(Fixture& f)
{
    LocalTensor<float> a = f.plainIn.Get<float>();
    DataCopy(a, f.x, kTile);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
}

__aicore__ inline void FlagNeverSet(Fixture& f)
{
    TQueSync<PIPE_MTE2, PIPE_V> sync;
    sync.WaitFlag(3);
}

__aicore__ inline void FlagNeverTaken(Fixture& f)
{
    TQueSync<PIPE_MTE2, PIPE_V> sync;
    sync.SetFlag(3);
}

__aicore__ inline void AxpyOverlap(Fixture& f)
{
    f.Load();
    LocalTensor<float> a = f.plainIn.Get<float>();
    Axpy(a, a.ReinterpretCast<half>(), static_cast<half>(1), 64);
}

__aicore__ inline void PartialOverlap(Fixture& f)
{
    f.Load();
    LocalTensor<float> a = f.plainIn.Get<float>();
    Add(a[8], a, f.plainOut.Get<float>(), 64);
}

__aicore__ inline void StrideWraps(Fixture& f, uint32_t stride)
{
    f.Load();
    UnaryRepeatParams params;
    params.dstRepStride = stride;
    Adds(f.plainOut.Get<float>(), f.plainIn.Get<float>(), 0.0f, 64, 4, params);
}

__aicore__ inline void AxpyMaskForm(Fixture& f)
{
    f.Load();
    UnaryRepeatParams params{1, 1, 8, 4};
    Axpy(f.plainOut.Get<float>(), f.plainIn.Get<half>(), static_cast<half>(1), 64, 4, params);
}

__aicore__ inline void PartOfABlock(Fixture& f)
{
    DataCopy(f.plainIn.Get<float>(), f.x, 12);
}

__aicore__ inline void WideLeftPadding(Fixture& f)
{
    DataCopyExtParams params{1, 32, 0, 0, 0};
    DataCopyPadExtParams<half> wide{true, 17, 0, static_cast<half>(0)};
    DataCopyPad(f.plainIn.Get<half>(), f.xHalf, params, wide);
}

__aicore__ inline void TransposeStride(Fixture& f)
{
    f.Load();
    uint64_t from[16], to[16];
    for (int i = 0; i < 16; ++i) {
        from[i] = (uint64_t)f.plainIn.Get<half>()[i * 16].GetPhyAddr();
        to[i] = (uint64_t)f.plainOut.Get<half>()[i * 16].GetPhyAddr();
    }
    TransDataTo5HDParams params{false, false, 1, 16, 1};
    TransDataTo5HD<half>(to, from, params);
}

__aicore__ inline void ScalarStoreToGm(Fixture& f)
{
    f.z.SetValue(0, 1.0f);
    DataCopy(f.plainIn.Get<float>(), f.z, 8);
}

__aicore__ inline void WritesInput(Fixture& f)
{
    f.Load();
    PipeBarrier<PIPE_ALL>();
    DataCopy(f.x, f.plainOut.Get<float>(), kTile);
}

__aicore__ inline void GatherBeyond(Fixture& f)
{
    f.Load();
    LocalTensor<uint32_t> offsets = f.plainOut.Get<uint32_t>();
    Duplicate(offsets, static_cast<uint32_t>(8 * kTile * sizeof(float)), 64);
    Gather(f.in.AllocTensor<float>(), f.plainIn.Get<float>(), offsets, 0, 64);
}

__aicore__ inline void EmptyCopy(Fixture& f)
{
    DataCopyExtParams params{0, 32, 0, 0, 0};
    DataCopyPad(f.z, f.plainOut.Get<float>(), params);
}

__aicore__ inline void ZeroBlockStride(Fixture& f)
{
    f.Load();
    BinaryRepeatParams params{0, 1, 1, 8, 8, 8};
    LocalTensor<float> a = f.plainIn.Get<float>();
    Add(f.plainOut.Get<float>(), a, a, 64, 1, params);
}

__aicore__ inline void AtomicLeftOn(Fixture& f)
{
    SetAtomicAdd<float>();
}

__aicore__ inline void ForeignTensorFreed(Fixture& f)
{
    LocalTensor<float> a = f.in.AllocTensor<float>();
    f.out.FreeTensor(a);
}

__aicore__ inline void FlagOfAQueue(Fixture& f)
{
    LocalTensor<float> a = f.in.AllocTensor<float>();
    DataCopy(a, f.x, kTile);
    f.in.EnQue(a);
    TQueSync<PIPE_MTE2, PIPE_V> sync;
    sync.SetFlag(0);
    sync.WaitFlag(0);
    a = f.in.DeQue<float>();
}

__aicore__ inline void SecondPipe(Fixture& f)
{
    TPipe another;
}

// V tells MTE3 about its own work; what MTE2 still loads is not in it.
__aicore__ inline void FlagOfTheWrongPipe(Fixture& f)
{
    DataCopy(f.plainIn.Get<float>(), f.x, kTile);
    Duplicate(f.plainOut.Get<float>(), 1.0f, static_cast<int32_t>(kTile));
    TQueSync<PIPE_V, PIPE_MTE3> computed;
    computed.SetFlag(0);
    computed.WaitFlag(0);
    DataCopy(f.z, f.plainIn.Get<float>(), kTile);
}

// A recycled buffer makes MTE2 wait for V, never V for MTE2.
__aicore__ inline void RecycledBufferIsNoWait(Fixture& f)
{
    LocalTensor<float> a;
    for (int i = 0; i < 2; ++i) {
        a = f.in.AllocTensor<float>();
        DataCopy(a, f.x, kTile);
        f.in.EnQue(a);
        a = f.in.DeQue<float>();
        f.in.FreeTensor(a);
    }
    DataCopy(f.plainIn.Get<float>(), f.x, kTile);
    a = f.in.AllocTensor<float>();
    Adds(f.plainOut.Get<float>(), f.plainIn.Get<float>(), 1.0f, static_cast<int32_t>(kTile));
}

extern "C" __global__ __aicore__ void fault(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TestTiling);
    GET_TILING_DATA(t, tiling);
    Fixture f;
    f.Init(x, z);
    switch (TILING_KEY_VAR) {
    case 1: NoWaitLoadToVector(f); break;
    case 2: NoWaitVectorToStore(f); break;
    case 3: FreedThenRead(f); break;
    case 4: DeQueBeforeEnQue(f); break;
    case 5: UbOverflow(f); break;
    case 6: MisalignedUb(f); break;
    case 7: BlockCount4096(f); break;
    case 8: Repeat256(f, 256); break;
    case 9: GmPastEnd(f, t.length); break;
    case 10: PastRowEnd(f, z, true); break;
    case 11: TwoCoresOneByte(f); break;
    case 12: UndefinedPadding(f); break;
    case 13: UbToUb(f); break;
#ifdef SIM_FAULT_BF16
    case 14: Bfloat16Add(f); break;
#endif
    case 15: FlagOfVectorCore(f); break;
    case 16: AxpyOverlap(f); break;
    case 17: StrideWraps(f, 256); break;
    case 18: AxpyMaskForm(f); break;
    case 19: StrideWraps(f, static_cast<uint8_t>(256 * t.parameter)); break;
    case 20: PastRowEnd(f, z, false); break;
    case 21: NoWaitVectorToLoad(f); break;
    case 22: OverlappingLoads(f); break;
    case 23: UsedWhileQueued(f); break;
    case 24: TooManyAllocated(f); break;
    case 25: BeyondTensor(f); break;
    case 26: UnwrittenUb(f); break;
    case 27: FlagNeverSet(f); break;
    case 28: FlagNeverTaken(f); break;
    case 29: PartialOverlap(f); break;
    case 30: PartOfABlock(f); break;
    case 31: WideLeftPadding(f); break;
    case 32: TransposeStride(f); break;
    case 33: ScalarStoreToGm(f); break;
    case 34: WritesInput(f); break;
    case 35: GatherBeyond(f); break;
    case 36: EmptyCopy(f); break;
    case 37: ZeroBlockStride(f); break;
    case 38: AtomicLeftOn(f); break;
    case 39: ForeignTensorFreed(f); break;
    case 40: FlagOfAQueue(f); break;
    case 41: SecondPipe(f); break;
    case 42: FlagOfTheWrongPipe(f); break;
    case 43: RecycledBufferIsNoWait(f); break;
    default: break;
    }
}
