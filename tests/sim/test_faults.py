"""Every planted fault is caught, and the message names the API, the core and the values."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from .conftest import PRODUCTS, LoadLibrary, tiling


@dataclass(frozen=True)
class Fault:
    """One case of tests/sim/kernels/faults.cpp and what its message must say."""

    key: int
    name: str
    says: str  # regular expression
    cores: int = 1
    arches: tuple[int, ...] = (2201, 3002)
    parameter: int = 1


FAULTS = [
    Fault(
        1,
        "missing wait between MTE2 and V",
        r"Add: src0 \(V\) reads .* which DataCopy \(MTE2, instruction "
        r"1\) may still be writing; no MTE2_V",
    ),
    Fault(
        2,
        "missing wait between V and MTE3",
        r"DataCopy: src \(MTE3\) reads .* Duplicate \(V, instruction "
        r"1\) may still be writing; no V_MTE3",
    ),
    Fault(
        3,
        "buffer freed then read",
        r"Add: src0 is UB bytes \[0, 1024\) \(VECIN buffer 0 .*, which was freed",
    ),
    Fault(4, "DeQue before EnQue", r"TQue: DeQue: the VECIN queue is empty"),
    Fault(
        5,
        "UB overflow",
        r"TPipe: InitBuffer: 256000 bytes for VECCALC after 11264 .* has \d+ bytes of UB",
    ),
    Fault(
        6, "misaligned UB address", r"Add: src0 starts at UB byte 3076, must be a multiple of 32"
    ),
    Fault(7, "blockCount 4096", r"DataCopyPad: blockCount=4096, must be 0\.\.4095"),
    Fault(8, "repeat 256", r"Add: repeatTime=256, must be 0\.\.255"),
    Fault(
        9,
        "GM read past the end",
        r"DataCopy: touches bytes \[3104, 4128\) of GM argument 0 "
        r"\(4096 bytes\) outside .*\[0, 4096\)",
    ),
    Fault(
        10,
        "write past a row's end",
        r"core 0.*DataCopyPad: touches bytes \[0, 416\) of GM "
        r"argument 1 .* outside the GlobalTensor's \[0, 400\)",
        cores=2,
    ),
    Fault(
        11,
        "two cores on one byte",
        r"core 1.*DataCopyPad: writes bytes \[16, 17\) of GM argument "
        r"1 .* which core 0 touches too",
        cores=2,
    ),
    Fault(
        12,
        "read of undefined padding",
        r"DataCopy: src stores UB bytes .* whose byte 20 is "
        r"undefined: left undefined by instruction 1, DataCopyPad",
    ),
    Fault(13, "UB to UB DataCopy on 310B", r"DataCopy: not supported on 310B1", arches=(3002,)),
    Fault(14, "bfloat16 arithmetic", r"Add: bfloat16 is not supported on"),
    Fault(15, "SetFlag on 310B", r"SetFlag: not supported on 310B1", arches=(3002,)),
    Fault(
        16,
        "Axpy with overlapping operands",
        r"Axpy: dst at UB 3072 and src at UB 3072 overlap: half to float",
    ),
    Fault(17, "repeat stride of 256", r"Adds: dstRepStride=256, must be 0\.\.255"),
    Fault(
        18,
        "mask-form Axpy half to float on 310B",
        r"Axpy: the mask form of half to float loses every odd element on 310B1",
        arches=(3002,),
    ),
    Fault(
        19,
        "repeat stride of 256 already wrapped to 0",
        r"Adds: dst repeat stride is 0 with 4 repeats: .*256 wraps to 0",
    ),
    Fault(
        20,
        "overlong store into the neighbour's row",
        r"core 1.*DataCopyPad: writes bytes \[400, 401\) of GM "
        r"argument 1 .* which core 0 touches too",
        cores=2,
    ),
    Fault(
        21,
        "missing wait between V and the next load",
        r"DataCopy: dst \(MTE2\) writes .* Add \(V, instruction \d+\) "
        r"may still be reading; no V_MTE2",
    ),
    Fault(
        22,
        "overlapping loads without a barrier",
        r"DataCopy: dst \(MTE2\) writes .* PipeBarrier<PIPE_MTE2>",
    ),
    Fault(
        23, "tensor used while it is queued", r"Add: src0 is .* which is in its queue: DeQue it"
    ),
    Fault(
        24,
        "more tensors than buffers",
        r"TQue: AllocTensor: all 2 buffers of the VECIN queue are in use",
    ),
    Fault(
        25,
        "access beyond the tensor",
        r"Add: src0 touches UB bytes \[3072, 4352\) but the tensor is UB bytes \[3072, 4096\)",
    ),
    Fault(
        26,
        "store of unwritten UB",
        r"DataCopy: src stores .* whose byte 0 is undefined: nothing wrote it",
    ),
    Fault(27, "flag that nobody sets", r"TQueSync: waits for flag MTE2_V id 3, which nothing set"),
    Fault(28, "flag that nobody takes", r"SetFlag: flag MTE2_V id 3 is still set at the end"),
    Fault(29, "partial overlap", r"Add: dst at UB 3104 and src0 at UB 3072 overlap partly"),
    Fault(
        30,
        "copy of part of a block",
        r"DataCopy: count=12 of 4-byte elements is 48 bytes, must be a multiple of 32",
    ),
    Fault(31, "left padding beyond 32 bytes", r"DataCopyPad: leftPadding=17, must be 0\.\.16"),
    Fault(
        32,
        "strides with one transposition",
        r"TransDataTo5HD: dstRepStride=16, srcRepStride=1 with repeatTimes=1, must be 0",
    ),
    Fault(
        33,
        "scalar store to GM, then a load",
        r"DataCopy: reads bytes \[0, 1\) of GM argument 1 .* does not "
        r"synchronise GlobalTensor::SetValue",
    ),
    Fault(
        34,
        "store to an input",
        r"DataCopy: writes bytes \[0, 1024\) of GM argument 0 \(4096 bytes\), an input",
    ),
    Fault(35, "gather beyond the source", r"Gather: srcOffset\[0\]=8192, must be"),
    Fault(
        36,
        "empty copy on 310B",
        r"DataCopyPad: blockCount=0, blockLen=32: the effect of 0 is not documented for 310B1",
        arches=(3002,),
    ),
    Fault(37, "dst block stride 0", r"Add: dst block stride is 0"),
    Fault(38, "atomic mode left on", r"SetAtomicAdd: atomic accumulation is still on"),
    Fault(
        39,
        "tensor freed to another queue",
        r"TQue: FreeTensor: the tensor was not allocated from this VECOUT queue",
    ),
    Fault(40, "flag of a queue", r"TQueSync: flag MTE2_V id 0 is in use by a queue"),
    Fault(
        42,
        "flag of the wrong pipe",
        r"DataCopy: src \(MTE3\) reads .* DataCopy \(MTE2, instruction 1\) may still be writing",
    ),
    Fault(
        43,
        "recycled buffer taken for a wait",
        r"Adds: src \(V\) reads .* DataCopy \(MTE2, instruction 3\) may still be writing",
    ),
    Fault(41, "second TPipe", r"TPipe: a second TPipe"),
]


@pytest.mark.parametrize(
    ("fault", "arch"),
    [(f, a) for f in FAULTS for a in (2201, 3002)],
    ids=lambda v: getattr(v, "name", v),
)
def test_fault_is_caught_by_name(simulator: LoadLibrary, fault: Fault, arch: int) -> None:
    x = np.ones(1024, np.float32)
    report = simulator(arch, "").launch(
        "fault",
        PRODUCTS[arch],
        fault.cores,
        [x],
        [((1024,), np.float32)],
        tiling=tiling(1024, parameter=fault.parameter),
        tiling_key=fault.key,
    )
    if arch not in fault.arches:
        assert report.violations == ()
        return
    assert any(re.search(fault.says, text) for text in report.violations), report.violations
    assert all(text.startswith(f"{PRODUCTS[arch]} core ") for text in report.violations)


def test_no_fault_is_no_violation(simulator: LoadLibrary) -> None:
    report = simulator(2201, "").launch(
        "fault",
        "910B1",
        1,
        [np.ones(1024, np.float32)],
        [((1024,), np.float32)],
        tiling=tiling(1024),
        tiling_key=0,
    )
    assert report.violation_count == 0
