"""NumPy arrays on an NPU: carried to the device, computed there and carried back.

The counterpart of `ascend_col2im.cpu_fallback`; needs CANN and an operator package, not torch. It
shares a process with torch_npu: CANN is initialised by whichever comes first, and each call binds
its thread to the device and back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from . import _abi, opp
from .aclnn import (
    Bound,
    Call,
    NpuError,
    View,
    check,
    col2im_call,
    dense_layout,
    im2col_call,
    launch,
    target,
)
from .errors import BackendError
from .geometry import Geometry, Ints
from .messages import listed

Array = npt.NDArray[Any]

OPERATORS: Final = {
    "col2im": ("aclnnCol2Im", "aclnnCol2ImNd"),
    "im2col": ("aclnnIm2ColNd",),
}
"""What a package needs, one of each, to serve an operation at all."""

TIMED_LAUNCHES: Final = 4
"""Launches between the two events of one measurement."""


def require(op: str) -> str:
    """Return what an operation would run on, in words.

    Raises
    ------
    BackendError
        If it cannot run here, with the reason and the cure.
    """
    count = device_count()
    if count == 0:
        raise BackendError("CANN finds no device; npu-smi info shows whether the driver does")
    found = opp.operator(OPERATORS[op], target().name)
    return f"{count} of {target().product}, {found.name} of {found.path}"


def col2im(col: Array, geometry: Geometry, image: Array, device: int = 0) -> None:
    """Fold ``col`` ``(N, C*K, L)`` into ``image`` ``(N, C, *output_size)`` on a device.

    Blocks until ``image`` holds the result. Both are of one dtype that the device takes.

    Raises
    ------
    BackendError
        If it cannot run here, or CANN fails (`ascend_col2im.aclnn.NpuError`).
    """
    _visit(col2im_call(geometry, col.dtype.name), col, image, device)


def im2col(image: Array, geometry: Geometry, col: Array, device: int = 0) -> None:
    """Unfold ``image`` ``(N, C, *spatial)`` into ``col`` ``(N, C*K, L)`` on a device.

    Blocks until ``col`` holds the result. Both are of one dtype that the device takes.

    Raises
    ------
    BackendError
        If it cannot run here, or CANN fails (`ascend_col2im.aclnn.NpuError`).
    """
    _visit(im2col_call(geometry), image, col, device)


@contextmanager
def timer(
    col: Array, geometry: Geometry, image_shape: Ints, device: int = 0
) -> Iterator[Callable[[], float]]:
    """Carry ``col`` to a device and yield what folds it there and returns the seconds one took.

    The device's own events are read around `TIMED_LAUNCHES` launches in a row, queued behind one
    more, so that the stream need not wait for the host unless the fold is shorter than its launch.
    The result stays on the device.

    Raises
    ------
    BackendError
        If it cannot run here, or CANN fails (`ascend_col2im.aclnn.NpuError`).
    """
    call = col2im_call(geometry, col.dtype.name)
    _initialise()
    operator = opp.operator(call.names, target().name)
    image = np.empty(image_shape, col.dtype)
    explained = _explained(operator.name, call, col, image, device)
    with explained, Bound(operator.acl, device), ExitStack() as memory:
        first = memory.enter_context(_memory(col.nbytes))
        last = memory.enter_context(_memory(image.nbytes))
        _copy(first, col.ctypes.data, col.nbytes, _abi.HOST_TO_DEVICE)
        views = _dense_view(col, first), _dense_view(image, last)
        workspace = cache(lambda size: memory.enter_context(_memory(size)))  # one after the other
        with _event() as begin, _event() as end, _stream() as stream:

            def seconds() -> float:
                launch(operator, call, *views, stream, workspace)
                check("aclrtRecordEvent", begin, stream)
                for _ in range(TIMED_LAUNCHES):
                    launch(operator, call, *views, stream, workspace)
                check("aclrtRecordEvent", end, stream)
                check("aclrtSynchronizeStream", stream)
                elapsed = ctypes.c_float()
                check("aclrtEventElapsedTime", ctypes.byref(elapsed), begin, end)
                return elapsed.value / 1e3 / TIMED_LAUNCHES

            yield seconds


def device_count() -> int:
    """Return how many devices CANN sees.

    Raises
    ------
    BackendError
        If there is no CANN, or it finds no driver.
    """
    count = ctypes.c_uint32()
    _initialise()
    check("aclrtGetDeviceCount", ctypes.byref(count))
    return count.value


def _visit(call: Call, source: Array, out: Array, device: int) -> None:
    """Carry an array to the device, run a call there and carry its result back."""
    _initialise()
    operator = opp.operator(call.names, target().name)  # before anything is allocated
    dense = np.ascontiguousarray(source)
    result = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    explained = _explained(operator.name, call, source, out, device)
    with explained, Bound(operator.acl, device), ExitStack() as memory:
        first = memory.enter_context(_memory(dense.nbytes))
        last = memory.enter_context(_memory(result.nbytes))
        _copy(first, dense.ctypes.data, dense.nbytes, _abi.HOST_TO_DEVICE)
        with _stream() as stream:  # which is done before any memory goes
            launch(
                operator,
                call,
                _dense_view(dense, first),
                _dense_view(result, last),
                stream,
                lambda size: memory.enter_context(_memory(size)),
            )
            check("aclrtSynchronizeStream", stream)
        _copy(result.ctypes.data, last, result.nbytes, _abi.DEVICE_TO_HOST)
    if result is not out:
        out[...] = result


@contextmanager
def _explained(
    operator: str, call: Call, source: Array, out: Array, device: int
) -> Iterator[None]:
    """Tell an error what it happened to."""
    try:
        yield
    except NpuError as error:
        error.context = error.context or (
            f"{operator} of {source.dtype} {listed(source.shape)} to {listed(out.shape)}, "
            f"{call.parameters}, on device {device}"
        )
        raise


def _dense_view(array: Array, address: int) -> View:
    return View(address, dense_layout(array.dtype.name, array.shape))


def _memory(size: int) -> AbstractContextManager[int]:
    return _owned("aclrtMalloc", "aclrtFree", size, _abi.MALLOC_HUGE_FIRST)


def _stream() -> AbstractContextManager[int]:
    return _owned("aclrtCreateStream", "aclrtDestroyStream")


def _event() -> AbstractContextManager[int]:
    return _owned("aclrtCreateEventWithFlag", "aclrtDestroyEvent", _abi.EVENT_TIME_LINE)


@contextmanager
def _owned(make: str, release: str, *arguments: int) -> Iterator[int]:
    """Make something that CANN hands out through a pointer, and give it back once."""
    handle = ctypes.c_void_p()
    check(make, ctypes.byref(handle), *arguments)
    address = handle.value or 0
    try:
        yield address
    except BaseException:  # what went wrong first is what the user has to know
        getattr(opp.runtime(), release)(address)
        raise
    check(release, address)


def _copy(destination: int, source: int, size: int, kind: int) -> None:
    check("aclrtMemcpy", destination, size, source, size, kind)


def _initialise() -> None:
    """Initialise CANN unless this process has, by whomever."""
    acl = opp.runtime()
    if acl not in _initialised:
        status = acl.aclInit(None)
        if status not in (0, _abi.REPEAT_INITIALIZE):
            raise NpuError("aclInit", status)
        _initialised.append(acl)


_initialised: list[Any] = []
