"""Hypothesis draws the same examples every time, and no test depends on the machine's speed."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from ascend_col2im import backends

# Where torch-npu is installed without CANN, importing torch fails unless it is told not to load it
os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(params=["compiled", "NumPy"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold as where numba is installed, then as where it is not."""
    if request.param == "NumPy":
        monkeypatch.setattr(backends, "compiled", lambda: None)
    else:
        request.getfixturevalue("compiled_code")


@pytest.fixture(scope="session")
def compiled_code() -> None:
    """Have the code for every dtype ready: one of the processes that test compiles, others wait.

    Numba keeps it where the code lies, or in NUMBA_CACHE_DIR, also for the next run.
    """
    if not backends.has_compiler():
        pytest.skip("numba is not installed, or NUMBA_DISABLE_JIT is set")
    from ascend_col2im.cpu_fast import native

    with Path(tempfile.gettempdir(), "ascend_col2im_compiles").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for dtype in native.ELEMENTS:
            native.prepare(dtype)
