"""col2im's values: against three oracles, against torch, in every layout and into every out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from ascend_col2im import RuleError, col2im
from tests import oracles
from tests.cases import (
    AMOUNTS,
    CASES,
    DILATIONS,
    KERNEL_SIZES,
    VALID_AXES,
    assert_equal_taps,
    assert_same_bits,
    batch,
    numbered,
    products,
)
from tests.cases import fingerprints as fingerprints_of
from tests.layouts import LAYOUTS, OUT_LAYOUTS
from tests.oracles import Array, Case

named = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def assert_equals_three_oracles(case: Case) -> None:
    fingerprints, numbers = fingerprints_of(case), numbered(case, N=2, C=2)
    image, of_numbers = col2im(fingerprints, **case.kwargs), col2im(numbers, **case.kwargs)
    for oracle in (oracles.scatter, oracles.gather, oracles.adjoint):
        assert_equal_taps(image, oracle(fingerprints, case), case)
        expected = oracle(numbers, case)
        np.testing.assert_array_equal(of_numbers, expected, f"{oracle.__name__} {case}")


@pytest.mark.parametrize("dilation", DILATIONS)
@pytest.mark.parametrize("kernel_size", KERNEL_SIZES)
def test_every_small_axis_equals_three_oracles(kernel_size: int, dilation: int) -> None:
    axes = [a for a in VALID_AXES if a.kernel_size == (kernel_size,) and a.dilation == (dilation,)]
    assert len(axes) > 100
    for case in axes:
        assert_equals_three_oracles(case)


@pytest.mark.parametrize("amount", AMOUNTS[1:])
@pytest.mark.parametrize("kernel_size", KERNEL_SIZES)
def test_more_planes_of_every_small_axis_equal_the_adjoint(kernel_size: int, amount: str) -> None:
    for case in (axis for axis in VALID_AXES if axis.kernel_size == (kernel_size,)):
        col = numbered(case, *batch(amount, case))
        np.testing.assert_array_equal(
            col2im(col, **case.kwargs), oracles.adjoint(col, case), str(case)
        )


@pytest.mark.parametrize("amount", AMOUNTS[1:])
def test_more_planes_of_products_equal_the_adjoint(amount: str) -> None:
    for case in (*CASES.values(), *products(2, 200), *products(3, 60)):
        col = numbered(case, *batch(amount, case))
        np.testing.assert_array_equal(
            col2im(col, **case.kwargs), oracles.adjoint(col, case), str(case)
        )


@named
def test_named_cases_equal_three_oracles(case: Case) -> None:
    assert_equals_three_oracles(case)


def test_products_of_two_axes_equal_three_oracles() -> None:
    for case in products(2, 150):
        assert_equals_three_oracles(case)


def test_products_of_three_axes_equal_three_oracles() -> None:
    for case in products(3, 40):
        assert_equals_three_oracles(case)


@st.composite
def larger_cases(draw: st.DrawFn) -> Case:
    axes = draw(st.integers(1, 4))

    def per_axis(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(least, most)) for _ in range(axes))

    case = Case(
        per_axis(1, 40),
        per_axis(1, 12),
        per_axis(1, 9),
        per_axis(0, 20),
        per_axis(0, 20),
        per_axis(1, 9),
    )
    assume(case.valid and case.taps * case.length <= 20_000)
    return case


@given(larger_cases(), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_any_parameters_equal_the_scatter_loop(case: Case, N: int, C: int, seed: int) -> None:
    shape = (N, C * case.taps, case.length)
    col = np.random.default_rng(seed).integers(-999, 999, shape)
    np.testing.assert_array_equal(col2im(col, **case.kwargs), oracles.scatter(col, case))


def as_torch_folds(col: Array, case: Case) -> Array:
    image = torch.nn.functional.fold(
        torch.from_numpy(col),
        case.output_size,
        case.kernel_size,
        case.dilation,
        case.pad_begin,
        case.stride,
    )
    return image.numpy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_equal_torch_where_torch_supports_the_case(dtype: Any) -> None:
    candidates = [*products(2, 400), *CASES.values()]
    supported = [c for c in candidates if len(c.output_size) == 2 and c.pad_begin == c.pad_end]
    assert len(supported) > 20
    rng = np.random.default_rng(5)
    for case in supported:
        col = rng.standard_normal((2, 3 * case.taps, case.length)).astype(dtype)
        assert_same_bits(col2im(col, **case.kwargs), as_torch_folds(col, case))


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "case",
    [
        Case((56, 56), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
        Case((112, 112), (7, 7), (2, 2), (3, 3), (3, 3), (1, 1)),
        Case((60, 108), (7, 7), (3, 3), (3, 3), (3, 3), (1, 1)),
        Case((300, 301), (5, 5), (1, 1), (2, 2), (2, 2), (1, 1)),
        Case((64, 64), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2)),
        Case((96, 96), (16, 16), (16, 16), (0, 0), (0, 0), (1, 1)),
        Case((7, 7), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    ],
    ids=["conv", "stem", "inpaint", "denoise", "dilated", "unpatch", "small"],
)
def test_bits_equal_torch_at_the_sizes_of_real_layers(case: Case, dtype: Any) -> None:
    shape = (2, 5 * case.taps, case.length)
    col = np.random.default_rng(6).standard_normal(shape).astype(dtype)
    assert_same_bits(col2im(col, **case.kwargs), as_torch_folds(col, case))


@named
def test_unbatched_is_a_batch_of_one(case: Case) -> None:
    col = numbered(case, C=2)
    assert_same_bits(col2im(col[0], **case.kwargs), col2im(col, **case.kwargs)[0])


@named
def test_an_empty_batch_gives_an_empty_image(case: Case) -> None:
    col = np.empty((0, 2 * case.taps, case.length), np.float32)
    image = col2im(col, **case.kwargs)
    assert image.shape == (0, 2, *case.output_size)
    assert image.dtype == np.float32
    out = np.empty((0, 2, *case.output_size), np.float32)
    assert col2im(col, **case.kwargs, out=out) is out


def test_parameters_as_ints_sequences_and_pairs_mean_the_same() -> None:
    case = Case((4, 4), (2, 2), (3, 3), (1, 1), (1, 1), (2, 2))
    col = numbered(case)
    expected = oracles.scatter(col, case)
    single: dict[str, Any] = {
        "output_size": 4,
        "kernel_size": 2,
        "stride": 3,
        "padding": 1,
        "dilation": 2,
    }
    spellings: tuple[Callable[[int], Any], ...] = (
        lambda value: value,
        lambda value: (value,) * 2,
        lambda value: [value] * 2,
        lambda value: np.array([value] * 2, np.uint8),
        np.int64,
        np.uint16,
    )
    for spelling in spellings:
        kwargs: dict[str, Any] = {name: spelling(value) for name, value in single.items()}
        assert_same_bits(col2im(col, **kwargs), expected)
    paddings: list[Any] = [
        [[1, 1], [1, 1]],
        ((1, 1),),
        np.ones((2, 2), int),
        [np.ones(2, int)] * 2,
    ]
    for padding in paddings:
        assert_same_bits(col2im(col, **{**single, "padding": padding}), expected)


def test_padding_of_two_ints_is_one_per_axis_and_two_pairs_are_begin_and_end() -> None:
    per_axis = Case((4, 5), (2, 2), (1, 1), (1, 0), (1, 0), (1, 1))
    per_side = Case((4, 5), (2, 2), (1, 1), (1, 0), (0, 1), (1, 1))
    for case, padding in ((per_axis, (1, 0)), (per_side, [(1, 0), (0, 1)])):
        col = numbered(case)
        image = col2im(col, (4, 5), 2, padding=padding)
        assert_same_bits(image, oracles.scatter(col, case))


def test_stride_padding_and_dilation_are_keyword_only() -> None:
    with pytest.raises(TypeError, match="positional"):
        col2im(np.ones((1, 4, 4)), 3, 2, 1)  # type: ignore[call-overload]


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "complex64", "bool"])
def test_any_layout_gives_the_same_bits_and_stays_unmodified(
    layout: Any, dtype: str, amount: str
) -> None:
    for case in CASES.values():
        N, C = batch(amount, case, np.dtype(dtype).itemsize)
        col = numbered(case, N, C, dtype=np.int16).astype(dtype)
        unusual = layout(col)
        before = unusual.tobytes()
        assert_same_bits(col2im(unusual, **case.kwargs), col2im(col, **case.kwargs))
        assert unusual.tobytes() == before


def test_a_broadcast_input_equals_its_copy() -> None:
    case = CASES["five different sizes"]
    shape = (2, 3 * case.taps, case.length)
    for source in (np.float32(1.5), np.arange(case.length, dtype="f4"), np.ones((2, 1, 1), "f4")):
        col = np.broadcast_to(source, shape)
        assert_same_bits(col2im(col, **case.kwargs), col2im(col.copy(), **case.kwargs))


def test_lists_and_memory_maps_are_arrays(tmp_path: Path) -> None:
    case = CASES["three axes"]
    col = numbered(case, N=2, C=2)
    expected = oracles.scatter(col, case)
    assert_same_bits(col2im(col.tolist(), **case.kwargs), expected)
    np.save(tmp_path / "col.npy", col)
    mapped = np.load(tmp_path / "col.npy", mmap_mode="r")
    assert_same_bits(col2im(mapped, **case.kwargs), expected)


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("layout", OUT_LAYOUTS.values(), ids=OUT_LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "complex128", "bool"])
def test_out_of_any_layout_is_overwritten_and_returned(
    layout: Any, dtype: str, amount: str
) -> None:
    for case in CASES.values():
        N, C = batch(amount, case, np.dtype(dtype).itemsize)
        col = numbered(case, N, C, dtype=np.int16).astype(dtype)
        expected = col2im(col, **case.kwargs)
        out = layout(np.full_like(expected, 77))
        assert col2im(col, **case.kwargs, out=out) is out
        assert_same_bits(np.asarray(out), expected)


def test_out_writes_nothing_outside_itself() -> None:
    case = CASES["five different sizes"]
    col = numbered(case, N=2, C=3, dtype=np.float32)
    around = np.full((4, 5, 9, 8), -7, np.float32)
    out = around[1:3, 1:4, 1:8, 1:7]
    col2im(col, **case.kwargs, out=out)
    assert_same_bits(np.ascontiguousarray(out), oracles.scatter(col, case))
    out[...] = -7
    assert (around == -7).all()


def test_out_may_lie_between_the_columns_without_sharing_a_byte() -> None:
    case = CASES["plain"]
    col = numbered(case, C=3)
    image = oracles.scatter(col, case)
    memory = np.zeros((2, 64))
    beside = memory.T.reshape(-1)
    columns, out = beside[0::2][: col.size].reshape(col.shape), beside[1::2][: image.size]
    columns[...] = col
    assert_same_bits(col2im(columns, **case.kwargs, out=out.reshape(image.shape)), image)
    assert_same_bits(columns.copy(), col)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_eight_threads_at_once_give_the_same_bits(dtype: str) -> None:
    case = Case((61, 47), (3, 5), (2, 1), (1, 2), (2, 2), (1, 2))
    shape = (2, 8 * case.taps, case.length)
    col = np.random.default_rng(8).standard_normal(shape).astype(dtype)
    expected = col2im(col.copy(), **case.kwargs)
    start = threading.Barrier(8)
    images: list[Array] = []

    def fold_repeatedly() -> None:
        out = np.empty_like(expected)
        start.wait()
        for _ in range(5):
            images.append(col2im(col, **case.kwargs))
            images.append(col2im(col, **case.kwargs, out=out).copy())

    threads = [threading.Thread(target=fold_repeatedly) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(images) == 80
    for image in images:
        assert_same_bits(image, expected)


@pytest.mark.parametrize("axes", range(1, 16))
def test_any_number_of_axes_up_to_fifteen(axes: int) -> None:
    col = np.arange(1.0, 5.0).reshape(1, 2, 2)
    image = col2im(col, (1,) * (axes - 1) + (3,), (1,) * (axes - 1) + (2,))
    assert image.shape == (1,) * (axes + 1) + (3,)
    np.testing.assert_array_equal(image.ravel(), [1, 5, 4])


def test_a_stride_of_any_64_bit_size_leaves_one_window() -> None:
    image = col2im(np.arange(4.0)[None, :, None], (3, 5), 2, stride=(2**63 - 1, 2**40))
    np.testing.assert_array_equal(image[0, 0, :2, :2], [[0, 1], [2, 3]])
    assert image.sum() == 6


def test_a_refused_call_leaves_out_unchanged() -> None:
    out = np.full((1, 1, 3, 3), 5.0)
    wrongs: list[dict[str, Any]] = [
        {"kernel_size": 2, "stride": 0},
        {"kernel_size": 2, "padding": 1},
        {"kernel_size": 3},
        {"output_size": 4, "kernel_size": 2, "padding": 9},
    ]
    for wrong in wrongs:
        with pytest.raises(RuleError):
            col2im(np.ones((1, 4, 4)), **{"output_size": 3, "out": out, **wrong})
        assert (out == 5).all()
