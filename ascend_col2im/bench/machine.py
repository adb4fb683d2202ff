"""What a measurement ran on: the processor, its cores, and versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import metadata

from .. import __version__

PACKAGES = ("numpy", "numba", "torch", "onnxruntime")


def usable_cores() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0))


def limit_threads(threads: int) -> None:
    """Tell libraries that have not been imported yet how many threads to use."""
    os.environ["NUMBA_NUM_THREADS"] = str(threads)


def processor() -> str:
    """Return the processor's name where Linux tells it, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() in ("model name", "Model"):
                    return value.strip()
    except OSError:
        pass
    return platform.machine()


def versions(names: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return what is installed of some packages, with Python and this package first."""
    found = {"ascend-col2im": __version__, "python": platform.python_version()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
