"""The simulated installation that the command makes, built once for each state of its sources."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

COMMAND = (sys.executable, "-m", "ascend_col2im.cli")


@cache
def original() -> Path:
    """Build the installation if it is not there yet; tests use copies of it."""
    files = sorted(path for path in (ROOT / "sim").rglob("*") if path.is_file())
    kept = [path for path in files if "build" not in path.relative_to(ROOT).parts]
    kept += [ROOT / "ascend_col2im/toolchain" / name for name in ("simulation.py", "steps.py")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in kept)).hexdigest()[:16]
    home = Path(tempfile.gettempdir()) / f"ascend-col2im-simulated-{digest}"
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            building = Path(f"{home}.building")
            shutil.rmtree(building, ignore_errors=True)
            log = building.with_suffix(".log")
            command = [*COMMAND, "sim", str(building), "--log", str(log), "-j2"]
            done = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False
            )
            assert done.returncode == 0, done.stderr
            building.rename(home)
    return home


def copied(directory: Path) -> Path:
    """Return an installation of a test's own, in a place of its own."""
    home = directory / "cann"
    shutil.copytree(original(), home, symlinks=True)
    return home


def unsourced() -> dict[str, str]:
    """Return the environment of a process that knows of no CANN."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASCEND", "LD_LIBRARY_PATH", "CMAKE", "PYTEST"))
    }
    return {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def in_shell(
    home: Path, script: str, directory: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in a shell that has sourced an installation's ``set_env.sh``."""
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; source {home}/set_env.sh\n{script}"],
        cwd=directory,
        env={**unsourced(), "XDG_STATE_HOME": str(directory / "state"), **variables},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def succeeds(home: Path, script: str, directory: Path, **variables: str) -> str:
    """Return what a script printed, which must end well."""
    done = in_shell(home, script, directory, **variables)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def tree(directory: Path) -> dict[str, bytes | None]:
    """Return every path below a directory, with the bytes of files."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }
