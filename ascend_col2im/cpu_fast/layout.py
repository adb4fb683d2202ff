"""How a fold is cut into tasks: blocks of planes, bands of cells, sums that fit in the cache."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..facts import ACCUMULATORS
from ..geometry import Geometry, Ints
from . import native
from . import plan as slots

BLOCK_BYTES: Final = 16 * 1024
"""Sums of small planes worked on together: half of a common first-level cache."""

BAND_BYTES: Final = 256 * 1024
"""Sums of a large plane worked on at a time: they share a second-level cache with columns."""

LEAST_BAND_BYTES: Final = 8 * 1024
"""To which bands shrink so that there are enough for all threads."""

BUFFER_BYTES: Final = 768 * 1024
"""Buffers of all threads together, and a plane of sums."""

THREAD_BYTES: Final = 512 * 1024
"""Columns worth a further thread: waking it takes some 50 microseconds."""

PIECES: Final = 8
"""Pieces of work for every thread, so that all end at about the same time."""

LONG_ROW: Final = 128
"""Rows of up to so many cells are added many at a time, where the columns' rows are no shorter."""

MASK_BYTES: Final = 16 * 1024
"""Most bytes of masks: one per offset of the kernel along the last axis and cell of a run."""


class Layout(NamedTuple):
    """How a fold is cut, and all that does not depend on where its arrays lie.

    Attributes
    ----------
    plan : see `ascend_col2im.cpu_fast.plan`
    masks : uint8 array ``(kernel, cells)``: which cells of a run take the column beside them
    tasks, pieces, threads : tasks are done a piece at a time, pieces by as many threads
    moves, sums : where in a thread's buffer they begin, in bytes; the plan comes first
    buffer_bytes : what the buffer takes
    """

    plan: list[int]
    masks: npt.NDArray[np.uint8]
    tasks: int
    pieces: int
    threads: int
    moves: int
    sums: int
    buffer_bytes: int


@lru_cache(maxsize=256)
def choose(
    geometry: Geometry, planes: int, dtype: str, itemsize: int, threads: int
) -> Layout | None:
    """Cut a fold of ``planes`` planes, whose columns take ``itemsize`` bytes, for some threads.

    Return None where a row of cells takes more than `BUFFER_BYTES` and a plane, a position more
    than 64 bits, or the dtype is not of real numbers, or one that the processor does not convert.
    """
    if not (dtype in native.ELEMENTS and native.converts(dtype) and _fits_in_64_bits(geometry)):
        return None
    column_bytes = planes * geometry.K * geometry.L * itemsize
    threads = max(1, min(threads, column_bytes // THREAD_BYTES))
    sum_bytes = np.dtype(ACCUMULATORS[dtype]).itemsize
    plane_bytes = geometry.pixels * sum_bytes
    band_bytes = min(BAND_BYTES, BUFFER_BYTES // threads)
    while band_bytes > max(LEAST_BAND_BYTES, planes * plane_bytes // (4 * threads)):
        band_bytes //= 2
    plan, masks, tasks, sums = _cut(geometry, planes, sum_bytes, band_bytes)
    moves = 8 * min(geometry.K, slots.MOVES) * (slots.COUNTS + plan[slots.AXES])
    buffer_bytes = 8 * len(plan) + moves + sums * sum_bytes
    threads = min(threads, (BUFFER_BYTES + plane_bytes) // buffer_bytes)
    if threads == 0:
        return None
    return Layout(
        plan,
        masks,
        tasks,
        pieces=min(tasks, PIECES * threads) if threads > 1 else 1,
        threads=threads,
        moves=8 * len(plan),
        sums=8 * len(plan) + moves,
        buffer_bytes=buffer_bytes,
    )


def _cut(
    geometry: Geometry, planes: int, sum_bytes: int, band_bytes: int
) -> tuple[list[int], npt.NDArray[np.uint8], int, int]:
    """Return the plan, the masks, how many tasks there are and how many sums one takes.

    Those sums take at most ``BLOCK_BYTES``, or belong to one plane and take at most
    ``band_bytes``, or are those of a single row of cells.
    """
    axes = max(2, geometry.axes)
    cells, windows = _padded(geometry.cells, axes), _padded(geometry.windows, axes)
    phases = math.prod(geometry.phases)
    axis = next((axis for axis in range(axes) if cells[axis] > 1), 0)

    def row_of(pitch: Ints) -> tuple[int, int]:
        """Return the sums of a row of cells across the axis to cut, and the rows of a band."""
        row = phases * math.prod(pitch) // pitch[axis]
        return row, min(cells[axis], max(1, band_bytes // (row * sum_bytes)))

    pitch, masks = cells, np.zeros((0, 0), np.uint8)
    if axis < axes - 1 and cells[-1] <= windows[-1] <= LONG_ROW:
        wide = (*cells[:-1], windows[-1])
        rows = row_of(wide)[1] if axis == axes - 2 else cells[-2]
        if geometry.kernel_size[-1] * rows * windows[-1] <= MASK_BYTES:
            pitch, masks = wide, _masks(geometry, rows)
    row, band_rows = row_of(pitch)
    block_planes = max(1, min(BLOCK_BYTES, band_bytes) // (row * cells[axis] * sum_bytes))
    plan = _plan(geometry, pitch)
    plan[slots.PLANES] = planes
    plan[slots.BLOCK_PLANES] = block_planes
    plan[slots.BAND_AXIS] = axis
    plan[slots.BAND_CELLS] = band_rows
    plan[slots.FLAT_CELLS] = masks.shape[1]
    bands = -(-cells[axis] // band_rows)
    tasks = -(-planes // block_planes) * bands
    # A masked run may reach one row beyond the sums at either end.
    return plan, masks, tasks, block_planes * band_rows * row + 2 * pitch[-1]


def _plan(geometry: Geometry, pitch: Ints) -> list[int]:
    """Return a plan of a whole plane."""
    axes = len(pitch)
    plan = [0] * slots.SLOTS
    plan[slots.AXES] = axes
    plan[slots.TAPS] = geometry.K
    plan[slots.PHASES] = math.prod(geometry.phases)
    plan[slots.PLANE_CELLS] = math.prod(pitch)
    plan[slots.WHOLE] = plan[slots.PHASES] == 1 and pitch == _padded(geometry.output_size, axes)
    plan[slots.TILES] = geometry.tiles
    stride, pad = _padded(geometry.stride, axes), _padded(geometry.pad_begin, axes, 0)
    for axis in range(axes):
        fields = [0] * slots.FIELDS
        fields[slots.STRIDE] = stride[axis]
        fields[slots.PITCH] = pitch[axis]
        for field, values in (
            (slots.SIZE, geometry.output_size),
            (slots.KERNEL, geometry.kernel_size),
            (slots.WINDOWS, geometry.windows),
            (slots.CELLS, geometry.cells),
            (slots.HIGH, geometry.cells),
            (slots.AXIS_PHASES, geometry.phases),
        ):
            fields[field] = _padded(values, axes)[axis]
        dilation = _padded(geometry.dilation, axes)[axis]
        fields[slots.FIRST_SHIFT : slots.FIRST_PHASE + 1] = divmod(-pad[axis], stride[axis])
        fields[slots.NEXT_SHIFT : slots.NEXT_PHASE + 1] = divmod(dilation, stride[axis])
        plan += fields
    return plan


def _fits_in_64_bits(geometry: Geometry) -> bool:
    """Whether every position that the compiled code computes does."""
    return all(
        size + pad + stride + (kernel - 1) * dilation < 2**62
        for size, pad, stride, kernel, dilation in zip(
            geometry.output_size,
            geometry.pad_begin,
            geometry.stride,
            geometry.kernel_size,
            geometry.dilation,
            strict=True,
        )
    )


def _padded(values: Ints, axes: int, of_one: int = 1) -> Ints:
    """Put axes of one pixel in front."""
    return (of_one,) * (axes - len(values)) + values


def _masks(geometry: Geometry, rows: int) -> npt.NDArray[np.uint8]:
    """Return which windows of ``rows`` rows fall on a cell, for every offset along the rows."""
    offsets = np.arange(geometry.kernel_size[-1]) * geometry.dilation[-1] - geometry.pad_begin[-1]
    shifts = offsets // geometry.stride[-1]
    cells = np.arange(geometry.windows[-1]) + shifts[:, None]
    inside = (cells >= 0) & (cells < geometry.cells[-1])
    return np.tile(inside.astype(np.uint8), rows)
