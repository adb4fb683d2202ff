"""Native code for every dtype: compiled when the dtype is first met, then kept on disk."""

from __future__ import annotations

import ctypes
import platform
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from llvmlite.binding import get_host_cpu_features
from numba import cfunc, types

from ..facts import ACCUMULATORS
from . import kernels
from .elements import BFLOAT16, BOOL, FLOAT16

Fold = Callable[[int, int, int, int, int, int, int, int], None]

PLAIN: Final = tuple(name for name, total in ACCUMULATORS.items() if name == total != "bool")

ELEMENTS: Final[dict[str, Any]] = {
    "bfloat16": BFLOAT16,
    "bool": BOOL,
    "float16": FLOAT16,
    **{name: getattr(types, name) for name in PLAIN},
}
_prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6, ctypes.c_int64, ctypes.c_int64)
_ready: dict[str, tuple[Fold, Any]] = {}
_preparing = threading.Lock()


class Preparation(NamedTuple):
    """What it took to have a dtype's code ready."""

    seconds: float
    compiled: bool


@cache
def converts(dtype: str) -> bool:
    """Whether the processor converts a dtype by itself: float16 before 2012 it may not."""
    intel = platform.machine() in ("x86_64", "AMD64")
    return dtype != "float16" or not intel or bool(get_host_cpu_features().get("f16c"))


def prepare(dtype: str) -> Preparation:
    """Have the code for a dtype, given by name, ready: load it from disk, or compile it.

    Nothing is done a second time in one process.
    """
    begin = time.perf_counter()
    with _preparing:
        compiled = dtype not in _ready and _make_ready(dtype)
    return Preparation(time.perf_counter() - begin, compiled)


def fold_of(dtype: str) -> Fold:
    """Return the code for a dtype: `kernels.fold` for addresses."""
    if dtype not in _ready:
        prepare(dtype)
    return _ready[dtype][0]


def _make_ready(dtype: str) -> bool:
    element = types.CPointer(ELEMENTS[dtype])
    signature = types.void(
        element,
        element,
        types.CPointer(types.int64),
        types.CPointer(types.uint8),
        types.CPointer(ELEMENTS[ACCUMULATORS[dtype]]),
        types.CPointer(types.int64),
        types.int64,
        types.int64,
    )
    try:
        function = cfunc(signature, cache=True)(kernels.fold)
    except RuntimeError:  # there is no folder to keep it in
        function = cfunc(signature)(kernels.fold)
    # ctypes lets other threads of Python run during the call.
    _ready[dtype] = _prototype(function.address), function
    return not function.cache_hits
