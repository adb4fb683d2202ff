"""A program that compares tensors of the real torch_npu, on the deployed kernels, with the CPU."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import torch

from ascend_col2im import aclnn, col2im, im2col
from ascend_col2im.facts import TARGETS

FOLDS: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((4, 4), (2, 2), {}),
    ((9, 7), (3, 2), {"stride": 2, "padding": ((1, 2), (0, 1)), "dilation": (2, 1)}),
    ((7, 6, 5), (2, 1, 3), {"stride": (1, 2, 1), "padding": ((0, 1), (0, 0), (1, 1))}),
)


def compare(
    dtype: torch.dtype, output_size: tuple[int, ...], kernel_size: tuple[int, ...], fold: Any
) -> None:
    """Fold random columns on both, and differentiate; compare all bits."""
    x = torch.randn(2, 3, *output_size).to(dtype)
    col = torch.randn_like(im2col(x, kernel_size, **fold))
    on_npu: Any = col.to("npu").requires_grad_()
    image = col2im(on_npu, output_size, kernel_size, **fold)
    assert image.device.type == "npu"
    expected = col2im(col, output_size, kernel_size, **fold)
    assert torch.equal(image.detach().cpu(), expected), (dtype, fold)
    image.backward(x.to("npu"))
    assert torch.equal(on_npu.grad.cpu(), im2col(x, kernel_size, **fold)), (dtype, fold)


if __name__ == "__main__":
    import_module("torch_npu")  # registers the device
    torch.manual_seed(0)
    warnings.filterwarnings("error", ".*runs on the CPU")  # a silent way to the CPU is an error
    target = TARGETS[aclnn.target().name]
    for name in target.dtypes:
        for case in FOLDS:
            compare(getattr(torch, name), *case)
    print(f"{target.name}: {', '.join(target.dtypes)}")
