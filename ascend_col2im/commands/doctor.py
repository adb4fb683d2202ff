"""``ascend-col2im doctor``: what is installed, what works, and a computation on each backend."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

import click
import numpy as np

from .. import __version__, backends
from ..api import col2im
from ..errors import BackendError, Col2ImError, MismatchError, MissingExtraError
from . import options
from .printing import Report, Table, show

State = Literal["ok", "warn", "fail", "not applicable"]


class Package(NamedTuple):
    """A distribution: its importable name, the oldest version that serves, and its use.

    ``extra`` is an extra of this project that installs it, or None where it cannot be left out.
    """

    distribution: str
    module: str
    oldest: str
    use: str
    extra: str | None = None


PACKAGES: Final = (
    Package("numpy", "numpy", "1.26", "the cpu backend"),
    Package("click", "click", "8.2", "this command"),
    Package("rich", "rich", "13", "tables and progress"),
    Package("ml_dtypes", "ml_dtypes", "0.5", "bfloat16", "onnx"),
    Package("onnx", "onnx", "1.19", "ONNX models", "onnx"),
    Package("pillow", "PIL", "10", "run --image", "image"),
    Package("numba", "numba", "0.60", "a later version's faster CPU path", "fast"),
    Package("matplotlib", "matplotlib", "3.8", "bench --plot and profile --plot", "plot"),
    Package("torch", "torch", "2.4", "torch tensors", "torch"),
    Package("torch-npu", "torch_npu", "2.4", "torch tensors on an NPU", "npu"),
)
"""The packages that the project's metadata requires, those it can do without last."""


LOAD_SECONDS: Final = 120
"""How long a package may take to load: torch needs several seconds from a cold disk."""

_LOAD: Final = """
import importlib, os, sys
_, module, *sys.path[:] = sys.argv
try:
    importlib.import_module(module)
except BaseException as error:
    sys.exit((str(error).strip().splitlines() or [type(error).__name__])[0])
os._exit(0)
"""


class Finding(NamedTuple):
    """One check's outcome; ``exit_code`` is what it asks the command to end with."""

    check: str
    state: State
    found: str
    cure: str = ""
    exit_code: int = 0


@click.command()
@options.json_output
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show what is installed, and compute on every backend.

    States: ok; warn (something here is not as it should be, the rest works); fail; not applicable
    (not installed or not present, and not needed). The exit code is that of the worst failure, or
    0 where nothing failed.

    \b
    Everything, for a person and for a bug report:
      ascend-col2im doctor
      ascend-col2im doctor --json
    """  # noqa: D301
    findings = list(examine())
    exit_code = max(finding.exit_code for finding in findings)
    facts = {
        "checks": [finding._asdict() for finding in findings],
        "exit_code": exit_code,
    }
    rows = tuple(
        (finding.check, finding.state, finding.found, finding.cure) for finding in findings
    )
    show(Report(facts, table=Table(("check", "state", "found", "cure"), rows)), as_json)
    ctx.exit(exit_code)


def examine() -> Iterator[Finding]:
    """Yield every finding, from the machine to the computation on its devices."""
    yield Finding("ascend-col2im", "ok", f"{__version__} in {Path(__file__).parent.parent}")
    yield Finding("Python", "ok", f"{platform.python_version()}, {sys.executable}")
    yield Finding("machine", "ok", f"{platform.system()} {platform.machine()}")
    for package in PACKAGES:
        yield _package(package)
    yield _torch_pair()
    yield _toolkit()
    yield _devices()
    for status in backends.statuses():
        yield _backend(status)


def _package(package: Package) -> Finding:
    name = package.distribution
    required = f">={package.oldest}"
    cure = f"pip install --upgrade '{name}{required}'"
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return _absent(package)
    except KeyError:
        version = None
    if version is None:
        return _unfit(package, "installed without its metadata", f"{cure} --force-reinstall")
    if _release(version) < _release(package.oldest):
        return _unfit(package, f"{version} is too old for {package.use}; needs {required}", cure)
    if package.module not in sys.modules and (reason := _loading_error(package.module)):
        return _unfit(package, f"{version} does not load: {reason}", f"{cure} --force-reinstall")
    return Finding(name, "ok", f"{version}, for {package.use}")


def _loading_error(module: str) -> str:
    """Import a module in a process of its own, which a broken one may end; "" if it loads."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, module, *sys.path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it is not done after {LOAD_SECONDS} s"
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines() or [f"its process ends with code {done.returncode}"]
    return said[-1]


def _absent(package: Package) -> Finding:
    if package.extra is None:
        cure = f"pip install '{package.distribution}>={package.oldest}'"
        return _unfit(package, "not installed", cure)
    cure = f"for {package.use}: pip install 'ascend-col2im[{package.extra}]'"
    return Finding(package.distribution, "not applicable", "not installed", cure)


def _unfit(package: Package, found: str, cure: str) -> Finding:
    """Return a failure, or a warning for a package that can be done without."""
    if package.extra is None:
        return Finding(
            package.distribution, "fail", found, cure, exit_code=MissingExtraError.exit_code
        )
    return Finding(package.distribution, "warn", found, cure)


def _release(version: str) -> tuple[int, ...]:
    """Return a version's leading numbers: 2.13.0+cpu is (2, 13, 0)."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers.group().split("."))) if numbers else ()


def _torch_pair() -> Finding:
    """Compare torch's version with torch-npu's, which is built for one minor version of torch."""
    check = "torch-npu with torch"
    try:
        ours, theirs = (_release(metadata.version(name)) for name in ("torch", "torch-npu"))
    except metadata.PackageNotFoundError:
        return Finding(check, "not applicable", "not both installed", "pip install torch-npu")
    versions = f"torch {'.'.join(map(str, ours))}, torch-npu {'.'.join(map(str, theirs))}"
    if ours[:2] != theirs[:2]:
        cure = f"pip install 'torch-npu=={ours[0]}.{ours[1]}.*'"
        return Finding(check, "warn", f"{versions}: not of one version", cure)
    return Finding(check, "ok", versions)


def _toolkit() -> Finding:
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        return Finding(
            "CANN toolkit",
            "not applicable",
            "ASCEND_HOME_PATH is not set",
            "where CANN is installed: source its set_env.sh",
        )
    if not Path(home).is_dir():
        return Finding(
            "CANN toolkit",
            "warn",
            f"ASCEND_HOME_PATH names {home}, which is no directory",
            "source set_env.sh of the CANN that is installed",
        )
    return Finding("CANN toolkit", "ok", home)


def _devices() -> Finding:
    nodes = sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))
    if nodes:
        return Finding("NPU devices", "ok", ", ".join(nodes))
    return Finding(
        "NPU devices",
        "not applicable",
        "there is no /dev/davinci*",
        "on a machine with an NPU: install its driver; in a container: pass the devices in",
    )


def _backend(status: backends.Status) -> Finding:
    """Fold ones on a backend: every pixel becomes the number of windows that cover it."""
    check = f"backend {status.name}"
    if not status.runs:
        state: State = "warn" if os.environ.get("ASCEND_HOME_PATH") else "not applicable"
        return Finding(check, state, " ".join(status.reason.split()), "use --backend auto or cpu")
    expected = [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    try:
        image = col2im(np.ones((4, 4), np.float32), 3, 2, backend=cast(backends.Name, status.name))
    except Col2ImError as error:
        return Finding(check, "fail", str(error), "use --backend cpu", BackendError.exit_code)
    if image[0].tolist() != expected:
        return Finding(
            check,
            "fail",
            f"folding ones to 3 x 3 gives {image[0].tolist()}; must be {expected}",
            "use another backend, and report this with the output of doctor --json",
            MismatchError.exit_code,
        )
    return Finding(check, "ok", f"{status.reason}; folding ones to 3 x 3 is right")
