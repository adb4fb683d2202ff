"""`ascend_col2im.col2im` and `im2col` of tensors: the user's arguments to an operator call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import torch

from .. import backends, parameters, rules
from ..errors import BackendError
from ..facts import MAX_BYTES
from ..messages import refuse
from ..parameters import Parameters, exact
from . import operators, plain, tensors, transforms
from .plain import is_plain, is_plain_or_recorded, is_recorded


def dispatch_col2im(
    col: torch.Tensor,
    output_size: object,
    kernel_size: object,
    stride: object,
    padding: object,
    dilation: object,
    out: object,
    backend: str,
) -> torch.Tensor:
    """Compute `ascend_col2im.col2im` of a tensor, on its device and within its graph."""
    op = "col2im"
    sizes = (output_size, kernel_size, stride, padding, dilation)
    if known := _known(col, sizes, out, backend):
        return recorded_col2im(col, known) if is_recorded(col) else plain.col2im(col, known)
    _check_tensor(op, "col", col, out, backend)
    rules.check_col_rank(op, col.shape)
    if _is_plain_on_cpu(col) and (out is None or _is_plain_on_cpu(out)):
        given = parameters.col2im_parameters(op, "cpu", *sizes)
        plan = rules.col2im_plan(op, tuple(col.shape), given, "cpu")
        if out is None:
            tensors.checked(op, plan, plan.image_shape, col.itemsize)
        return tensors.col2im(col, plan, out)
    symbols = _Symbols()
    given = parameters.col2im_parameters(op, "cpu", *map(symbols.hide, sizes))
    image = transforms.apply(operators.col2im, col, *symbols.restore(given))
    return image if out is None else _written(op, "col", col, image, out)


def dispatch_im2col(
    x: torch.Tensor,
    kernel_size: object,
    stride: object,
    padding: object,
    dilation: object,
    out: object,
    backend: str,
) -> torch.Tensor:
    """Compute `ascend_col2im.im2col` of a tensor, on its device and within its graph."""
    op = "im2col"
    sizes = (kernel_size, stride, padding, dilation)
    if known := _known(x, sizes, out, backend):
        return recorded_im2col(x, known) if is_recorded(x) else plain.im2col(x, known)
    _check_tensor(op, "x", x, out, backend)
    if _is_plain_on_cpu(x) and (out is None or _is_plain_on_cpu(out)):
        shape = tuple(x.shape)
        given = parameters.im2col_parameters(op, "cpu", shape, *sizes)
        plan = rules.im2col_plan(op, shape, given, "cpu")
        if out is None:
            tensors.checked(op, plan, plan.col_shape, x.itemsize)
        return tensors.im2col(x, plan, out)
    symbols = _Symbols()
    shape = tuple(tensors.known_size(size) or 0 for size in x.shape)
    given = parameters.im2col_parameters(op, "cpu", shape, *map(symbols.hide, sizes))
    col = transforms.apply(operators.im2col, x, *symbols.restore(given)[1:])
    return col if out is None else _written(op, "x", x, col, out)


# A compiled graph takes these in whole: what they do to arguments is not worth tracing.
torch.compiler.allow_in_graph(dispatch_col2im)
torch.compiler.allow_in_graph(dispatch_im2col)


def _known(
    tensor: torch.Tensor, sizes: tuple[object, ...], out: object, backend: str
) -> tuple[Any, ...] | None:
    """Return the parameters if they and the tensor are such as `plain` takes."""
    if (
        out is None
        and isinstance(backend, str)
        and backend == "auto"
        and is_plain_or_recorded(tensor)
    ):
        return exact(sizes)
    return None


class _Col2Im(torch.autograd.Function):
    """Folding of plain tensors in a graph, for which `torch.library` takes ten times as long."""

    @staticmethod
    def forward(ctx: Any, col: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor:
        ctx.windows = sizes[1:]
        return plain.col2im(col, sizes)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        given: tuple[Any, ...] = (*ctx.windows, None, "auto")
        return dispatch_im2col(grad, *given), None


class _Im2Col(torch.autograd.Function):
    """Unfolding of plain tensors in a graph."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor:
        kernel_size = sizes[0]
        axes = len(kernel_size) if isinstance(kernel_size, tuple) else 2
        ctx.output_size, ctx.windows = tuple(x.shape[-axes:]), sizes
        return plain.im2col(x, sizes)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        given: tuple[Any, ...] = (ctx.output_size, *ctx.windows, None, "auto")
        return dispatch_col2im(grad, *given), None


recorded_col2im: Callable[..., torch.Tensor] = _Col2Im.apply
recorded_im2col: Callable[..., torch.Tensor] = _Im2Col.apply


def _is_plain_on_cpu(tensor: object) -> TypeGuard[torch.Tensor]:
    """Whether the CPU backend can read or write the tensor's own memory."""
    return is_plain(tensor) and tensor.is_cpu


def _check_tensor(op: str, name: str, tensor: torch.Tensor, out: object, backend: str) -> None:
    """Check the device and the rules dtype and format."""
    backends.check(op, backend)
    if not isinstance(tensor, torch.Tensor):  # which only the drop-ins let through
        refuse(op, "dtype", f"{name} is of type {type(tensor).__name__}; must be a torch tensor")
    _check_device(op, name, tensor, backend)
    dtype = tensors.dtype_name(tensor.dtype)
    rules.check_dtype(op, name, dtype, "cpu")
    if isinstance(out, torch.Tensor):
        rules.check_out_dtype(op, name, dtype, tensors.dtype_name(out.dtype))
        _check_format(op, "out", out)
    _check_format(op, name, tensor)


def _check_device(op: str, name: str, tensor: torch.Tensor, backend: str) -> None:
    device = tensor.device.type
    if device == "meta":
        return
    if backend not in ("auto", device):
        raise BackendError(
            f"{op}: backend {backend!r}: {name} is on {tensor.device}; "
            f"use 'auto' to run there, or move it first: {name}.to({backend!r})"
        )
    if device != "cpu" and not torch._C._dispatch_has_kernel_for_dispatch_key(
        f"ascend_col2im::{op}", torch._C._dispatch_key_for_device(device)
    ):
        raise BackendError(
            f"{op}: {name} is on {tensor.device}, for which there is no kernel here; "
            f"move it first: {name}.cpu()"
        )


def _check_format(op: str, name: str, tensor: torch.Tensor) -> None:
    if tensor.layout is not torch.strided or tensor.is_nested:
        layout = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        refuse(
            op, "format", f"{name} is {layout}; must be dense (strided), see torch.Tensor.to_dense"
        )


def _written(
    op: str, name: str, tensor: torch.Tensor, result: torch.Tensor, out: object
) -> torch.Tensor:
    """Copy a result that the dispatcher has computed into ``out``, once that is checked."""
    if not isinstance(out, torch.Tensor):
        refuse(op, "output", f"out is of type {type(out).__name__}; must be a torch tensor")
    if out.device != tensor.device:
        refuse(op, "output", f"out is on {out.device}; must be on {tensor.device}, as {name}")
    for argument, value in ((name, tensor), ("out", out)):
        if value.requires_grad and torch.is_grad_enabled():
            refuse(
                op,
                "output",
                f"out takes no part in autograd, but {argument} requires grad; "
                "call without out, or under torch.no_grad()",
            )
    if out.is_inference() and not torch.is_inference_mode_enabled():
        refuse(
            op,
            "output",
            "out is an inference tensor; can be written only under torch.inference_mode()",
        )
    shape = tuple(out.shape)
    rules.check_out_shape(op, shape, tuple(result.shape))
    shared = tensors.share_memory(op, tensor, out)
    rules.check_out_layout(op, name, shape, out.stride(), 1, shared)
    return out.copy_(result)


class _Symbols:
    """Symbolic sizes, hidden behind integers of their own while arguments are spread over axes.

    The integers are so negative that they stand for nothing else that a rule lets pass.
    """

    def __init__(self) -> None:
        self._sizes: list[Any] = []

    def hide(self, value: Any) -> Any:
        """Replace every symbolic size within an argument."""
        if isinstance(value, torch.SymInt):
            self._sizes.append(value)
            return len(self._sizes) - 1 - MAX_BYTES
        return [self.hide(entry) for entry in value] if isinstance(value, (tuple, list)) else value

    def restore(self, given: Parameters) -> tuple[tuple[Any, ...], ...]:
        """Put the symbolic sizes back where their integers went."""
        sizes = dict(enumerate(self._sizes, start=-MAX_BYTES))
        return tuple(tuple(sizes.get(value, value) for value in values) for values in given)
