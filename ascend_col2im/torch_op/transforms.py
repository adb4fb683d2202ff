"""The operators under autograd, `torch.func` and forward-mode differentiation.

Both are linear: each maps a tangent as it maps the tensor itself, its derivative is its adjoint,
which is the other operator, and a batch of calls is one call on a larger batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.autograd import forward_ad

from .operators import Operator, Sizes, col2im, im2col


def apply(operator: Operator, x: torch.Tensor, *sizes: Sizes) -> torch.Tensor:
    """Call an operator in whatever transforms are active.

    `torch.library` serves autograd; it has nothing for forward-mode differentiation and does not
    compose with `torch.func`, so there a `torch.autograd.Function` goes around the operator.
    """
    if forward_ad._current_level >= 0 or _is_differentiated():
        transformed: Callable[..., torch.Tensor] = _Transformed.apply
        return transformed(x, operator, sizes)
    result: torch.Tensor = operator(x, *sizes)
    return result


def _is_differentiated() -> bool:
    """Whether `torch.func` transforms are active that need more than the operator itself has.

    Through `torch.func.functionalize` it goes as it is, and there a Function could not.
    """
    if not torch._C._are_functorch_transforms_active():
        return False
    active = {level.key() for level in torch._C._functorch.get_interpreter_stack() or ()}
    transforms = torch._C._functorch.TransformType
    return transforms.Functionalize not in active or bool(
        active & {transforms.Grad, transforms.Jvp}
    )


class _Transformed(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor, operator: Operator, sizes: Sequence[Sizes]) -> torch.Tensor:
        result: torch.Tensor = operator(x, *sizes)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        x, ctx.operator, ctx.sizes = inputs
        ctx.adjoint = _adjoint(x, ctx.operator, ctx.sizes)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        operator, sizes = ctx.adjoint
        return apply(operator, grad, *sizes), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor, *others: None) -> torch.Tensor:
        return apply(ctx.operator, tangent, *ctx.sizes)

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[Any, ...],
        x: torch.Tensor,
        operator: Operator,
        sizes: Sequence[Sizes],
    ) -> tuple[torch.Tensor, int]:
        return _over_batch(operator, partial(apply, operator), x, in_dims[0], sizes)


def _adjoint(
    x: torch.Tensor, operator: Operator, sizes: Sequence[Sizes]
) -> tuple[Operator, Sequence[Sizes]]:
    """Return the other operator, and the sizes with which it maps back to the shape of x."""
    if operator is col2im:
        return im2col, sizes[1:]
    axes = len(sizes[0])
    return col2im, (x.shape[-axes:], *sizes)


def _over_batch(
    operator: Operator,
    call: Callable[..., torch.Tensor],
    x: torch.Tensor,
    axis: int,
    sizes: Sequence[Sizes],
) -> tuple[torch.Tensor, int]:
    """Let ``call`` apply the operator at once to every slice of ``x`` along an axis.

    Returns the stacked results and the axis along which they are stacked.
    """
    x = x.movedim(axis, 0)
    batched_axes = 3 if operator is col2im else len(sizes[0]) + 2
    if x.dim() == batched_axes:
        return call(x, *sizes), 0
    if x.dim() == batched_axes + 1:
        result = call(x.flatten(0, 1), *sizes)
        return result.reshape(*x.shape[:2], *result.shape[1:]), 0
    # A slice has a wrong number of axes: let the operator say so.
    return call(torch.empty(x.shape[1:], dtype=x.dtype, device="meta"), *sizes), 0


def _register(operator: Operator) -> None:
    """Give an operator itself derivatives, and a rule for `torch.vmap`."""

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        x, *sizes = inputs
        ctx.nothing = (None,) * len(sizes)
        ctx.adjoint = _adjoint(x, operator, sizes)

    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        adjoint, sizes = ctx.adjoint
        return apply(adjoint, grad, *sizes), *ctx.nothing

    def vmap(
        info: Any, in_dims: tuple[Any, ...], x: torch.Tensor, *sizes: Sizes
    ) -> tuple[torch.Tensor, int]:
        return _over_batch(operator, operator, x, in_dims[0], sizes)

    torch.library.register_autograd(operator.name(), backward, setup_context=setup_context)
    # torch 2.4 has no such rules; there torch.vmap of a bare operator calls it for every x[i].
    if hasattr(torch.library, "register_vmap"):
        torch.library.register_vmap(operator.name(), vmap)


_register(col2im)
_register(im2col)
