"""A simulated installation with stand-in operator packages, and processes that run on it.

Libraries are built once for each state of their sources and kept in the temporary directory.
Everything that loads them runs in a process of its own: libraries cannot be unloaded, and
``LD_LIBRARY_PATH`` is read when a process starts.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOCS: Final = ("ascend910b", "ascend310b")

PACKAGES: Final = {
    # vendor: what its library is compiled with, and what it is built for
    "full": ((), SOCS),
    "only_col2im": (("-DONLY_COL2IM",), SOCS),
    "empty": (("-DNO_OPS",), SOCS),
    "only_310b": ((), ("ascend310b",)),
}


@cache
def installation() -> Path:
    """Build what is not built yet; return the directory that stands for ``ASCEND_HOME_PATH``."""
    sources = sorted(
        path
        for folder in ("sim/runtime", "sim/include", "sim/model", "tests/runtime")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".h", ".py") or path.name == "Makefile"
    )
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    home = Path(tempfile.gettempdir()) / f"ascend-col2im-runtime-{digest}"
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            building = Path(f"{home}.building")
            shutil.rmtree(building, ignore_errors=True)
            _build(building)
            building.rename(home)
    return home


def package(vendor: str) -> Path:
    """Return the directory of one of `PACKAGES`, as ``ASCEND_CUSTOM_OPP_PATH`` names it."""
    return installation() / "opp" / "vendors" / vendor


def environment(vendor: str | None = "full", **variables: str) -> dict[str, str]:
    """Return the environment of a process with a sourced installation and one vendor's package."""
    home = installation()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASCEND", "LD_LIBRARY_PATH", "PYTEST"))
    }
    return {
        **kept,
        "ASCEND_HOME_PATH": str(home),
        "ASCEND_OPP_PATH": str(home / "opp"),
        **({"ASCEND_CUSTOM_OPP_PATH": str(package(vendor))} if vendor else {}),
        "LD_LIBRARY_PATH": str(home / "lib64"),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "default",
        "OMP_NUM_THREADS": "1",
        **variables,
    }


def run(check: Callable[[], None], environ: Mapping[str, str], timeout: float = 300) -> str:
    """Run a function of a test module in a process of its own; return what it printed.

    Raises
    ------
    AssertionError
        If the process fails, with all it wrote.
    """
    code = f"import {check.__module__} as m; m.{check.__name__}()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(environ),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def _build(home: Path) -> None:
    lib64 = home / "lib64"
    made = ["make", "-s", "-C", str(ROOT / "sim/runtime"), "CXX=c++", f"OUT={lib64}"]
    subprocess.run(made, check=True)
    for vendor, (options, socs) in PACKAGES.items():
        folder = home / "opp" / "vendors" / vendor
        for soc in socs:
            (folder / "op_impl/ai_core/tbe/config" / soc).mkdir(parents=True)
        library = folder / "op_api" / "lib" / "libcust_opapi.so"
        library.parent.mkdir(parents=True)
        subprocess.run(
            [
                *("c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"),
                *(f"-I{ROOT / folder}" for folder in ("sim/runtime", "sim/runtime/include")),
                *(f"-I{ROOT / folder}" for folder in ("sim/include", "tests/runtime")),
                *options,
                *("-o", str(library), str(ROOT / "tests/runtime/reference_opapi.cpp")),
                *(f"-L{lib64}", "-lnnopbase", "-lascendcl"),
            ],
            check=True,
        )
    for name in ("runtime", "compiler", "no_packages"):  # torch_npu wants to see the first two
        (home / name).mkdir()
    (home / "opp/vendors/config.ini").write_text("load_priority=empty,only_col2im,full\n")
