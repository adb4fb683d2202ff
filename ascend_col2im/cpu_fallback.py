"""The reference backend: NumPy on any machine, every dtype, any number of spatial axes.

Both directions loop over taps and let NumPy add or copy one strided slab per tap. Taps run in
row-major order over every pixel, so that the bits do not depend on how the work is cut; it is cut
into blocks of planes and bands of rows that stay in the processor's cache. Sums of float16 and
bfloat16 are kept in float32 in a buffer of at most ``ACCUMULATOR_BYTES`` or one plane.

The column matrix is only ever sliced: splitting an axis of an array is always a view.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .facts import ACCUMULATORS
from .geometry import AxisTap, Geometry

Array = npt.NDArray[Any]

BLOCK_BYTES: Final = 256 * 1024
"""Output bytes worked on at a time: half of a common second-level cache."""

TABLE_TAPS: Final = 1024
"""Kernels of up to this many taps have their slices kept; larger ones are enumerated anew."""

Slices = tuple[slice, ...]


def col2im(col: Array, geometry: Geometry, image: Array) -> None:
    """Fold ``col`` ``(N, C*K, L)`` into ``image`` ``(N, C, *output_size)``, overwriting it.

    Every rule is known to hold. Neither array needs to be contiguous or in native byte order.
    """
    N, C = image.shape[:2]
    taps_first = col.reshape(N, C, *geometry.kernel_size, *geometry.windows)
    accumulator = np.dtype(ACCUMULATORS[image.dtype.name])
    in_place = accumulator == image.dtype
    ufunc = np.logical_or if accumulator == np.bool_ else np.add
    for planes, begin, end in _blocks(geometry, N, C, accumulator.itemsize):
        block = image[(*planes, slice(begin, end))]
        sums = block if in_place else np.empty(block.shape, accumulator)
        sums[...] = 0
        source = taps_first[planes]
        for taps, windows, pixels in _slabs(geometry, begin, end):
            target = sums[(..., *pixels)]
            ufunc(target, source[(slice(None), slice(None), *taps, *windows)], out=target)
        if not in_place:
            block[...] = sums


def im2col(image: Array, geometry: Geometry, col: Array) -> None:
    """Copy the windows of ``image`` ``(N, C, *output_size)`` into ``col`` ``(N, C*K, L)``.

    Every rule is known to hold. Taps in the padding give 0.
    """
    N, C = image.shape[:2]
    taps_first = col.reshape(N, C, *geometry.kernel_size, *geometry.windows)
    col[...] = 0
    for planes, begin, end in _blocks(geometry, N, C, image.itemsize):
        source = image[(*planes, slice(begin, end))]
        target = taps_first[planes]
        for taps, windows, pixels in _slabs(geometry, begin, end):
            target[(slice(None), slice(None), *taps, *windows)] = source[(..., *pixels)]


def _blocks(
    geometry: Geometry, N: int, C: int, itemsize: int
) -> Iterator[tuple[tuple[slice, slice], int, int]]:
    """Yield planes and rows (along the first spatial axis) to be worked on together."""
    rows = geometry.output_size[0]
    row_bytes = math.prod(geometry.output_size[1:]) * itemsize
    planes = max(1, BLOCK_BYTES // (rows * row_bytes))
    band = min(rows, max(1, BLOCK_BYTES // row_bytes))
    batches, channels = max(1, planes // C), min(C, planes)
    for n, c, begin in product(range(0, N, batches), range(0, C, channels), range(0, rows, band)):
        yield (slice(n, n + batches), slice(c, c + channels)), begin, min(begin + band, rows)


def _slabs(
    geometry: Geometry, begin: int, end: int
) -> Iterator[tuple[tuple[int, ...], Slices, Slices]]:
    """Yield, taps in row-major order, tap indices, their windows and the pixels ``begin..end``."""
    others = _later_slabs(geometry) if geometry.K <= TABLE_TAPS else None
    for tap in geometry.axis_taps(0, begin, end):
        windows, pixels = _slices(tap, geometry.stride[0], begin)
        for later_taps, later_windows, later_pixels in others or _enumerated(geometry, 1):
            yield (tap.k, *later_taps), (windows, *later_windows), (pixels, *later_pixels)


@lru_cache(maxsize=256)
def _later_slabs(geometry: Geometry) -> tuple[tuple[tuple[int, ...], Slices, Slices], ...]:
    return tuple(_enumerated(geometry, 1))


def _enumerated(geometry: Geometry, axis: int) -> Iterator[tuple[tuple[int, ...], Slices, Slices]]:
    """Yield the slabs of the axes from ``axis`` on, over their whole length."""
    if axis == geometry.axes:
        yield (), (), ()
        return
    for tap in geometry.axis_taps(axis, 0, geometry.output_size[axis]):
        windows, pixels = _slices(tap, geometry.stride[axis], 0)
        for later_taps, later_windows, later_pixels in _enumerated(geometry, axis + 1):
            yield (tap.k, *later_taps), (windows, *later_windows), (pixels, *later_pixels)


def _slices(tap: AxisTap, stride: int, begin: int) -> tuple[slice, slice]:
    """Return a tap's windows, and its pixels counted from ``begin``."""
    first = tap.pixel_begin - begin
    last = first + (tap.window_end - tap.window_begin - 1) * stride
    return slice(tap.window_begin, tap.window_end), slice(first, last + 1, stride)
