"""How the rules speak: the one way to raise, and the notation Python and C++ share."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NoReturn

from .errors import DtypeError, RuleError

LISTED: Final = 16
"""Entries of a list that a sentence shows; what is longer ends in an ellipsis."""


class _Repr(reprlib.Repr):
    """Python's own notation, cut short: what a user passed may be of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to write integers of more than 4300 digits
        bits = value.bit_length()
        return repr(value) if bits <= 128 else f"<an integer of {bits} bits>"


def shown(value: object) -> str:
    """Write any value a user may have passed, in bounded length and on one line."""
    return one_line(_Repr().repr(value))


def one_line(text: str) -> str:
    """Put a text from elsewhere on one line."""
    return " ".join(text.split())


def refuse(op: str, rule: str, sentence: str) -> NoReturn:
    """Raise the error of one rule."""
    raise (DtypeError if rule == "dtype" else RuleError)(op, rule, sentence)


def listed(values: Iterable[object]) -> str:
    """Write a list as the sentences do, for Python and C++ alike: ``(3, 4)``."""
    entries = list(map(str, islice(values, LISTED + 1)))
    if len(entries) > LISTED:
        entries[LISTED] = "..."
    return f"({', '.join(entries)})"


def product(values: Sequence[int]) -> str:
    """Write a product with its factors: ``3 * 4 = 12``, or ``12`` alone."""
    if len(values) == 1:
        return str(values[0])
    return f"{' * '.join(map(str, values))} = {math.prod(values)}"
