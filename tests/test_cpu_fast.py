"""Compiled code gives the bits of the NumPy backend, whatever is folded and however it is cut."""

from __future__ import annotations

import math
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_col2im import cpu_fallback, cpu_fast
from ascend_col2im.cpu_fast import layout, native, workers
from ascend_col2im.facts import ACCUMULATORS
from tests.cases import CASES, VALID_AXES, assert_same_bits, products
from tests.dtypes import dtype_of, random_array
from tests.layouts import OUT_LAYOUTS, axes_turned, backwards, every_second, read_only
from tests.oracles import Array, Case
from tests.test_col2im import larger_cases
from tests.test_cpu_fallback import WIDE, geometry_of

pytestmark = pytest.mark.usefixtures("compiled_code")

NAMED = {
    **CASES,
    **WIDE,
    "more taps than are listed at a time": Case(
        (20, 21), (17, 18), (1, 2), (8, 3), (8, 3), (1, 1)
    ),
    "rows too long for masks": Case((9, 150), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "many phases": Case((23, 31), (9, 11), (6, 7), (2, 3), (2, 3), (1, 1)),
    "tiles of three": Case((6, 9), (3, 3), (3, 3), (0, 0), (0, 0), (1, 1)),
    "tiles of three axes": Case((4, 6, 8), (2, 3, 4), (2, 3, 4), (0,) * 3, (0,) * 3, (1,) * 3),
    "tiles of nine": Case((9, 18), (9, 9), (9, 9), (0, 0), (0, 0), (1, 1)),
    "tiles of one axis": Case((180,), (12,), (12,), (0,), (0,), (1,)),
    "tiles in many rows": Case((42, 100), (6, 5), (6, 5), (0, 0), (0, 0), (1, 1)),
    "a long axis": Case((999,), (64,), (16,), (0,), (0,), (1,)),
    "five axes": Case(
        (2, 3, 2, 3, 4), (2, 2, 1, 2, 3), (1, 2, 1, 1, 2), (0, 1, 0, 1, 1), (1,) * 5, (1,) * 5
    ),
}
named = pytest.mark.parametrize("case", NAMED.values(), ids=NAMED.keys())


def columns(case: Case, dtype: str = "float32", N: int = 2, C: int = 3) -> Array:
    return random_array(dtype, (N, C * case.taps, case.length))


def empty_image(col: Array, case: Case) -> Array:
    return np.empty((len(col), col.shape[1] // case.taps, *case.output_size), col.dtype)


def by_numpy(col: Array, case: Case) -> Array:
    image = empty_image(col, case)
    cpu_fallback.col2im(col, geometry_of(case), image)
    return image


def compiled(col: Array, case: Case, threads: int = 1) -> Array:
    image = empty_image(col, case)
    assert cpu_fast.col2im(col, geometry_of(case), image, threads)
    return image


@pytest.fixture(params=["rows", "some", "all"])
def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Cut every fold into single rows of cells, into some planes or rows, or not at all."""
    if request.param != "all":
        for name in ("BLOCK_BYTES", "BAND_BYTES", "LEAST_BAND_BYTES"):
            monkeypatch.setattr(layout, name, 1 if request.param == "rows" else 400)
    layout.choose.cache_clear()
    yield
    layout.choose.cache_clear()


@pytest.fixture
def every_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use as many threads as are asked for, however little there is to do."""
    monkeypatch.setattr(layout, "THREAD_BYTES", 1)
    layout.choose.cache_clear()
    yield
    layout.choose.cache_clear()


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("axes", [1, 2, 3, 4])
def test_small_products_have_the_same_bits(axes: int) -> None:
    cases = VALID_AXES[::3] if axes == 1 else products(axes, 300)
    for case in cases:
        col = columns(case)
        assert_same_bits(compiled(col, case), by_numpy(col, case))


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("dtype", native.ELEMENTS)
def test_every_dtype_has_the_same_bits(dtype: str) -> None:
    for case in NAMED.values():
        col = columns(case, dtype)
        assert_same_bits(compiled(col, case), by_numpy(col, case))


@given(
    larger_cases(),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["float16", "float32", "int8"]),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_any_parameters_have_the_same_bits(
    case: Case, N: int, C: int, dtype: str, threads: int, seed: int
) -> None:
    col = random_array(dtype, (N, C * case.taps, case.length), seed)
    assert_same_bits(compiled(col, case, threads), by_numpy(col, case))


@pytest.mark.usefixtures("every_thread")
@pytest.mark.parametrize("threads", [1, 2, 3])
@named
def test_the_number_of_threads_changes_no_bit(case: Case, threads: int) -> None:
    for dtype in ("float32", "float16"):
        col = columns(case, dtype, N=3, C=5)
        assert_same_bits(compiled(col, case, threads), by_numpy(col, case))


@pytest.mark.usefixtures("every_thread")
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_one_large_plane_is_cut_among_threads(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case((500, 301), (5, 5), (1, 1), (2, 2), (2, 2), (1, 1))
    col = columns(case, N=1, C=1)
    begun: list[int] = []
    share = workers.share

    def counted(pieces: int, threads: int, work: Any) -> None:
        begun.append(pieces)
        share(pieces, threads, work)

    monkeypatch.setattr(workers, "share", counted)
    assert_same_bits(compiled(col, case, threads), by_numpy(col, case))
    assert begun[0] >= 4 * threads if threads > 1 else begun == [1]


@pytest.mark.parametrize("laid_out", OUT_LAYOUTS.values(), ids=OUT_LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "float64"])
def test_any_layout_that_suits_has_the_same_bits(laid_out: Any, dtype: str) -> None:
    suited = 0
    for case in NAMED.values():
        col = laid_out(columns(case, dtype))
        image = laid_out(np.zeros_like(empty_image(col, case)))
        if cpu_fast.col2im(col, geometry_of(case), image):
            suited += 1
            expected = by_numpy(np.ascontiguousarray(col), case)
            assert_same_bits(np.ascontiguousarray(image), expected)
        else:
            assert not np.asarray(image).view(np.ndarray).any()
    names = {name for name, each in OUT_LAYOUTS.items() if each is laid_out}
    refused = {"unaligned", "a field of records", "big-endian"} if dtype != "int8" else set()
    assert (suited == 0) == (names <= refused)


def test_columns_alone_in_an_unusual_layout_and_broadcast_ones_have_the_same_bits() -> None:
    for case in NAMED.values():
        col = columns(case)
        for laid_out in (every_second, backwards, axes_turned, read_only):
            assert_same_bits(compiled(laid_out(col), case), by_numpy(col, case))
        scalar = np.broadcast_to(np.float32(1.5), col.shape)
        assert_same_bits(compiled(scalar, case), by_numpy(scalar, case))


def test_nothing_is_written_beside_an_image_between_other_bytes() -> None:
    for case in NAMED.values():
        around = np.full((4, 5, *(size + 2 for size in case.output_size)), -7, np.float32)
        inside = (slice(1, 3), slice(1, 4), *(slice(1, -1) for _ in case.output_size))
        col = columns(case)
        cpu_fast.col2im(col, geometry_of(case), around[inside])
        assert_same_bits(around[inside].copy(), by_numpy(col, case))
        around[inside] = -7
        assert (around == -7).all()


PATTERNS = np.arange(2**16, dtype=np.uint16)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_value_is_widened_and_rounded_as_by_numpy(dtype: str) -> None:
    values = PATTERNS.view(dtype_of(dtype))
    shuffled = np.random.default_rng(4).permutation(values)
    one_tap = Case((2**16,), (1,), (1,), (0,), (0,), (1,))
    two_taps = Case((2**16,), (2,), (1,), (1,), (1,), (1,))
    pairs = np.stack([np.append(values, values[:1]), np.append(shuffled, shuffled[:1])])
    with np.errstate(all="ignore"):
        for case, col in ((one_tap, values[None, None]), (two_taps, pairs[None])):
            expected, image = by_numpy(col, case), compiled(col, case)
            numbers = ~np.isnan(expected.astype(np.float32))
            assert_same_bits(image[numbers], expected[numbers])
            assert np.isnan(image[~numbers].astype(np.float32)).all()


@named
def test_a_lone_negative_zero_gives_positive_zero(case: Case) -> None:
    for dtype in ("float16", "float32", "float64"):
        image = compiled(np.full((1, 2 * case.taps, case.length), -0.0, dtype), case)
        assert not image.view(np.uint8).any()


def test_nan_and_infinities_stay_in_their_windows() -> None:
    for case in NAMED.values():
        col = columns(case)
        col[0, 0, :: max(1, case.length // 3)] = np.nan
        col[0, -1, 1::2] = np.inf
        np.testing.assert_array_equal(compiled(col, case), by_numpy(col, case))


def test_other_dtypes_are_left_to_numpy() -> None:
    case = CASES["plain"]
    for dtype in ACCUMULATORS.keys() - native.ELEMENTS.keys():
        col = columns(case, dtype)
        assert not cpu_fast.col2im(col, geometry_of(case), empty_image(col, case))
    assert ACCUMULATORS.keys() - native.ELEMENTS.keys() == {"bool", "complex64", "complex128"}


def test_sums_beyond_a_plane_and_vast_positions_are_left_to_numpy() -> None:
    for case in (
        Case((64,), (3,), (2**62,), (2**62,), (2**62,), (2**61,)),
        Case((1001, 1001), (2, 2), (1000, 1000), (0, 0), (1, 1), (1, 1)),
    ):
        col = columns(case, N=1, C=1)
        assert not cpu_fast.col2im(col, geometry_of(case), empty_image(col, case))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    "case",
    [
        Case((56, 56), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
        Case((224, 224), (7, 7), (2, 2), (3, 3), (3, 3), (1, 1)),
        Case((700, 701), (5, 5), (1, 1), (2, 2), (2, 2), (1, 1)),
        Case((64, 64), (40, 40), (2, 2), (10, 10), (10, 10), (1, 1)),
        Case((99, 9999), (2, 2), (3, 2000), (0, 1), (0, 1), (1, 1)),
    ],
    ids=["conv", "stem", "one plane", "many taps", "wide cells"],
)
def test_buffers_take_less_than_one_mebibyte_and_a_plane_of_sums(
    case: Case, threads: int, dtype: str
) -> None:
    channels = max(1, 2_000_000 // max(case.taps * case.length, math.prod(case.output_size)))
    col = np.broadcast_to(dtype_of(dtype).type(1), (1, channels * case.taps, case.length))
    image = empty_image(col, case)
    assert cpu_fast.col2im(col, geometry_of(case), image, threads)
    tracemalloc.start()
    try:
        cpu_fast.col2im(col, geometry_of(case), image, threads)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    plane = image[0, 0].size * np.dtype(ACCUMULATORS[dtype]).itemsize
    assert peak < 2**20 + plane
    of_many = layout.choose(geometry_of(case), 10_000, dtype, col.itemsize, 64)
    assert of_many
    assert of_many.threads * of_many.buffer_bytes < 2**20 + plane


@pytest.mark.usefixtures("every_thread")
def test_eight_callers_at_once_get_the_same_bits() -> None:
    case = Case((61, 47), (3, 5), (2, 1), (1, 2), (2, 2), (1, 2))
    col = columns(case, N=4, C=16)
    expected = by_numpy(col, case)
    start = threading.Barrier(8)
    images: list[Array] = []

    def fold_repeatedly() -> None:
        start.wait()
        for _ in range(20):
            images.append(compiled(col, case, threads=3))

    callers = [threading.Thread(target=fold_repeatedly) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(images) == 160
    for image in images:
        assert_same_bits(image, expected)
