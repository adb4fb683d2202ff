"""The validation rules, each with its one sentence, in the order in which they are checked.

The C++ host code checks the same rules in the same order with the same words after the rule's
name. Sentences therefore use the field's own terms whatever the caller's spelling, name axes by
index, and print lists as ``(3, 4)``, one-element lists as ``(3)``. One sentence is said by C++
alone: ``format: col has format NHWC; must be ND or NCHW``.
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from typing import Final, NamedTuple, NoReturn

from .facts import MAX_BYTES, TARGETS
from .geometry import Geometry, Ints, geometry, span
from .messages import listed, product, refuse
from .parameters import AXIS_PARAMETERS, Parameters

RULES: Final = {
    "dtype": "a dtype the target does not take; an `out` of another dtype than the input",
    "format": "a torch tensor that is not dense; on a device, one that is not ND or NCHW",
    "rank": "an array with a wrong number of axes; no spatial axis, or more than the target takes",
    "arity": "a per-axis parameter whose length is neither 1 nor D",
    "positive": "a parameter that is not an integer; a size, stride or dilation below 1",
    "padding": "a negative padding",
    "channels": "a channel axis of `col` that K does not divide",
    "kernel": "a kernel larger than the padded image",
    "windows": "a dilated window larger than the padded image",
    "length": "a last axis of `col` that is not L",
    "output": "an `out` that cannot take the result",
    "size": "an array beyond what the target addresses or has memory for",
}
"""Every rule in the order of checking, and what it refuses."""


class Plan(NamedTuple):
    """A call that satisfies the rules: its geometry and the sizes of both arrays."""

    geometry: Geometry
    N: int
    C: int
    col_shape: Ints
    image_shape: Ints


def check_dtype(op: str, name: str, dtype: str, target: str) -> None:
    """Refuse a dtype, given by name, that the target does not take."""
    accepted = TARGETS[target].dtypes
    if dtype not in accepted:
        refuse(op, "dtype", f"{name} is {dtype}; {target} takes {', '.join(accepted)}")


def check_out_dtype(op: str, name: str, dtype: str, out_dtype: str) -> None:
    """Refuse an output whose dtype is not the input's."""
    if out_dtype != dtype:
        refuse(op, "dtype", f"out is {out_dtype}; must be {dtype}, the dtype of {name}")


def check_out_shape(op: str, out_shape: Ints, shape: Ints) -> None:
    """Refuse an output whose shape is not the result's."""
    if out_shape != shape:
        refuse(op, "output", f"out has shape {listed(out_shape)}; the result has {listed(shape)}")


def check_out_layout(
    op: str, name: str, shape: Ints, strides: Ints, itemsize: int, shared: bool
) -> None:
    """Refuse an output whose elements share memory with each other or with the input.

    ``strides`` and ``itemsize`` are in one unit.
    """
    if 0 not in shape and not _lie_apart(shape, strides, itemsize):
        refuse(op, "output", "elements of out overlap; they must lie apart in memory")
    if shared:
        refuse(op, "output", f"out shares memory with {name}; must lie apart from it")


def _lie_apart(shape: Ints, strides: Ints, itemsize: int) -> bool:
    """Whether each axis steps over all that the axes of smaller strides cover.

    True of whatever slicing, transposing and reversing make of an array, false of what
    broadcasting and sliding windows do.
    """
    covered = itemsize
    for step, size in sorted(zip(map(abs, strides), shape, strict=True)):
        if size > 1:
            if step < covered:
                return False
            covered += step * (size - 1)
    return True


def check_memory(op: str, name: str, shape: Ints, itemsize: int) -> None:
    """Refuse a new array larger than the memory of this machine."""
    limit = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    check_size(op, name, shape, itemsize, limit, "the memory here holds")


def check_free_memory(op: str, name: str, shape: Ints, itemsize: int) -> NoReturn:
    """Refuse an array for which an allocation has just failed."""
    size = math.prod(shape) * itemsize
    refuse(
        op,
        "size",
        f"{name} of shape {listed(shape)} takes {size} bytes; the system does not give them now",
    )


def check_size(op: str, name: str, shape: Ints, itemsize: int, limit: int, owner: str) -> None:
    """Refuse an array of more bytes than ``limit``, which ``owner`` explains."""
    size = math.prod(shape) * itemsize
    if size > limit:
        refuse(
            op,
            "size",
            f"{name} of shape {listed(shape)} takes {size} bytes; {owner} at most {limit}",
        )


@lru_cache(maxsize=4096)
def col2im_plan(op: str, col_shape: Ints, parameters: Parameters, target: str) -> Plan:
    """Check the rules positive to length for one col2im call.

    Raises
    ------
    RuleError
        For the first rule that fails.
    """
    batched = len(col_shape) == 3
    N = col_shape[0] if batched else 1
    columns, length = col_shape[-2:]
    _check_positive(op, "col", col_shape, N, (("C*K", columns), ("L", length)), target)
    _check_parameters(op, parameters)
    K = math.prod(parameters.kernel_size)
    if columns % K:
        refuse(
            op,
            "channels",
            f"col has {columns} channels; must be a multiple of K = "
            f"{product(parameters.kernel_size)}, the product of kernel_size "
            f"{listed(parameters.kernel_size)}",
        )
    geo = _fitting_geometry(op, parameters)
    if length != geo.L:
        refuse(
            op,
            "length",
            f"col has L = {length}; output_size {listed(geo.output_size)}, "
            f"kernel_size {listed(geo.kernel_size)}, stride {listed(geo.stride)}, "
            f"padding {listed(geo.pad_begin)} + {listed(geo.pad_end)}, "
            f"dilation {listed(geo.dilation)} give {product(geo.windows)} windows",
        )
    C = columns // K
    shape = ((N,) if batched else ()) + (C, *geo.output_size)
    return Plan(geo, N, C, col_shape, shape)


@lru_cache(maxsize=4096)
def im2col_plan(op: str, image_shape: Ints, parameters: Parameters, target: str) -> Plan:
    """Check the rules positive to windows for one im2col call.

    Raises
    ------
    RuleError
        For the first rule that fails.
    """
    batched = len(image_shape) == len(parameters.output_size) + 2
    N = image_shape[0] if batched else 1
    C = image_shape[-len(parameters.output_size) - 1]
    _check_positive(op, "x", image_shape, N, (("C", C),), target)
    _check_parameters(op, parameters)
    geo = _fitting_geometry(op, parameters)
    shape = ((N,) if batched else ()) + (C * geo.K, geo.L)
    return Plan(geo, N, C, shape, image_shape)


def checked_geometry(op: str, parameters: Parameters) -> Geometry:
    """Check the rules positive to windows where there is no array.

    Raises
    ------
    RuleError
        For the first rule that fails.
    """
    _check_parameters(op, parameters)
    return _fitting_geometry(op, parameters)


def check_col_rank(op: str, col_shape: Ints) -> None:
    """Refuse columns that are neither ``(N, C*K, L)`` nor ``(C*K, L)``."""
    if len(col_shape) not in (2, 3):
        refuse(
            op,
            "rank",
            f"col has {len(col_shape)} axes, shape {listed(col_shape)}; must have 3 (N, C*K, L), "
            "or 2 (C*K, L) unbatched",
        )


def check_addressable(op: str, plan: Plan, itemsize: int) -> None:
    """Refuse arrays whose offsets do not fit in a signed 64-bit integer."""
    owner = "offsets of 64 bits reach"
    for name, shape in (("the column matrix", plan.col_shape), ("the image", plan.image_shape)):
        # NumPy refuses an empty array, too, whose other axes multiply to more
        one_sample = tuple(max(1, size) for size in shape) if 0 in shape else shape
        check_size(op, name, one_sample, itemsize, MAX_BYTES, owner)


def _check_positive(
    op: str,
    name: str,
    shape: Ints,
    N: int,
    others: tuple[tuple[str, int], ...],
    target: str,
) -> None:
    """Refuse an array without elements, but for an empty batch where the target takes one."""
    least = 0 if TARGETS[target].empty_batch else 1
    if least > N:
        refuse(op, "positive", f"{name} has N = {N}, shape {listed(shape)}; {target} needs N >= 1")
    for symbol, size in others:
        if size < 1:
            refuse(
                op,
                "positive",
                f"{name} has {symbol} = {size}, shape {listed(shape)}; must be >= 1",
            )


def _check_parameters(op: str, parameters: Parameters) -> None:
    """Check the rules positive and padding."""
    for name in AXIS_PARAMETERS:
        for axis, value in enumerate(getattr(parameters, name)):
            if value < 1:
                refuse(op, "positive", f"{name}[{axis}] is {value}; must be >= 1")
    for axis, (begin, end) in enumerate(
        zip(parameters.pad_begin, parameters.pad_end, strict=True)
    ):
        if begin < 0 or end < 0:
            refuse(op, "padding", f"padding[{axis}] is {listed((begin, end))}; must be >= 0")


def _fitting_geometry(op: str, parameters: Parameters) -> Geometry:
    """Check the rules kernel and windows."""
    geo = geometry(*parameters)
    padded = tuple(
        sum(sizes) for sizes in zip(geo.output_size, geo.pad_begin, geo.pad_end, strict=True)
    )
    for axis, kernel in enumerate(geo.kernel_size):
        if kernel > padded[axis]:
            refuse(
                op,
                "kernel",
                f"kernel_size[{axis}] is {kernel}; must be at most the padded image, "
                f"{_padded_size(geo, axis)}",
            )
    for axis, windows in enumerate(geo.windows):
        if windows < 1:
            kernel, dilation = geo.kernel_size[axis], geo.dilation[axis]
            refuse(
                op,
                "windows",
                f"a window spans dilation * (kernel_size - 1) + 1 = {dilation} * ({kernel} - 1) + "
                f"1 = {span(kernel, dilation)} along axis {axis}; must be at most the padded "
                f"image, {_padded_size(geo, axis)}",
            )
    return geo


def _padded_size(geo: Geometry, axis: int) -> str:
    size, begin, end = geo.output_size[axis], geo.pad_begin[axis], geo.pad_end[axis]
    return f"output_size[{axis}] + padding = {size} + {begin} + {end} = {size + begin + end}"
