"""Which backends there are, whether each can run here and why, and which one a call takes."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from .errors import BackendError
from .messages import shown

Name = Literal["auto", "cpu", "npu"]

NPU_REASON: Final = "this version does not contain the NPU binding yet"


class Status(NamedTuple):
    """One backend's name, whether it can run here, and why."""

    name: str
    runs: bool
    reason: str


def statuses() -> tuple[Status, ...]:
    """Return every backend with its state, the one that `select` prefers first."""
    return (
        Status("cpu", True, f"NumPy {np.__version__}, any dtype"),
        Status("npu", False, NPU_REASON),
    )


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
        raise BackendError(f"{op}: backend 'npu': {NPU_REASON}; use 'auto' or 'cpu'")
