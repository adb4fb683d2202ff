"""Arrays to write a result into: whether a user's ``out`` can take it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from . import messages, rules
from .geometry import Ints

Array = npt.NDArray[Any]

OVERLAP_WORK: Final[Any] = 1000
"""Steps spent on whether two arrays share memory, which is exponential at worst. NumPy takes any
number; its type stubs know two."""


def check_array(op: str, shape: Ints, name: str, array: Array, out: Array) -> None:
    """Refuse an ``out`` that cannot take a result of this shape, computed from ``array``.

    Raises
    ------
    RuleError
        For the rule output.
    """
    rules.check_out_shape(op, out.shape, shape)
    if not out.flags.writeable:
        messages.refuse(op, "output", "out is read-only; must be writable")
    shared = share_memory(out, array)
    rules.check_out_layout(op, name, shape, out.strides, out.itemsize, shared)


def share_memory(first: Array, second: Array) -> bool:
    """Whether two arrays share an element, or it would take too long to tell."""
    try:
        return np.shares_memory(first, second, max_work=OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True
