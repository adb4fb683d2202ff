"""``ascend-col2im doctor``: what is installed, what works, and a computation on each backend."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import click
import numpy as np

from .. import __version__, backends
from ..api import col2im
from ..errors import BackendError, Col2ImError, MismatchError, MissingExtraError
from ..facts import OLDEST_NUMBA
from ..geometry import geometry
from ..messages import one_line
from . import npu_checks, options
from .findings import Finding, State
from .printing import Report, Table, show


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
    Package("numba", "numba", OLDEST_NUMBA, "folding on every core of the CPU", "fast"),
    Package("matplotlib", "matplotlib", "3.8", "bench --plot and profile --plot", "plot"),
    Package("torch", "torch", "2.4", "torch tensors", "torch"),
    Package("torch-npu", "torch_npu", "2.4", "torch tensors on an NPU", "npu"),
)
"""The packages that the project's metadata requires, those it can do without last."""


ONES: Final = [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
"""What 2 x 2 windows of ones fold to: how many of them cover each pixel of a 3 x 3 image."""

FLAT: Final = ((1, 1), (0, 0), (0, 0), (1, 1))
"""Stride, padding at either end and dilation of those windows."""

NEW_NUMBA: Final = "pip install --upgrade --force-reinstall numba"

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
    yield npu_checks.toolkit()
    yield npu_checks.driver()
    yield _compiled_code()
    for status in backends.statuses():
        if status.name == "npu":
            yield from npu_checks.examine()
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
    if backends.release(version) < backends.release(package.oldest):
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


def _torch_pair() -> Finding:
    """Compare torch's version with torch-npu's, which is built for one minor version of torch."""
    check = "torch-npu with torch"
    try:
        ours, theirs = (
            backends.release(metadata.version(name)) for name in ("torch", "torch-npu")
        )
    except metadata.PackageNotFoundError:
        return Finding(check, "not applicable", "not both installed", "pip install torch-npu")
    versions = f"torch {'.'.join(map(str, ours))}, torch-npu {'.'.join(map(str, theirs))}"
    if ours[:2] != theirs[:2]:
        cure = f"pip install 'torch-npu=={ours[0]}.{ours[1]}.*'"
        return Finding(check, "warn", f"{versions}: not of one version", cure)
    return Finding(check, "ok", versions)


def _compiled_code() -> Finding:
    """Have the cpu backend's code for float32 ready, and fold ones with it."""
    check = "compiled code"
    if not backends.has_compiler():
        return Finding(
            check,
            "not applicable",
            f"numba {OLDEST_NUMBA} or newer is not installed, or NUMBA_DISABLE_JIT is set",
            "for folding on every core of the CPU: pip install 'ascend-col2im[fast]'",
        )
    fast = backends.compiled()
    if fast is None:
        return Finding(check, "warn", "numba does not load, so NumPy folds", NEW_NUMBA)
    try:
        seconds, was_compiled, folder = fast.prepare("float32")
    except Exception as error:  # a compiler's, which may be anything
        found = f"numba fails, so NumPy folds: {one_line(str(error))}"
        return Finding(check, "warn", found, NEW_NUMBA)
    image = np.empty((1, 1, 3, 3), np.float32)
    fast.col2im(np.ones((1, 4, 4), np.float32), geometry((3, 3), (2, 2), *FLAT), image)
    if image[0, 0].tolist() != ONES:
        return _wrong(check, image[0, 0], "set NUMBA_DISABLE_JIT=1")
    if folder is None:
        found = f"float32 compiled in {seconds:.1f} s, in every process: no folder to keep it in"
        return Finding(check, "warn", found, "set NUMBA_CACHE_DIR to a folder for it")
    if was_compiled:
        found = f"float32 compiled in {seconds:.1f} s, which the first large fold would have taken"
    else:
        found = f"float32 loaded in {seconds:.2f} s, which the first large fold of a process takes"
    return Finding(check, "ok", f"{found}; kept in {folder}")


def _backend(status: backends.Status) -> Finding:
    """Fold ones on a backend: every pixel becomes the number of windows that cover it."""
    check = f"backend {status.name}"
    if not status.runs:
        state: State = "warn" if os.environ.get("ASCEND_HOME_PATH") else "not applicable"
        return Finding(check, state, " ".join(status.reason.split()), "use --backend auto or cpu")
    try:
        image = col2im(np.ones((4, 4), np.float32), 3, 2, backend=cast(backends.Name, status.name))
    except Col2ImError as error:
        return Finding(check, "fail", str(error), "use --backend cpu", BackendError.exit_code)
    if image[0].tolist() != ONES:
        return _wrong(check, image[0], "use another backend")
    return Finding(check, "ok", f"{status.reason}; folding ones to 3 x 3 is right")


def _wrong(check: str, image: Any, cure: str) -> Finding:
    return Finding(
        check,
        "fail",
        f"folding ones to 3 x 3 gives {image.tolist()}; must be {ONES}",
        f"{cure}, and report this with the output of doctor --json",
        MismatchError.exit_code,
    )
