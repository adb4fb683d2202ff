"""im2col's values: against an independent oracle and torch, in every layout and into every out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ascend_col2im import im2col
from ascend_col2im.facts import ACCUMULATORS
from tests import oracles
from tests.cases import CASES, VALID_AXES, assert_same_bits, products
from tests.dtypes import random_array
from tests.layouts import LAYOUTS, OUT_LAYOUTS
from tests.oracles import Array, Case

named = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def image_of(case: Case, N: int = 2, C: int = 3, dtype: Any = np.float64) -> Array:
    shape = (N, C, *case.output_size)
    return np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)


def assert_equals_oracle(case: Case) -> None:
    x = image_of(case)
    np.testing.assert_array_equal(
        im2col(x, **case.window_kwargs), oracles.im2col(x, case), str(case)
    )


def test_every_small_axis_equals_the_oracle() -> None:
    assert len(VALID_AXES) > 5000
    for case in VALID_AXES:
        assert_equals_oracle(case)


def test_products_of_two_and_three_axes_equal_the_oracle() -> None:
    for case in (*products(2, 200), *products(3, 60)):
        assert_equals_oracle(case)


@named
def test_named_cases_equal_the_oracle(case: Case) -> None:
    assert_equals_oracle(case)


def test_bits_equal_torch_where_torch_supports_the_case() -> None:
    candidates = [*products(2, 400), *CASES.values()]
    supported = [c for c in candidates if len(c.output_size) == 2 and c.pad_begin == c.pad_end]
    assert len(supported) > 20
    for case in supported:
        x = np.random.default_rng(7).standard_normal((2, 3, *case.output_size)).astype(np.float32)
        col = torch.nn.functional.unfold(
            torch.from_numpy(x), case.kernel_size, case.dilation, case.pad_begin, case.stride
        )
        assert_same_bits(im2col(x, **case.window_kwargs), col.numpy())


@pytest.mark.parametrize("dtype", ACCUMULATORS)
def test_every_dtype_is_copied_bit_by_bit(dtype: str) -> None:
    for case in CASES.values():
        x = random_array(dtype, (2, 3, *case.output_size))
        assert_same_bits(im2col(x, **case.window_kwargs), oracles.im2col(x, case))


def test_minus_zero_nan_and_inf_are_copied_and_padding_is_plus_zero() -> None:
    x = np.array([-0.0, np.nan, np.inf, -np.inf], np.float32).reshape(1, 4)
    col = im2col(x, (2,), padding=1)
    expected = np.array([[0, -0.0, np.nan, np.inf, -np.inf], [-0.0, np.nan, np.inf, -np.inf, 0]])
    assert_same_bits(col, expected.astype(np.float32))


@named
def test_unbatched_is_a_batch_of_one(case: Case) -> None:
    x = image_of(case, N=1)
    col = im2col(x, **case.window_kwargs)
    assert_same_bits(im2col(x[0], **case.window_kwargs), col[0])


@named
def test_an_empty_batch_gives_empty_columns(case: Case) -> None:
    x = np.empty((0, 3, *case.output_size), np.float16)
    col = im2col(x, **case.window_kwargs)
    assert col.shape == (0, 3 * case.taps, case.length)
    assert col.dtype == np.float16


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", "bool"])
def test_any_layout_gives_the_same_bits_and_stays_unmodified(layout: Any, dtype: str) -> None:
    for case in CASES.values():
        x = image_of(case, dtype=np.int16).astype(dtype)
        unusual = layout(x)
        assert_same_bits(im2col(unusual, **case.window_kwargs), oracles.im2col(x, case))
        assert_same_bits(np.asarray(unusual), x)


@pytest.mark.parametrize("layout", OUT_LAYOUTS.values(), ids=OUT_LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_out_of_any_layout_is_overwritten_and_returned(layout: Any, dtype: str) -> None:
    for case in CASES.values():
        x = image_of(case, dtype=np.int16).astype(dtype)
        expected = oracles.im2col(x, case)
        out = layout(np.full_like(expected, 77))
        assert im2col(x, **case.window_kwargs, out=out) is out
        assert_same_bits(np.asarray(out), expected)


def test_kernel_size_fixes_the_number_of_axes() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert im2col(x, (2,)).shape == (2, 3 * 2, 3)
    assert im2col(x, 2).shape == (2 * 4, 2 * 3)
    assert im2col(x[None], (1, 2, 3)).shape == (1 * 6, 2 * 2 * 2)
    assert im2col(x[None], 2).shape == (1, 2 * 4, 2 * 3)
