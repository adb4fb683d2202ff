"""The operators ``ascend_col2im::col2im`` and ``ascend_col2im::im2col`` of `torch.library`.

Parameters are lists with one int per spatial axis, in the order of
`ascend_col2im.parameters.Parameters`.

Kernels check every rule themselves: operators can be called directly, and a graph traced with
symbolic sizes meets its real ones only there. A room with a kernel for another device registers it
with ``torch.library.impl("ascend_col2im::col2im", ...)``; all the rest here then serves it too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import torch

from .. import parameters, rules
from ..geometry import Ints, window_count
from ..messages import refuse
from . import tensors

Sizes = Sequence[int]
Operator = torch._ops.OpOverload

WINDOWS: Final = (
    "SymInt[] kernel_size, SymInt[] stride, "
    "SymInt[] pad_begin, SymInt[] pad_end, SymInt[] dilation"
)

torch.library.define(
    "ascend_col2im::col2im",
    f"(Tensor col, SymInt[] output_size, {WINDOWS}) -> Tensor",
    tags=torch.Tag.pt2_compliant_tag,
)
torch.library.define(
    "ascend_col2im::im2col", f"(Tensor x, {WINDOWS}) -> Tensor", tags=torch.Tag.pt2_compliant_tag
)

col2im: Final = torch.ops.ascend_col2im.col2im.default
im2col: Final = torch.ops.ascend_col2im.im2col.default


@torch.library.impl("ascend_col2im::col2im", "cpu")
def _col2im_cpu(col: torch.Tensor, *sizes: Sizes) -> torch.Tensor:
    rules.check_dtype("col2im", "col", tensors.dtype_name(col.dtype), "cpu")
    plan = _col2im_plan(tuple(col.shape), *map(tuple, sizes))
    return tensors.col2im(col, tensors.checked("col2im", plan, plan.image_shape, col.itemsize))


@torch.library.impl("ascend_col2im::im2col", "cpu")
def _im2col_cpu(x: torch.Tensor, *sizes: Sizes) -> torch.Tensor:
    rules.check_dtype("im2col", "x", tensors.dtype_name(x.dtype), "cpu")
    plan = _im2col_plan(tuple(x.shape), *map(tuple, sizes))
    return tensors.im2col(x, tensors.checked("im2col", plan, plan.col_shape, x.itemsize))


def _col2im_fake(col: torch.Tensor, output_size: Sizes, *windows: Sizes) -> torch.Tensor:
    rules.check_dtype("col2im", "col", tensors.dtype_name(col.dtype), "cpu")
    known = tensors.known_sizes(col.shape, output_size, *windows)
    if known is not None:
        rules.check_addressable("col2im", _col2im_plan(*known), col.itemsize)
    *batch, columns, _ = col.shape
    return col.new_empty((*batch, columns // math.prod(windows[0]), *output_size))


def _im2col_fake(x: torch.Tensor, *windows: Sizes) -> torch.Tensor:
    rules.check_dtype("im2col", "x", tensors.dtype_name(x.dtype), "cpu")
    known = tensors.known_sizes(x.shape, *windows)
    if known is not None:
        rules.check_addressable("im2col", _im2col_plan(*known), x.itemsize)
    kernel_size, stride, pad_begin, pad_end, dilation = windows
    *batch, C = x.shape[: -len(kernel_size)]
    L = math.prod(
        window_count(size, kernel, step, begin + end, spread)
        for size, kernel, step, begin, end, spread in zip(
            x.shape[-len(kernel_size) :],
            kernel_size,
            stride,
            pad_begin,
            pad_end,
            dilation,
            strict=True,
        )
    )
    return x.new_empty((*batch, C * math.prod(kernel_size), L))


torch.library.register_fake("ascend_col2im::col2im", _col2im_fake)
torch.library.register_fake("ascend_col2im::im2col", _im2col_fake)


@lru_cache(maxsize=4096)
def _col2im_plan(col_shape: Ints, output_size: Ints, *windows: Ints) -> rules.Plan:
    rules.check_col_rank("col2im", col_shape)
    given = parameters.col2im_parameters("col2im", "cpu", output_size, *paired("col2im", *windows))
    return rules.col2im_plan("col2im", col_shape, given, "cpu")


@lru_cache(maxsize=4096)
def _im2col_plan(image_shape: Ints, *windows: Ints) -> rules.Plan:
    given = parameters.im2col_parameters("im2col", "cpu", image_shape, *paired("im2col", *windows))
    return rules.im2col_plan("im2col", image_shape, given, "cpu")


def paired(
    op: str, kernel_size: Ints, stride: Ints, pad_begin: Ints, pad_end: Ints, dilation: Ints
) -> tuple[object, object, object, object]:
    """Put the operators' parameters back into the form that users give."""
    if len(pad_begin) != len(pad_end):
        refuse(
            op,
            "arity",
            f"pad_begin has {len(pad_begin)} values and pad_end {len(pad_end)}; "
            "must have as many as each other",
        )
    return kernel_size, stride, tuple(zip(pad_begin, pad_end, strict=True)), dilation
