"""Which backends there are, whether each can run here and why, and what a call runs on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from importlib import metadata
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from . import aclnn, cpu_fallback, npu_backend
from .errors import BackendError
from .facts import CPU, OLDEST_NUMBA
from .geometry import Geometry
from .messages import shown

Name = Literal["auto", "cpu", "npu"]
Array = npt.NDArray[Any]


class Status(NamedTuple):
    """One backend's name, whether it can run here, and why."""

    name: str
    runs: bool
    reason: str


class Engine(NamedTuple):
    """What computes on arrays in host memory, and the target whose rules it keeps.

    Each function takes the batched input, the geometry and the batched result to be overwritten.
    """

    target: str
    col2im: Callable[[Array, Geometry, Array], None]
    im2col: Callable[[Array, Geometry, Array], None]


FAST_ELEMENTS: Final = 32 * 1024
"""Columns of fewer elements are left to NumPy: they gain nothing that is worth importing numba."""

FAST_WINDOWS: Final = 32
"""So are columns of fewer windows than this and than taps: NumPy adds them window by window."""


def cpu_col2im(col: Array, geometry: Geometry, image: Array, threads: int | None = None) -> None:
    """Fold as `cpu_fallback.col2im` does, in compiled code where that is installed and faster.

    ``threads`` is at most how many to use, None for one per core.
    """
    few_windows = geometry.L < geometry.K and geometry.L < FAST_WINDOWS
    fast = None if few_windows or col.size < FAST_ELEMENTS else compiled()
    if fast is None or not fast.col2im(col, geometry, image, threads):
        cpu_fallback.col2im(col, geometry, image)


CPU_ENGINE: Final = Engine(CPU.name, cpu_col2im, cpu_fallback.im2col)

CPU_ENGINES: Final = {"numpy": Engine(CPU.name, cpu_fallback.col2im, cpu_fallback.im2col)}
"""The engines that the cpu backend chooses from, by name: what `bench` can time one by one."""


def statuses() -> tuple[Status, ...]:
    """Return every backend with its state, the one that arrays in host memory prefer first."""
    try:
        npu = Status("npu", True, npu_backend.require("col2im"))
    except BackendError as error:
        npu = Status("npu", False, str(error))
    numba = f" and numba {metadata.version('numba')}" if has_compiler() else ""
    return Status("cpu", True, f"NumPy {np.__version__}{numba}, any dtype"), npu


def check(op: str, backend: str) -> None:
    """Refuse a backend that does not exist or cannot run here.

    Raises
    ------
    BackendError
        Naming the backend, the reason and the cure.
    """
    if not isinstance(backend, str) or backend not in get_args(Name):
        names = ", ".join(map(repr, get_args(Name)))
        raise BackendError(f"{op}: backend is {shown(backend)}; must be one of {names}")
    if backend == "npu":
        try:
            npu_backend.require(op)
        except BackendError as error:
            raise BackendError(f"{op}: backend 'npu': {error}") from error


def engine(op: str, backend: str) -> Engine:
    """Return what computes on arrays in host memory with the backend asked for.

    Raises
    ------
    BackendError
        As `check` does.
    """
    check(op, backend)
    if backend == "npu":
        return Engine(aclnn.target().name, npu_backend.col2im, npu_backend.im2col)
    return CPU_ENGINE


@cache
def compiled() -> ModuleType | None:
    """Return `ascend_col2im.cpu_fast`, or None if numba does not serve or does not load."""
    if not has_compiler():
        return None
    try:
        from . import cpu_fast
    except Exception:  # a foreign package's import may raise anything
        return None
    return cpu_fast


def has_compiler() -> bool:
    """Whether a numba that serves is installed, and not switched off by its own variable."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return False
    try:
        version = metadata.version("numba")
    except (metadata.PackageNotFoundError, KeyError):
        return False
    return release(version or "") >= release(OLDEST_NUMBA)


def release(version: str) -> tuple[int, ...]:
    """Return a version's leading numbers: 2.13.0+cpu is (2, 13, 0)."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers.group().split("."))) if numbers else ()
