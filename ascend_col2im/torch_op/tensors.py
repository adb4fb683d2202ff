"""Tensors as the rules and the CPU backend see them: names, sizes and memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from .. import backends, cpu_fallback, outputs, rules
from ..errors import MissingExtraError
from ..geometry import Ints
from ..messages import refuse


def dtype_name(tensor: torch.Tensor) -> str:
    """Return the dtype's name, which torch and NumPy (ml_dtypes) share."""
    return str(tensor.dtype).removeprefix("torch.")


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
    """Fold a plain tensor of the CPU into ``out``, or into a new tensor, by the CPU backend."""
    source = array("col2im", "col", col)
    image, target = _output("col2im", "col", col, source, plan, plan.image_shape, out)
    if target.size:
        N, C, geometry = plan.N, plan.C, plan.geometry
        backends.cpu_col2im(
            source.reshape(N, C * geometry.K, geometry.L),
            geometry,
            target.reshape(N, C, *geometry.output_size),
            torch.get_num_threads(),
        )
    return image


def im2col(x: torch.Tensor, plan: rules.Plan, out: torch.Tensor | None = None) -> torch.Tensor:
    """Unfold a plain tensor of the CPU into ``out``, or into a new tensor, by the CPU backend."""
    source = array("im2col", "x", x)
    col, target = _output("im2col", "x", x, source, plan, plan.col_shape, out)
    if target.size:
        N, C, geometry = plan.N, plan.C, plan.geometry
        cpu_fallback.im2col(
            source.reshape(N, C, *geometry.output_size),
            geometry,
            target.reshape(N, C * geometry.K, geometry.L),
        )
    return col


def array(op: str, name: str, tensor: torch.Tensor) -> Any:
    """Return the tensor's own memory as a NumPy array, whatever its strides.

    Unlike `torch.Tensor.numpy`, this leaves the tensor's storage resizable, and takes bfloat16.

    Raises
    ------
    RuleError
        For the rule format, where the storage has been freed, as of sharded parameters.
    """
    if tensor.numel():
        if not tensor.data_ptr():
            refuse(op, "format", f"{name} has no memory: its storage has been freed")
        memory = np.asarray(_Memory(tensor))
    else:  # which may have no address
        memory = np.empty(tuple(tensor.shape), _type_string(tensor.dtype))
    return memory.view(_bfloat16()) if tensor.dtype is torch.bfloat16 else memory


class _Memory:
    """A tensor under NumPy's array interface, version 3; bfloat16 is two bytes without a kind."""

    def __init__(self, tensor: torch.Tensor) -> None:
        itemsize = tensor.itemsize
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "strides": tuple([step * itemsize for step in tensor.stride()]),
            "typestr": _type_string(tensor.dtype),
            "data": (tensor.data_ptr(), False),
        }


@lru_cache
def _type_string(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    return "|V2" if name == "bfloat16" else np.dtype(name).str


def _bfloat16() -> Any:
    try:
        import ml_dtypes
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "bfloat16 on the CPU needs ml_dtypes, which is not installed; pip install ml_dtypes"
        ) from error
    return ml_dtypes.bfloat16


def _output(
    op: str,
    name: str,
    tensor: torch.Tensor,
    source: Any,
    plan: rules.Plan,
    shape: Ints,
    out: torch.Tensor | None,
) -> tuple[torch.Tensor, Any]:
    """Return the tensor to write the result into, and its memory."""
    if out is not None:
        target = array(op, "out", out)
        outputs.check_array(op, shape, name, source, target)
    rules.check_addressable(op, plan, source.itemsize)
    if out is not None:
        if not out.is_inference():
            torch.autograd.graph.increment_version(out)
        return out, target
    rules.check_memory(op, "the result", shape, source.itemsize)
    try:
        result = tensor.new_empty(shape)
    except RuntimeError:
        rules.check_free_memory(op, "the result", shape, source.itemsize)
        raise
    return result, array(op, "the result", result)
