"""Arguments as users give them, spread over the spatial axes: one exact int each.

Ints, NumPy integers and sequences of them are taken; bools, floats and strings are refused. A
single value stands for every axis, and where the parameter that fixes D is a single value, there
are two axes, as in torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from .facts import MAX_BYTES, TARGETS
from .geometry import Ints
from .messages import listed, refuse, shown

Size = int | npt.ArrayLike
"""What users may give: an int or a sequence of ints; a sequence of pairs for padding."""

AXIS_PARAMETERS: Final = ("output_size", "kernel_size", "stride", "dilation")


class Parameters(NamedTuple):
    """One fold's parameters with one int per spatial axis, not yet checked against the rules."""

    output_size: Ints
    kernel_size: Ints
    stride: Ints
    pad_begin: Ints
    pad_end: Ints
    dilation: Ints


@dataclass(frozen=True)
class OnnxPads:
    """Padding spelt as ONNX's ``pads``, to be split once the number of axes is known."""

    values: object


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


def split_pads(op: str, axes: int, pads: object) -> tuple[tuple[Any, Any], ...]:
    """Split ONNX's ``pads``, all begins and then all ends, into one ``(begin, end)`` per axis.

    One number stands for both sides of every axis.

    Raises
    ------
    RuleError
        For the rule arity.
    """
    if not _is_sequence(pads):
        return ((pads, pads),) * axes
    if len(pads) == 1:
        return ((pads[0], pads[0]),) * axes
    if len(pads) != 2 * axes:
        refuse(
            op,
            "arity",
            f"padding has {len(pads)} values, {_listed(pads)}; must have 1 or {2 * axes} values, "
            "all begins and then all ends",
        )
    entries = tuple(pads)
    return tuple(zip(entries[:axes], entries[axes:], strict=True))


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a per-axis parameter has entries; otherwise it is a single value."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(
        value, (str, bytes, bytearray, memoryview)
    )


def _is_integer(value: object) -> TypeGuard[int | np.integer[Any]]:
    # Python counts bool among the ints, NumPy timedelta64 among its integers
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def _axis_count(op: str, target: str, name: str, value: object) -> int:
    """Return how many spatial axes ``value`` stands for: two where it is one int, as in torch."""
    if not _is_sequence(value):
        return 2
    axes = len(value)
    if axes == 0:
        refuse(op, "rank", f"{name} is empty; needs one size per spatial axis")
    limit = TARGETS[target].max_axes
    if axes > limit:
        refuse(op, "rank", f"{name} has {axes} axes; {target} takes 1 to {limit}")
    return axes


def _per_axis(op: str, axes: int, *given: object) -> Parameters:
    """Spread every parameter over ``axes``, from a cache where they are spelt in ints alone."""
    known = exact(given)
    return _spread_all(op, axes, *given) if known is None else _known_spread(op, axes, *known)


def exact(given: tuple[object, ...]) -> tuple[Any, ...] | None:
    """Return arguments as keys of a cache, lists as tuples; None if not all are of ints alone.

    To a cache, 1 is the same as `True` and 1.0, which the rules refuse.
    """
    keys: list[object] = []
    for value in given:
        if type(value) is int:
            keys.append(value)
        elif isinstance(value, (tuple, list)) and _are_ints(value):
            keys.append(tuple(value))
        else:
            return None
    return tuple(keys)


def _are_ints(values: Sequence[object]) -> bool:
    """Whether all values are ints, or all are tuples of ints."""
    kinds = set(map(type, values))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(values)))  # type: ignore[arg-type]
    return kinds == {int}


def _spread_all(
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


_known_spread: Final = lru_cache(maxsize=4096)(_spread_all)


def _spread(op: str, axes: int, name: str, value: object) -> tuple[Any, ...]:
    if not _is_sequence(value):
        return (value,) * axes
    # the length first: a sequence may be longer than memory holds
    if len(value) == axes:
        return tuple(value)
    if len(value) == 1:
        return tuple(value) * axes
    lengths = "1 value" if axes == 1 else f"1 or {axes} values"
    refuse(op, "arity", f"{name} has {len(value)} values, {_listed(value)}; must have {lengths}")


def _listed(values: Sequence[Any]) -> str:
    return listed(shown(int(value) if _is_integer(value) else value) for value in values)


def _spread_padding(
    op: str, axes: int, padding: object
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split padding into begins and ends: an int, an int per axis, or a pair per axis."""
    if isinstance(padding, OnnxPads):
        padding = split_pads(op, axes, padding.values)
    entries = _spread(op, axes, "padding", padding)
    if not any(map(_is_sequence, entries)):
        return entries, entries
    begins, ends = [], []
    for axis, pair in enumerate(entries):
        if not _is_sequence(pair) or len(pair) != 2:
            refuse(
                op,
                "arity",
                f"padding[{axis}] is {shown(pair)}; must be a pair (begin, end), "
                "as for the other axes, or padding one int per axis",
            )
        begins.append(pair[0])
        ends.append(pair[1])
    return tuple(begins), tuple(ends)


def _integers(op: str, name: str, values: tuple[Any, ...]) -> Ints:
    return tuple(_integer(op, f"{name}[{axis}]", value) for axis, value in enumerate(values))


def _integer(op: str, name: str, value: Any) -> int:
    if not _is_integer(value):
        refuse(
            op,
            "positive",
            f"{name} is {shown(value)} of type {type(value).__name__}; must be an integer",
        )
    exact = int(value)
    if not -MAX_BYTES - 1 <= exact <= MAX_BYTES:
        bits = exact.bit_length() + 1
        refuse(op, "size", f"{name} is an integer of {bits} bits; must fit in 64, sign included")
    return exact
