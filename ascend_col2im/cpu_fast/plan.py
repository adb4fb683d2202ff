"""The plan of a fold: a table of integers that says what lies where, and what each tap does.

`layout` fills it; compiled code reads it, and keeps in it which task and which tap it is at.
"""

# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

from typing import Any

from numba import njit

from .elements import read, write

(
    AXES,
    TAPS,
    CHANNELS,
    PLANES,
    BLOCK_PLANES,
    BAND_AXIS,
    BAND_CELLS,
    PHASES,
    FLAT_CELLS,
    CONTIGUOUS,
    WHOLE,
    TILES,
    COL_N,
    COL_TAP,
    COL_WINDOW,
    IMAGE_N,
    IMAGE_C,
    PLANE_CELLS,
    SLOTS,
) = range(19)
"""The plan's slots. BLOCK_PLANES, BAND_CELLS: what a task takes at most. FLAT_CELLS: cells that
one run over all rows covers, or 0 where rows are added one by one. CONTIGUOUS: pixels of a plane
lie side by side. WHOLE: so do its sums, in the same order. TILES: columns are sums, as each pixel
has one. COL, IMAGE: steps from one element to the next. PLANE_CELLS: the task's cells in a phase.
"""

(
    SIZE,
    KERNEL,
    STRIDE,
    WINDOWS,
    CELLS,
    AXIS_PHASES,
    IMAGE_STEP,
    PITCH,
    LOW,
    HIGH,
    FIRST_SHIFT,
    FIRST_PHASE,
    NEXT_SHIFT,
    NEXT_PHASE,
    OFFSET,
    SHIFT,
    PHASE,
    FIELDS,
) = range(18)
"""What the plan holds for each axis, behind the slots. PITCH: cells that the sums have room for.
LOW, HIGH: the task's cells. OFFSET, SHIFT, PHASE: of the tap to be listed next, where it lies in
the kernel, by how many cells its pixels are ahead of their windows, and where in those cells.
FIRST: shift and phase of offset 0; NEXT: what an offset adds to both."""

AT, TO, MASK, COUNTS = range(4)
"""What a tap does: it adds the columns from AT on to the sums from TO on, under the mask from MASK
on if that is not -1; from COUNTS on: as many as that along each axis."""

MOVES = 256
"""Taps listed at a time."""

Pointer = Any


@njit
def of_axis(plan: Pointer, axis: int, field: int) -> Any:
    """Return what the plan holds for an axis."""
    return read(plan, SLOTS + axis * FIELDS + field)


@njit
def set_axis(plan: Pointer, axis: int, field: int, value: int) -> None:
    """Change what the plan holds for an axis."""
    write(plan, SLOTS + axis * FIELDS + field, value)


@njit
def enter_first_offset(plan: Pointer, axis: int) -> None:
    """Go back to an axis' first offset."""
    set_axis(plan, axis, OFFSET, 0)
    set_axis(plan, axis, SHIFT, of_axis(plan, axis, FIRST_SHIFT))
    set_axis(plan, axis, PHASE, of_axis(plan, axis, FIRST_PHASE))


@njit
def enter_next_tap(plan: Pointer) -> None:
    """Go on to the next tap, without a division: as an odometer does."""
    for axis in range(read(plan, AXES) - 1, -1, -1):
        offset = of_axis(plan, axis, OFFSET) + 1
        if offset < of_axis(plan, axis, KERNEL):
            shift = of_axis(plan, axis, SHIFT) + of_axis(plan, axis, NEXT_SHIFT)
            phase = of_axis(plan, axis, PHASE) + of_axis(plan, axis, NEXT_PHASE)
            carry = 1 if phase >= of_axis(plan, axis, STRIDE) else 0
            set_axis(plan, axis, OFFSET, offset)
            set_axis(plan, axis, SHIFT, shift + carry)
            set_axis(plan, axis, PHASE, phase - carry * of_axis(plan, axis, STRIDE))
            return
        enter_first_offset(plan, axis)


@njit
def list_moves(plan: Pointer, first: int, last: int, moves: Pointer) -> int:
    """List the moves of the taps ``first .. last`` that touch the task; return how many.

    Taps are listed in order, from 0 on.
    """
    axes, flat_cells = read(plan, AXES), read(plan, FLAT_CELLS)
    if first == 0:
        for axis in range(axes):
            enter_first_offset(plan, axis)
    count = 0
    for tap in range(first, last):
        move = count * (COUNTS + axes)
        touches = True
        window, cell, phase, mask = 0, 0, 0, -1
        windows, cells, phases = 1, 1, 1
        for axis in range(axes - 1, -1, -1):
            shift, axis_phase = of_axis(plan, axis, SHIFT), of_axis(plan, axis, PHASE)
            low, high = of_axis(plan, axis, LOW), of_axis(plan, axis, HIGH)
            first_window = max(0, low - shift)
            covered = min(of_axis(plan, axis, WINDOWS), high - shift) - first_window
            touches = touches and covered > 0 and axis_phase < of_axis(plan, axis, AXIS_PHASES)
            if flat_cells > 0 and axis == axes - 1:
                cell = shift
                mask = of_axis(plan, axis, OFFSET) * flat_cells if shift != 0 else -1
                covered = of_axis(plan, axis, PITCH)
            else:
                window += first_window * windows
                cell += (first_window + shift - low) * cells
            phase += axis_phase * phases
            windows *= of_axis(plan, axis, WINDOWS)
            cells *= of_axis(plan, axis, PITCH)
            phases *= of_axis(plan, axis, AXIS_PHASES)
            write(moves, move + COUNTS + axis, covered)
        if touches:
            write(moves, move + AT, tap * read(plan, COL_TAP) + window * read(plan, COL_WINDOW))
            write(moves, move + TO, phase * read(plan, PLANE_CELLS) + cell)
            write(moves, move + MASK, mask)
            if flat_cells > 0:
                rows = move + COUNTS + axes - 2
                write(moves, rows + 1, read(moves, rows) * read(moves, rows + 1))
                write(moves, rows, 1)
            count += 1
        enter_next_tap(plan)
    return count


@njit
def enter_band(plan: Pointer, band: int) -> None:
    """Set the plan to a band of cells along the axis that is cut."""
    axis = read(plan, BAND_AXIS)
    low = band * read(plan, BAND_CELLS)
    high = min(of_axis(plan, axis, CELLS), low + read(plan, BAND_CELLS))
    fields = SLOTS + axis * FIELDS
    write(plan, fields + LOW, low)
    write(plan, fields + HIGH, high)
    if not read(plan, TILES):
        cells = read(plan, PLANE_CELLS) // of_axis(plan, axis, PITCH)
        write(plan, PLANE_CELLS, cells * (high - low))
        write(plan, fields + PITCH, high - low)


@njit
def pixel_range(plan: Pointer, axis: int) -> tuple[int, int]:
    """Return the task's pixels along an axis."""
    stride = of_axis(plan, axis, STRIDE)
    end = min(of_axis(plan, axis, SIZE), of_axis(plan, axis, HIGH) * stride)
    return of_axis(plan, axis, LOW) * stride, end
