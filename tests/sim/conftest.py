"""Builds the test kernels into simulator libraries, once per session, and loads them."""

from __future__ import annotations

import fcntl
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascend_col2im.simulator import Simulator
from tests import sanitizers

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests" / "sim" / "kernels"
PRODUCTS = {2201: "910B1", 3002: "310B1"}

LoadLibrary = Callable[[int, str], Simulator]

# The dtypes of C++ and their NumPy twins; bfloat16 travels as its bits.
DTYPES: dict[str, np.dtype[Any]] = {
    "half": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "int32_t": np.dtype(np.int32),
    "int16_t": np.dtype(np.int16),
    "bfloat16_t": np.dtype(np.uint16),
}


def tiling(length: int, tile: int = 0, parameter: int = 0, second: int = 0) -> bytes:
    """Pack a TestTiling."""
    return struct.pack("<IIII", length, tile, parameter, second)


def build(out: Path, name: str, arch: int, sources: list[str], flags: str) -> Path:
    """Build one simulator library with make; workers of one session share the objects."""
    library = out / f"lib{name}_{arch}.so"
    command = [
        "make",
        "-s",
        f"--directory={ROOT / 'sim'}",
        f"OUT={out}",
        f"NAME={name}",
        "KERNELS=" + " ".join(str(KERNELS / source) for source in sources),
        f"KERNEL_FLAGS=-Wno-unused-parameter {flags}",
        *sanitizers.make_settings("-O1"),
        str(library),
    ]
    with (out / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env=sanitizers.build_environment(),
        )
    assert done.returncode == 0, done.stderr
    return library


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> LoadLibrary:
    """Return a function of architecture and "DTYPE_X DTYPE_Z" ("" for the kernels without)."""
    base = tmp_path_factory.getbasetemp()
    shared = base if base.name.startswith("pytest-") else base.parent
    out = shared / "simulator"
    out.mkdir(exist_ok=True)
    loaded: dict[tuple[int, str], Simulator] = {}

    def load(arch: int, dtypes: str) -> Simulator:
        if (arch, dtypes) not in loaded:
            if dtypes:
                x, z = dtypes.split()
                sources = ["elementwise.cpp", "register.cpp"]
                flags = f"-DDTYPE_X={x} -DDTYPE_Z={z}"
            else:
                sources = ["moves.cpp", "faults.cpp", "register.cpp"]
                flags = "-DSIM_FAULT_BF16"
            name = "test_" + dtypes.replace(" ", "_") if dtypes else "test"
            loaded[arch, dtypes] = Simulator(build(out, name, arch, sources, flags))
        return loaded[arch, dtypes]

    return load
