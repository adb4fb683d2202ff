"""The compiled fold, for any sizes, strides and number of axes.

Everything here works on memory by address and index, as C would: nothing is compiled for a shape,
a layout or a read-only array.

A task is a block of planes and, along one axis, a band of cells. Its sums lie in a buffer that
stays in the processor's cache, with a plane for each phase of the stride, so that a tap adds
contiguous rows to contiguous rows. Every sum starts at +0 and takes its taps in row-major order.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from typing import Any

from numba import njit

from .elements import read, value_or_zero, write
from .plan import (
    AT,
    AXES,
    AXIS_PHASES,
    BAND_AXIS,
    BAND_CELLS,
    BLOCK_PLANES,
    CELLS,
    CHANNELS,
    COL_N,
    COL_TAP,
    COL_WINDOW,
    CONTIGUOUS,
    COUNTS,
    IMAGE_C,
    IMAGE_N,
    IMAGE_STEP,
    LOW,
    MASK,
    MOVES,
    PHASES,
    PITCH,
    PLANE_CELLS,
    PLANES,
    STRIDE,
    TAPS,
    TILES,
    TO,
    WHOLE,
    WINDOWS,
    Pointer,
    enter_band,
    list_moves,
    of_axis,
    pixel_range,
)

TILE = 16
"""Cells whose many phases are interleaved at a time."""


@njit
def lone(value: Any) -> Any:
    """Return a sum of one value: -0 becomes +0."""
    return value + value_or_zero(False, value)


@njit
def add_row(
    sums: Pointer,
    to: int,
    col: Pointer,
    at: int,
    step: int,
    cells: int,
    masks: Pointer,
    mask: int,
) -> None:
    """Add a row of columns to a row of sums, but for what its mask leaves out."""
    if mask >= 0:
        for i in range(cells):
            value = value_or_zero(read(masks, mask + i) != 0, read(col, at + i * step))
            write(sums, to + i, read(sums, to + i) + value)
    elif step == 1:
        for i in range(cells):
            write(sums, to + i, read(sums, to + i) + read(col, at + i))
    else:
        for i in range(cells):
            write(sums, to + i, read(sums, to + i) + read(col, at + i * step))


@njit
def add_moves(
    plan: Pointer,
    moves: Pointer,
    end: int,
    col: Pointer,
    col_at: int,
    sums: Pointer,
    sums_at: int,
    masks: Pointer,
) -> None:
    """Add the listed taps, in order, to the sums of one plane, row by row."""
    axes, step = read(plan, AXES), read(plan, COL_WINDOW)
    row_windows = of_axis(plan, axes - 1, WINDOWS) * step
    row_cells = of_axis(plan, axes - 1, PITCH)
    for move in range(0, end, COUNTS + axes):
        counts, mask = move + COUNTS, read(moves, move + MASK)
        rows, row = read(moves, counts + axes - 2), read(moves, counts + axes - 1)
        slices = 1
        for axis in range(axes - 2):
            slices *= read(moves, counts + axis)
        for number in range(slices):
            at, to = col_at + read(moves, move + AT), sums_at + read(moves, move + TO)
            rest = number
            windows = row_windows * of_axis(plan, axes - 2, WINDOWS)
            cells = row_cells * of_axis(plan, axes - 2, PITCH)
            for axis in range(axes - 3, -1, -1):
                index = rest % read(moves, counts + axis)
                rest //= read(moves, counts + axis)
                at += index * windows
                to += index * cells
                windows *= of_axis(plan, axis, WINDOWS)
                cells *= of_axis(plan, axis, PITCH)
            for _ in range(rows):
                add_row(sums, to, col, at, step, row, masks, mask)
                at += row_windows
                to += row_cells


@njit
def write_row(
    image: Pointer,
    to: int,
    image_step: int,
    pixels: int,
    sums: Pointer,
    at: int,
    phase_step: int,
    stride: int,
) -> None:
    """Write a row of pixels from the phases of its sums, which lie ``phase_step`` apart."""
    cells = pixels // stride
    if image_step == 1:
        interleave(image, to, cells, sums, at, phase_step, stride)
    elif cells > 0:
        for phase in range(stride):
            for cell in range(cells):
                target = to + (cell * stride + phase) * image_step
                write(image, target, lone(read(sums, at + phase * phase_step + cell)))
    for phase in range(pixels - cells * stride):
        target = to + (cells * stride + phase) * image_step
        write(image, target, lone(read(sums, at + phase * phase_step + cells)))


@njit
def interleave(
    image: Pointer, to: int, cells: int, sums: Pointer, at: int, phase_step: int, stride: int
) -> None:
    """Write whole cells, in loops that the compiler can make vectors of."""
    second, third, fourth = at + phase_step, at + 2 * phase_step, at + 3 * phase_step
    if stride > 4:
        interleave_many(image, to, cells, sums, at, phase_step, stride)
    elif stride == 1:
        for cell in range(cells):
            write(image, to + cell, lone(read(sums, at + cell)))
    elif stride == 2:
        for cell in range(cells):
            write(image, to + 2 * cell, lone(read(sums, at + cell)))
            write(image, to + 2 * cell + 1, lone(read(sums, second + cell)))
    elif stride == 3:
        for cell in range(cells):
            write(image, to + 3 * cell, lone(read(sums, at + cell)))
            write(image, to + 3 * cell + 1, lone(read(sums, second + cell)))
            write(image, to + 3 * cell + 2, lone(read(sums, third + cell)))
    else:
        for cell in range(cells):
            write(image, to + 4 * cell, lone(read(sums, at + cell)))
            write(image, to + 4 * cell + 1, lone(read(sums, second + cell)))
            write(image, to + 4 * cell + 2, lone(read(sums, third + cell)))
            write(image, to + 4 * cell + 3, lone(read(sums, fourth + cell)))


@njit
def interleave_many(
    image: Pointer, to: int, cells: int, sums: Pointer, at: int, phase_step: int, stride: int
) -> None:
    """Write whole cells of more than four phases, so that lines stay in the cache until full."""
    for first in range(0, cells, TILE):
        last = min(cells, first + TILE)
        for phase in range(0, stride - 3, 4):
            source, target = at + phase * phase_step, to + phase
            for cell in range(first, last):
                a, b = read(sums, source + cell), read(sums, source + phase_step + cell)
                c = read(sums, source + 2 * phase_step + cell)
                d = read(sums, source + 3 * phase_step + cell)
                write(image, target + cell * stride, lone(a))
                write(image, target + cell * stride + 1, lone(b))
                write(image, target + cell * stride + 2, lone(c))
                write(image, target + cell * stride + 3, lone(d))
        for phase in range(stride - stride % 4, stride):
            for cell in range(first, last):
                value = lone(read(sums, at + phase * phase_step + cell))
                write(image, to + cell * stride + phase, value)


@njit
def write_plane(plan: Pointer, image: Pointer, image_at: int, sums: Pointer, sums_at: int) -> None:
    """Write the task's pixels of one plane, row by row."""
    last, plane_cells = read(plan, AXES) - 1, read(plan, PLANE_CELLS)
    slices = 1
    for axis in range(last - 1):
        low, high = pixel_range(plan, axis)
        slices *= high - low
    for number in range(slices):
        rest, at, to = number, sums_at, image_at
        cells = of_axis(plan, last, PITCH) * of_axis(plan, last - 1, PITCH)
        phases = of_axis(plan, last, AXIS_PHASES) * of_axis(plan, last - 1, AXIS_PHASES)
        for axis in range(last - 2, -1, -1):
            stride = of_axis(plan, axis, STRIDE)
            low, high = pixel_range(plan, axis)
            pixel = rest % (high - low)
            rest //= high - low
            cell = pixel // stride
            at += cell * cells + (pixel - cell * stride) * phases * plane_cells
            to += (low + pixel) * of_axis(plan, axis, IMAGE_STEP)
            cells *= of_axis(plan, axis, PITCH)
            phases *= of_axis(plan, axis, AXIS_PHASES)
        write_slice(plan, image, to, sums, at)


@njit
def write_slice(plan: Pointer, image: Pointer, image_at: int, sums: Pointer, sums_at: int) -> None:
    """Write the rows along the last axis but one, in an order in which sums lie in sequence."""
    last, plane_cells = read(plan, AXES) - 1, read(plan, PLANE_CELLS)
    first, end = pixel_range(plan, last)
    step, stride = of_axis(plan, last, IMAGE_STEP), of_axis(plan, last, STRIDE)
    pitch, phases = of_axis(plan, last, PITCH), of_axis(plan, last, AXIS_PHASES)
    low, high = pixel_range(plan, last - 1)
    row_step, row_stride = of_axis(plan, last - 1, IMAGE_STEP), of_axis(plan, last - 1, STRIDE)
    for phase in range(min(row_stride, high - low)):
        at = sums_at + phase * phases * plane_cells
        for row in range(low + phase, high, row_stride):
            to = image_at + row * row_step + first * step
            write_row(image, to, step, end - first, sums, at, plane_cells, stride)
            at += pitch


def fold(
    col: Pointer,
    image: Pointer,
    plan: Pointer,
    masks: Pointer,
    sums: Pointer,
    moves: Pointer,
    first: int,
    last: int,
) -> None:
    """Do the tasks ``first .. last``, which are the bands of a block of planes, then of the next.

    The plan is written to: every thread has its own. Masked runs reach up to a row's length beyond
    the sums on either side, with zeros.
    """
    axes, taps, channels = read(plan, AXES), read(plan, TAPS), read(plan, CHANNELS)
    axis, band_cells = read(plan, BAND_AXIS), read(plan, BAND_CELLS)
    bands = (of_axis(plan, axis, CELLS) + band_cells - 1) // band_cells
    margin = of_axis(plan, axes - 1, PITCH)
    listed, listed_end = -1, 0
    for task in range(first, last):
        begin = task // bands * read(plan, BLOCK_PLANES)
        end = min(read(plan, PLANES), begin + read(plan, BLOCK_PLANES))
        enter_band(plan, task % bands)
        plane_sums = read(plan, PHASES) * read(plan, PLANE_CELLS)
        if not read(plan, TILES):
            for i in range((end - begin) * plane_sums):
                write(sums, margin + i, 0)
            for tap in range(0, taps, MOVES):
                if taps > MOVES or listed != task % bands:
                    count = list_moves(plan, tap, min(taps, tap + MOVES), moves)
                    listed, listed_end = task % bands, count * (COUNTS + axes)
                for plane in range(begin, end):
                    n, c = plane // channels, plane % channels
                    col_at = n * read(plan, COL_N) + c * taps * read(plan, COL_TAP)
                    sums_at = margin + (plane - begin) * plane_sums
                    add_moves(plan, moves, listed_end, col, col_at, sums, sums_at, masks)
        for plane in range(begin, end):
            n, c = plane // channels, plane % channels
            image_at = n * read(plan, IMAGE_N) + c * read(plan, IMAGE_C)
            low, high = pixel_range(plan, axis)
            step = of_axis(plan, axis, IMAGE_STEP)
            # Filled in one sweep, lines enter the cache without being read from memory first
            if read(plan, CONTIGUOUS):
                for i in range(image_at + low * step, image_at + high * step):
                    write(image, i, 0)
            if read(plan, TILES):
                inner = read(plan, PLANE_CELLS) // of_axis(plan, axis, CELLS)
                at = n * read(plan, COL_N) + c * taps * read(plan, COL_TAP)
                at += of_axis(plan, axis, LOW) * inner
                write_plane(plan, image, image_at, sums, at)
            elif read(plan, WHOLE):
                to, at = image_at + low * step, margin + (plane - begin) * plane_sums
                interleave(image, to, plane_sums, sums, at, 0, 1)
            else:
                at = margin + (plane - begin) * plane_sums
                write_plane(plan, image, image_at, sums, at)
