"""The plan that makes a simulated installation: a directory in the shape of an installed CANN."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Final

from ..errors import ToolchainError
from . import sources
from .steps import (
    Plan,
    Step,
    check_compiler,
    check_program,
    copy,
    is_plain,
    make,
    make_directories,
)

VERSION: Final = "9.0.0"
"""The version of CANN whose interfaces the installation has."""

EVENT_TIMES: Final = "event_times"
"""What the installation declares of the times of its events, in the file with its version."""

MARK: Final = "simulated-npu"
"""A file that only these installations have, so that no other directory is overwritten."""


def plan(directory: Path, jobs: int) -> Plan:
    """Plan a simulated installation.

    Raises
    ------
    ToolchainError
        If there is no compiler, or the directory is in use for something else.
    """
    home = directory.absolute()
    _check_programs()
    _check_directory(home)
    sim = sources.root() / sources.SIMULATOR
    for path in (home, sim):
        if not is_plain(path):
            raise ToolchainError(
                f"make cannot work with the path {str(path)!r}; use one without spaces, quotes "
                "and other characters that mean something to a shell"
            )
    return Plan(
        "sim",
        (*_compiled(sim, home, jobs), *_laid_out(sim, home)),
        facts={"simulated CANN": VERSION, "sources": str(sim)},
        lock=home,
        result=home,
    )


def _compiled(sim: Path, home: Path, jobs: int) -> tuple[Step, ...]:
    libraries, models = home / "lib64", home / "build"

    built = tuple(models / f"libnpu_model_{arch}.so" for arch in (2201, 3002))
    installed = tuple(libraries / path.name for path in built)
    return (
        make_directories(home),
        Step("mark the directory", ("touch", str(home / MARK))),
        make_directories(home / "opp/vendors", home / "runtime", libraries / "cmake", models),
        make(
            "compile the runtime libraries",
            sim / "runtime",
            jobs,
            f"OUT={libraries}",
            makes=(libraries / "libascendcl.so", libraries / "libnnopbase.so"),
        ),
        make(
            "compile the model of the devices",
            sim,
            jobs,
            f"OUT={models}",
            "NAME=npu_model",
            "CXXFLAGS=-O2",
            makes=built,
        ),
        Step("install the model", ("cp", *map(str, built), str(libraries)), makes=installed),
        make(
            "compile the host libraries and op_build",
            sim / "host",
            jobs,
            f"OUT={libraries}",
            f"TOOLS={home / 'tools/opbuild'}",
            makes=(home / "tools/opbuild/op_build", libraries / "libop_runner.so"),
        ),
    )


def _laid_out(sim: Path, home: Path) -> tuple[Step, ...]:
    tikcpp = home / f"{platform.machine()}-linux" / "tikcpp"
    kernel_headers = tikcpp / "tikcfw"
    modules = tikcpp / "ascendc_kernel_cmake"
    include = sim / "include"
    host = [
        include / name for name in ("base", "exe_graph", "graph", "platform", "register", "tiling")
    ]
    runtime = [sim / "runtime" / name for name in ("op_launch.h", "npu_sim.h")]
    aclnn = [*sorted((sim / "runtime/include").iterdir()), sim / "host/packaged_op.h", *runtime]
    link = ("ln", "-sfn", f"../{platform.machine()}-linux/tikcpp", str(home / "compiler/tikcpp"))
    version = str(home / "compiler/version.info")
    write = 'file=$1; shift; printf "%s\\n" "$@" >"$file"'
    return (
        make_directories(
            home / "include", kernel_headers / "model", modules, home / "compiler/bin"
        ),
        copy("install the host headers", [*host, *aclnn], home / "include"),
        copy(
            "install the kernel headers",
            [include / "kernel_operator.h", include / "ascendc"],
            kernel_headers,
        ),
        copy(
            "install the model's headers",
            sorted((sim / "model").glob("*.h")),
            kernel_headers / "model",
        ),
        copy("install the CMake functions", [sim / "toolkit/fwk_modules"], modules),
        copy(
            "install their entry", [sim / "toolkit/cmake/asc-config.cmake"], home / "lib64/cmake"
        ),
        copy("install the kernel compiler", [sim / "toolkit/asc_opc"], home / "compiler/bin"),
        Step("link the modules", link),
        Step(
            "name the version, and what its times are",
            ("sh", "-c", write, "sh", version, f"Version={VERSION}", f"{EVENT_TIMES}=modelled"),
        ),
        copy("install set_env.sh", [sim / "toolkit/set_env.sh"], home),
        # The wheel's data files have lost the permission to be run.
        Step(
            "make programs runnable",
            (
                "sh",
                "-c",
                'chmod +x "$1"/compiler/bin/* "$2"/fwk_modules/package/*.sh',
                "sh",
                str(home),
                str(modules),
            ),
        ),
        Step(
            "remove the build's files",
            ("rm", "-rf", str(home / "build")),
            makes=(home / "set_env.sh",),
        ),
    )


def _check_programs() -> None:
    check_compiler()
    check_program("make", "install GNU make")


def _check_directory(home: Path) -> None:
    if home.exists() and (
        not home.is_dir() or (any(home.iterdir()) and not (home / MARK).exists())
    ):
        raise ToolchainError(
            f"{home} is there already and is no simulated installation; give another directory"
        )
    existing = next(path for path in (home, *home.parents) if path.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ToolchainError(
            f"{home} cannot be made: {existing} is not writable; give another directory"
        )
