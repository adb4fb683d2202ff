"""What must hold of col2im and im2col whatever the parameters, in exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_col2im import col2im, im2col, overlap_count
from tests import oracles
from tests.cases import CASES, VALID_AXES, products
from tests.oracles import Array, Case

SAMPLED = [*CASES.values(), *products(1, 100), *products(2, 100), *products(3, 30)]


def integers(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-1000, 1000, shape)


def columns(case: Case, seed: int = 1, N: int = 2, C: int = 3) -> Array:
    return integers((N, C * case.taps, case.length), seed)


def images(case: Case, seed: int = 2, N: int = 2, C: int = 3) -> Array:
    return integers((N, C, *case.output_size), seed)


def test_col2im_is_the_adjoint_of_im2col() -> None:
    for case in SAMPLED:
        x, y = images(case), columns(case)
        assert (im2col(x, **case.window_kwargs) * y).sum() == (x * col2im(y, **case.kwargs)).sum()


def test_col2im_is_linear() -> None:
    for case in SAMPLED:
        a, b = columns(case, 1), columns(case, 2)
        together = col2im(3 * a - 5 * b, **case.kwargs)
        apart = 3 * col2im(a, **case.kwargs) - 5 * col2im(b, **case.kwargs)
        np.testing.assert_array_equal(together, apart, str(case))


def test_every_sample_and_channel_is_folded_as_if_alone() -> None:
    for case in SAMPLED:
        col = columns(case)
        image = col2im(col, **case.kwargs)
        for n, sample in enumerate(col):
            for c in range(3):
                alone = sample[c * case.taps : (c + 1) * case.taps]
                np.testing.assert_array_equal(
                    col2im(alone, **case.kwargs)[0], image[n, c], f"{case} {n} {c}"
                )


def test_many_planes_are_folded_as_if_alone() -> None:
    """Enough planes, and large enough ones, to be worked on in several blocks."""
    for size, N, C in (((3, 2), 700, 300), ((90, 70), 9, 11), ((700, 900), 2, 1)):
        case = Case(size, (2, 2), (1, 1), (1, 0), (0, 1), (1, 1))
        col = columns(case, N=N, C=C)
        image = col2im(col, **case.kwargs)
        blocks = col.reshape(N, C, *case.kernel_size, *case.windows)
        padded = np.zeros((N, C, size[0] + 1, size[1] + 1), np.int64)
        for i in range(2):
            for j in range(2):
                rows, columns_ = case.windows
                padded[:, :, i : i + rows, j : j + columns_] += blocks[:, :, i, j]
        np.testing.assert_array_equal(image, padded[:, :, 1:, : size[1]])


def test_col2im_of_im2col_multiplies_by_the_overlap_count() -> None:
    for case in SAMPLED:
        x = images(case)
        count = overlap_count(**case.kwargs)
        again = col2im(im2col(x, **case.window_kwargs), **case.kwargs)
        np.testing.assert_array_equal(again, x * count, str(case))


def test_the_overlap_count_is_col2im_of_ones_and_what_the_loop_counts() -> None:
    for case in SAMPLED:
        count = overlap_count(**case.kwargs)
        assert count.dtype == np.int64
        np.testing.assert_array_equal(count, oracles.overlap_count(case), str(case))
        ones = np.ones((case.taps, case.length), np.int64)
        np.testing.assert_array_equal(count, col2im(ones, **case.kwargs)[0], str(case))


@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_where_windows_tile_the_image_col2im_inverts_im2col(dtype: str) -> None:
    for kernel in ((1, 1), (2, 3), (3, 2), (4, 4)):
        case = Case((12, 24), kernel, kernel, (0, 0), (0, 0), (1, 1))
        x = images(case).astype(dtype)
        col = im2col(x, **case.window_kwargs)
        assert sorted(col.ravel().tolist()) == sorted(x.ravel().tolist())
        np.testing.assert_array_equal(col2im(col, **case.kwargs), x)
        np.testing.assert_array_equal(
            im2col(col2im(col, **case.kwargs), **case.window_kwargs), col
        )


def test_dividing_by_the_overlap_count_gives_the_image_back() -> None:
    kwargs: dict[str, Any] = {"stride": (2, 1), "padding": [(1, 2), (0, 1)], "dilation": (1, 2)}
    x = np.arange(2 * 3 * 8 * 9.0).reshape(2, 3, 8, 9)
    count = overlap_count((8, 9), 3, **kwargs)
    assert count.min() > 0
    again = col2im(im2col(x, 3, **kwargs), (8, 9), 3, **kwargs) / count
    np.testing.assert_array_equal(again, x)


def test_a_pixel_in_no_window_is_zero() -> None:
    for case in VALID_AXES:
        count = overlap_count(**case.kwargs)
        image = col2im(np.ones((1, case.taps, case.length)), **case.kwargs)
        assert ((image[0, 0] == 0) == (count == 0)).all()
