"""Arguments come from a cache, which must not take one spelling of a number for another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_col2im import RuleError, overlap_count
from ascend_col2im.parameters import col2im_parameters


def spread(stride: Any) -> Any:
    return col2im_parameters("col2im", "cpu", (4, 4), (2, 2), stride, 0, 1).stride


@pytest.mark.parametrize(
    "equal", [True, 1.0, np.True_, np.float32(1), (1, True), (1.0, 1), [True]]
)
def test_what_equals_an_int_is_refused_after_the_int_was_taken(equal: Any) -> None:
    for known in (1, (1, 1), [1]):
        assert spread(known) == (1, 1)
    for _ in range(2):
        with pytest.raises(RuleError, match="must be an integer"):
            spread(equal)


@pytest.mark.parametrize("equal", [np.int64(2), np.array([2, 2]), [2], [np.uint8(2), 2]])
def test_what_is_spread_is_of_plain_ints_whichever_spelling_came_first(equal: Any) -> None:
    for stride in (equal, 2, (2, 2), equal):
        assert set(map(type, spread(stride))) == {int}
        assert spread(stride) == (2, 2)


def test_a_refusal_is_repeated() -> None:
    for _ in range(2):
        with pytest.raises(RuleError, match="stride has 3 values"):
            spread((1, 1, 1))


def test_a_list_that_changes_between_calls_means_its_new_values() -> None:
    kernel_size = [2, 2]
    assert overlap_count((3, 3), kernel_size).max() == 4
    kernel_size[:] = 1, 1
    assert overlap_count((3, 3), kernel_size).max() == 1
