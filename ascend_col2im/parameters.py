"""Arguments as users give them, spread over the spatial axes: one exact int each.

Ints, NumPy integers and sequences of them are taken; bools, floats and strings are refused. A
single value stands for every axis, and where the parameter that fixes D is a single value, there
are two axes, as in torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .facts import MAX_BYTES, TARGETS
from .geometry import Ints
from .messages import listed, refuse

AXIS_PARAMETERS: Final = ("output_size", "kernel_size", "stride", "dilation")


class Parameters(NamedTuple):
    """One fold's parameters with one int per spatial axis, not yet checked against the rules."""

    output_size: Ints
    kernel_size: Ints
    stride: Ints
    pad_begin: Ints
    pad_end: Ints
    dilation: Ints


def col2im_parameters(
    op: str,
    target: str,
    output_size: object,
    kernel_size: object,
    stride: object,
    padding: object,
    dilation: object,
) -> Parameters:
    """Give every parameter one int per spatial axis; ``output_size`` fixes how many.

    Raises
    ------
    RuleError
        For the rules rank (spatial axes), arity, positive (not an integer), size (over 64 bits).
    """
    axes = _axis_count(op, target, "output_size", output_size)
    return _per_axis(op, axes, output_size, kernel_size, stride, padding, dilation)


def im2col_parameters(
    op: str,
    target: str,
    image_shape: Ints,
    kernel_size: object,
    stride: object,
    padding: object,
    dilation: object,
) -> Parameters:
    """Give every parameter one int per spatial axis; ``kernel_size`` fixes how many.

    Raises
    ------
    RuleError
        For the rules rank, arity, positive (not an integer) and size (beyond 64 bits).
    """
    axes = _axis_count(op, target, "kernel_size", kernel_size)
    if len(image_shape) not in (axes + 1, axes + 2):
        refuse(
            op,
            "rank",
            f"x has {len(image_shape)} axes, shape {listed(image_shape)}; kernel_size has {axes}, "
            f"so x needs {axes + 2} (N, C, *spatial), or {axes + 1} (C, *spatial) unbatched",
        )
    output_size = image_shape[-axes:]
    return _per_axis(op, axes, output_size, kernel_size, stride, padding, dilation)


def _entries(value: object) -> tuple[object, ...] | None:
    """Return a per-axis parameter's entries, or None where it is a single value."""
    if type(value) is tuple:
        return value
    if isinstance(value, np.ndarray):
        return tuple(value) if value.ndim else None
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return tuple(value)
    return None


def _axis_count(op: str, target: str, name: str, value: object) -> int:
    """Return how many spatial axes ``value`` stands for: two where it is one int, as in torch."""
    entries = _entries(value)
    if entries is None:
        return 2
    if not entries:
        refuse(op, "rank", f"{name} is empty; needs one size per spatial axis")
    limit = TARGETS[target].max_axes
    if limit is not None and len(entries) > limit:
        refuse(op, "rank", f"{name} has {len(entries)} axes; {target} takes 1 to {limit}")
    return len(entries)


def _per_axis(
    op: str,
    axes: int,
    output_size: object,
    kernel_size: object,
    stride: object,
    padding: object,
    dilation: object,
) -> Parameters:
    """Spread every parameter over ``axes``: first all lengths, then all entries' types."""
    spread = {
        name: _spread(op, axes, name, value)
        for name, value in zip(
            AXIS_PARAMETERS, (output_size, kernel_size, stride, dilation), strict=True
        )
    }
    begin, end = _spread_padding(op, axes, padding)
    ints = {name: _integers(op, name, values) for name, values in spread.items()}
    return Parameters(
        ints["output_size"],
        ints["kernel_size"],
        ints["stride"],
        _integers(op, "padding", begin),
        _integers(op, "padding", end),
        ints["dilation"],
    )


def _spread(op: str, axes: int, name: str, value: object) -> tuple[Any, ...]:
    entries = _entries(value)
    if entries is None:
        return (value,) * axes
    if len(entries) == axes:
        return entries
    if len(entries) == 1:
        return entries * axes
    lengths = "1 value" if axes == 1 else f"1 or {axes} values"
    refuse(
        op, "arity", f"{name} has {len(entries)} values, {listed(entries)}; must have {lengths}"
    )


def _spread_padding(
    op: str, axes: int, padding: object
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split padding into begins and ends: an int, an int per axis, or a pair per axis."""
    entries = _spread(op, axes, "padding", padding)
    pairs = [_entries(entry) for entry in entries]
    if all(pair is None for pair in pairs):
        return entries, entries
    begins, ends = [], []
    for axis, pair in enumerate(pairs):
        if pair is None or len(pair) != 2:
            refuse(
                op,
                "arity",
                f"padding[{axis}] is {entries[axis]!r}; must be a pair (begin, end), "
                "as for the other axes, or padding one int per axis",
            )
        begins.append(pair[0])
        ends.append(pair[1])
    return tuple(begins), tuple(ends)


def _integers(op: str, name: str, values: tuple[Any, ...]) -> Ints:
    return tuple(_integer(op, f"{name}[{axis}]", value) for axis, value in enumerate(values))


def _integer(op: str, name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        refuse(
            op,
            "positive",
            f"{name} is {value!r} of type {type(value).__name__}; must be an integer",
        )
    exact = int(value)
    if not -MAX_BYTES - 1 <= exact <= MAX_BYTES:
        bits = exact.bit_length() + 1
        refuse(op, "size", f"{name} is an integer of {bits} bits; must fit in 64, sign included")
    return exact
