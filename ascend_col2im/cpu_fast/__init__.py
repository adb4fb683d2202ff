"""The fast CPU backend: col2im compiled by numba, on every core, with the bits of `cpu_fallback`.

Where a sum is not a number, its sign and payload may be others.

The only room that imports numba. Code is compiled once per dtype, not per shape, which takes some
seconds, and is kept on disk, from where later processes load it in milliseconds; `prepare` does it
ahead of the first fold and tells what it took.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import config

from ..facts import ACCUMULATORS
from ..geometry import Geometry
from . import native, workers
from . import plan as slots
from .layout import Layout, choose
from .native import prepare

__all__ = ["col2im", "prepare"]

Array = npt.NDArray[Any]


def col2im(col: Array, geometry: Geometry, image: Array, threads: int | None = None) -> bool:
    """Fold ``col`` ``(N, C*K, L)`` into ``image`` ``(N, C, *output_size)``, overwriting it.

    Every rule is known to hold. At most ``threads`` threads are used, or ``NUMBA_NUM_THREADS``: as
    many as there are cores, unless the environment says otherwise.

    Returns
    -------
    Whether that is done. It is not, and nothing is written, where `choose` finds no way, where
    numba fails, and for arrays other than of aligned elements in native byte order, whole elements
    apart.
    """
    dtype, itemsize = _name(col.dtype), col.itemsize
    N, C = image.shape[:2]
    layout = choose(geometry, N * C, dtype, itemsize, threads or config.NUMBA_NUM_THREADS)
    apart = [step % itemsize for step in col.strides + image.strides]
    native_order = col.dtype.isnative and image.dtype.isnative
    if layout is None or any(apart) or not native_order:
        return False
    if not (col.flags.aligned and image.flags.aligned):
        return False
    fold = native.fold_of(dtype)
    if fold is None:
        return False
    plan = _placed(layout, dtype, col, geometry, image)
    in_place = plan[slots.TILES]

    def work(taken: Iterator[int]) -> None:
        buffer = np.empty(layout.buffer_bytes, np.uint8)
        buffer[: layout.moves].view(np.int64)[:] = plan
        own, columns = buffer.ctypes.data, col.ctypes.data
        pixels, masks = image.ctypes.data, layout.masks.ctypes.data
        sums = columns if in_place else own + layout.sums
        for piece in taken:
            fold(
                columns,
                pixels,
                own,
                masks,
                sums,
                own + layout.moves,
                layout.tasks * piece // layout.pieces,
                layout.tasks * (piece + 1) // layout.pieces,
            )

    workers.share(layout.pieces, layout.threads, work)
    return True


@lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name


def _placed(layout: Layout, dtype: str, col: Array, geometry: Geometry, image: Array) -> list[int]:
    """Return the plan with the steps from one element of the arrays to the next."""
    plan, itemsize = layout.plan.copy(), col.itemsize
    steps = [step // itemsize for step in image.strides]
    contiguous = image[0, 0].flags.c_contiguous
    if contiguous:  # but for axes of one pixel, whose steps are arbitrary
        steps[2:] = [math.prod(geometry.output_size[axis + 1 :]) for axis in range(geometry.axes)]
    plan[slots.IMAGE_N : slots.IMAGE_C + 1] = steps[:2]
    plan[-slots.FIELDS * geometry.axes + slots.IMAGE_STEP :: slots.FIELDS] = steps[2:]
    plan[slots.COL_N : slots.COL_WINDOW + 1] = [step // itemsize for step in col.strides]
    plan[slots.CHANNELS] = image.shape[1]
    plan[slots.CONTIGUOUS] = contiguous
    plan[slots.WHOLE] = plan[slots.WHOLE] and contiguous
    plan[slots.TILES] = (
        plan[slots.TILES]
        and ACCUMULATORS[dtype] == dtype
        and col.strides[1:] == (geometry.L * itemsize, itemsize)
    )
    return plan
