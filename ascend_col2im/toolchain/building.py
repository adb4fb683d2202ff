"""Plans that build the operator package, in the three ways that toolkits offer.

Each way copies the sources into a project of its own kind, runs that project's ``build.sh`` and
takes the ``.run`` it leaves:

- ``cmake``: ours, with the CMake functions of CANN 9 (``find_package(ASC)``);
- ``template``: the project template that CANN 8 ships (flat folders);
- ``ops-math``: a copy of a checkout of Ascend's operator repository of that name.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from ..errors import ToolchainError
from . import sources
from .cann import TEMPLATE, Toolkit, check_socs, check_vendor
from .steps import (
    MINUTE,
    Plan,
    Step,
    check_compiler,
    check_program,
    copy,
    copy_contents,
    is_plain,
    make_directories,
    remove,
)

Way = Literal["cmake", "template", "ops-math"]
WAYS: Final = get_args(Way)

BUILD_TIMEOUT: Final = 60 * MINUTE
STAGING: Final = "ascend_col2im.toolchain.staging"
"""The program that edits a foreign project's files in place."""


@dataclass(frozen=True)
class Request:
    """What to build: products, vendor, where to, how, and on how many processors."""

    socs: tuple[str, ...]
    vendor: str
    output: Path
    jobs: int
    way: Way | None = None
    ops_math: Path | None = None

    @property
    def work(self) -> Path:
        """The directory that is built in: in ``output``, if that is a path that make takes."""
        if is_plain(self.output):
            return self.output / "work"
        return Path(tempfile.gettempdir()) / f"ascend-col2im-build-{os.getpid()}"

    @property
    def package(self) -> Path:
        """The file to make."""
        return self.output / f"cann-col2im-{self.vendor}_linux-{platform.machine()}.run"


def plan(request: Request, toolkit: Toolkit) -> Plan:
    """Plan a build.

    Raises
    ------
    ToolchainError
        If the toolkit cannot build what is asked for, with the cure.
    """
    check_socs(request.socs)
    check_vendor(request.vendor)
    _check_programs()
    _check_writable(request.output)
    way = _way(request, toolkit)
    steps = {"cmake": _cmake, "template": _template, "ops-math": _ops_math}[way](request, toolkit)
    return Plan(
        "build",
        (
            remove("remove what an earlier build left", request.work),
            make_directories(request.work, request.output),
            *steps,
        ),
        facts={**toolkit.facts, "way": way, "for": ", ".join(request.socs)},
        finish=(
            remove("remove the work directory", request.work, Path(f"{request.package}.part")),
        ),
        lock=request.output,
        result=request.package,
    )


def _way(request: Request, toolkit: Toolkit) -> Way:
    """Return the way asked for, or the best that is there."""
    possible: dict[Way, bool] = {
        "ops-math": request.ops_math is not None,
        "cmake": toolkit.has_cmake_functions,
        "template": toolkit.has_template,
    }
    if request.way is None:
        found = [way for way, there in possible.items() if there]
        if found:
            return found[0]
        raise ToolchainError(
            f"the toolkit {toolkit.home} has neither lib64/cmake/asc-config.cmake (CANN 9) nor "
            f"{TEMPLATE} (CANN 8); install the whole toolkit, or give a checkout with --ops-math"
        )
    if not possible[request.way]:
        needs = {
            "cmake": f"lib64/cmake/asc-config.cmake in {toolkit.home} (CANN 9)",
            "template": f"{TEMPLATE} in {toolkit.home} (CANN 8)",
            "ops-math": "--ops-math=DIR, a checkout of ops-math",
        }
        raise ToolchainError(f"--way {request.way} needs {needs[request.way]}")
    return request.way


def _cmake(request: Request, toolkit: Toolkit) -> tuple[Step, ...]:
    here = sources.root()
    command = (
        *("bash", "build.sh", "--pkg", "--experimental"),
        *(f"--soc={','.join(request.socs)}", f"--vendor_name={request.vendor}"),
        f"-j{request.jobs}",
    )
    built = request.work / "build_out" / request.package.name
    return (
        copy("copy the sources", [here / name for name in sources.OPERATOR], request.work),
        Step("build the package", command, request.work, timeout=BUILD_TIMEOUT, makes=(built,)),
        _taken(str(built), request),
    )


def _template(request: Request, toolkit: Toolkit) -> tuple[Step, ...]:
    here, work = sources.root(), request.work
    settings = {
        "ASCEND_COMPUTE_UNIT": ";".join(request.socs),
        "ASCEND_CANN_PACKAGE_PATH": str(toolkit.home),
        "vendor_name": request.vendor,
    }
    pairs = tuple(f"{name}={value}" for name, value in settings.items())
    return (
        copy_contents("copy the template", toolkit.home / TEMPLATE, work),
        Step("make the copy writable", ("chmod", "-R", "u+rwX", str(work))),
        Step(
            "set the template's options", _staging("presets", work / "CMakePresets.json", *pairs)
        ),
        copy("copy the host sources", _flat(here / "op_host"), work / "op_host"),
        copy("copy the kernels", _flat(here / "op_kernel"), work / "op_kernel"),
        copy("copy the ONNX plug-in", [here / "framework/onnx_plugin"], work / "framework"),
        Step(
            "build the package",
            ("bash", "build.sh"),
            work,
            {"CMAKE_BUILD_PARALLEL_LEVEL": str(request.jobs)},
            BUILD_TIMEOUT,
        ),
        _taken(f"{work}/build_out/custom_opp_*.run", request),
    )


def _ops_math(request: Request, toolkit: Toolkit) -> tuple[Step, ...]:
    if len(request.socs) != 1:
        raise ToolchainError(
            f"ops-math builds for one product at a time, not for {', '.join(request.socs)}; build "
            "once for each --soc"
        )
    checkout = request.ops_math
    needed = ("build.sh", "experimental", "scripts/kernel/binary_config/ascendc_config.json")
    if checkout is None or not all((checkout / name).exists() for name in needed):
        raise ToolchainError(
            f"--ops-math {checkout} is no checkout of ops-math: it needs {', '.join(needed)}"
        )
    command = (
        *("bash", "build.sh", "--pkg", "--experimental", f"--soc={request.socs[0]}"),
        *(f"--ops={','.join(sources.operators())}", f"--vendor_name={request.vendor}"),
        f"-j{request.jobs}",
    )
    work = request.work
    return (
        copy_contents("copy the checkout", checkout, work),
        Step("put the operators in", _staging("ops-math", work, sources.root(), *request.socs)),
        Step("build the package", command, work, timeout=BUILD_TIMEOUT),
        _taken(f"{work}/build_out/cann-ops-math-{request.vendor}_linux-*.run", request),
    )


def _staging(*arguments: object) -> tuple[str, ...]:
    return (sys.executable, "-m", STAGING, *map(str, arguments))


def _taken(pattern: str, request: Request) -> Step:
    """Return the step that takes the package out of the work directory."""
    return Step(
        "take the package",
        ("sh", "-c", 'cp $1 "$2.part" && mv "$2.part" "$2"', "sh", pattern, str(request.package)),
        makes=(request.package,),
    )


def _flat(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".cpp", ".h"})


def _check_programs() -> None:
    check_program("cmake", "pip install cmake")
    check_program("make", "install GNU make")
    check_compiler()


def _check_writable(directory: Path) -> None:
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ToolchainError(f"{directory} cannot be written to; give another with --output")
