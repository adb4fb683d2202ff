"""The plan that compiles the model, the kernels and the host's plan, kept for the next time.

A library holds one architecture's kernels for one dtype; those of an architecture are built
together, into a directory of the user's cache that is named after everything they are built from.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from pathlib import Path
from typing import Final

from ..errors import ToolchainError
from ..toolchain import sources
from ..toolchain.steps import (
    MINUTE,
    Plan,
    Step,
    check_compiler,
    check_program,
    compiler,
    make,
    make_directories,
)
from ..toolchain.user_directories import user_directory
from .products import PRODUCTS

HERE: Final = Path(__file__).parent
CPP_DTYPES: Final = {"float32": "float", "float16": "half", "bfloat16": "bfloat16_t"}
"""What kernels call a dtype."""

PLANNER: Final = "libplan.so"
_PARTS: Final = ("op_host", "op_kernel", "sim/include", "sim/model", "sim/Makefile")
_TIMEOUT: Final = 10 * MINUTE


def library(directory: Path, arch: int, dtype: str) -> Path:
    """Return where the kernels of a dtype are in an architecture's directory."""
    return directory / f"lib{dtype}_{arch}.so"


def directory(arch: int) -> Path:
    """Return where an architecture's libraries are, or will be.

    Raises
    ------
    ToolchainError
        If the sources are missing, there is no home directory, or ``CXX`` cannot be read.
    """
    root = sources.root()
    digest = hashlib.sha256(f"{platform.machine()} {shlex.join(compiler())}".encode())
    for path in _files(root):
        digest.update(path.read_bytes())
    cache = user_directory("XDG_CACHE_HOME", ".cache")
    return cache / f"kernels-{arch}-{digest.hexdigest()[:16]}"


def plan(arch: int, jobs: int) -> Plan | None:
    """Plan an architecture's libraries; None where they are there already.

    Raises
    ------
    ToolchainError
        If there is no compiler, or the sources are missing.
    """
    target = directory(arch)
    if target.is_dir():
        return None
    check_compiler()
    check_program("make", "install GNU make")
    root = sources.root()
    building = target.with_name(f"{target.name}.{os.getpid()}.building")
    dtypes = {
        dtype for product in PRODUCTS.values() if product.arch == arch for dtype in product.dtypes
    }
    steps = [make_directories(building), _host_plan(building)]
    steps += [_kernels(root, building, arch, dtype, jobs) for dtype in sorted(dtypes)]
    steps += [
        Step("remove the build's files", ("rm", "-rf", str(building / str(arch)))),
        # Another process may have been faster; its libraries are the same.
        Step(
            "keep them",
            ("sh", "-c", 'test -d "$2" || mv -T "$1" "$2"', "sh", str(building), str(target)),
        ),
    ]
    return Plan(
        "model",
        tuple(steps),
        facts={"building the simulated kernels, once": str(target)},
        finish=(Step("clear", ("rm", "-rf", str(building))),),
        result=target,
    )


def _host_plan(building: Path) -> Step:
    made = building / PLANNER
    flags = ("-std=c++11", "-O2", "-shared", "-fPIC")
    command = (*compiler(), *flags, str(HERE / "plan.cpp"), "-o", str(made))
    return Step("compile the host's plan", command, timeout=_TIMEOUT, makes=(made,))


def _kernels(root: Path, building: Path, arch: int, dtype: str, jobs: int) -> Step:
    made = library(building, arch, dtype)
    name = CPP_DTYPES[dtype]
    return make(
        f"compile the {dtype} kernels and the model they run on",
        root / "sim",
        jobs,
        f"OUT={building}",
        f"NAME={dtype}",
        "CXXFLAGS=-O2",
        f"KERNELS={HERE / 'entries.cpp'}",
        f"KERNEL_FLAGS=-DDTYPE_COL={name} -DDTYPE_X={name} -I{root / 'op_kernel'}",
        str(made),
        makes=(made,),
    )


def _files(root: Path) -> list[Path]:
    found = [path for part in _PARTS for path in (root / part, *(root / part).rglob("*"))]
    found += HERE.glob("*.cpp")
    found += HERE.glob("*.h")
    found = [path for path in found if path.is_file()]
    if not found:
        raise ToolchainError(f"there are no sources in {root}; install the package again")
    return sorted(found)
