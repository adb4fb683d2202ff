"""Of several broken rules the first of the table is reported: every pair of rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ascend_col2im import col2im, im2col, overlap_count
from ascend_col2im.rules import RULES
from tests.cases import every_axis
from tests.oracles import Array
from tests.refusals import refusal

FAR = 2**62


class Fold:
    """The arguments of a valid call, to be broken one rule at a time."""

    def __init__(self) -> None:
        self.shape = [1, 40, 1]
        self.dtype: Any = np.float32
        self.output_size = [3, 3]
        self.kernel_size = [2, 2]
        self.stride: list[Any] = [FAR, FAR]
        self.padding = [[0, 0], [0, 0]]
        self.dilation = [1, 1]
        self.out: Array | None = None

    def dtype_(self) -> None:
        self.dtype = object

    def rank(self) -> None:
        self.shape = [1, *self.shape]

    def arity(self) -> None:
        self.stride = [FAR, FAR, FAR]

    def positive(self) -> None:
        self.dilation[0] = 0

    def padding_(self) -> None:
        self.padding[0] = [-1, 0]

    def channels(self) -> None:
        self.shape[-2] += 1

    def kernel(self) -> None:
        self.kernel_size[0] = 5

    def windows(self) -> None:
        self.dilation[1] = FAR

    def length(self) -> None:
        self.shape[-1] += 1

    def output(self) -> None:
        self.out = np.zeros(1, np.float32)

    def size(self) -> None:
        self.output_size[1] = FAR

    def call_col2im(self) -> object:
        return col2im(
            np.zeros(self.shape, self.dtype),
            self.output_size,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            out=self.out,
        )


def breaking(rule: str) -> Callable[[Fold], None]:
    name = {"dtype": "dtype_", "padding": "padding_"}.get(rule, rule)
    method: Callable[[Fold], None] = getattr(Fold, name)
    return method


ORDER = [rule for rule in RULES if rule != "format"]


def test_a_call_that_breaks_no_rule_passes() -> None:
    Fold().call_col2im()


@pytest.mark.parametrize("rule", ORDER)
def test_a_broken_rule_is_the_one_reported(rule: str) -> None:
    fold = Fold()
    breaking(rule)(fold)
    assert refusal(fold.call_col2im).rule == rule


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(ORDER, 2)))
def test_of_two_broken_rules_the_earlier_is_reported(first: str, second: str) -> None:
    fold = Fold()
    breaking(second)(fold)
    breaking(first)(fold)
    assert refusal(fold.call_col2im).rule == first


UNFOLD_BROKEN: dict[str, dict[str, Any]] = {
    "dtype": {"dtype": object},
    "rank": {"shape": (3, 3)},
    "arity": {"stride": (1, 1, 1)},
    "positive": {"dilation": (1, 0)},
    "padding": {"padding": [(-1, 0), (0, 0)]},
    "kernel": {"kernel_size": (7, 2)},
    "windows": {"dilation": (1, FAR)},
    "output": {"out": np.zeros(1, np.float32)},
    "size": {"padding": [(0, 0), (2**61, 0)]},
}
INCOMPATIBLE = {("positive", "windows"), ("padding", "size")}


@pytest.mark.parametrize(
    ("first", "second"), sorted({*itertools.combinations(UNFOLD_BROKEN, 2)} - INCOMPATIBLE)
)
def test_im2col_reports_the_earlier_of_two_broken_rules(first: str, second: str) -> None:
    call: dict[str, Any] = {"shape": (1, 1, 3, 3), "dtype": np.float32, "kernel_size": 2}
    call |= {**UNFOLD_BROKEN[second], **UNFOLD_BROKEN[first]}
    x = np.zeros(call.pop("shape"), call.pop("dtype"))
    assert refusal(im2col, x, **call).rule == first


def test_kernel_and_windows_are_refused_exactly_where_no_window_fits() -> None:
    refused = 0
    for axis in every_axis():
        size, begin, end = axis.output_size[0], axis.pad_begin[0], axis.pad_end[0]
        if axis.valid:
            overlap_count(**axis.kwargs)
            continue
        rule = "kernel" if axis.kernel_size[0] > size + begin + end else "windows"
        assert refusal(overlap_count, **axis.kwargs).rule == rule, axis
        refused += 1
    assert refused > 500
