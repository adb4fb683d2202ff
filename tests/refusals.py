"""Calls that break a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ascend_col2im import RuleError


def refusal(call: Callable[..., object], *args: Any, **kwargs: Any) -> RuleError:
    """Return the error that a call raises; it must raise one."""
    with pytest.raises(RuleError) as caught:
        call(*args, **kwargs)
    return caught.value
