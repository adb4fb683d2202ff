"""torch's own fold on the CPU, ready to be timed beside this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..workloads import Fold

Array = npt.NDArray[Any]


def prepare(
    fold: Fold, col: Array, threads: int
) -> tuple[Callable[[], torch.Tensor], Callable[[Any], Array]]:
    """Return what folds ``col`` with torch on so many threads, and what reads its result.

    The number of threads is that of the whole process.

    Raises
    ------
    ValueError
        If torch's fold has no words for this fold.
    """
    geometry = fold.geometry
    if geometry.axes != 2:
        raise ValueError(f"torch folds 2 axes only, not {geometry.axes}")
    if geometry.pad_begin != geometry.pad_end:
        raise ValueError("torch takes one padding per axis")
    torch.set_num_threads(threads)
    bits = torch.uint16 if col.dtype.name == "bfloat16" else None
    tensor = torch.from_numpy(col.view(np.uint16) if bits else col)
    tensor = tensor.view(torch.bfloat16) if bits else tensor

    def run() -> torch.Tensor:
        return torch.nn.functional.fold(
            tensor,
            geometry.output_size,
            geometry.kernel_size,
            geometry.dilation,
            geometry.pad_begin,
            geometry.stride,
        )

    def read(image: torch.Tensor) -> Array:
        array = (image.view(bits) if bits else image).numpy()
        return array.view(col.dtype)

    return run, read
