"""Builds with AddressSanitizer and UndefinedBehaviorSanitizer, and processes that can load them.

Where ``SIM_SANITIZE`` is set the tests build the simulated NPU and its kernels so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

FLAGS: Final = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
_LIBRARIES: Final = ("libasan.so", "libubsan.so")


def sanitized() -> bool:
    return bool(os.environ.get("SIM_SANITIZE"))


def make_settings(optimisation: str) -> list[str]:
    """Return the settings of sim/Makefile that say how to compile."""
    compiler = f"CXX={find_compiler()}"
    if sanitized():
        # Half the time to compile, and nothing folded away.
        return [compiler, "SANITIZE=1", "CXXFLAGS=-O0"]
    return [compiler, "SANITIZE=", f"CXXFLAGS={optimisation}"]


def build_environment() -> dict[str, str]:
    """Return the environment for compilers: they need not load what this process has to."""
    own = {"LD_PRELOAD", "MAKEFLAGS"}
    return {name: value for name, value in os.environ.items() if name not in own}


def run_environment(compiler: str) -> dict[str, str]:
    """Return the environment in which Python can load sanitized libraries."""
    libraries = " ".join(str(_library(compiler, name)) for name in _LIBRARIES)
    # What Python itself never frees is not of interest.
    options = {"LD_PRELOAD": libraries, "ASAN_OPTIONS": "detect_leaks=0", "SIM_SANITIZE": "1"}
    return {**os.environ, **options}


def missing(compiler: str) -> str | None:
    """Say what the compiler lacks for sanitized libraries, or None."""
    for name in _LIBRARIES:
        if not _library(compiler, name).is_file():
            return f"{compiler} has no {name}"
    return None


def find_compiler() -> str:
    """Return a C++ compiler; the simulated NPU's tests need one."""
    for name in ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            return found
    raise RuntimeError("no C++ compiler: the simulated NPU's tests need g++ or clang++")


def _library(compiler: str, name: str) -> Path:
    # A compiler that has no such file answers with the bare name.
    asked = [compiler, f"-print-file-name={name}"]
    return Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
