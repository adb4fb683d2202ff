"""Tensors as the rules and the CPU backend see them: names, sizes and memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import torch

from .. import backends, cpu_fallback, outputs, rules
from ..errors import MissingExtraError
from ..geometry import Ints
from ..messages import refuse


@cache
def dtype_name(dtype: torch.dtype) -> str:
    """Return the dtype's name, which torch and NumPy (ml_dtypes) share."""
    return str(dtype).removeprefix("torch.")


def known_size(size: object) -> int | None:
    """Return a size in the call at hand, or None if that cannot be told.

    While a graph is traced, a size may stand for many: a symbolic one has that of the call traced
    as its hint, unless it depends on values; to `torch.jit.trace` it is a tensor.
    """
    if isinstance(size, int):
        return size
    if isinstance(size, torch.SymInt) and size.node.has_hint():
        return int(size.node.hint)
    return None


def known_sizes(*lists: Sequence[object]) -> tuple[Ints, ...] | None:
    """Return `known_size` of every size, or None if one of them is None."""
    known = [[known_size(size) for size in sizes] for sizes in lists]
    if any(size is None for sizes in known for size in sizes):
        return None
    return tuple(tuple(size for size in sizes if size is not None) for sizes in known)


def col2im(col: torch.Tensor, plan: rules.Plan, out: torch.Tensor | None = None) -> torch.Tensor:
    """Fold a plain tensor of the CPU into ``out``, or into a new tensor, by the CPU backend.

    For a new tensor, ``plan`` is one that `checked` has seen.
    """
    op, N, C, geometry = "col2im", plan.N, plan.C, plan.geometry
    source = array(op, "col", col, (N, C * geometry.K, geometry.L))
    if out is None:
        image = _new(op, col, plan.image_shape)
    else:
        image = _writable(op, "col", col, plan, plan.image_shape, out)
    target = array(op, "the result", image, (N, C, *geometry.output_size))
    if target.size:
        backends.cpu_col2im(source, geometry, target, torch.get_num_threads())
    return image


def im2col(x: torch.Tensor, plan: rules.Plan, out: torch.Tensor | None = None) -> torch.Tensor:
    """Unfold a plain tensor of the CPU into ``out``, or into a new tensor, by the CPU backend.

    For a new tensor, ``plan`` is one that `checked` has seen.
    """
    op, N, C, geometry = "im2col", plan.N, plan.C, plan.geometry
    source = array(op, "x", x, (N, C, *geometry.output_size))
    if out is None:
        col = _new(op, x, plan.col_shape)
    else:
        col = _writable(op, "x", x, plan, plan.col_shape, out)
    target = array(op, "the result", col, (N, C * geometry.K, geometry.L))
    if target.size:
        cpu_fallback.im2col(source, geometry, target)
    return col


def array(op: str, name: str, tensor: torch.Tensor, shape: Ints | None = None) -> Any:
    """Return the tensor's own memory as a NumPy array, whatever its strides.

    Unlike `torch.Tensor.numpy`, this leaves the tensor's storage resizable, and takes bfloat16;
    the tensor has to outlive the array. ``shape`` adds or takes away an axis of one.

    Raises
    ------
    RuleError
        For the rule format, where the storage has been freed, as of sharded parameters.
    """
    dtype = _numpy_dtype(tensor.dtype)
    if shape is None:
        shape = tuple(tensor.shape)
    count = tensor.numel()
    if not count:  # which may have no address
        return np.empty(shape, dtype)
    address = tensor.data_ptr()
    if not address:
        refuse(op, "format", f"{name} has no memory: its storage has been freed")
    itemsize: int = dtype.itemsize
    if tensor.is_contiguous():
        return np.ndarray(shape, dtype, _bytes(count * itemsize).from_address(address))
    own_shape, strides = tuple(tensor.shape), [step * itemsize for step in tensor.stride()]
    covered = sum((size - 1) * step for size, step in zip(own_shape, strides, strict=True))
    memory = _bytes(covered + itemsize).from_address(address)
    return np.ndarray(own_shape, dtype, memory, 0, strides).reshape(shape)


def share_memory(op: str, tensor: torch.Tensor, out: torch.Tensor) -> bool:
    """Whether two tensors of one device share an element, as far as they have addresses.

    Those that are traced or wrapped have none; what they share does no harm, as the result has
    memory of its own before it is copied into ``out``.
    """
    try:
        addresses = tensor.data_ptr(), out.data_ptr()
    except RuntimeError:
        return False
    if not all(addresses):
        return False
    # Of arrays in the memory of a device, only the addresses are looked at.
    return outputs.share_memory(array(op, "the input", tensor), array(op, "out", out))


@lru_cache(maxsize=4096)
def _bytes(length: int) -> Any:
    """Return the type of so many bytes, which takes longer to make than to use."""
    return ctypes.c_char * length


@cache
def _numpy_dtype(dtype: torch.dtype) -> Any:
    return np.dtype(_bfloat16() if dtype is torch.bfloat16 else dtype_name(dtype))


def _bfloat16() -> Any:
    try:
        import ml_dtypes
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "bfloat16 on the CPU needs ml_dtypes, which is not installed; pip install ml_dtypes"
        ) from error
    return ml_dtypes.bfloat16


def checked(op: str, plan: rules.Plan, shape: Ints, itemsize: int) -> rules.Plan:
    """Return a plan whose new result, of a shape, can be addressed and fits the memory."""
    rules.check_addressable(op, plan, itemsize)
    rules.check_memory(op, "the result", shape, itemsize)
    return plan


def _writable(
    op: str, name: str, tensor: torch.Tensor, plan: rules.Plan, shape: Ints, out: torch.Tensor
) -> torch.Tensor:
    """Return ``out``, to be written into, or refuse what cannot take the result."""
    source = array(op, name, tensor)
    outputs.check_array(op, shape, name, source, array(op, "out", out))
    rules.check_addressable(op, plan, source.itemsize)
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)
    return out


def _new(op: str, tensor: torch.Tensor, shape: Ints) -> torch.Tensor:
    """Return a new tensor beside another, or refuse one for which there is no memory now."""
    try:
        return tensor.new_empty(shape)
    except RuntimeError:
        rules.check_free_memory(op, "the result", shape, tensor.itemsize)
        raise
