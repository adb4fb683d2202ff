"""Tensors for the real torch_npu on a simulated installation; used in processes of their own."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from ascend_col2im.parameters import col2im_parameters
from ascend_col2im.rules import checked_geometry

SIZES: tuple[dict[str, Any], ...] = tuple(
    dict(zip(("output_size", "kernel_size", "stride", "padding", "dilation"), row, strict=True))
    for row in (
        ((4, 5), (2, 3), 1, 0, 1),
        ((9, 7), (3, 2), 2, 1, 2),
        ((9, 7), (3, 2), (2, 3), ((1, 2), (0, 1)), (2, 1)),
        ((11,), (3,), 2, ((1, 0),), 2),
        ((4, 5, 6), (2, 1, 3), (1, 2, 1), 0, (1, 1, 2)),
    )
)
DTYPES = ("float32", "float16", "bfloat16")


def ready() -> Any:
    """Import torch with torch_npu and the operators; a silent way to the CPU is an error."""
    import torch

    import_module("torch_npu")
    from ascend_col2im.torch_op import npu  # noqa: F401

    warnings.filterwarnings("error", message=".*runs on the CPU")
    return torch


def columns(sizes: dict[str, Any], torch: Any, dtype: str = "float32", N: int = 2) -> Any:
    """Return columns of small integers for a fold, on the CPU."""
    geometry = checked_geometry("test", col2im_parameters("test", "cpu", *sizes.values()))
    shape = (N, 3 * geometry.K, geometry.L)
    generator = torch.Generator().manual_seed(geometry.L)
    return torch.randint(-8, 9, shape, generator=generator).to(getattr(torch, dtype))


def unfold_sizes(sizes: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that unfold what a fold made."""
    return {name: value for name, value in sizes.items() if name != "output_size"}
