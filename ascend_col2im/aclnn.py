"""The binding of the NPU operators: handles, both stages, and arrays that visit a device.

`launch` queues one call on a stream that somebody else owns; `col2im` and `im2col` take NumPy
arrays to a device and back. Functions come from `ascend_col2im.opp`, signatures from
`ascend_col2im._abi`. Nothing here knows the rules: callers check them first.

Source: CANN's two-stage interface, ``aclnnXxxGetWorkspaceSize`` and ``aclnnXxx``. The second stage
gives the executor back; where it is not reached, ``aclDestroyAclOpExecutor`` does (nnopbase,
``common/api/acl_op_api.cpp``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _abi, opp
from .errors import BackendError
from .facts import TARGETS, Target
from .geometry import Geometry, Ints
from .messages import listed

Array = npt.NDArray[Any]


SOC_TARGETS: Final = (
    ("Ascend910B", "ascend910b"),
    ("Ascend910_93", "ascend910_93"),
    ("Ascend310B", "ascend310b"),
)
"""How the SoC names of a target begin, as ``aclrtGetSocName`` gives them."""


class NpuError(BackendError):
    """CANN refused or failed a call.

    Attributes
    ----------
    symbol : the function that failed
    status : its status code, or None if it returned a null pointer
    context : the operator, tensors and parameters it was called for
    """

    def __init__(self, symbol: str, status: int | None, context: str = "") -> None:
        name = "" if status is None else _abi.STATUS_NAMES.get(status, "a code of CANN")
        fact = "returned null" if status is None else f"failed with {status} ({name})"
        message = opp.runtime().aclGetRecentErrMsg()
        reason = message.decode(errors="replace").strip() if message else "no message from CANN"
        super().__init__(f"{symbol} {fact}: {reason}")
        self.symbol = symbol
        self.status = status
        self.context = context

    def __str__(self) -> str:
        return super().__str__() + (f"; {self.context}" if self.context else "")


class View(NamedTuple):
    """A tensor on a device, as it lies in its storage; sizes and strides in elements."""

    address: int
    dtype: str
    shape: Ints
    strides: Ints
    offset: int
    storage: int

    def __str__(self) -> str:
        return (
            f"{self.dtype} {listed(self.shape)}, strides {listed(self.strides)}, "
            f"offset {self.offset} of {self.storage}"
        )


class Call(NamedTuple):
    """One operation with its parameters: the operators that can do it, the preferred one first."""

    names: tuple[str, ...]
    attributes: dict[str, tuple[int | Ints, ...]]
    parameters: str


@lru_cache(maxsize=4096)
def col2im_call(geometry: Geometry) -> Call:
    """Return the call that folds: Col2Im where its single values suffice, else Col2ImNd."""
    pads = geometry.pad_begin + geometry.pad_end
    nd = (geometry.output_size, geometry.kernel_size, geometry.dilation, pads, geometry.stride)
    attributes: dict[str, tuple[int | Ints, ...]] = {"aclnnCol2ImNd": nd}
    single = [set(values) for values in (geometry.stride, pads, geometry.dilation)]
    if geometry.axes == 2 and all(len(values) == 1 for values in single):
        both = (value for values in single for value in values)
        attributes = {
            "aclnnCol2Im": (*geometry.output_size, *geometry.kernel_size, *both),
            **attributes,
        }
    return Call(tuple(attributes), attributes, _described(geometry))


@lru_cache(maxsize=4096)
def im2col_call(geometry: Geometry) -> Call:
    """Return the call that unfolds."""
    pads = geometry.pad_begin + geometry.pad_end
    nd = (geometry.kernel_size, geometry.dilation, pads, geometry.stride)
    return Call(("aclnnIm2ColNd",), {"aclnnIm2ColNd": nd}, _described(geometry))


def launch(
    call: Call, source: View, out: View, stream: int | None, workspace: Callable[[int], int]
) -> None:
    """Queue one call on a stream of the thread's device.

    Parameters
    ----------
    workspace : gives the device address of so many bytes, which must stay the call's own until
        the stream has passed it; called only if bytes are needed

    Raises
    ------
    NpuError
        If CANN fails; every handle has been given back.
    BackendError
        If no installed package has the operator.
    """
    acl = opp.runtime()
    name, prepare, execute, _ = opp.operator(call.names)
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    handles = _Handles(acl, lambda: f"{name} of {source}, to {out}, {call.parameters}")
    try:
        first = handles.tensor(source)
        attributes = [
            value if isinstance(value, int) else handles.ints(value)
            for value in call.attributes[name]
        ]
        last = handles.tensor(out)
        status = prepare(first, *attributes, last, ctypes.byref(size), ctypes.byref(executor))
        if status:
            raise handles.error(f"{name}GetWorkspaceSize", status)
        try:
            scratch = workspace(size.value) if size.value else None
        except BaseException:
            acl.aclDestroyAclOpExecutor(executor)
            raise
        status = execute(scratch, size, executor, stream)
        if status:
            raise handles.error(name, status)
    except BaseException:
        handles.destroy()
        raise
    failure = handles.destroy()
    if failure is not None:
        raise failure


def col2im(col: Array, geometry: Geometry, image: Array, device: int = 0) -> None:
    """Fold ``col`` ``(N, C*K, L)`` into ``image`` ``(N, C, *output_size)`` on a device.

    Blocks until ``image`` holds the result. Both are of one dtype that the device takes.

    Raises
    ------
    NpuError, BackendError
        As `launch`.
    """
    _visit(col2im_call(geometry), col, image, device)


def im2col(image: Array, geometry: Geometry, col: Array, device: int = 0) -> None:
    """Unfold ``image`` ``(N, C, *spatial)`` into ``col`` ``(N, C*K, L)`` on a device.

    Blocks until ``col`` holds the result. Both are of one dtype that the device takes.

    Raises
    ------
    NpuError, BackendError
        As `launch`.
    """
    _visit(im2col_call(geometry), image, col, device)


def target() -> Target:
    """Return what the rules know of this machine's devices.

    Raises
    ------
    BackendError
        If there is no CANN, or its product is none that this package is for.
    """
    soc = opp.runtime().aclrtGetSocName()
    if not soc:
        raise NpuError("aclrtGetSocName", None)
    return _target(soc.decode())


def device_count() -> int:
    """Return how many devices CANN sees.

    Raises
    ------
    BackendError
        If there is no CANN, or it finds no driver.
    """
    count = ctypes.c_uint32()
    _initialise()
    _check("aclrtGetDeviceCount", ctypes.byref(count))
    return count.value


@contextmanager
def bound(device: int) -> Iterator[None]:
    """Bind the calling thread to a device, and to the one it had afterwards.

    A thread that had none is left on device 0, where torch_npu expects a new thread to be.
    """
    current = ctypes.c_int32()
    status = opp.runtime().aclrtGetDevice(ctypes.byref(current))
    if status not in (0, _abi.CONTEXT_NULL):
        raise NpuError("aclrtGetDevice", status)
    if status or current.value != device:
        _check("aclrtSetDevice", device)
    try:
        yield
    finally:
        before = 0 if status else current.value
        if before != device:
            _check("aclrtSetDevice", before)


class _Handles:
    """The handles of one call: made one by one, and all given back once."""

    def __init__(self, acl: Any, context: Callable[[], str]) -> None:
        self._acl = acl
        self._context = context
        self._made: list[tuple[str, int]] = []

    def tensor(self, view: View) -> int:
        dims, axes, strides, storage = _descriptor(view.shape, view.strides, view.storage)
        handle = self._acl.aclCreateTensor(
            dims, axes, _abi.DTYPES[view.dtype], strides, view.offset, _abi.FORMAT_ND,
            storage, 1, view.address,
        )  # fmt: skip
        return self._own("Tensor", handle)

    def ints(self, values: Ints) -> int:
        return self._own("IntArray", self._acl.aclCreateIntArray(_int64s(values), len(values)))

    def error(self, symbol: str, status: int | None) -> NpuError:
        return NpuError(symbol, status, self._context())

    def destroy(self) -> NpuError | None:
        """Give everything back; return the first failure."""
        failure = None
        for kind, handle in self._made:
            status = getattr(self._acl, f"aclDestroy{kind}")(handle)
            if status and failure is None:
                failure = self.error(f"aclDestroy{kind}", status)
        return failure

    def _own(self, kind: str, handle: int | None) -> int:
        if not handle:
            raise self.error(f"aclCreate{kind}", None)
        self._made.append((kind, handle))
        return handle


def _visit(call: Call, source: Array, out: Array, device: int) -> None:
    """Carry an array to the device, run a call there and carry its result back."""
    _initialise()
    opp.operator(call.names)  # before anything is allocated
    dense = np.ascontiguousarray(source)
    result = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    try:
        with bound(device), ExitStack() as memory:
            first = memory.enter_context(_memory(dense.nbytes))
            last = memory.enter_context(_memory(result.nbytes))
            _copy(first, dense.ctypes.data, dense.nbytes, _abi.HOST_TO_DEVICE)
            with _stream() as stream:  # which is done before any memory goes
                launch(
                    call,
                    _dense_view(dense, first),
                    _dense_view(result, last),
                    stream,
                    lambda size: memory.enter_context(_memory(size)),
                )
                _check("aclrtSynchronizeStream", stream)
            _copy(result.ctypes.data, last, result.nbytes, _abi.DEVICE_TO_HOST)
    except NpuError as error:
        error.context = error.context or (
            f"{call.names[0]} of {source.dtype} {listed(source.shape)} to {listed(out.shape)}, "
            f"{call.parameters}, on device {device}"
        )
        raise
    if result is not out:
        out[...] = result


def _dense_view(array: Array, address: int) -> View:
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return View(address, array.dtype.name, array.shape, strides, 0, array.size)


def _memory(size: int) -> AbstractContextManager[int]:
    return _owned("aclrtMalloc", "aclrtFree", size, _abi.MALLOC_HUGE_FIRST)


def _stream() -> AbstractContextManager[int]:
    return _owned("aclrtCreateStream", "aclrtDestroyStream")


@contextmanager
def _owned(make: str, release: str, *arguments: int) -> Iterator[int]:
    """Make something that CANN hands out through a pointer, and give it back once."""
    handle = ctypes.c_void_p()
    _check(make, ctypes.byref(handle), *arguments)
    address = handle.value or 0
    try:
        yield address
    except BaseException:  # what went wrong first is what the user has to know
        getattr(opp.runtime(), release)(address)
        raise
    _check(release, address)


def _copy(destination: int, source: int, size: int, kind: int) -> None:
    _check("aclrtMemcpy", destination, size, source, size, kind)


def _check(symbol: str, *arguments: Any) -> None:
    status = getattr(opp.runtime(), symbol)(*arguments)
    if status:
        raise NpuError(symbol, status)


def _initialise() -> None:
    """Initialise CANN unless this process has, by whomever."""
    acl = opp.runtime()
    if acl not in _initialised:
        status = acl.aclInit(None)
        if status not in (0, _abi.REPEAT_INITIALIZE):
            raise NpuError("aclInit", status)
        _initialised.append(acl)


_initialised: list[Any] = []


@cache
def _target(soc: str) -> Target:
    for begin, name in SOC_TARGETS:
        if soc.startswith(begin):
            return TARGETS[name]
    raise BackendError(
        f"this device is {soc}; this package is for "
        + ", ".join(f"{begin}* ({TARGETS[name].product})" for begin, name in SOC_TARGETS)
    )


@lru_cache(maxsize=4096)
def _descriptor(shape: Ints, strides: Ints, storage: int) -> tuple[Any, int, Any, Any]:
    """Return the arrays that describe a tensor: shape, its length, strides, storage shape."""
    return _int64s(shape), len(shape), _int64s(strides), _int64s((storage,))


@lru_cache(maxsize=4096)
def _int64s(values: Ints) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _described(geometry: Geometry) -> str:
    return ", ".join(
        f"{field.name} {listed(getattr(geometry, field.name))}" for field in fields(geometry)
    )
