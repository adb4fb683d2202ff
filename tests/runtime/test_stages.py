"""The two stages of an operator's call, and the handles they take."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ascend_col2im import _abi, aclnn, opp
from ascend_col2im.geometry import Geometry

from .acl import Acl
from .installation import environment, run
from .observer import live


class Fold:
    """One call of aclnnCol2Im, stage by stage."""

    def __init__(self, acl: Acl) -> None:
        self.acl = acl
        self.runtime = opp.runtime()
        self.operator = opp.operator(("aclnnCol2Im",), "ascend910b")
        geometry = Geometry((4, 5), (2, 3), (1, 1), (0, 0), (0, 0), (1, 1))
        self.attributes = aclnn.col2im_call(geometry, "float32").attributes["aclnnCol2Im"]
        self.col = np.ones((1, 6, 9), np.float32)
        self.image = np.zeros((1, 1, 4, 5), np.float32)
        self.target = acl.upload(self.image)
        self.first = self.tensor(self.col, acl.upload(self.col))
        self.last = self.tensor(self.image, self.target)
        self.scratch = acl.made("aclrtMalloc", 1024, 0)
        self.size, self.executor = ctypes.c_uint64(), ctypes.c_void_p()

    def tensor(
        self,
        values: np.ndarray[Any, Any],
        address: int,
        strides: tuple[int, ...] = (),
        offset: int = 0,
    ) -> int:
        dense = tuple(stride // 4 for stride in values.strides)
        layout = aclnn.Layout("float32", values.shape, strides or dense, offset, values.size)
        return int(self.runtime.aclCreateTensor(*layout.arguments, address))

    def prepare(self, first: int | None, last: int) -> int:
        pointers = ctypes.byref(self.size), ctypes.byref(self.executor)
        return int(self.operator.prepare(first, *self.attributes, last, *pointers))

    def execute(self, stream: int | None = None, given: int = 64) -> int:
        return int(self.operator.execute(self.scratch, given, self.executor, stream))


def test_the_first_stage_refuses_what_the_operator_cannot_take() -> None:
    run(_first_stage, environment())


def _first_stage() -> None:
    acl = Acl()
    fold = Fold(acl)
    assert fold.prepare(None, fold.last) == 161001
    assert acl.message() == "aclnnCol2ImGetWorkspaceSize: input 0 is null"
    outside = fold.tensor(fold.col, fold.target, offset=1)
    assert fold.prepare(outside, fold.last) == 161002
    assert "a view that must lie inside its storage" in acl.message()
    # an output that is not dense is refused: its definition does not say AutoContiguous
    across = fold.tensor(fold.image, fold.target, strides=(20, 20, 1, 4))
    assert fold.prepare(fold.first, across) == 561000
    assert "output 0 is not contiguous" in acl.message()
    assert live()["aclTensor"] == 4
    assert "aclOpExecutor" not in live()


def test_the_second_stage_holds_callers_to_its_rules() -> None:
    run(_second_stage, environment(ASCEND_SIM_DEVICES="2"))


def _second_stage() -> None:
    acl = Acl()
    fold = Fold(acl)
    stream = acl.made("aclrtCreateStream")
    assert fold.prepare(fold.first, fold.last) == 0
    assert fold.size.value == 64
    assert fold.execute(stream, given=63) == 161002
    assert "63 bytes; 64 are needed" in acl.message()
    assert fold.execute(stream) == 561103, "an executor is spent, whatever becomes of the stage"
    assert fold.prepare(fold.first, fold.last) == 0
    acl("aclrtSetDevice", 1)
    assert fold.execute(stream) == 361001, "a stream of another device"
    foreign = fold.tensor(fold.col, acl.upload(fold.col))
    acl("aclrtSetDevice", 0)
    assert fold.prepare(fold.first, fold.last) == 0
    assert fold.execute(stream) == 0
    acl("aclrtSynchronizeStream", stream)
    assert acl.download(fold.target, fold.image).sum() == fold.col.sum()
    # memory of another device is out of reach
    assert fold.prepare(foreign, fold.last) == 0
    assert fold.execute(stream) == 0
    assert acl.status("aclrtSynchronizeStream", stream) == 507015
    assert "Col2Im: an input" in acl.message()
    # a tensor must live until the second stage, and be destroyed once
    assert fold.prepare(fold.first, fold.last) == 0
    assert fold.runtime.aclDestroyTensor(fold.first) == 0
    assert fold.execute(stream) == 561000
    assert acl.message() == "aclnnCol2Im: a tensor was destroyed between the two stages"
    assert fold.runtime.aclDestroyTensor(fold.first) == 561000
    assert live()["misuse"] == 1


def test_handles_describe_views() -> None:
    run(_handles, environment())


def _handles() -> None:
    opp.runtime()
    nnopbase = ctypes.CDLL("libnnopbase.so")
    make = nnopbase.aclCreateTensor
    _, _, make.restype, make.argtypes = _abi.SYMBOLS["aclCreateTensor"]
    ints = ctypes.c_int64 * 2
    tensor = ctypes.c_void_p(make(ints(3, 4), 2, 1, ints(1, 3), 5, 2, ints(2, 10), 2, 0x1000))
    dims, count, offset = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64(), ctypes.c_int64()
    for name, expected in (
        ("ViewShape", [3, 4]),
        ("ViewStrides", [1, 3]),
        ("StorageShape", [2, 10]),
    ):
        assert nnopbase[f"aclGet{name}"](tensor, ctypes.byref(dims), ctypes.byref(count)) == 0
        assert dims[: count.value] == expected
    assert nnopbase.aclGetViewOffset(tensor, ctypes.byref(offset)) == 0
    assert offset.value == 5
    kind = ctypes.c_int()
    assert nnopbase.aclGetDataType(tensor, ctypes.byref(kind)) == 0
    assert kind.value == 1
    assert nnopbase.aclGetFormat(tensor, ctypes.byref(kind)) == 0
    assert kind.value == 2
    assert live() == {"aclTensor": 1}
