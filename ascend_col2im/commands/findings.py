"""What the doctor finds: one check's outcome."""

from __future__ import annotations

from typing import Literal, NamedTuple

State = Literal["ok", "warn", "fail", "not applicable"]


class Finding(NamedTuple):
    """One check's outcome; ``exit_code`` is what it asks the command to end with."""

    check: str
    state: State
    found: str
    cure: str = ""
    exit_code: int = 0
