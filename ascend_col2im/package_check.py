"""Verify an operator package: load its library, resolve its functions, launch one and compare.

A program, since a process keeps every library that it has loaded:

    python -m ascend_col2im.package_check LIBRARY
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

from . import cpu_fallback, npu_backend, opp
from ._abi import OPAPI, SYMBOLS
from .errors import BackendError, Col2ImError, MismatchError
from .geometry import geometry


def check(library: Path) -> str:
    """Return what was verified, in words.

    Raises
    ------
    BackendError
        If the library cannot be loaded, lacks a function, is not the one that calls reach, or a
        launch fails.
    MismatchError
        If the launch gives other bits than the CPU.
    """
    opp.runtime()
    _check_functions(library)
    reached = npu_backend.require("col2im")
    if str(library) not in reached:
        raise BackendError(
            f"{library} is not what calls reach: they run on {reached}; take the other package "
            "out of ASCEND_CUSTOM_OPP_PATH, or deploy with --install-path"
        )
    _check_launch()
    return f"{reached}: one launch has the bits of the CPU"


def _check_functions(library: Path) -> None:
    try:
        loaded = ctypes.CDLL(str(library))
    except OSError as error:
        raise BackendError(f"{library} cannot be loaded: {error}") from error
    wanted = [name for name, symbol in SYMBOLS.items() if symbol.library == OPAPI]
    missing = [name for name in wanted if not hasattr(loaded, name)]
    if len(missing) == len(wanted):
        raise BackendError(f"{library} has none of {', '.join(wanted)}")


def _check_launch() -> None:
    geo = geometry((5, 6), (2, 3), (1, 1), (1, 1), (1, 1), (1, 1))
    col = np.random.default_rng(0).standard_normal((2, 3 * geo.K, geo.L)).astype(np.float32)
    image, expected = (np.empty((2, 3, *geo.output_size), np.float32) for _ in range(2))
    npu_backend.col2im(col, geo, image)
    cpu_fallback.col2im(col, geo, expected)
    if image.tobytes() != expected.tobytes():
        raise MismatchError("the package computes other values than the CPU: " + repr(image))


if __name__ == "__main__":
    try:
        print(check(Path(sys.argv[1])))
    except Col2ImError as failure:
        print(f"Error: {failure}")
        sys.exit(failure.exit_code)
