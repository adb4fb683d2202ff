"""A large fold in NumPy: blocks of sums that stay in the processor's cache.

Each phase of the stride has a plane of its own in the sums, so that neighbours in a row of the
columns are neighbours in the sums as well, and a tap is a few long contiguous runs. A block's sums
then move to their pixels in one transposed copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import product
from operator import le
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .geometry import AxisGroup, Geometry, Ints, ceil_div, lazy_product

Array = npt.NDArray[Any]
Index = tuple[slice | int, ...]

BLOCK_BYTES: Final = 512 * 1024
"""Sums, or image, worked on at a time: half of a common second-level cache."""

TABLE_TAPS: Final = 256
"""Kernels of up to this many taps have their slices listed; larger ones are enumerated anew."""

ALL: Final = slice(None)


class Layout(NamedTuple):
    """How the sums of one block lie in memory: ``(planes, *phases, rows, *pitch[1:])``.

    Attributes
    ----------
    pitch : cells along each axis
    flat : the pitch is that of the columns, so that a tap is one run over all rows; what a shift
        moves beyond the end of a row spills into the next one
    planes, rows : image planes, and cells along the first axis, worked on at a time
    """

    pitch: Ints
    flat: bool
    planes: int
    rows: int


class _Move(NamedTuple):
    """A group of taps: which columns go to which cells of the sums, and where they spill."""

    columns: Index
    cells: Index
    spills: tuple[Index, ...]


def choose_layout(geometry: Geometry, itemsize: int, widened: bool) -> Layout | None:
    """Choose a layout, or return None if one row of cells takes more than a plane of sums."""
    cells, windows = geometry.cells, geometry.windows
    spilled = _spilled_share(geometry)
    flat = all(map(le, cells[1:], windows[1:])) and spilled <= 0.5
    pitch = (cells[0], *(windows if flat else cells)[1:])
    row_bytes = itemsize * math.prod(geometry.phases) * math.prod(pitch[1:]) * (1 + widened)
    # What is spilled into, and the sums once narrowed, take up to half as much again
    if 1.5 * row_bytes > max(1.5 * BLOCK_BYTES, plane_bytes(geometry, itemsize)):
        return None
    kept_bytes = int(row_bytes * spilled) if flat else 0
    rows = max(1, min(BLOCK_BYTES // (row_bytes + kept_bytes), cells[0]))
    planes = max(1, BLOCK_BYTES // ((row_bytes + kept_bytes) * cells[0]))
    return Layout(pitch, flat, planes, rows)


def _spilled_share(geometry: Geometry) -> float:
    """Return which share of the sums a single move may spill into."""
    share = 0.0
    for axis in range(1, geometry.axes):
        stride, pad = geometry.stride[axis], geometry.pad_begin[axis]
        last = (geometry.kernel_size[axis] - 1) * geometry.dilation[axis] - pad
        share += max(ceil_div(pad, stride), last // stride) / geometry.windows[axis]
    return share


def fold_blocks(
    col: Array, geometry: Geometry, image: Array, accumulator: np.dtype[Any], layout: Layout
) -> None:
    """Add each group of taps to all sums of a block at once, then put the sums in place."""
    N, C = image.shape[:2]
    runs = (geometry.L,) if layout.flat else geometry.windows
    by_tap = col.reshape(N, C, *geometry.kernel_size, *runs)
    add = adder(accumulator)
    row = math.prod(geometry.phases) * math.prod(layout.pitch[1:])
    buffer = np.empty(min(layout.planes, N * C) * layout.rows * row, accumulator)
    widened = image.dtype == np.float16 and not _flushes_subnormals()
    wide = np.empty_like(buffer) if widened else None
    for begin in range(0, geometry.cells[0], layout.rows):
        end = min(begin + layout.rows, geometry.cells[0])
        moves: Callable[..., Iterable[_Move]] = _move_table if geometry.K <= TABLE_TAPS else _moves
        for planes in plane_blocks(N, C, layout.planes):
            source, target = by_tap[planes], image[planes]
            shape = (*target.shape[:2], *geometry.phases, end - begin, *layout.pitch[1:])
            sums = buffer[: math.prod(shape)].reshape(shape)
            sums.fill(0)
            cells = sums.reshape(*shape[: -geometry.axes], -1) if layout.flat else sums
            for move in moves(geometry, layout, begin, end):
                columns = source[move.columns]
                addend = columns if wide is None else _widened(columns, wide)
                _add(add, addend, cells[move.cells], [sums[place] for place in move.spills])
            interleave(sums, geometry, begin, target)


@lru_cache(maxsize=64)
def _move_table(geometry: Geometry, layout: Layout, begin: int, end: int) -> tuple[_Move, ...]:
    return tuple(_moves(geometry, layout, begin, end))


def _add(add: np.ufunc, addend: Array, cells: Array, spills: list[Array]) -> None:
    """Add to ``cells``, leaving ``spills`` as they were."""
    kept = [spill.copy() for spill in spills]
    add(cells, addend, out=cells)
    for spill, values in zip(spills, kept, strict=True):
        spill[...] = values


def _moves(geometry: Geometry, layout: Layout, begin: int, end: int) -> Iterator[_Move]:
    """Yield the moves into the rows of cells ``begin .. end``, taps ascending."""
    ranges = [(begin, end), *((0, cells) for cells in geometry.cells[1:])]
    factors = [partial(geometry.axis_groups, axis, *ends) for axis, ends in enumerate(ranges)]
    for groups in lazy_product(factors):
        taps = (ALL, ALL, *(group.taps for group in groups))
        phases = (ALL, ALL, *(group.phases for group in groups))
        if layout.flat:
            columns, cells = _flat_run(groups, layout, begin, end)
            yield _Move((*taps, columns), (*phases, cells), _spills(groups, phases))
        else:
            boxes = [_box(group, ends[0]) for group, ends in zip(groups, ranges, strict=True)]
            windows, box = zip(*boxes, strict=True)
            yield _Move((*taps, *windows), (*phases, *box), ())


def _box(group: AxisGroup, begin: int) -> tuple[slice, slice]:
    """Return a group's windows along its axis, and their cells counted from ``begin``."""
    shift = group.shift - begin
    return (
        slice(group.window_begin, group.window_end),
        slice(group.window_begin + shift, group.window_end + shift),
    )


def _flat_run(
    groups: tuple[AxisGroup, ...], layout: Layout, begin: int, end: int
) -> tuple[slice, slice]:
    """Return the windows of whole rows and their cells, both counted over the flattened rows."""
    row = math.prod(layout.pitch[1:])
    shift = groups[0].shift - begin
    for group, pitch in zip(groups[1:], layout.pitch[1:], strict=True):
        shift = shift * pitch + group.shift
    first = max(groups[0].window_begin * row, -shift)
    last = min(groups[0].window_end * row, (end - begin) * row - shift)
    return slice(first, last), slice(first + shift, last + shift)


def _spills(groups: tuple[AxisGroup, ...], phases: Index) -> tuple[Index, ...]:
    """Return the cells that the groups do not reach, at one end of each axis but the first."""
    ends = [slice(g.shift) if g.shift > 0 else slice(g.shift, None) for g in groups]
    return tuple(
        (*phases, *(ALL,) * axis, ends[axis])
        for axis in range(1, len(groups))
        if groups[axis].shift
    )


def interleave(sums: Array, geometry: Geometry, begin: int, image: Array) -> None:
    """Write ``sums`` ``(N, C, *phases, *cells)``, from row ``begin`` of cells, to their pixels."""
    N, C = image.shape[:2]
    end = begin + sums.shape[2 + geometry.axes]
    if image.dtype != sums.dtype and image.itemsize == 2:
        # NumPy casts in order and moves integers much faster than it does both at once.
        sums, image = sums.astype(image.dtype).view(np.uint16), image.view(np.uint16)
    add, zero = adder(sums.dtype), sums.dtype.type(0)
    ends = [(begin, end), *((0, cells) for cells in geometry.cells[1:])]
    parts = map(_parts, geometry.output_size, geometry.stride, ends)
    order = (0, 1, *range(3, 2 * geometry.axes + 3, 2), *range(2, 2 * geometry.axes + 2, 2))
    for part in product(*parts):
        pixels, cells, phases = zip(*part, strict=True)
        lengths = [cut.stop - cut.start for axis in part for cut in axis[1:]]
        target = image[(ALL, ALL, *pixels)].reshape(N, C, *lengths).transpose(order)
        # A lone -0 becomes +0, as in every sum
        add(sums[(ALL, ALL, *phases, *cells)], zero, out=target, casting="same_kind")


def _parts(size: int, stride: int, ends: tuple[int, int]) -> Iterator[tuple[slice, slice, slice]]:
    """Yield pixels, cells (counted from the first) and phases: of whole cells, of the last one."""
    begin, end = ends
    whole = min(end, size // stride)
    if begin < whole:
        yield slice(begin * stride, whole * stride), slice(0, whole - begin), slice(0, stride)
    if whole < end:
        yield (
            slice(whole * stride, size),
            slice(whole - begin, end - begin),
            slice(0, size % stride),
        )


def _flushes_subnormals() -> bool:
    """Whether this thread takes subnormal numbers for 0, as `torch.set_flush_denormal` asks."""
    return bool(np.float32(2.0**-149) * np.float32(2.0) == 0)


def _widened(columns: Array, buffer: Array) -> Array:
    """Return float16 as float32 in ``buffer``: NumPy's own cast takes five times as long."""
    wide = buffer[: columns.size].reshape(columns.shape)
    bits = wide.view(np.int32)
    bits[...] = columns.view(columns.dtype.str.replace("f", "i"))
    bits <<= 13
    bits &= -0x70002000
    wide *= 2.0**112
    # Infinities and NaN have become 2**16 and more
    if wide.size and not -(2.0**16) < wide.min() <= wide.max() < 2.0**16:
        wide[...] = columns
    return wide


def adder(accumulator: np.dtype[Any]) -> np.ufunc:
    """Return what adds two values of a dtype."""
    return np.logical_or if accumulator == np.bool_ else np.add


def plane_bytes(geometry: Geometry, itemsize: int) -> int:
    """Return how many bytes a plane of the image takes."""
    return itemsize * geometry.pixels


def plane_blocks(N: int, C: int, planes: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of the first two axes of about ``planes`` planes, one at least."""
    batches, channels = max(1, planes // C), min(C, max(1, planes))
    for n, c in product(range(0, N, batches), range(0, C, channels)):
        yield slice(n, n + batches), slice(c, c + channels)
