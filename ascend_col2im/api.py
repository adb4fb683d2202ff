"""The public functions: arguments to a checked plan, and the plan to a backend."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from . import backends, messages, outputs, parameters, rules
from .geometry import Ints
from .overlap import axis_overlap
from .parameters import Size

if TYPE_CHECKING:
    import torch

Array = npt.NDArray[Any]


@overload
def col2im(
    col: torch.Tensor,
    output_size: Size,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    out: torch.Tensor | None = None,
    backend: backends.Name = "auto",
) -> torch.Tensor: ...


@overload
def col2im(
    col: npt.ArrayLike,
    output_size: Size,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    out: Array | None = None,
    backend: backends.Name = "auto",
) -> Array: ...


def col2im(
    col: Any,
    output_size: Size,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    out: Any = None,
    backend: backends.Name = "auto",
) -> Any:
    """Add the columns of sliding windows up into an image: torch's ``fold``, ONNX ``Col2Im``.

    Parameters
    ----------
    col : array or torch tensor, ``(N, C*K, L)`` or unbatched ``(C*K, L)``
        K is the product of ``kernel_size``, the channel axis is ordered channel first, then kernel
        offsets row-major; L is the number of windows, last axis fastest. Never copied or modified.
        Any dtype of `ascend_col2im.facts.ACCUMULATORS`.
    output_size : int or D ints, in pixels
        The image's spatial size. An int means two equal axes; a sequence fixes D.
    kernel_size, stride, dilation : int or D ints, in pixels
    padding : int, D ints, or D pairs ``(begin, end)``, in pixels
    out : array of the result's shape and dtype, to be overwritten; or None
    backend : "auto", "cpu" or "npu"
        "auto" runs where the array lives; an explicit choice never falls back.

    Returns
    -------
    ``(N, C, *output_size)`` or ``(C, *output_size)``, of ``col``'s dtype. float16 and bfloat16 are
    summed in float32 and rounded once; integers wrap; bool is OR.

    Raises
    ------
    RuleError
        A `ValueError` with the broken rule's name as ``.rule`` (`DtypeError` for dtypes).
    BackendError
        If ``backend`` cannot run here.

    Examples
    --------
    >>> import numpy as np
    >>> col2im(np.ones((1, 4, 4)), output_size=3, kernel_size=2)[0, 0]
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]])

    Source: PyTorch's ``torch.nn.Fold`` and the ONNX operator ``Col2Im`` (since opset 18).
    """
    if _is_tensor(col):
        from . import torch_op

        return torch_op.dispatch_col2im(
            col, output_size, kernel_size, stride, padding, dilation, out, backend
        )
    op = "col2im"
    engine = backends.engine(op, backend)
    col = _readable(op, "col", col, engine.target)
    _check_out_dtype(op, "col", col, out)
    rules.check_col_rank(op, col.shape)
    given = parameters.col2im_parameters(
        op, engine.target, output_size, kernel_size, stride, padding, dilation
    )
    plan = rules.col2im_plan(op, col.shape, given, engine.target)
    image = _output(op, plan, plan.image_shape, "col", col, out)
    if image.size:
        engine.col2im(
            col.reshape(plan.N, plan.C * plan.geometry.K, plan.geometry.L),
            plan.geometry,
            image.reshape(plan.N, plan.C, *plan.geometry.output_size),
        )
    return image if out is None else out


@overload
def im2col(
    x: torch.Tensor,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    out: torch.Tensor | None = None,
    backend: backends.Name = "auto",
) -> torch.Tensor: ...


@overload
def im2col(
    x: npt.ArrayLike,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    out: Array | None = None,
    backend: backends.Name = "auto",
) -> Array: ...


def im2col(
    x: Any,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    out: Any = None,
    backend: backends.Name = "auto",
) -> Any:
    """Copy the sliding windows of an image into columns: torch's ``unfold``, adjoint of `col2im`.

    Parameters
    ----------
    x : array or torch tensor, ``(N, C, *spatial)`` or unbatched ``(C, *spatial)``
        Never modified. Any dtype of `ascend_col2im.facts.ACCUMULATORS`.
    kernel_size : int or D ints, in pixels
        An int means two equal axes; a sequence fixes D.
    stride, dilation : int or D ints, in pixels
    padding : int, D ints, or D pairs ``(begin, end)``, in pixels, filled with 0
    out : array of the result's shape and dtype, to be overwritten; or None
    backend : "auto", "cpu" or "npu"

    Returns
    -------
    ``(N, C*K, L)`` or ``(C*K, L)``, of ``x``'s dtype; see `col2im` for K and L.

    Raises
    ------
    RuleError
        A `ValueError` with the broken rule's name as ``.rule`` (`DtypeError` for dtypes).
    BackendError
        If ``backend`` cannot run here.

    Examples
    --------
    >>> import numpy as np
    >>> im2col(np.arange(6.0).reshape(1, 2, 3), kernel_size=2)
    array([[0., 1.],
           [1., 2.],
           [3., 4.],
           [4., 5.]])

    Source: PyTorch's ``torch.nn.Unfold``.
    """
    if _is_tensor(x):
        from . import torch_op

        return torch_op.dispatch_im2col(x, kernel_size, stride, padding, dilation, out, backend)
    op = "im2col"
    engine = backends.engine(op, backend)
    x = _readable(op, "x", x, engine.target)
    _check_out_dtype(op, "x", x, out)
    given = parameters.im2col_parameters(
        op, engine.target, x.shape, kernel_size, stride, padding, dilation
    )
    plan = rules.im2col_plan(op, x.shape, given, engine.target)
    col = _output(op, plan, plan.col_shape, "x", x, out)
    if col.size:
        engine.im2col(
            x.reshape(plan.N, plan.C, *plan.geometry.output_size),
            plan.geometry,
            col.reshape(plan.N, plan.C * plan.geometry.K, plan.geometry.L),
        )
    return col if out is None else out


def overlap_count(
    output_size: Size,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
) -> npt.NDArray[np.int64]:
    """Count how many windows cover each pixel.

    Where no count is 0, ``col2im(im2col(x, ...), ...) / overlap_count(...)`` gives x back.

    Parameters
    ----------
    output_size : int or D ints, in pixels
        The image's spatial size. An int means two equal axes; a sequence fixes D.
    kernel_size, stride, padding, dilation : as for `col2im`

    Returns
    -------
    int64 array of shape ``output_size``.

    Raises
    ------
    RuleError
        A `ValueError` with the broken rule's name as ``.rule``.

    Examples
    --------
    >>> overlap_count((3,), (2,))
    array([1, 2, 1])
    """
    op = "overlap_count"
    given = parameters.col2im_parameters(
        op, "cpu", output_size, kernel_size, stride, padding, dilation
    )
    geometry = rules.checked_geometry(op, given)
    count = _allocate(op, "the count", geometry.output_size, np.dtype(np.int64))
    count[...] = 1
    for axis in range(geometry.axes):
        along = axis_overlap(geometry, axis)
        count *= along.reshape((-1,) + (1,) * (geometry.axes - axis - 1))
    return count


def _is_tensor(array: object) -> bool:
    torch_module = sys.modules.get("torch")
    return torch_module is not None and isinstance(array, torch_module.Tensor)


def _is_masked(array: object) -> bool:
    # NumPy imports numpy.ma, a megabyte, when it is first named
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


def _readable(op: str, name: str, array: object, target: str) -> Array:
    """Return the argument as an array of a dtype the target takes, without copying arrays."""
    if _is_masked(array):
        messages.refuse(op, "dtype", f"{name} is a masked array; fill it first: {name}.filled(0)")
    try:
        readable = np.asarray(array)
    except (TypeError, ValueError, RuntimeError) as error:  # also of foreign conversions
        reason = messages.one_line(str(error))
        messages.refuse(op, "dtype", f"{name} is not an array of numbers: {reason}")
    rules.check_dtype(op, name, _name(readable.dtype), target)
    return readable


@lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    """Return a dtype's name, which NumPy composes anew each time."""
    return dtype.name


def _check_out_dtype(op: str, name: str, array: Array, out: object) -> None:
    if isinstance(out, np.ndarray):
        rules.check_out_dtype(op, name, _name(array.dtype), _name(out.dtype))


def _output(op: str, plan: rules.Plan, shape: Ints, name: str, array: Array, out: object) -> Array:
    """Return the array to write the result into: ``out`` once it is checked, or a new one."""
    if out is not None:
        out = _writable(op, shape, name, array, out)
    rules.check_addressable(op, plan, array.itemsize)
    return out if out is not None else _allocate(op, "the result", shape, array.dtype)


def _writable(op: str, shape: Ints, name: str, array: Array, out: object) -> Array:
    """Return ``out`` as a plain array, or refuse what cannot take the result."""
    if not isinstance(out, np.ndarray) or _is_masked(out):
        kind = type(out).__name__
        messages.refuse(op, "output", f"out is of type {kind}; must be a NumPy array")
    outputs.check_array(op, shape, name, array, out)
    return np.asarray(out)


def _allocate(op: str, name: str, shape: Ints, dtype: np.dtype[Any]) -> Array:
    """Return a new array in native byte order, or refuse one larger than the memory."""
    rules.check_memory(op, name, shape, dtype.itemsize)
    try:
        return np.empty(shape, dtype.newbyteorder("="))
    except MemoryError:
        rules.check_free_memory(op, name, shape, dtype.itemsize)
