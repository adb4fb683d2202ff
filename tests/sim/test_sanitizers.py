"""Neither the model nor the kernels in it do what AddressSanitizer or UBSan would report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import sanitizers

from .conftest import ROOT, build

CLEAN = (
    "tests/sim/test_kernels.py",
    "tests/sim/test_faults.py",
    *(
        f"tests/kernel/test_{test}]"
        for test in (
            "col2im.py::test_workloads_scaled_down[small7",
            "col2im.py::test_hostile_shapes[kernel 65x1",
            "col2im.py::test_hostile_shapes[stride 33",
            "col2im.py::test_hostile_shapes[row of 33 bytes' elements",
            "im2col.py::test_workloads_scaled_down[small7",
            "im2col.py::test_hostile_shapes[stride beyond the kernel",
        )
    ),
)
"""Tests to run sanitized: right and faulty kernels of the model, our folds by every schedule."""

LAUNCH = """
import sys
from pathlib import Path
import numpy as np
from ascend_col2im.simulator import Simulator
from tests.sim.conftest import tiling

x = np.zeros(1024, np.float32)
Simulator(Path(sys.argv[1])).launch(
    "unseen", "910B1", 1, [x], [(x.shape, x.dtype)], tiling=tiling(1024 + 4, 0, 1),
    tiling_key=int(sys.argv[2]),
)
"""

UNSEEN = {
    1: "AddressSanitizer: heap-buffer-overflow",
    2: "runtime error: signed integer overflow: 2147483647 + 1",
    3: "runtime error: index 4 out of bounds for type 'int [4]'",
}
"""Tiling keys of tests/sim/kernels/unseen.cpp and what a sanitizer says of each."""


@pytest.fixture(scope="module")
def compiler() -> str:
    found = sanitizers.find_compiler()
    if lack := sanitizers.missing(found):
        pytest.skip(lack)
    return found


def run(compiler: str, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=sanitizers.run_environment(compiler),
        timeout=900,
    )


def test_the_model_and_the_kernels_are_clean(compiler: str, tmp_path: Path) -> None:
    options = ["-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/t"]
    done = run(compiler, *options, "-k", "not 3002", *CLEAN)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def unseen(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIM_SANITIZE", "1")
        return build(tmp_path_factory.mktemp("unseen"), "unseen", 2201, ["unseen.cpp"], "")


@pytest.mark.parametrize("key", UNSEEN)
def test_a_mistake_that_the_model_does_not_see_is_caught(
    compiler: str, unseen: Path, key: int
) -> None:
    done = run(compiler, "-c", LAUNCH, str(unseen), str(key))
    assert done.returncode != 0
    assert UNSEEN[key] in done.stderr
