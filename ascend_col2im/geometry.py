"""Where the windows of one fold lie: exact integers only, no arrays, no dtype, no target.

``out[n, c, w*stride + k*dilation - pad_begin] += col[n, c*K + flat(k), flat(w)]`` on every axis,
dropped where the target lies outside the image. Everything else in the package that needs to know
which window or tap touches which pixel asks here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import mod
from typing import NamedTuple, TypeVar

Ints = tuple[int, ...]
Item = TypeVar("Item")


def ceil_div(a: int, b: int) -> int:
    """Divide integers, rounding towards plus infinity (b > 0)."""
    return -(-a // b)


def span(kernel_size: int, dilation: int) -> int:
    """Pixels from a window's first tap to its last, both included."""
    return dilation * (kernel_size - 1) + 1


def window_count(
    output_size: int, kernel_size: int, stride: int, padding: int, dilation: int
) -> int:
    """Windows along one axis; ``padding`` is begin plus end. Zero or negative if none fits."""
    return (output_size + padding - span(kernel_size, dilation)) // stride + 1


class AxisTap(NamedTuple):
    """What one kernel offset along one axis touches.

    Windows ``window_begin .. window_end`` (end excluded) write the pixels ``pixel_begin``,
    ``pixel_begin + stride``, ...; both ranges have the same, non-zero length.
    """

    k: int
    window_begin: int
    window_end: int
    pixel_begin: int


class AxisWindow(NamedTuple):
    """What one window along one axis touches.

    The offsets ``tap_begin .. tap_end`` (end excluded) write the pixels ``pixel_begin``,
    ``pixel_begin + dilation``, ...; both ranges have the same, non-zero length.
    """

    window: int
    tap_begin: int
    tap_end: int
    pixel_begin: int


class AxisGroup(NamedTuple):
    """Consecutive kernel offsets along one axis whose pixels lie equally many cells away.

    A cell is ``stride`` pixels; a pixel's place in its cell is its phase. The offsets ``taps`` of
    the windows ``window_begin .. window_end`` (end excluded, not empty) write the pixels in the
    cells ``window + shift`` at ``phases``, one phase per offset.
    """

    taps: slice
    phases: slice
    shift: int
    window_begin: int
    window_end: int


@dataclass(frozen=True)
class Geometry:
    """One fold's parameters, one int per spatial axis, known to satisfy every rule.

    Built by `geometry`; compare `ascend_col2im.rules` for what is refused before.
    """

    output_size: Ints
    kernel_size: Ints
    stride: Ints
    pad_begin: Ints
    pad_end: Ints
    dilation: Ints

    @property
    def axes(self) -> int:
        """Number of spatial axes, D."""
        return len(self.output_size)

    @cached_property
    def windows(self) -> Ints:
        """Windows along each axis."""
        return tuple(
            window_count(size, kernel, stride, begin + end, dilation)
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

    @cached_property
    def K(self) -> int:
        """Number of taps, the product of ``kernel_size``."""
        return math.prod(self.kernel_size)

    @cached_property
    def L(self) -> int:
        """Number of windows, the product of ``windows``."""
        return math.prod(self.windows)

    @cached_property
    def pixels(self) -> int:
        """Number of pixels of a plane, the product of ``output_size``."""
        return math.prod(self.output_size)

    @cached_property
    def cells(self) -> Ints:
        """Cells along each axis; the last one may lie partly outside the image."""
        return tuple(map(ceil_div, self.output_size, self.stride))

    @cached_property
    def phases(self) -> Ints:
        """Phases along each axis that hold a pixel at all."""
        return tuple(map(min, self.output_size, self.stride))

    @cached_property
    def group_taps(self) -> int:
        """Most taps that one group along each axis holds together."""
        return math.prod(map(min, self.kernel_size, self.stride))

    @cached_property
    def tiles(self) -> bool:
        """Whether every pixel lies in exactly one window, at the phase of its tap."""
        return (
            self.kernel_size == self.stride
            and self.windows == self.cells
            and not any(self.pad_begin)
            and set(self.dilation) == {1}
            and not any(map(mod, self.output_size, self.stride))
        )

    def axis_taps(self, axis: int, begin: int, end: int) -> Iterator[AxisTap]:
        """Yield, in ascending order, the offsets along ``axis`` that touch pixels ``begin..end``.

        Offsets that cannot reach the range are skipped without being looped over.
        """
        stride, dilation = self.stride[axis], self.dilation[axis]
        pad, windows = self.pad_begin[axis], self.windows[axis]
        first = max(0, ceil_div(begin + pad - (windows - 1) * stride, dilation))
        last = min(self.kernel_size[axis] - 1, (end - 1 + pad) // dilation)
        for k in range(first, last + 1):
            shift = k * dilation - pad
            window_begin = max(0, ceil_div(begin - shift, stride))
            window_end = min(windows, (end - 1 - shift) // stride + 1)
            if window_begin < window_end:
                yield AxisTap(k, window_begin, window_end, window_begin * stride + shift)

    def axis_windows(self, axis: int) -> Iterator[AxisWindow]:
        """Yield, in descending order, the windows along ``axis`` that touch the image.

        A pixel meets its taps in ascending order as its windows descend. Windows that lie in the
        padding are skipped without being looped over.
        """
        stride, dilation = self.stride[axis], self.dilation[axis]
        size, pad = self.output_size[axis], self.pad_begin[axis]
        kernel = self.kernel_size[axis]
        first = max(0, ceil_div(pad - (kernel - 1) * dilation, stride))
        last = min(self.windows[axis] - 1, (size - 1 + pad) // stride)
        for window in range(last, first - 1, -1):
            begin = window * stride - pad
            tap_begin = max(0, ceil_div(-begin, dilation))
            tap_end = min(kernel, (size - 1 - begin) // dilation + 1)
            if tap_begin < tap_end:
                yield AxisWindow(window, tap_begin, tap_end, begin + tap_begin * dilation)

    def axis_groups(self, axis: int, begin: int, end: int) -> Iterator[AxisGroup]:
        """Yield, offsets ascending, the groups along ``axis`` that touch cells ``begin..end``.

        Offsets that cannot reach the range are skipped without being looped over.
        """
        stride, dilation, pad = self.stride[axis], self.dilation[axis], self.pad_begin[axis]
        windows, phases = self.windows[axis], self.phases[axis]
        k = max(0, ceil_div((begin - windows + 1) * stride + pad, dilation))
        last = min(self.kernel_size[axis] - 1, (end * stride - 1 + pad) // dilation)
        while k <= last:
            shift, phase = divmod(k * dilation - pad, stride)
            offsets = min(ceil_div(stride - phase, dilation), last + 1 - k)
            inside = min(ceil_div(phases - phase, dilation), offsets)
            if inside > 0:
                yield AxisGroup(
                    slice(k, k + inside),
                    slice(phase, phase + (inside - 1) * dilation + 1, dilation),
                    shift,
                    max(0, begin - shift),
                    min(windows, end - shift),
                )
            k += offsets


@lru_cache(maxsize=4096)
def geometry(
    output_size: Ints,
    kernel_size: Ints,
    stride: Ints,
    pad_begin: Ints,
    pad_end: Ints,
    dilation: Ints,
) -> Geometry:
    """Return the one `Geometry` of these parameters."""
    return Geometry(output_size, kernel_size, stride, pad_begin, pad_end, dilation)


def lazy_product(factors: Sequence[Callable[[], Iterable[Item]]]) -> Iterator[tuple[Item, ...]]:
    """Yield what `itertools.product` does, without keeping a list of any factor."""
    if not factors:
        yield ()
        return
    for first in factors[0]():
        for others in lazy_product(factors[1:]):
            yield (first, *others)
