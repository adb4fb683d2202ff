"""Native code for every dtype: compiled when the dtype is first met, then kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import platform
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final, NamedTuple

from llvmlite.binding import get_host_cpu_features
from numba import cfunc, types
from numba.core import event

from . import kernels
from .elements import BFLOAT16, FLOAT16, total_of

Fold = Callable[[int, int, int, int, int, int, int, int], None]

ELEMENTS: Final[dict[str, Any]] = {
    "bfloat16": BFLOAT16,
    "float16": FLOAT16,
    "float32": types.float32,
    "float64": types.float64,
    **{f"int{bits}": getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
}
"""The dtypes of real numbers, and what compiled code takes their elements for: integers wrap to
the same bits with and without a sign."""

_log = logging.getLogger("ascend_col2im")
_prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6, ctypes.c_int64, ctypes.c_int64)
_ready: dict[Any, tuple[Fold, Any]] = {}
_failed: set[Any] = set()
_preparing = threading.Lock()


class Preparation(NamedTuple):
    """What it took to have a dtype's code ready, and the folder it is kept in, if any."""

    seconds: float
    compiled: bool
    folder: str | None


class _Announcement(event.Listener):  # type: ignore[misc]
    """Tells a user why the first fold takes seconds, when something is compiled at all."""

    def __init__(self, dtype: str) -> None:
        self.dtype: str | None = dtype

    def on_start(self, event: Any) -> None:
        if self.dtype is not None:
            _log.warning(
                "ascend_col2im: numba compiles the fold of %s, which takes some seconds, and "
                "keeps it on disk if it can",
                self.dtype,
            )
        self.dtype = None

    def on_end(self, event: Any) -> None:
        """Nothing is left to tell."""


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
    element = ELEMENTS[dtype]
    with _preparing:
        compiled = element not in _ready and _make_ready(dtype)
    kept = getattr(_ready[element][1], "_cache", None)
    seconds = time.perf_counter() - begin
    return Preparation(seconds, compiled, getattr(kept, "cache_path", None))


def fold_of(dtype: str) -> Fold | None:
    """Return the code for a dtype: `kernels.fold` for addresses. None if it cannot be had."""
    element = ELEMENTS[dtype]
    if element not in _ready and element not in _failed:
        try:
            prepare(dtype)
        except Exception as error:  # a compiler's, which may be anything
            _failed.add(element)
            _log.warning("ascend_col2im: numba fails, so NumPy folds %s: %s", dtype, error)
    return _ready[element][0] if element in _ready else None


def _make_ready(dtype: str) -> bool:
    element = ELEMENTS[dtype]
    signature = types.void(
        types.CPointer(element),
        types.CPointer(element),
        types.CPointer(types.int64),
        types.CPointer(types.uint8),
        types.CPointer(total_of(element)),
        types.CPointer(types.int64),
        types.int64,
        types.int64,
    )
    fold = _named_fold(f"fold_{dtype.removeprefix('u')}_{_digest()}")
    with event.install_listener("numba:compile", _Announcement(dtype)):
        try:
            function = cfunc(signature, cache=True)(fold)
        except (
            Exception
        ):  # there is no folder to keep it in, no room, or what lies there is broken
            function = cfunc(signature)(fold)
    # ctypes lets other threads of Python run during the call.
    _ready[element] = _prototype(function.address), function
    return not function.cache_hits


def _named_fold(name: str) -> Callable[..., None]:
    """Return `kernels.fold` under a name of its own, which the files kept on disk bear.

    Processes that keep different code in files of one name may mix it up.
    """
    fold = FunctionType(kernels.fold.__code__, kernels.fold.__globals__, name)
    fold.__qualname__ = name
    return fold


def _digest() -> str:
    """Return a digest of all that is compiled: numba itself looks at one file only."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
