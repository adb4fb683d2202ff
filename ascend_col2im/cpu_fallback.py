"""The reference backend: NumPy on any machine, every dtype, any number of spatial axes.

Every pixel starts at +0 and adds its taps in row-major order, so that the bits do not depend on
how the work is cut. The size of the work decides which way leads there:

* very few terms are looked up in a table and summed in a single call;
* windows that tile the image are one transposed copy;
* a large fold goes through blocks of sums, see `ascend_col2im.cpu_blocks`;
* a small one adds one strided slab per tap to the image itself, or one per window where there are
  fewer windows than taps.

The column matrix is only ever sliced: splitting an axis of an array is always a view. Buffers stay
below 1 MiB plus one plane of sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .cpu_blocks import (
    ALL,
    BLOCK_BYTES,
    TABLE_TAPS,
    Index,
    adder,
    choose_layout,
    fold_blocks,
    interleave,
    plane_blocks,
    plane_bytes,
)
from .facts import ACCUMULATORS
from .geometry import Geometry, lazy_product

Array = npt.NDArray[Any]

GATHERED: Final = 8192
"""Up to so many terms are looked up in a table, absent ones included: only calls cost there."""

SMALL_BYTES: Final = 128 * 1024
"""Columns of up to this size are folded as slabs, as calls then cost more than memory. Blocks need
fewer calls the more taps a group has: the limit is divided by their number."""


def col2im(col: Array, geometry: Geometry, image: Array) -> None:
    """Fold ``col`` ``(N, C*K, L)`` into ``image`` ``(N, C, *output_size)``, overwriting it.

    Every rule is known to hold. Neither array needs to be contiguous or in native byte order.
    """
    accumulator = _accumulator(image.dtype)
    N, C = image.shape[:2]
    # Overflow, and infinities of opposite signs, are results here and no warnings.
    with np.errstate(all="ignore"):
        most_terms = N * C * (1 + geometry.K) * max(geometry.pixels, geometry.L)
        if most_terms <= GATHERED and geometry.pixels > 1:
            _fold_gathered(col, geometry, image, accumulator)
        elif geometry.tiles and accumulator == image.dtype:
            by_tap = col.reshape(N, C, *geometry.kernel_size, *geometry.windows)
            interleave(by_tap, geometry, 0, image)
        elif _by_window(geometry) or col.nbytes * geometry.group_taps <= SMALL_BYTES:
            _fold_slabs(col, geometry, image, accumulator)
        elif layout := choose_layout(geometry, accumulator.itemsize, image.dtype == np.float16):
            fold_blocks(col, geometry, image, accumulator, layout)
        else:
            _fold_slabs(col, geometry, image, accumulator)


def im2col(image: Array, geometry: Geometry, col: Array) -> None:
    """Copy the windows of ``image`` ``(N, C, *output_size)`` into ``col`` ``(N, C*K, L)``.

    Every rule is known to hold. Taps in the padding give 0.
    """
    N, C = image.shape[:2]
    by_tap = col.reshape(N, C, *geometry.kernel_size, *geometry.windows)
    col[...] = 0
    for planes in plane_blocks(N, C, BLOCK_BYTES // plane_bytes(geometry, image.itemsize)):
        source, target = image[planes], by_tap[planes]
        for columns, pixels in _slabs(geometry):
            target[columns] = source[pixels]


def _fold_gathered(
    col: Array, geometry: Geometry, image: Array, accumulator: np.dtype[Any]
) -> None:
    """Look up what each pixel adds, one row per tap, and add up the rows in order.

    With a single pixel NumPy would add pairwise.
    """
    N, C = image.shape[:2]
    source = np.zeros((N, C, geometry.K * geometry.L + 1), accumulator)
    source[:, :, :-1] = col.reshape(N, C, -1)
    terms = source.take(_terms(geometry), axis=2)
    add = adder(accumulator)
    if accumulator == image.dtype:
        add.reduce(terms, axis=2, dtype=accumulator, out=image)
    else:
        image[...] = add.reduce(terms, axis=2, dtype=accumulator)


@lru_cache(maxsize=64)
def _terms(geometry: Geometry) -> npt.NDArray[np.intp]:
    """Return where a pixel's terms lie, ``(1 + K, *output_size)``: behind the columns lies a 0."""
    end = geometry.K * geometry.L
    terms = np.full((1 + geometry.K, *geometry.output_size), end)
    columns = np.arange(end).reshape(1, 1, *geometry.kernel_size, *geometry.windows)
    for row, (of_tap, pixels) in zip(terms[1:], _slabs(geometry), strict=False):
        row[pixels[2:]] = columns[of_tap][0, 0]
    return terms


@lru_cache(maxsize=64)
def _accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(ACCUMULATORS[dtype.name])


def _fold_slabs(col: Array, geometry: Geometry, image: Array, accumulator: np.dtype[Any]) -> None:
    """Fold with the sums where the pixels lie, or in an array of the same shape."""
    N, C = image.shape[:2]
    by_tap = col.reshape(N, C, *geometry.kernel_size, *geometry.windows)
    for planes in plane_blocks(N, C, BLOCK_BYTES // plane_bytes(geometry, accumulator.itemsize)):
        columns, pixels = by_tap[planes], image[planes]
        if accumulator == image.dtype:
            _add_slabs(columns, geometry, pixels)
        else:
            pixels[...] = _add_slabs(columns, geometry, np.empty(pixels.shape, accumulator))


def _add_slabs(columns: Array, geometry: Geometry, sums: Array) -> Array:
    add = adder(sums.dtype)
    sums.fill(0)
    for of_tap, pixels in _slabs(geometry):
        target = sums[pixels]
        add(target, columns[of_tap], out=target)
    return sums


def _slabs(geometry: Geometry) -> Iterable[tuple[Index, Index]]:
    """Return columns and pixels, slab by slab, so that a pixel meets its taps in row-major order.

    A slab is what a tap or, where there are fewer of these, a window touches of the image.
    """
    slabs = min(geometry.K, geometry.L)
    return _slab_table(geometry) if slabs <= TABLE_TAPS else _enumerated_slabs(geometry)


@lru_cache(maxsize=64)
def _slab_table(geometry: Geometry) -> tuple[tuple[Index, Index], ...]:
    return tuple(_enumerated_slabs(geometry))


def _enumerated_slabs(geometry: Geometry) -> Iterator[tuple[Index, Index]]:
    return _window_slabs(geometry) if _by_window(geometry) else _tap_slabs(geometry)


def _by_window(geometry: Geometry) -> bool:
    return geometry.L < geometry.K


def _tap_slabs(geometry: Geometry) -> Iterator[tuple[Index, Index]]:
    factors = [
        partial(geometry.axis_taps, axis, 0, size)
        for axis, size in enumerate(geometry.output_size)
    ]
    for taps in lazy_product(factors):
        windows = [slice(tap.window_begin, tap.window_end) for tap in taps]
        pixels = [
            _every(step, tap.pixel_begin, tap.window_end - tap.window_begin)
            for step, tap in zip(geometry.stride, taps, strict=True)
        ]
        yield (ALL, ALL, *(tap.k for tap in taps), *windows), (ALL, ALL, *pixels)


def _window_slabs(geometry: Geometry) -> Iterator[tuple[Index, Index]]:
    factors = [partial(geometry.axis_windows, axis) for axis in range(geometry.axes)]
    for windows in lazy_product(factors):
        taps = [slice(each.tap_begin, each.tap_end) for each in windows]
        pixels = [
            _every(step, each.pixel_begin, each.tap_end - each.tap_begin)
            for step, each in zip(geometry.dilation, windows, strict=True)
        ]
        yield (ALL, ALL, *taps, *(each.window for each in windows)), (ALL, ALL, *pixels)


def _every(step: int, begin: int, count: int) -> slice:
    return slice(begin, begin + (count - 1) * step + 1, step)
