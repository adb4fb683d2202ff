"""Where files of this package's own go in a user's home: the XDG Base Directory Specification."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import ToolchainError


def user_directory(variable: str, usual: str) -> Path:
    """Return this package's directory under the one ``variable`` names, or ``usual`` in the home.

    A relative path in the variable is ignored, as the specification has it.

    Raises
    ------
    ToolchainError
        If neither is known.
    """
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named / "ascend-col2im"
    try:
        return Path.home() / usual / "ascend-col2im"
    except RuntimeError as error:
        raise ToolchainError(
            f"there is no home directory; set HOME, or {variable} to an absolute path"
        ) from error
