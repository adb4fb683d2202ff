"""Calls on plain tensors, for which the dispatcher would do nothing but call the kernel.

Then that is done directly, for the dispatcher takes longer than a small fold. What follows from an
argument list alone is kept for the next call with the same one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeGuard

import torch
from torch.autograd import forward_ad

from .. import parameters, rules
from ..geometry import Ints
from . import npu, tensors

_NO_KEY: Final = torch._C.DispatchKey.Undefined


def _key_set(*names: str) -> torch._C.DispatchKeySet:
    keys = torch._C.DispatchKeySet(_NO_KEY)
    for name in names:
        keys = keys.add(getattr(torch._C.DispatchKey, name))
    return keys


_PLAIN_KEYS: Final = _key_set(
    *("CPU", "AutogradCPU", "AutocastCPU"),
    *("PrivateUse1", "AutogradPrivateUse1", "AutocastPrivateUse1"),
    *("BackendSelect", "ADInplaceOrView"),
)
"""Left out are functorch, tracers, dispatch modes, subclasses, conjugate and negative views."""


def is_plain(tensor: object) -> TypeGuard[torch.Tensor]:
    """Whether the dispatcher would do nothing but call the tensor's device's kernel on it."""
    return (
        isinstance(tensor, torch.Tensor)
        and (tensor.is_cpu or tensor.device.type == "npu")
        and not (tensor.requires_grad and torch.is_grad_enabled())
        and (not tensor.is_inference() or torch.is_inference_mode_enabled())
        and not torch.overrides.has_torch_function_unary(tensor)
        and forward_ad._current_level < 0
        and not torch._C._autograd._profiler_enabled()  # which shows what is dispatched
        and _has_plain_keys(tensor)
    )


def _has_plain_keys(tensor: torch.Tensor) -> bool:
    keys = torch._C._dispatch_keys(tensor) | torch._C._dispatch_tls_local_include_set()
    return (keys - _PLAIN_KEYS).highestPriorityTypeId() == _NO_KEY


def col2im(col: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor:
    """Fold a plain tensor, its parameters being `ascend_col2im.parameters.exact`."""
    if col.is_cpu:
        return tensors.col2im(col, _col2im_plan(col.dtype, tuple(col.shape), sizes))
    return npu.col2im(col, sizes)


def im2col(x: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor:
    """Unfold a plain tensor, its parameters being `ascend_col2im.parameters.exact`."""
    if x.is_cpu:
        return tensors.im2col(x, _im2col_plan(x.dtype, tuple(x.shape), sizes))
    return npu.im2col(x, sizes)


@lru_cache(maxsize=4096)
def _col2im_plan(dtype: torch.dtype, shape: Ints, sizes: tuple[Any, ...]) -> rules.Plan:
    op = "col2im"
    rules.check_dtype(op, "col", tensors.dtype_name(dtype), "cpu")
    rules.check_col_rank(op, shape)
    plan = rules.col2im_plan(op, shape, parameters.col2im_parameters(op, "cpu", *sizes), "cpu")
    return tensors.checked(op, plan, plan.image_shape, dtype.itemsize)


@lru_cache(maxsize=4096)
def _im2col_plan(dtype: torch.dtype, shape: Ints, sizes: tuple[Any, ...]) -> rules.Plan:
    op = "im2col"
    rules.check_dtype(op, "x", tensors.dtype_name(dtype), "cpu")
    given = parameters.im2col_parameters(op, "cpu", shape, *sizes)
    plan = rules.im2col_plan(op, shape, given, "cpu")
    return tensors.checked(op, plan, plan.col_shape, dtype.itemsize)
