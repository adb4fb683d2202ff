"""Which backends there are, whether each can run here and why, and what a call runs on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from . import aclnn, cpu_fallback, npu_backend
from .errors import BackendError
from .facts import CPU
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


CPU_ENGINE: Final = Engine(CPU.name, cpu_fallback.col2im, cpu_fallback.im2col)

CPU_ENGINES: Final = {"numpy": Engine(CPU.name, cpu_fallback.col2im, cpu_fallback.im2col)}
"""The engines that the cpu backend chooses from, by name: what `bench` can time one by one."""


def statuses() -> tuple[Status, ...]:
    """Return every backend with its state, the one that arrays in host memory prefer first."""
    try:
        npu = Status("npu", True, npu_backend.require("col2im"))
    except BackendError as error:
        npu = Status("npu", False, str(error))
    return Status("cpu", True, f"NumPy {np.__version__}, any dtype"), npu


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
