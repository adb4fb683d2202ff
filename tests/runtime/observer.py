"""The simulated runtime seen from outside: ``sim/runtime/npu_sim.h`` for Python."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager


def live() -> dict[str, int]:
    """Return what is alive, by kind."""
    return _counts("npuSimLiveReport")


def calls() -> dict[str, int]:
    """Return how often each function was called."""
    return _counts("npuSimCallReport")


@contextmanager
def failing(
    name: str, call: int | str = 1, status: int = 507899, message: str = ""
) -> Iterator[None]:
    """Make one function fail, at its n-th call from here or at every call (``"*"``)."""
    os.environ["ASCEND_SIM_FAIL"] = f"{name}@{call}={status}:{message or f'no {name} today'}"
    try:
        yield
    finally:
        del os.environ["ASCEND_SIM_FAIL"]


def _counts(report: str) -> dict[str, int]:
    function = getattr(ctypes.CDLL("libascendcl.so"), report)
    function.restype = ctypes.c_char_p
    lines = function().decode().splitlines()
    return {name: int(count) for name, _, count in (line.partition(" ") for line in lines)}
