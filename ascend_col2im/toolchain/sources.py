"""The sources of the operators and of the simulated NPU: in the wheel, or beside a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..errors import ToolchainError

PACKAGE: Final = Path(__file__).parents[1]

OPERATOR: Final = ("CMakeLists.txt", "build.sh", "op_host", "op_kernel", "framework", "examples")
"""What a package is built from."""

SIMULATOR: Final = "sim"


def root() -> Path:
    """Return the directory that has `OPERATOR` and `SIMULATOR` in it.

    Raises
    ------
    ToolchainError
        If this installation of the package lacks them.
    """
    for place in (PACKAGE / "cann_sources", PACKAGE.parent):
        if all((place / name).exists() for name in (*OPERATOR, SIMULATOR)):
            return place
    raise ToolchainError(
        f"the operators' sources are neither in {PACKAGE / 'cann_sources'} nor beside {PACKAGE}; "
        "install the package again: pip install --force-reinstall ascend-col2im"
    )


def operators() -> tuple[str, ...]:
    """Return the names of the operators' source files, such as ``col2_im``."""
    found = (root() / "op_host").glob("*_def.cpp")
    return tuple(sorted(path.name.removesuffix("_def.cpp") for path in found))
