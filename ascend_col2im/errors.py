"""The exceptions users can meet, and the exit code each of them gives the command line."""

from __future__ import annotations

from typing import ClassVar


class Col2ImError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code: ClassVar[int] = 1
    meaning: ClassVar[str] = "an error without a code of its own"


class RuleError(Col2ImError, ValueError):
    """The arguments break one of the validation rules.

    Attributes
    ----------
    op : the operation the user called, such as ``"col2im"``
    rule : the rule's name, such as ``"length"``
    sentence : the fact, the limit and the cure; the same words on every target
    """

    exit_code = 3
    meaning = "the arguments break a validation rule"

    def __init__(self, op: str, rule: str, sentence: str) -> None:
        super().__init__(op, rule, sentence)
        self.op = op
        self.rule = rule
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.op}: {self.rule}: {self.sentence}"


class DtypeError(RuleError, TypeError):
    """The rule ``dtype``: also a `TypeError`."""


class BackendError(Col2ImError, RuntimeError):
    """The backend that was asked for cannot run here."""

    exit_code = 4
    meaning = "the backend that was asked for cannot run here"


class FileError(Col2ImError, OSError):
    """A file cannot be read, written or understood."""

    exit_code = 5
    meaning = "a file cannot be read, written or understood"


class MissingExtraError(Col2ImError, ImportError):
    """An optional dependency is needed for this and is not installed."""

    exit_code = 6
    meaning = "an optional dependency is missing"


class MismatchError(Col2ImError, ArithmeticError):
    """A result differs from the independent computation it was checked against."""

    exit_code = 7
    meaning = "a result differs from its independent check"


class ToolchainError(Col2ImError, RuntimeError):
    """Building, deploying or removing an operator package is impossible or failed."""

    exit_code = 8
    meaning = "building, deploying or removing a package failed"


EXIT_CODES: dict[int, str] = {
    0: "success",
    Col2ImError.exit_code: Col2ImError.meaning,
    2: "the command line cannot be understood",
    **{
        error.exit_code: error.meaning
        for error in (
            RuleError,
            BackendError,
            FileError,
            MissingExtraError,
            MismatchError,
            ToolchainError,
        )
    },
    130: "interrupted",
}
"""Every exit code of the command line and what it means."""
