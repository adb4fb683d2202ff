"""The simulated kernels that the commands use, built once for each state of their sources."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path

import pytest

from ascend_col2im.kernel_model import PRODUCTS, Kernels, building
from ascend_col2im.toolchain.runner import run

HOME = Path(tempfile.gettempdir()) / "ascend-col2im-kernels"


def use(patch: pytest.MonkeyPatch) -> None:
    """Have the commands find their cache here."""
    patch.setenv("XDG_CACHE_HOME", str(HOME / "cache"))
    patch.setenv("XDG_STATE_HOME", str(HOME / "state"))


def kernels(patch: pytest.MonkeyPatch, product: str) -> Kernels:
    """Return a product's kernels; processes that share the cache build them once."""
    use(patch)
    arch = PRODUCTS[product].arch
    HOME.mkdir(exist_ok=True)
    with (HOME / f"{arch}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        plan = building.plan(arch, 2)
        if plan is not None:
            run(plan, HOME / "build.log", lambda at: None)
    return Kernels(PRODUCTS[product], building.directory(arch))
