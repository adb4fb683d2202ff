"""Numerics: every dtype of the operator, how its sums are kept, rounded and wrapped."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_col2im import col2im, overlap_count
from ascend_col2im.facts import ACCUMULATORS, CPU
from tests import oracles
from tests.cases import AMOUNTS, CASES, assert_same_bits, batch, numbered, products
from tests.dtypes import BFLOAT16, dtype_of, random_array
from tests.layouts import LAYOUTS
from tests.oracles import Array, Case

ONNX_DTYPES = [
    "bfloat16",
    "bool",
    "complex128",
    "complex64",
    "float16",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
HALVES = ("float16", "bfloat16")
FLOATS = ("bfloat16", "float16", "float32", "float64", "complex64", "complex128")

LARGEST = {
    "float16": 65504.0,
    "bfloat16": (2 - 2**-7) * 2.0**127,
    "float32": (2 - 2**-23) * 2.0**127,
    "float64": (2 - 2**-52) * 2.0**1023,
}

plain = CASES["plain"]


def test_the_cpu_takes_every_numeric_dtype_of_onnx() -> None:
    assert list(CPU.dtypes) == sorted(ACCUMULATORS) == ONNX_DTYPES


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("dtype", ONNX_DTYPES)
def test_bits_equal_the_scatter_loop_in_row_major_order(dtype: str, amount: str) -> None:
    accumulator = dtype_of("float32" if dtype in HALVES else dtype)
    for case in (*CASES.values(), *products(2, 30)):
        N, C = batch(amount, case, dtype_of(dtype).itemsize)
        col = random_array(dtype, (N, C * case.taps, case.length))
        expected = oracles.scatter(col, case, accumulator)
        image = col2im(col, **case.kwargs)
        assert image.dtype == dtype_of(dtype)
        assert_same_bits(image, expected)
        out = np.empty_like(expected)
        assert col2im(col, **case.kwargs, out=out) is out
        assert_same_bits(out, expected)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_bfloat16_of_any_layout(layout: Any) -> None:
    for case in CASES.values():
        col = random_array("bfloat16", (2, 3 * case.taps, case.length))
        assert_same_bits(col2im(layout(col), **case.kwargs), col2im(col, **case.kwargs))


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_of_every_size_are_summed_in_float32_and_rounded_once(dtype: str) -> None:
    """Planes smaller and larger than any block the work may be cut into."""
    for size, kernel in (((5, 6), (3, 3)), ((150, 170), (5, 4)), ((2, 90_000), (1, 7))):
        case = Case(size, kernel, (1, 1), (1, 1), (1, 1), (1, 1))
        col = random_array(dtype, (1, 2 * case.taps, case.length))
        wide = col2im(col.astype(np.float32), **case.kwargs)
        assert_same_bits(col2im(col, **case.kwargs), wide.astype(col.dtype))


def test_float16_sums_do_not_overflow_on_the_way() -> None:
    taps = Case((1, 1), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1))
    col = np.broadcast_to(np.array([6e4, 6e4, -6e4, -5e4], np.float16)[:, None], (4, 4))
    assert col2im(col, **taps.kwargs)[0, 0, 0] == np.float16(10016)


def test_float16_rounds_half_to_even_once() -> None:
    """2048 + 1 + 1: float16 alone would stay at 2048; 2049 lies between 2048 and 2050."""
    one_pixel: dict[str, Any] = {
        "output_size": (1,),
        "kernel_size": (3,),
        "padding": 2,
        "stride": 1,
    }
    rows = np.broadcast_to(np.array([2048, 1, 1], np.float16)[:, None], (3, 3))
    assert col2im(rows, **one_pixel)[0, 0] == 2050
    rows = np.broadcast_to(np.array([2048, 1, 0], np.float16)[:, None], (3, 3))
    assert col2im(rows, **one_pixel)[0, 0] == 2048
    rows = np.broadcast_to(np.array([2050, 1, 0], np.float16)[:, None], (3, 3))
    assert col2im(rows, **one_pixel)[0, 0] == 2052


def test_bfloat16_rounds_once() -> None:
    rows = np.broadcast_to(np.array([256, 1, 1], BFLOAT16)[:, None], (3, 3))
    image = col2im(rows, (1,), (3,), padding=2)
    assert image[0, 0] == ml_dtypes.bfloat16(258)


def test_float64_does_not_pass_through_float32() -> None:
    image = col2im(np.full((1, 4, 4), 1 + 2.0**-40), **plain.kwargs)
    assert image[0, 0, 1, 1] == 4 + 2.0**-38


@pytest.mark.parametrize("dtype", [name for name in ONNX_DTYPES if "int" in name])
def test_integers_wrap(dtype: str) -> None:
    limits = np.iinfo(dtype)
    image = col2im(np.full((9000, 4, 4), limits.max, dtype), **plain.kwargs)
    low, many = int(limits.min), 2**limits.bits
    sums = [int(limits.max) * count for count in (1, 2, 1, 2, 4, 2, 1, 2, 1)]
    expected = [(total - low) % many + low for total in sums]
    assert image[0].ravel().tolist() == expected
    assert (image == image[0]).all()


def test_bool_is_or_of_all_that_cover_a_pixel() -> None:
    for case in CASES.values():
        col = random_array("bool", (2, 3 * case.taps, case.length))
        image = col2im(col, **case.kwargs)
        np.testing.assert_array_equal(image, oracles.scatter(col.astype(int), case) > 0)
        assert not col2im(np.zeros_like(col), **case.kwargs).any()


def windows_over(case: Case, window: int) -> Array:
    """Return how often ``window`` covers each pixel."""
    col = np.zeros((1, case.taps, case.length), int)
    col[..., window] = 1
    cover: Array = oracles.scatter(col, case)[0, 0]
    return cover


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_nan_and_inf_reach_only_the_pixels_of_their_window(
    dtype: str, poison: float, amount: str
) -> None:
    for case in CASES.values():
        N, C = batch(amount, case, dtype_of(dtype).itemsize)
        for window in {0, case.length // 2, case.length - 1}:
            clean = numbered(case, N, C, dtype=np.int8).astype(dtype_of(dtype))
            poisoned = clean.copy()
            poisoned[N - 1, case.taps : 2 * case.taps, window] = poison
            image, expected = col2im(poisoned, **case.kwargs), col2im(clean, **case.kwargs)
            covered = np.zeros(image.shape, bool)
            covered[N - 1, 1] = windows_over(case, window) > 0
            assert_same_bits(image[~covered], expected[~covered])
            assert not np.isfinite(image[covered]).any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinities_of_both_signs_make_nan_without_a_warning(dtype: str) -> None:
    for N in (1, 600, 20_000):
        col = np.zeros((N, 4, 4)).astype(dtype_of(dtype))
        col[-1, 0, 3], col[-1, 3, 0] = np.inf, -np.inf
        image = col2im(col, **plain.kwargs)
        assert np.isnan(image[-1, 0, 1, 1])
        assert np.isfinite(image).sum() == image.size - 1


@pytest.mark.parametrize("dtype", LARGEST)
def test_a_sum_beyond_the_dtype_is_infinite_whatever_numpy_is_told_to_raise(dtype: str) -> None:
    largest = LARGEST[dtype]
    for N in (1, 600, 20_000):
        col = np.full((N, 4, 4), largest, dtype_of(dtype))
        out = np.zeros((N, 1, 3, 3), dtype_of(dtype))
        with np.errstate(all="raise"):
            col2im(col, **plain.kwargs, out=out)
        assert np.isposinf(out[:, 0, 1, 1]).all()
        assert (out[:, 0, 0, 0] == largest).all()


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_lone_minus_zero_becomes_plus_zero_as_in_torch(dtype: str, amount: str) -> None:
    for case in CASES.values():
        N, C = batch(amount, case, dtype_of(dtype).itemsize)
        col = np.full((N, C * case.taps, case.length), -0.0).astype(dtype_of(dtype))
        assert np.signbit(col.real).all()
        image = col2im(col, **case.kwargs)
        assert (image == 0).all()
        assert not np.signbit(image.real).any()
        assert not np.signbit(image.imag).any()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_pixels_in_no_window_are_zero_in_a_used_out(dtype: str) -> None:
    case = CASES["stride leaves gaps"]
    col = random_array(dtype, (2, 3 * case.taps, case.length))
    out = np.full((2, 3, *case.output_size), 99, dtype)
    col2im(col, **case.kwargs, out=out)
    assert (out[:, :, overlap_count(**case.kwargs) == 0] == 0).all()


@pytest.mark.parametrize("dtype", ONNX_DTYPES)
def test_the_result_is_in_native_byte_order(dtype: str) -> None:
    col = random_array(dtype, (1, 4, 4))
    swapped = col.astype(col.dtype.newbyteorder(">"))
    assert_same_bits(col2im(swapped, **plain.kwargs), col2im(col, **plain.kwargs))
    assert col2im(swapped, **plain.kwargs).dtype.isnative
