"""How the rules speak: the one way to raise, and the notation Python and C++ share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NoReturn

from .errors import DtypeError, RuleError


def refuse(op: str, rule: str, sentence: str) -> NoReturn:
    """Raise the error of one rule."""
    raise (DtypeError if rule == "dtype" else RuleError)(op, rule, sentence)


def listed(values: Iterable[object]) -> str:
    """Write a list as the sentences do, for Python and C++ alike: ``(3, 4)``."""
    return f"({', '.join(map(str, values))})"


def product(values: Sequence[int]) -> str:
    """Write a product with its factors: ``3 * 4 = 12``, or ``12`` alone."""
    if len(values) == 1:
        return str(values[0])
    return f"{' * '.join(map(str, values))} = {math.prod(values)}"
