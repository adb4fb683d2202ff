"""The modelled speed that the schedules reach.

Modelled time is a function of the launch alone, the same on every machine, so holding it to a bar
is no race against a clock. The bars are ratios to the floor, on the workloads that model fast;
`python -m tests.kernel.modelled` prints all of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from . import cases
from .harness import DTYPES, MACHINES, Npu

WORKLOADS = ("conv_grad_s2", "unpatch16", "small14", "small7", "overlap_add", "video")
MEAN = {"opt": 1.16, "pess": 1.45}
"""Geometric mean over `WORKLOADS`, which leave out most of those that reach 1.1."""
WORST = {"opt": 1.25, "pess": 1.75}
LEAST_BALANCE = 0.9


@pytest.mark.parametrize("dtype", DTYPES)
def test_time_stays_near_the_floor(npu: Npu, dtype: str) -> None:
    ratios = []
    for name in WORKLOADS:
        case = cases.WORKLOADS[name]
        plan = npu.plan(case, dtype, MACHINES["910B1"])
        col = np.zeros(case.shapes[0], DTYPES[dtype][1])
        timing = npu.col2im(case, col, "910B1", plan=plan, record=True, check=False).timing
        assert timing["opt"].balance >= LEAST_BALANCE, name
        ratios.append([timing[end].time_us / timing[end].floor_us for end in ("opt", "pess")])
        assert ratios[-1][0] <= WORST["opt"], (name, ratios[-1])
        assert ratios[-1][1] <= WORST["pess"], (name, ratios[-1])
    opt, pess = np.exp(np.log(ratios).mean(0))
    assert opt <= MEAN["opt"]
    assert pess <= MEAN["pess"]
