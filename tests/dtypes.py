"""Arrays of every dtype of the operator, bfloat16 included."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.oracles import Array

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def dtype_of(name: str) -> np.dtype[Any]:
    """Return the dtype of a name in `ascend_col2im.facts.ACCUMULATORS`."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def random_array(name: str, shape: tuple[int, ...], seed: int = 3) -> Array:
    """Return values over the whole range of an integer or bool, around 0 for other dtypes."""
    rng = np.random.default_rng(seed)
    dtype = dtype_of(name)
    if dtype.kind in "iub":
        bits = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
        return bits[..., 0] % 3 == 0 if name == "bool" else bits.view(dtype)[..., 0]
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(
        dtype
    )
