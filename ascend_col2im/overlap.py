"""How many windows cover a pixel, axis by axis: the image's counts are their product."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .geometry import Geometry

CHUNK: Final = 16 * 1024
"""Pixels counted at a time, so that intermediate arrays take less than a mebibyte."""

EXACT: Final = 2**62
"""Beyond it, Python's integers are counted with instead of 64-bit ones, which are faster."""


def axis_overlap(geometry: Geometry, axis: int) -> npt.NDArray[np.int64]:
    """Return how many windows cover each pixel along ``axis``.

    The offsets k of an interval with ``k*dilation = pixel + pad (mod stride)`` are counted in
    closed form, so that huge kernels and paddings cost no more than small ones.
    """
    size = geometry.output_size[axis]
    count = np.empty(size, np.int64)
    for begin in range(0, size, CHUNK):
        count[begin : begin + CHUNK] = _counts(geometry, axis, begin, min(size, begin + CHUNK))
    return count


def _counts(geometry: Geometry, axis: int, begin: int, end: int) -> npt.NDArray[Any]:
    stride, dilation = geometry.stride[axis], geometry.dilation[axis]
    common = math.gcd(stride, dilation)
    period = stride // common
    inverse = pow(dilation // common, -1, period)
    reach = (geometry.windows[axis] - 1) * stride
    last, shift = geometry.kernel_size[axis] - 1, geometry.pad_begin[axis] + begin
    largest = max(shift + end, reach, last, dilation, period * period)
    positions = np.arange(end - begin).astype(np.int64 if largest < EXACT else object) + shift
    low = np.maximum(0, -((reach - positions) // dilation))
    high = np.minimum(last, positions // dilation)
    first = positions // common % period * inverse % period
    found = (high - first) // period - (low - 1 - first) // period
    return np.where((positions % common == 0) & (low <= high), found, 0)
