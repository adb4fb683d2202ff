"""Calls on plain tensors, for which the dispatcher would do nothing but call the kernel.

Then that is done directly, for the dispatcher takes longer than a small fold. What follows from an
argument list alone is kept for the next call with the same one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeGuard

import torch
from torch._C import _dispatch_keys, _dispatch_tls_local_include_set
from torch._C._autograd import _profiler_enabled
from torch.autograd import forward_ad
from torch.overrides import has_torch_function_unary

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
    return is_plain_or_recorded(tensor) and not is_recorded(tensor)


def is_recorded(tensor: torch.Tensor) -> bool:
    """Whether what is computed from the tensor goes into a graph."""
    return tensor.requires_grad and torch.is_grad_enabled()


def is_plain_or_recorded(tensor: object) -> TypeGuard[torch.Tensor]:
    """Whether the dispatcher would do no more than call that kernel and record it in a graph."""
    return (
        isinstance(tensor, torch.Tensor)
        and (tensor.is_cpu or tensor.device.type == "npu")
        and (not tensor.is_inference() or torch.is_inference_mode_enabled())
        and not has_torch_function_unary(tensor)
        and forward_ad._current_level < 0
        and not _profiler_enabled()  # which shows what is dispatched
        and not _other_keys(tensor)
    )


if hasattr(torch._C.DispatchKeySet, "raw_repr"):
    _OTHER_BITS: Final = ~_PLAIN_KEYS.raw_repr()

    def _other_keys(tensor: torch.Tensor) -> bool:
        keys = _dispatch_keys(tensor).raw_repr() | _dispatch_tls_local_include_set().raw_repr()
        return bool(keys & _OTHER_BITS)

else:  # torch before 2.5, where this takes twice as long

    def _other_keys(tensor: torch.Tensor) -> bool:
        keys = _dispatch_keys(tensor) | _dispatch_tls_local_include_set()
        return (keys - _PLAIN_KEYS).highestPriorityTypeId() != _NO_KEY


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
