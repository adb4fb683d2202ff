"""The Col2Im kernels give the bits of the NumPy backend, and break no rule of the hardware."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from . import cases
from .harness import (
    DTYPES,
    MACHINES,
    Case,
    Npu,
    assert_same_bits,
    fallback_col2im,
    random_array,
)

RANDOM_SETS = int(os.environ.get("COL2IM_RANDOM_SETS", "20000"))
"""Random folds per run; set the variable for a longer one."""

PLACES = [
    (product, dtype)
    for dtype in DTYPES
    for product in ("910B1", "310B1")
    if (product, dtype) != ("310B1", "bfloat16")
]


def check(npu: Npu, case: Case, dtype: str, product: str, seed: int = 0) -> set[int]:
    """Run one fold by every plan there is for it; hold each launch to all that it promises.

    Returns the tiling keys that ran.
    """
    col = random_array(np.random.default_rng(seed), case.shapes[0], dtype)
    expected = fallback_col2im(case, col)
    plans = npu.plans(case, dtype, MACHINES[product])
    for plan in plans:
        what = (case, dtype, product, plan.key)
        report = npu.col2im(case, col, product, plan=plan)
        assert not report.violation_count, (what, report.violations[0])
        assert_same_bits(report.outputs[0], expected, what)
        assert all(argument.rewritten == 0 for argument in report.arguments), what
        assert report.traffic <= 1, what
    return {plan.key for plan in plans}


@pytest.mark.parametrize(("product", "dtype"), PLACES)
def test_every_small_axis(npu: Npu, product: str, dtype: str) -> None:
    for axis in cases.small_axes():
        check(npu, cases.case(1, 2, axis), dtype, product)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize(("product", "dtype"), PLACES)
def test_sampled_small_axes_together(npu: Npu, product: str, dtype: str, axes: int) -> None:
    every = list(cases.small_axes())
    random_ = random.Random(axes)
    for _ in range(400):
        check(npu, cases.case(1, 2, *random_.choices(every, k=axes)), dtype, product)


@pytest.mark.parametrize("seed", range(8))
def test_random_folds(npu: Npu, seed: int) -> None:
    random_ = random.Random(seed)
    schedules: set[int] = set()
    for i in range(RANDOM_SETS // 8):
        case = cases.random_case(random_, 30_000)
        product = random_.choice(sorted(MACHINES))
        on_310b = MACHINES[product].arch == 3002
        dtype = random_.choice(["float16", "float32"] + ([] if on_310b else ["bfloat16"]))
        schedules |= check(npu, case, dtype, product, i)
    assert schedules == {1, 2, 3, 4}


@pytest.mark.parametrize("name", cases.HOSTILE)
def test_hostile_shapes(npu: Npu, name: str) -> None:
    for product, dtype in PLACES:
        check(npu, cases.HOSTILE[name], dtype, product)


@pytest.mark.parametrize("name", cases.WORKLOADS)
def test_workloads_scaled_down(npu: Npu, name: str) -> None:
    for product, dtype in PLACES:
        check(npu, cases.scaled(name), dtype, product)


def test_nd_entry_gives_the_same_bits(npu: Npu) -> None:
    case = cases.scaled("conv_grad")
    col = random_array(np.random.default_rng(0), case.shapes[0], "float16")
    launches = [
        npu.col2im(case, col, "910B1", kernel=k).check() for k in ("col2_im", "col2_im_nd")
    ]
    assert_same_bits(launches[0].outputs[0], launches[1].outputs[0], case)


@pytest.mark.parametrize("cores", [1, 2, 7, 48])
def test_any_number_of_cores_gives_the_same_bits(npu: Npu, cores: int) -> None:
    case = cases.scaled("stem_grad")
    col = random_array(np.random.default_rng(0), case.shapes[0], "float16")
    report = npu.col2im(case, col, "910B1", cores=cores).check()
    assert_same_bits(report.outputs[0], fallback_col2im(case, col), case)
