"""The fast CPU backend: col2im compiled by numba, on every core, with the bits of `cpu_fallback`.

The only room that imports numba. Code is compiled once per dtype, not per shape, which takes some
seconds, and is kept on disk, from where later processes load it in milliseconds; `prepare` does it
ahead of the first fold and tells what it took.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import config

from ..facts import ACCUMULATORS
from ..geometry import Geometry
from . import kernels, native, workers
from .layout import Layout, choose, fits_in_64_bits
from .native import prepare

__all__ = ["col2im", "prepare", "suits"]

Array = npt.NDArray[Any]

BLOCK_BYTES: Final = 16 * 1024
"""Sums of small planes worked on together: half of a common first-level cache."""

BAND_BYTES: Final = 256 * 1024
"""Sums of a large plane worked on at a time: they share a second-level cache with columns."""

LEAST_BAND_BYTES: Final = 8 * 1024
"""To which bands shrink so that there are enough for all threads."""

BUFFER_BYTES: Final = 768 * 1024
"""Sums of all threads together, if a plane does not take more."""

THREAD_BYTES: Final = 512 * 1024
"""Columns worth a further thread: waking it takes some 50 microseconds."""


def suits(col: Array, geometry: Geometry, image: Array) -> bool:
    """Whether compiled code can fold these arrays, and better than NumPy.

    It reads and writes aligned elements in native byte order that lie whole elements apart.
    """
    return (
        not geometry.few_windows
        and fits_in_64_bits(geometry)
        and col.dtype.isnative
        and image.dtype.isnative
        and col.flags.aligned
        and image.flags.aligned
        and not any(step % col.itemsize for step in col.strides + image.strides)
        and native.converts(col.dtype.name)
        and _most_threads(_layout(geometry, image, 1), geometry) > 0
    )


def col2im(col: Array, geometry: Geometry, image: Array, threads: int | None = None) -> None:
    """Fold ``col`` ``(N, C*K, L)`` into ``image`` ``(N, C, *output_size)``, overwriting it.

    Every rule is known to hold, and `suits` has said yes. At most ``threads`` threads are used, or
    ``NUMBA_NUM_THREADS``: as many as there are cores, unless the environment says otherwise.
    """
    threads = max(1, min(threads or config.NUMBA_NUM_THREADS, col.nbytes // THREAD_BYTES))
    layout = _layout(geometry, image, threads)
    threads = min(threads, _most_threads(layout, geometry))
    fold = native.fold_of(col.dtype.name)
    plan = _placed(layout, col, geometry, image)
    pieces = min(layout.tasks, 4 * threads) if threads > 1 else 1

    def work(taken: Iterator[int]) -> None:
        own_plan, moves = plan.copy(), np.empty(layout.moves, np.int64)
        sums = col if plan[kernels.TILES] else np.empty(layout.sums, layout.accumulator)
        for piece in taken:
            fold(
                col.ctypes.data,
                image.ctypes.data,
                own_plan.ctypes.data,
                layout.masks.ctypes.data,
                sums.ctypes.data,
                moves.ctypes.data,
                layout.tasks * piece // pieces,
                layout.tasks * (piece + 1) // pieces,
            )

    workers.share(pieces, threads, work)


def _most_threads(layout: Layout, geometry: Geometry) -> int:
    """Return for how many threads there is room: what a plane of sums takes, or BUFFER_BYTES."""
    itemsize = np.dtype(layout.accumulator).itemsize
    return max(BUFFER_BYTES, geometry.pixels * itemsize) // (layout.sums * itemsize)


def _layout(geometry: Geometry, image: Array, threads: int) -> Layout:
    accumulator = ACCUMULATORS[image.dtype.name]
    planes = image.shape[0] * image.shape[1]
    all_bytes = planes * geometry.pixels * np.dtype(accumulator).itemsize
    band_bytes = min(BAND_BYTES, BUFFER_BYTES // threads)
    while band_bytes > max(LEAST_BAND_BYTES, all_bytes // (4 * threads)):
        band_bytes //= 2
    return choose(geometry, planes, accumulator, min(BLOCK_BYTES, band_bytes), band_bytes)


def _placed(layout: Layout, col: Array, geometry: Geometry, image: Array) -> npt.NDArray[np.int64]:
    """Return the plan with the steps from one element of the arrays to the next."""
    plan = layout.plan.copy()
    itemsize = col.itemsize
    plan[kernels.COL_N : kernels.COL_WINDOW + 1] = [step // itemsize for step in col.strides]
    plan[kernels.IMAGE_N : kernels.IMAGE_C + 1] = [step // itemsize for step in image.strides[:2]]
    contiguous = image[0, 0].flags.c_contiguous
    steps = [step // itemsize for step in image.strides[2:]]
    if contiguous:  # but for axes of one pixel, whose steps are arbitrary
        steps = [math.prod(geometry.output_size[axis + 1 :]) for axis in range(geometry.axes)]
    fields = plan[kernels.SLOTS :].reshape(-1, kernels.FIELDS)
    fields[-geometry.axes :, kernels.IMAGE_STEP] = steps
    plan[kernels.CHANNELS] = image.shape[1]
    plan[kernels.CONTIGUOUS] = contiguous
    plan[kernels.WHOLE] &= contiguous
    plan[kernels.TILES] &= layout.accumulator == col.dtype.name and col.strides[1:] == (
        geometry.L * itemsize,
        itemsize,
    )
    return plan
