"""Inputs that went wrong elsewhere, with the right answer: driven from the file alone."""

from __future__ import annotations

import builtins
import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascend_col2im import col2im
from tests.oracles import Array

CASES = json.loads((Path(__file__).parent / "data" / "public_reports.json").read_text())["cases"]


def consecutive(*shape: int, start: int = 1, dt: Any = np.float32) -> Array:
    return np.arange(start, start + math.prod(shape)).astype(dt).reshape(shape)


def ones(*shape: int, dt: Any = np.float32) -> Array:
    return np.ones(shape, dt)


def cancelling(dt: Any) -> Array:
    col = np.zeros((1, 4, 4), dt)
    col[0, 0, 3], col[0, 3, 0], col[0, 1, 2], col[0, 2, 1] = 6e4, -6e4, 6e4, -6e4
    return col


def window_count(image: Any, block: Any, stride: Any, pads: Any, dilation: Any) -> int:
    axes = len(image)
    return math.prod(
        (image[d] + pads[d] + pads[axes + d] - dilation[d] * (block[d] - 1) - 1) // stride[d] + 1
        for d in range(axes)
    )


NAMES = {
    "__builtins__": {},
    "np": np,
    "A": consecutive,
    "ONE": ones,
    "CANCEL": cancelling,
    "L": window_count,
}


class Outcome:
    """What one call gave, or raised, and the processor time of its thread."""

    def __init__(self, call: Callable[[], Array], patience_seconds: float = 120) -> None:
        self.image: Array | None = None
        self.error: Exception | None = None

        def run() -> None:
            begin = time.thread_time()
            try:
                self.image = call()
            except Exception as error:
                self.error = error
            self.seconds = time.thread_time() - begin

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(patience_seconds)
        assert not thread.is_alive(), f"still running after {patience_seconds} seconds"


def scalar(value: Any) -> Any:
    return complex(*value) if isinstance(value, list) else value


def check_image(image: Array, col: Array, expect: dict[str, Any]) -> set[str]:
    """Hold an image against what is expected of it; return the keys that were looked at."""
    checks: dict[str, Callable[[Any], Any]] = {
        "value": lambda value: np.testing.assert_array_equal(image, np.array(value)),
        "shape": lambda shape: np.testing.assert_equal(image.shape, tuple(shape)),
        "sum": lambda total: np.testing.assert_equal(image.sum(dtype=np.float64), total),
        "at": lambda pairs: np.testing.assert_equal(
            [image[tuple(index)] for index, _ in pairs], [scalar(value) for _, value in pairs]
        ),
        "approx": lambda value: np.testing.assert_allclose(image, value, rtol=1e-5),
        "dtype": lambda name: np.testing.assert_equal(
            image.dtype.name, col.dtype.name if name == "input" else name
        ),
    }
    for key in expect.keys() & checks.keys():
        checks[key](expect[key])
    if "value" in expect:
        assert image.shape == np.shape(expect["value"])
    return expect.keys() & checks.keys()


def check(case: dict[str, Any], fold: Callable[..., Array] = col2im) -> None:
    expect = case["expect"]
    col = eval(case["col"], dict(NAMES))
    original = col.copy()
    outcome = Outcome(lambda: fold(col, **case["kwargs"]))
    known = {"seconds", "unchanged"}
    if "seconds" in expect:
        assert outcome.seconds < expect["seconds"]
    if expect.get("unchanged"):
        assert col.shape == original.shape
        np.testing.assert_array_equal(col, original)
    if "raises" in expect:
        known |= {"raises", "mentions"}
        accepted = tuple(getattr(builtins, name) for name in expect["raises"].split("|"))
        assert isinstance(outcome.error, accepted), outcome.error
        for mention in expect.get("mentions", ()):
            assert mention in str(outcome.error)
    else:
        if outcome.error is not None:
            raise outcome.error
        assert outcome.image is not None
        known |= check_image(outcome.image, col, expect)
    assert expect.keys() <= known, f"unknown keys {expect.keys() - known}"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_reported_case_is_right_here(case: dict[str, Any]) -> None:
    check(case)


def test_the_file_holds_51_cases_with_names_of_their_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) == 51
    assert all(case["expect"] for case in CASES)


BROKEN = {
    "value": [[[[1, 2], [3, 4]]]],
    "shape": [1, 2, 3, 3],
    "sum": 135,
    "at": [[[0, 0, 0, 0], 1], [[0, 0, 1, 1], 3]],
    "approx": 3.0,
    "dtype": "float64",
    "raises": "ValueError",
    "seconds": 0,
    "colour": "red",
    "mentions": ["9"],
}


@pytest.mark.parametrize("key", BROKEN)
def test_every_key_of_an_expectation_can_fail(key: str) -> None:
    with pytest.raises(AssertionError):
        check(
            {
                "col": "A(1,4,4)",
                "kwargs": {"output_size": 3, "kernel_size": 2},
                "expect": {key: BROKEN[key]},
            }
        )


def test_a_modified_input_and_a_missing_mention_fail() -> None:
    def spoil(col: Array, **kwargs: Any) -> Array:
        image = col2im(col, **kwargs)
        col[...] = 0
        return image

    call = {"col": "A(1,4,4)", "kwargs": {"output_size": 3, "kernel_size": 2}}
    refused = {"col": "A(1,4,4)", "kwargs": {"output_size": 3, "kernel_size": 3}}
    with pytest.raises(AssertionError):
        check({**refused, "expect": {"raises": "ValueError", "mentions": ["77"]}})
    with pytest.raises(AssertionError):
        check({**call, "expect": {"unchanged": True}}, spoil)
