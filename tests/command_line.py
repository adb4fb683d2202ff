"""Running the command in this process and in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from click.testing import CliRunner, Result

from ascend_col2im import cli

ROOT = Path(__file__).parent.parent


def invoke(*args: object) -> Result:
    """Run the command here; anything but an exit would have been a traceback for the user."""
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args], prog_name="ascend-col2im")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def fails(exit_code: int, *args: object) -> str:
    """Return the message of a command that must fail: on stderr, with nothing on stdout."""
    result = invoke(*args)
    assert result.exit_code == exit_code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("Error: ").removesuffix("\n")


def python(code: str, *args: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with every warning an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, args)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


COMMAND = "from ascend_col2im.cli import main; main(prog_name='ascend-col2im')"
"""Code that runs the command as its installed script does."""


def sparse_columns(path: Path, shape: tuple[int, ...]) -> None:
    """Write float32 zeros that take no room on the disk, but would take it in memory."""
    array: npt.NDArray[Any] = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    del array
