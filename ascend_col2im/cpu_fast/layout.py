"""How a fold is cut into tasks: blocks of planes, bands of cells, sums that fit in the cache."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..geometry import Geometry, Ints
from . import kernels

LONG_ROW: Final = 128
"""Rows of up to so many cells are added many at a time, where the columns' rows are no shorter."""

MASK_BYTES: Final = 16 * 1024
"""Most bytes of masks: one per offset of the kernel along the last axis and cell of a run."""

MOST_TILED: Final = 4
"""Strides up to which columns that tile the image are read straight from memory: they are as many
streams, and one per row of a tile."""


@lru_cache(maxsize=256)
def fits_in_64_bits(geometry: Geometry) -> bool:
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


class Layout(NamedTuple):
    """A plan but for where the arrays lie, and the buffers that every thread needs.

    Attributes
    ----------
    plan : see `ascend_col2im.cpu_fast.kernels`
    masks : uint8 array ``(kernel, cells)``: which cells of a run take the column beside them
    tasks : how many tasks there are
    accumulator : dtype of the sums
    sums, moves : elements of the buffers
    """

    plan: npt.NDArray[np.int64]
    masks: npt.NDArray[np.uint8]
    tasks: int
    accumulator: str
    sums: int
    moves: int


@lru_cache(maxsize=256)
def choose(
    geometry: Geometry, planes: int, accumulator: str, block_bytes: int, band_bytes: int
) -> Layout:
    """Cut a fold of ``planes`` planes into tasks.

    The sums of a task take at most ``block_bytes``, or belong to one plane and take at most
    ``band_bytes``, or are those of a single row of cells.
    """
    itemsize = np.dtype(accumulator).itemsize
    axes = max(2, geometry.axes)
    cells, windows = _padded(geometry.cells, axes), _padded(geometry.windows, axes)
    phases = math.prod(geometry.phases)
    axis = next((axis for axis in range(axes) if cells[axis] > 1), 0)

    def row_of(pitch: Ints) -> tuple[int, int]:
        """Return the bytes of a row of cells across the axis to cut, and the rows of a band."""
        row_bytes = itemsize * phases * math.prod(pitch) // pitch[axis]
        return row_bytes, min(cells[axis], max(1, band_bytes // row_bytes))

    pitch, masks = cells, np.zeros((0, 0), np.uint8)
    if axis < axes - 1 and cells[-1] <= windows[-1] <= LONG_ROW:
        wide = (*cells[:-1], windows[-1])
        rows = row_of(wide)[1] if axis == axes - 2 else cells[-2]
        if geometry.kernel_size[-1] * rows * windows[-1] <= MASK_BYTES:
            pitch, masks = wide, _masks(geometry, rows)
    row_bytes, band_rows = row_of(pitch)
    block_planes = max(1, block_bytes // (row_bytes * cells[axis]))
    slots = {
        kernels.AXES: axes,
        kernels.TAPS: geometry.K,
        kernels.PLANES: planes,
        kernels.BLOCK_PLANES: block_planes,
        kernels.BAND_AXIS: axis,
        kernels.BAND_CELLS: band_rows,
        kernels.PHASES: phases,
        kernels.FLAT_CELLS: masks.shape[1],
        kernels.PLANE_CELLS: math.prod(pitch),
        kernels.WHOLE: phases == 1 and pitch == _padded(geometry.output_size, axes),
        kernels.TILES: geometry.tiles and geometry.stride[-1] <= MOST_TILED,
    }
    bands = -(-cells[axis] // band_rows)
    return Layout(
        _plan(geometry, slots, pitch),
        masks,
        tasks=-(-planes // block_planes) * bands,
        accumulator=accumulator,
        # a masked run may reach one row beyond the sums at either end
        sums=block_planes * band_rows * row_bytes // itemsize + 2 * pitch[-1],
        moves=min(geometry.K, kernels.MOVES) * (kernels.COUNTS + axes),
    )


def _plan(geometry: Geometry, slots: dict[int, int], pitch: Ints) -> npt.NDArray[np.int64]:
    axes = len(pitch)
    plan = np.zeros(kernels.SLOTS + axes * kernels.FIELDS, np.int64)
    plan[list(slots)] = list(slots.values())
    fields = plan[kernels.SLOTS :].reshape(axes, kernels.FIELDS)
    for field, values, of_one in (
        (kernels.SIZE, geometry.output_size, 1),
        (kernels.KERNEL, geometry.kernel_size, 1),
        (kernels.STRIDE, geometry.stride, 1),
        (kernels.DILATION, geometry.dilation, 1),
        (kernels.PAD, geometry.pad_begin, 0),
        (kernels.WINDOWS, geometry.windows, 1),
        (kernels.CELLS, geometry.cells, 1),
        (kernels.AXIS_PHASES, geometry.phases, 1),
        (kernels.PITCH, pitch, 1),
        (kernels.HIGH, geometry.cells, 1),
    ):
        fields[:, field] = _padded(values, axes, of_one)
    return plan


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
