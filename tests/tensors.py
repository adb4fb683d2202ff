"""Between torch tensors and NumPy arrays in the tests, bfloat16 included."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import torch

from tests.oracles import Array


def tensor_of(array: Array) -> torch.Tensor:
    """Return a tensor with the same values."""
    array = np.array(array, order="C")
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array_of(tensor: torch.Tensor) -> Array:
    """Return an array with the same values."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return np.asarray(tensor.numpy())


def columns(N: int = 2, C: int = 3, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return columns for an image of 4 by 4 and a kernel of 2 by 2."""
    return torch.arange(1, N * C * 36 + 1).reshape(N, C * 4, 9).to(dtype)
