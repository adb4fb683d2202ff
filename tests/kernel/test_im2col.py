"""The Im2ColNd kernel moves the bits that NumPy moves, and breaks no rule of the hardware."""

from __future__ import annotations

import random

import numpy as np
import pytest

from . import cases, test_plan
from .harness import DTYPES, MACHINES, Case, Npu, assert_same_bits, fallback_im2col, random_array
from .test_col2im import PLACES


def check(npu: Npu, case: Case, dtype: str, product: str) -> None:
    image = random_array(np.random.default_rng(0), case.shapes[1], dtype)
    expected = fallback_im2col(case, image)
    for plan in npu.unfold_plans(case, dtype, MACHINES[product]):
        what = (case, dtype, product, plan.key)
        report = npu.im2col(case, image, product, plan=plan)
        assert not report.violation_count, (what, report.violations[0])
        assert_same_bits(report.outputs[0], expected, what, nan_bits=True)
        assert all(argument.rewritten == 0 for argument in report.arguments), what


@pytest.mark.parametrize(("product", "dtype"), PLACES)
def test_every_small_axis(npu: Npu, product: str, dtype: str) -> None:
    for axis in list(cases.small_axes())[::3]:
        check(npu, cases.case(1, 2, axis), dtype, product)


@pytest.mark.parametrize("seed", range(4))
def test_random_folds(npu: Npu, seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(500):
        product = random_.choice(sorted(MACHINES))
        on_310b = MACHINES[product].arch == 3002
        dtype = random_.choice(["float16", "float32"] + ([] if on_310b else ["bfloat16"]))
        check(npu, cases.random_case(random_, 20_000), dtype, product)


@pytest.mark.parametrize("name", sorted(set(cases.HOSTILE)))
def test_hostile_shapes(npu: Npu, name: str) -> None:
    for product, dtype in PLACES:
        check(npu, cases.HOSTILE[name], dtype, product)


@pytest.mark.parametrize("name", ["conv_grad", "conv_grad_s2", "unpatch16", "small7", "video"])
def test_workloads_scaled_down(npu: Npu, name: str) -> None:
    for product, dtype in PLACES:
        check(npu, cases.scaled(name), dtype, product)


@pytest.mark.parametrize("name", sorted(set(cases.WORKLOADS) - {"video"}))
def test_workloads_read_the_image_nearly_once(npu: Npu, name: str) -> None:
    case = cases.scaled(name)
    for product, dtype in PLACES:
        image = np.zeros(case.shapes[1], DTYPES[dtype][1])
        report = npu.im2col(case, image, product, check=False)
        assert report.traffic <= 1.1, (product, dtype)


@pytest.mark.parametrize("name", test_plan.LARGE)
def test_columns_beyond_2_to_the_32(npu: Npu, name: str) -> None:
    large = test_plan.LARGE[name]
    columns, _ = large.shapes
    for product, dtype in PLACES:
        for plan in npu.unfold_plans(large, dtype, MACHINES[product]):
            tile = test_plan.fields(plan)
            taps = 1 if plan.key == 0 else int(np.prod(large.kernel_size[-2:]))
            width = large.kernel_size[-1] if plan.key == 0 else 1
            covered = tile["units"] * tile["rows"] * tile["columns"] * taps * width
            assert covered >= int(np.prod([int(size) for size in columns], dtype=object))
