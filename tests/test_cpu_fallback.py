"""The ways in which NumPy folds: each forced upon the same small columns, then compared."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest

from ascend_col2im import col2im, cpu_blocks, cpu_fallback
from ascend_col2im.facts import ACCUMULATORS
from ascend_col2im.geometry import Geometry, geometry
from tests import oracles
from tests.cases import CASES, VALID_AXES, assert_same_bits, numbered, products
from tests.dtypes import dtype_of, random_array
from tests.layouts import LAYOUTS, OUT_LAYOUTS
from tests.oracles import Array, Case

WIDE = {
    "rows spill on both sides": Case((6, 7), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "two cells ahead": Case((5, 8), (5, 5), (1, 1), (2, 2), (2, 2), (1, 1)),
    "taps a cell apart": Case((9, 12), (7, 7), (2, 3), (3, 3), (3, 3), (1, 1)),
    "a last cell cut short": Case((7, 11), (3, 4), (2, 3), (1, 2), (1, 3), (1, 1)),
    "dilated phases": Case((8, 12), (3, 3), (3, 2), (2, 2), (2, 2), (2, 3)),
    "more windows than cells": Case((4, 5), (2, 2), (1, 1), (1, 3), (1, 3), (1, 1)),
    "fewer windows than cells": Case((6, 9), (3, 3), (1, 2), (0, 0), (0, 0), (1, 1)),
    "tiles": Case((6, 8), (2, 4), (2, 4), (0, 0), (0, 0), (1, 1)),
    "stride beyond the image": Case((3, 4), (2, 3), (7, 5), (0, 1), (0, 9), (1, 1)),
    "one pixel of many taps": Case((1, 1), (4, 5), (1, 1), (3, 4), (3, 4), (1, 1)),
    "three axes spill": Case((3, 6, 8), (3, 3, 3), (1, 2, 2), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
}
NAMED = {**CASES, **WIDE}
named = pytest.mark.parametrize("case", NAMED.values(), ids=NAMED.keys())


def geometry_of(case: Case) -> Geometry:
    return geometry(*astuple(case))


@pytest.fixture(params=["gathered", "rows", "some", "all"])
def forced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gather every fold, or cut it into blocks: of one row of cells, of some, of all planes."""
    if request.param == "gathered":
        monkeypatch.setattr(cpu_fallback, "GATHERED", 2**40)
        return
    monkeypatch.setattr(cpu_fallback, "GATHERED", 0)
    monkeypatch.setattr(cpu_fallback, "SMALL_BYTES", 0)
    monkeypatch.setattr(cpu_fallback, "_by_window", lambda geometry: False)
    if request.param != "all":
        for module in (cpu_blocks, cpu_fallback):
            monkeypatch.setattr(module, "BLOCK_BYTES", 1 if request.param == "rows" else 300)
        monkeypatch.setattr(cpu_blocks, "plane_bytes", lambda *_: 2**40)


def slabs(col: Array, case: Case) -> Array:
    image = np.empty((*col.shape[:1], col.shape[1] // case.taps, *case.output_size), col.dtype)
    accumulator = np.dtype(ACCUMULATORS[col.dtype.name])
    with np.errstate(all="ignore"):
        cpu_fallback._fold_slabs(col, geometry_of(case), image, accumulator)
    return image


def test_layouts_are_flat_only_where_rows_hold_all_cells_and_little_spills() -> None:
    for name, flat in {
        "rows spill on both sides": True,
        "two cells ahead": True,
        "taps a cell apart": True,
        "more windows than cells": True,
        "fewer windows than cells": False,
        "three axes spill": False,
    }.items():
        layout = cpu_blocks.choose_layout(geometry_of(WIDE[name]), 4, widened=False)
        assert layout is not None
        assert layout.flat is flat, name


@pytest.mark.usefixtures("forced")
@named
def test_named_cases_equal_the_oracle(case: Case) -> None:
    col = numbered(case, N=2, C=3)
    assert_same_bits(col2im(col, **case.kwargs), oracles.scatter(col, case))


@pytest.mark.usefixtures("forced")
def test_kernels_too_large_for_a_table_equal_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cpu_blocks, cpu_fallback):
        monkeypatch.setattr(module, "TABLE_TAPS", 0)
    for case in NAMED.values():
        col = numbered(case, N=2, C=3)
        assert_same_bits(col2im(col, **case.kwargs), oracles.scatter(col, case))
        assert_same_bits(slabs(col, case), oracles.scatter(col, case))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_slabs_of_windows_equal_slabs_of_taps_bit_for_bit(
    axes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = VALID_AXES[::3] if axes == 1 else products(axes, 300)
    rng = np.random.default_rng(axes)
    for case in cases:
        col = rng.standard_normal((2, 3 * case.taps, case.length)).astype(np.float32)
        images = []
        for by_window in (True, False):
            monkeypatch.setattr(cpu_fallback, "_by_window", lambda _, chosen=by_window: chosen)
            cpu_fallback._slab_table.cache_clear()
            images.append(slabs(col, case))
        assert_same_bits(*images)
    cpu_fallback._slab_table.cache_clear()


def test_few_windows_of_many_taps_take_few_slabs() -> None:
    case = Case((1001, 1001), (1000, 1000), (1, 1), (0, 0), (0, 0), (1, 1))
    assert len(list(cpu_fallback._slabs(geometry_of(case)))) == 4
    image = col2im(np.broadcast_to(np.float32(1), (1, 10**6, 4)), **case.kwargs)
    assert image[0, 0, :2, :2].tolist() == [[1, 2], [2, 4]]
    far = Case((3,), (5,), (2,), (2**40,), (2**40,), (1,))
    assert len(list(geometry_of(far).axis_windows(0))) == 4


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_small_products_equal_slabs_bit_for_bit(axes: int) -> None:
    cases = VALID_AXES[::3] if axes == 1 else products(axes, 300)
    rng = np.random.default_rng(axes)
    for case in cases:
        col = rng.standard_normal((2, 3 * case.taps, case.length)).astype(np.float32)
        assert_same_bits(col2im(col, **case.kwargs), slabs(col, case))


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("dtype", ACCUMULATORS)
@named
def test_every_dtype_equals_slabs_bit_for_bit(case: Case, dtype: str) -> None:
    col = random_array(dtype, (2, 3 * case.taps, case.length))
    assert_same_bits(col2im(col, **case.kwargs), slabs(col, case))


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("dtype", ["float16", "float32", "bool"])
@pytest.mark.parametrize("layout", OUT_LAYOUTS.values(), ids=OUT_LAYOUTS.keys())
def test_any_layout_in_and_out_gives_the_same_bits(layout: Any, dtype: str) -> None:
    for case in NAMED.values():
        col = random_array(dtype, (2, 3 * case.taps, case.length))
        expected = slabs(col, case)
        out = layout(np.zeros_like(expected))
        col2im(layout(col), **case.kwargs, out=out)
        assert_same_bits(np.asarray(out), expected)
    assert set(LAYOUTS) - set(OUT_LAYOUTS) == {"read-only"}


@pytest.mark.usefixtures("forced")
@named
def test_a_lone_negative_zero_gives_positive_zero(case: Case) -> None:
    for dtype in ("float16", "float32", "complex64"):
        col = np.full((1, 2 * case.taps, case.length), -0.0, dtype)
        image = col2im(col, **case.kwargs)
        assert not np.ascontiguousarray(image).view(np.uint8).any()


def every_float16() -> Array:
    """Return every bit pattern, the finite ones and the others in rows of their own."""
    patterns = np.arange(2**16, dtype=np.uint16).view(np.float16)
    return np.concatenate([patterns[np.isfinite(patterns)], patterns[~np.isfinite(patterns)]])


def test_widening_is_numpys_cast_for_every_float16() -> None:
    patterns = every_float16()
    finite = int(np.isfinite(patterns).sum())
    for columns in (patterns[:finite], patterns[finite:], patterns, patterns.astype(">f2")):
        wide = cpu_blocks._widened(columns, np.empty(2**16, np.float32))
        assert_same_bits(wide, columns.astype(np.float32))


@pytest.mark.usefixtures("forced")
def test_infinities_and_overflow_give_no_warning() -> None:
    case = WIDE["rows spill on both sides"]
    for dtype, most in (("float16", 65504), ("float32", 3e38), ("bfloat16", 3e38)):
        col = np.full((1, case.taps, case.length), most, dtype_of(dtype))
        col[0, 4, ::3], col[0, 4, 1::3] = np.inf, -np.inf
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            image = col2im(col, **case.kwargs)
        assert not np.isfinite(image.astype(np.float32)).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8"])
@pytest.mark.parametrize(
    "case",
    [
        Case((56, 56), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
        Case((224, 224), (7, 7), (2, 2), (3, 3), (3, 3), (1, 1)),
        Case((700, 701), (5, 5), (1, 1), (2, 2), (2, 2), (1, 1)),
        Case((1003, 1003), (1002, 2), (1001, 1001), (0, 0), (0, 0), (1, 1)),
        Case((3, 300001), (1, 3), (1, 300000), (0, 1), (0, 1), (1, 1)),
        Case((64, 64), (9, 9), (1, 1), (20, 20), (20, 20), (5, 5)),
    ],
    ids=["conv", "stem", "one plane", "ragged", "ragged row", "spilling"],
)
def test_buffers_take_less_than_one_mebibyte_and_a_plane_of_sums(case: Case, dtype: str) -> None:
    channels = max(1, 2_000_000 // max(case.taps * case.length, math.prod(case.output_size)))
    col = np.broadcast_to(dtype_of(dtype).type(1), (1, channels * case.taps, case.length))
    out = np.empty((1, channels, *case.output_size), col.dtype)
    plane = math.prod(case.output_size) * np.dtype(ACCUMULATORS[dtype]).itemsize
    cpu_fallback.col2im(col, geometry_of(case), out)
    tracemalloc.start()
    try:
        cpu_fallback.col2im(col, geometry_of(case), out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**20 + plane
