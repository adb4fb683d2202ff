"""The binding of the NPU operators: one call's handles and both of its stages.

`launch` queues a call on a stream that somebody else owns. Functions come from
`ascend_col2im.opp`, signatures from `ascend_col2im._abi`. Nothing here knows the rules: callers
check them first.

Source: CANN's two-stage interface, ``aclnnXxxGetWorkspaceSize`` and ``aclnnXxx``. The second stage
gives the executor back; where it is not reached, ``aclDestroyAclOpExecutor`` does (nnopbase,
``common/api/acl_op_api.cpp``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from . import _abi, opp
from .errors import BackendError
from .facts import TARGETS, Target
from .geometry import Geometry, Ints
from .messages import listed

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
def col2im_call(geometry: Geometry, dtype: str) -> Call:
    """Return the call that folds: Col2Im where its dtypes and single values suffice.

    Otherwise, and where no package has Col2Im, it is Col2ImNd.
    """
    pads = geometry.pad_begin + geometry.pad_end
    nd = (geometry.output_size, geometry.kernel_size, geometry.dilation, pads, geometry.stride)
    attributes: dict[str, tuple[int | Ints, ...]] = {"aclnnCol2ImNd": nd}
    single = [set(values) for values in (geometry.stride, pads, geometry.dilation)]
    if (
        dtype in _abi.COL2IM_DTYPES
        and geometry.axes == 2
        and all(len(values) == 1 for values in single)
    ):
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
    operator: opp.Operator,
    call: Call,
    source: View,
    out: View,
    stream: int | None,
    workspace: Callable[[int], int],
) -> None:
    """Queue one call on a stream of the thread's device.

    Parameters
    ----------
    operator : one of ``call.names``, as `ascend_col2im.opp.operator` finds it
    workspace : gives the device address of so many bytes, which must stay the call's own until
        the stream has passed it; called only if bytes are needed

    Raises
    ------
    NpuError
        If CANN fails; every handle has been given back.
    """
    name, prepare, execute, _, acl = operator
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


class Bound:
    """A context that binds the calling thread to a device, and to the one it had afterwards.

    A thread that had none is left on device 0, where torch_npu expects a new thread to be.
    """

    __slots__ = ("_acl", "_before", "_device")

    def __init__(self, acl: Any, device: int) -> None:
        self._acl = acl
        self._device = device
        self._before = device

    def __enter__(self) -> None:
        current = ctypes.c_int32()
        status = self._acl.aclrtGetDevice(ctypes.byref(current))
        if status not in (0, _abi.CONTEXT_NULL):
            raise NpuError("aclrtGetDevice", status)
        if status or current.value != self._device:
            check("aclrtSetDevice", self._device)
        self._before = current.value

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._before != self._device:
            status = self._acl.aclrtSetDevice(self._before)
            if status and error is None:
                raise NpuError("aclrtSetDevice", status)


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


def check(symbol: str, *arguments: Any) -> None:
    """Call a function of CANN itself, and raise `NpuError` unless it succeeds."""
    status = getattr(opp.runtime(), symbol)(*arguments)
    if status:
        raise NpuError(symbol, status)


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
