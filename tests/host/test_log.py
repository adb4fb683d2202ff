"""A refusal is logged by whichever function the platform has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import sanitizers

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("has", "logged"),
    [
        (("HAS_DLOG", "HAS_ALOG"), "DlogRecord 63 3 Col2Im: rank: 100% of it"),
        (("HAS_ALOG",), "AlogRecord 63 3 Col2Im: rank: 100% of it"),
        ((), ""),
    ],
)
def test_a_refusal_is_logged(tmp_path: Path, has: tuple[str, ...], logged: str) -> None:
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'sim/include'}"]
    built = tmp_path / "log"
    source = Path(__file__).parent / "log.cpp"
    defined = [f"-D{name}" for name in has]
    compiler = sanitizers.find_compiler()
    subprocess.run([compiler, *strict, *defined, str(source), "-o", str(built)], check=True)
    done = subprocess.run([str(built)], capture_output=True, text=True, check=True)
    assert done.stdout == logged
