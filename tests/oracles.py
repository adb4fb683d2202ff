"""Three ways to compute Col2Im that share no code with the package, nor with each other.

Written from the operator's definition alone::

    out[n, c, w*stride + k*dilation - pad_begin] += col[n, c*K + flat(k), flat(w)]

* :func:`scatter` walks the columns: every tap, every window, adds to one pixel.
* :func:`gather` walks the image: every pixel looks for the windows that cover it.
* :func:`adjoint` builds the matrix of an independent :func:`im2col` and multiplies by its
  transpose.

They are slow, and plain on purpose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One parameter set, every field one int per spatial axis."""

    output_size: Ints
    kernel_size: Ints
    stride: Ints
    pad_begin: Ints
    pad_end: Ints
    dilation: Ints

    @property
    def taps(self) -> int:
        """K, the number of kernel positions."""
        return math.prod(self.kernel_size)

    @property
    def windows(self) -> Ints:
        """How many windows each axis has; zero or less where none fits."""
        return tuple(
            (size + begin + end - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, begin, end, dilation in zip(
                self.output_size,
                self.kernel_size,
                self.stride,
                self.pad_begin,
                self.pad_end,
                self.dilation,
                strict=True,
            )
        )

    @property
    def length(self) -> int:
        """L, the number of windows."""
        return math.prod(self.windows)

    @property
    def valid(self) -> bool:
        """Whether on every axis the kernel fits the padded image and a window exists."""
        fits = all(
            kernel <= size + begin + end
            for size, kernel, begin, end in zip(
                self.output_size, self.kernel_size, self.pad_begin, self.pad_end, strict=True
            )
        )
        return fits and min(self.windows) > 0

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments of ``col2im`` for this case."""
        return {"output_size": self.output_size, **self.window_kwargs}

    @property
    def window_kwargs(self) -> dict[str, Any]:
        """The arguments of ``im2col`` for this case."""
        return {
            "kernel_size": self.kernel_size,
            "stride": self.stride,
            "padding": tuple(zip(self.pad_begin, self.pad_end, strict=True)),
            "dilation": self.dilation,
        }

    def target(self, window: Ints, tap: Ints) -> Ints | None:
        """Return the pixel that ``tap`` of ``window`` falls on; None outside the image."""
        pixel = tuple(
            w * stride + k * dilation - begin
            for w, k, stride, dilation, begin in zip(
                window, tap, self.stride, self.dilation, self.pad_begin, strict=True
            )
        )
        inside = all(0 <= p < size for p, size in zip(pixel, self.output_size, strict=True))
        return pixel if inside else None


def scatter(col: Array, case: Case, accumulator: Any = None) -> Array:
    """Col2Im of ``(N, C*K, L)`` by adding every element of ``col`` to its pixel.

    ``accumulator`` is the dtype of the sums; the result has ``col``'s dtype.
    """
    n, rows, _ = col.shape
    channels = rows // case.taps
    image = np.zeros((n, channels, *case.output_size), accumulator or col.dtype)
    for flat_k, tap in enumerate(np.ndindex(*case.kernel_size)):
        for flat_w, window in enumerate(np.ndindex(*case.windows)):
            pixel = case.target(window, tap)
            if pixel is not None:
                everywhere: tuple[Any, ...] = (..., *pixel)
                there = image[everywhere]
                there += col[:, flat_k :: case.taps, flat_w].astype(image.dtype)
    return image.astype(col.dtype)


def gather(col: Array, case: Case) -> Array:
    """Col2Im of ``(N, C*K, L)`` by asking, for every pixel and tap, which window put it there."""
    n, rows, _ = col.shape
    channels = rows // case.taps
    columns = col.reshape(n, channels, *case.kernel_size, *case.windows)
    image = np.zeros((n, channels, *case.output_size), col.dtype)
    for pixel in np.ndindex(*case.output_size):
        for tap in np.ndindex(*case.kernel_size):
            window = []
            for d, p in enumerate(pixel):
                w, rest = divmod(p + case.pad_begin[d] - tap[d] * case.dilation[d], case.stride[d])
                if rest == 0 and 0 <= w < case.windows[d]:
                    window.append(w)
            if len(window) == len(pixel):
                there = image[(..., *pixel)]
                there += columns[(..., *tap, *window)]
    return image


def im2col(x: Array, case: Case, fill: Any = 0) -> Array:
    """Return the columns ``(N, C*K, L)`` of ``x`` ``(N, C, *output_size)``, off a padded copy.

    ``fill`` is what the padding holds.
    """
    axes = len(case.output_size)
    sides = list(zip(case.pad_begin, case.pad_end, strict=True))
    padded = np.pad(x, [(0, 0), (0, 0), *sides], constant_values=fill)
    reach = tuple(
        dilation * (kernel - 1) + 1
        for kernel, dilation in zip(case.kernel_size, case.dilation, strict=True)
    )
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, 2 + axes)))
    every_window = tuple(slice(None, None, step) for step in case.stride)
    every_tap = tuple(slice(None, None, step) for step in case.dilation)
    views = views[(slice(None), slice(None), *every_window, *every_tap)]
    taps_first = (0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes))
    n, channels = x.shape[:2]
    return views.transpose(taps_first).reshape(n, channels * case.taps, case.length)


def adjoint(col: Array, case: Case) -> Array:
    """Col2Im of ``(N, C*K, L)`` as the transpose of im2col's matrix times ``col``."""
    pixels = math.prod(case.output_size)
    numbered = np.arange(pixels).reshape(1, 1, *case.output_size)
    source = im2col(numbered, case, fill=-1).reshape(-1)
    matrix = (source[:, None] == np.arange(pixels)).astype(col.dtype)
    n, rows, length = col.shape
    channels = rows // case.taps
    image: Array = col.reshape(n, channels, case.taps * length) @ matrix
    return image.reshape(n, channels, *case.output_size)


def overlap_count(case: Case) -> Array:
    """Return how many windows cover each pixel."""
    count = np.zeros(case.output_size, np.int64)
    for window in np.ndindex(*case.windows):
        for tap in np.ndindex(*case.kernel_size):
            pixel = case.target(window, tap)
            if pixel is not None:
                count[pixel] += 1
    return count
