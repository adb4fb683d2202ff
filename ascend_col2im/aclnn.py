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
import math
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


class Layout:
    """How a tensor lies in its storage; sizes and strides in elements.

    ``arguments`` is what ``aclCreateTensor`` takes before the storage's address.
    """

    __slots__ = ("_text", "arguments")

    def __init__(self, dtype: str, shape: Ints, strides: Ints, offset: int, storage: int) -> None:
        self._text = (
            f"{dtype} {listed(shape)}, strides {listed(strides)}, offset {offset} of {storage}"
        )
        self.arguments = (
            *(_int64s(shape), len(shape), _abi.DTYPES[dtype], _int64s(strides)),
            *(offset, _abi.FORMAT_ND, _int64s((storage,)), 1),
        )

    def __str__(self) -> str:
        return self._text


layout: Final = lru_cache(maxsize=4096)(Layout)
"""Return a `Layout`, which takes longer to make than to use."""


@lru_cache(maxsize=4096)
def dense_layout(dtype: str, shape: Ints) -> Layout:
    """Return how a contiguous tensor lies in a storage of its own."""
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return Layout(dtype, shape, strides, 0, math.prod(shape))


class View(NamedTuple):
    """A tensor on a device: the address of its storage, and how it lies there."""

    address: int
    layout: Layout


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
    handles = _Handles(acl, name, call, source, out)
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

    __slots__ = ("_acl", "_call", "_made", "_name", "_out", "_source")

    def __init__(self, acl: Any, name: str, call: Call, source: View, out: View) -> None:
        self._acl = acl
        self._name = name
        self._call = call
        self._source = source
        self._out = out
        self._made: list[tuple[Any, int]] = []  # each with what destroys it

    def tensor(self, view: View) -> int:
        acl = self._acl
        handle: int | None = acl.aclCreateTensor(*view.layout.arguments, view.address)
        if not handle:
            raise self.error("aclCreateTensor", None)
        self._made.append((acl.aclDestroyTensor, handle))
        return handle

    def ints(self, values: Ints) -> int:
        acl = self._acl
        handle: int | None = acl.aclCreateIntArray(_int64s(values), len(values))
        if not handle:
            raise self.error("aclCreateIntArray", None)
        self._made.append((acl.aclDestroyIntArray, handle))
        return handle

    def error(self, symbol: str, status: int | None) -> NpuError:
        context = (
            f"{self._name} of {self._source.layout}, to {self._out.layout}, "
            f"{self._call.parameters}"
        )
        return NpuError(symbol, status, context)

    def destroy(self) -> NpuError | None:
        """Give everything back; return the first failure."""
        failure = None
        for destroy, handle in self._made:
            status = destroy(handle)
            if status and failure is None:
                failure = self.error(destroy.__name__, status)
        return failure


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
def _int64s(values: Ints) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _described(geometry: Geometry) -> str:
    return ", ".join(
        f"{field.name} {listed(getattr(geometry, field.name))}" for field in fields(geometry)
    )
