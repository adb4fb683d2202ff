# ruff: noqa: E501 (the words stand here as users see them, unbroken)
"""Every rule through the Python functions, in its exact words."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ascend_col2im import Col2ImError, DtypeError, col2im, im2col, overlap_count
from ascend_col2im.facts import CPU
from ascend_col2im.rules import RULES
from tests.oracles import Array
from tests.refusals import refusal

DTYPES = ", ".join(CPU.dtypes)
COL = np.ones((1, 4, 4), np.float32)


def of(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return np.ones(shape, dtype)


def overlapping(*strides: int) -> Array:
    memory = np.zeros(16, np.float32)
    return np.lib.stride_tricks.as_strided(memory, (1, 1, 3, 3), (0, 0, *strides))


def frozen(shape: tuple[int, ...]) -> Array:
    out = of(shape)
    out.flags.writeable = False
    return out


FOLDS: list[tuple[dict[str, Any], str]] = [
    ({"col": of((1, 4, 4), object)}, f"dtype: col is object; cpu takes {DTYPES}"),
    ({"col": [["a", "b"]]}, f"dtype: col is str32; cpu takes {DTYPES}"),
    ({"col": of((1, 4, 4), np.longdouble)}, f"dtype: col is {np.dtype(np.longdouble).name}; cpu takes {DTYPES}"),
    ({"out": of((1, 1, 3, 3), np.float64)}, "dtype: out is float64; must be float32, the dtype of col"),
    ({"col": np.ma.ones((1, 4, 4))}, "dtype: col is a masked array; fill it first: col.filled(0)"),
    ({"col": of((4,))}, "rank: col has 1 axes, shape (4); must have 3 (N, C*K, L), or 2 (C*K, L) unbatched"),
    ({"col": of((1, 1, 4, 4))}, "rank: col has 4 axes, shape (1, 1, 4, 4); must have 3 (N, C*K, L), or 2 (C*K, L) unbatched"),
    ({"output_size": ()}, "rank: output_size is empty; needs one size per spatial axis"),
    ({"output_size": (1,) * 16}, "rank: output_size has 16 axes; cpu takes 1 to 15"),
    ({"kernel_size": (2, 2, 2)}, "arity: kernel_size has 3 values, (2, 2, 2); must have 1 or 2 values"),
    ({"output_size": [3], "kernel_size": (2, 2)}, "arity: kernel_size has 2 values, (2, 2); must have 1 value"),
    ({"stride": ()}, "arity: stride has 0 values, (); must have 1 or 2 values"),
    ({"padding": np.arange(3)}, "arity: padding has 3 values, (0, 1, 2); must have 1 or 2 values"),
    ({"padding": [(0, 0), 1]}, "arity: padding[1] is 1; must be a pair (begin, end), as for the other axes, or padding one int per axis"),
    ({"padding": [(0, 0, 0), (1, 1)]}, "arity: padding[0] is (0, 0, 0); must be a pair (begin, end), as for the other axes, or padding one int per axis"),
    ({"dilation": list(range(40))}, "arity: dilation has 40 values, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ...); must have 1 or 2 values"),
    ({"stride": [1, 2, 10**6000]}, "arity: stride has 3 values, (1, 2, <an integer of 19932 bits>); must have 1 or 2 values"),
    ({"kernel_size": 2.5}, "positive: kernel_size[0] is 2.5 of type float; must be an integer"),
    ({"kernel_size": (2, 2.0)}, "positive: kernel_size[1] is 2.0 of type float; must be an integer"),
    ({"stride": True}, "positive: stride[0] is True of type bool; must be an integer"),
    ({"stride": (1, None)}, "positive: stride[1] is None of type NoneType; must be an integer"),
    ({"padding": "same"}, "positive: padding[0] is 'same' of type str; must be an integer"),
    ({"padding": [(0, 1), (0, False)]}, "positive: padding[1] is False of type bool; must be an integer"),
    ({"col": of((1, 0, 4))}, "positive: col has C*K = 0, shape (1, 0, 4); must be >= 1"),
    ({"col": of((1, 4, 0))}, "positive: col has L = 0, shape (1, 4, 0); must be >= 1"),
    ({"output_size": (3, 0)}, "positive: output_size[1] is 0; must be >= 1"),
    ({"kernel_size": -2}, "positive: kernel_size[0] is -2; must be >= 1"),
    ({"stride": (1, 0)}, "positive: stride[1] is 0; must be >= 1"),
    ({"dilation": -(2**63)}, "positive: dilation[0] is -9223372036854775808; must be >= 1"),
    ({"padding": (0, -1)}, "padding: padding[1] is (-1, -1); must be >= 0"),
    ({"padding": [(0, -1), (0, 0)]}, "padding: padding[0] is (0, -1); must be >= 0"),
    ({"col": of((1, 5, 4))}, "channels: col has 5 channels; must be a multiple of K = 2 * 2 = 4, the product of kernel_size (2, 2)"),
    ({"output_size": (3,), "kernel_size": (3,)}, "channels: col has 4 channels; must be a multiple of K = 3, the product of kernel_size (3)"),
    ({"kernel_size": (1, 4), "padding": [(9, 9), (0, 0)]}, "kernel: kernel_size[1] is 4; must be at most the padded image, output_size[1] + padding = 3 + 0 + 0 = 3"),
    ({"dilation": 4, "padding": [(0, 9), (1, 0)]}, "windows: a window spans dilation * (kernel_size - 1) + 1 = 4 * (2 - 1) + 1 = 5 along axis 1; must be at most the padded image, output_size[1] + padding = 3 + 1 + 0 = 4"),
    ({"col": of((1, 6, 10)), "output_size": (4, 5), "kernel_size": (2, 3)}, "length: col has L = 10; output_size (4, 5), kernel_size (2, 3), stride (1, 1), padding (0, 0) + (0, 0), dilation (1, 1) give 3 * 3 = 9 windows"),
    ({"output_size": (9,), "kernel_size": (2,), "padding": [(1, 2)], "stride": 2, "dilation": 3}, "length: col has L = 4; output_size (9), kernel_size (2), stride (2), padding (1) + (2), dilation (3) give 5 windows"),
    ({"out": of((1, 3, 3))}, "output: out has shape (1, 3, 3); the result has (1, 1, 3, 3)"),
    ({"out": [1.0]}, "output: out is of type list; must be a NumPy array"),
    ({"out": np.ma.ones((1, 1, 3, 3), np.float32)}, "output: out is of type MaskedArray; must be a NumPy array"),
    ({"out": frozen((1, 1, 3, 3))}, "output: out is read-only; must be writable"),
    ({"out": overlapping(4, 4)}, "output: elements of out overlap; they must lie apart in memory"),
    ({"out": overlapping(0, 0)}, "output: elements of out overlap; they must lie apart in memory"),
    ({"out": overlapping(12, 2)}, "output: elements of out overlap; they must lie apart in memory"),
    ({"out": overlapping(8, 4)}, "output: elements of out overlap; they must lie apart in memory"),
    ({"out": overlapping(4, 8)}, "output: elements of out overlap; they must lie apart in memory"),
    ({"stride": 2**62, "output_size": (2**62, 2), "col": of((1, 4, 1))}, f"size: the image of shape (1, 1, {2**62}, 2) takes {2**65} bytes; offsets of 64 bits reach at most {2**63 - 1}"),
    ({"stride": 2**62, "output_size": (2**62, 2), "col": of((0, 4, 1))}, f"size: the image of shape (1, 1, {2**62}, 2) takes {2**65} bytes; offsets of 64 bits reach at most {2**63 - 1}"),
    ({"stride": 2**63}, "size: stride[0] is an integer of 65 bits; must fit in 64, sign included"),
    ({"padding": -(10**6000)}, "size: padding[0] is an integer of 19933 bits; must fit in 64, sign included"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), FOLDS, ids=[words[:60] for _, words in FOLDS])
def test_col2im_refuses_in_exactly_these_words(arguments: dict[str, Any], words: str) -> None:
    call = {"col": COL, "output_size": 3, "kernel_size": 2, **arguments}
    error = refusal(col2im, **call)
    rule, _, sentence = words.partition(": ")
    assert str(error) == f"col2im: {words}"
    assert (error.op, error.rule, error.sentence) == ("col2im", rule, sentence)
    assert isinstance(error, ValueError)
    assert isinstance(error, Col2ImError)
    assert isinstance(error, TypeError) == isinstance(error, DtypeError) == (error.rule == "dtype")


UNFOLDS: list[tuple[dict[str, Any], str]] = [
    ({"x": of((1, 1, 3, 3), "M8[s]")}, f"dtype: x is datetime64[s]; cpu takes {DTYPES}"),
    ({"x": np.ma.ones((1, 1, 3, 3))}, "dtype: x is a masked array; fill it first: x.filled(0)"),
    ({"out": of((1, 4, 4), "i4")}, "dtype: out is int32; must be float32, the dtype of x"),
    ({"x": of((3, 3))}, "rank: x has 2 axes, shape (3, 3); kernel_size has 2, so x needs 4 (N, C, *spatial), or 3 (C, *spatial) unbatched"),
    ({"kernel_size": []}, "rank: kernel_size is empty; needs one size per spatial axis"),
    ({"stride": (1, 1, 1)}, "arity: stride has 3 values, (1, 1, 1); must have 1 or 2 values"),
    ({"kernel_size": 0}, "positive: kernel_size[0] is 0; must be >= 1"),
    ({"x": of((1, 0, 3, 3))}, "positive: x has C = 0, shape (1, 0, 3, 3); must be >= 1"),
    ({"x": of((1, 1, 3, 0))}, "positive: output_size[1] is 0; must be >= 1"),
    ({"padding": -1}, "padding: padding[0] is (-1, -1); must be >= 0"),
    ({"kernel_size": (3, 4)}, "kernel: kernel_size[1] is 4; must be at most the padded image, output_size[1] + padding = 3 + 0 + 0 = 3"),
    ({"dilation": (1, 3)}, "windows: a window spans dilation * (kernel_size - 1) + 1 = 3 * (2 - 1) + 1 = 4 along axis 1; must be at most the padded image, output_size[1] + padding = 3 + 0 + 0 = 3"),
    ({"out": of((4, 4))}, "output: out has shape (4, 4); the result has (1, 4, 4)"),
    ({"out": frozen((1, 4, 4))}, "output: out is read-only; must be writable"),
    ({"padding": 2**40, "kernel_size": 1}, f"size: the column matrix of shape (1, 1, {(2**41 + 3) ** 2}) takes {4 * (2**41 + 3) ** 2} bytes; offsets of 64 bits reach at most {2**63 - 1}"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), UNFOLDS, ids=[words[:60] for _, words in UNFOLDS])
def test_im2col_refuses_in_exactly_these_words(arguments: dict[str, Any], words: str) -> None:
    error = refusal(im2col, **{"x": of((1, 1, 3, 3)), "kernel_size": 2, **arguments})
    assert str(error) == f"im2col: {words}"
    assert error.rule == words.partition(":")[0]


COUNTS: list[tuple[dict[str, Any], str]] = [
    ({"output_size": ()}, "rank: output_size is empty; needs one size per spatial axis"),
    ({"kernel_size": (1, 2, 3)}, "arity: kernel_size has 3 values, (1, 2, 3); must have 1 or 2 values"),
    ({"dilation": 0}, "positive: dilation[0] is 0; must be >= 1"),
    ({"padding": -1}, "padding: padding[0] is (-1, -1); must be >= 0"),
    ({"kernel_size": 4}, "kernel: kernel_size[0] is 4; must be at most the padded image, output_size[0] + padding = 3 + 0 + 0 = 3"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), COUNTS, ids=[words[:60] for _, words in COUNTS])
def test_overlap_count_refuses_in_exactly_these_words(
    arguments: dict[str, Any], words: str
) -> None:
    error = refusal(overlap_count, **{"output_size": 3, "kernel_size": 2, **arguments})
    assert str(error) == f"overlap_count: {words}"


def test_every_rule_that_the_cpu_can_break_has_its_words_tested() -> None:
    tested = {words.partition(":")[0] for _, words in FOLDS}
    assert tested == RULES.keys() - {"format"}


def test_a_result_beyond_the_memory_is_refused_with_both_sizes() -> None:
    error = refusal(col2im, of((1, 1, 1)), (2**20, 2**22), 1, stride=2**40)
    assert error.rule == "size"
    start = f"the result of shape (1, 1, {2**20}, {2**22}) takes {2**44} bytes; the memory here"
    assert error.sentence.startswith(start)
    assert refusal(overlap_count, (2**30, 2**30), 1).rule == "size"


OUT_OF_MEMORY = """
import resource, numpy as np
from ascend_col2im import RuleError, col2im
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
try:
    col2im(np.ones((1, 1, 1), np.uint8), (2**15, 2**16), 1, stride=2**40)
except RuleError as error:
    print(error)
"""


def test_an_allocation_that_fails_is_refused_as_too_large() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_MEMORY],
        capture_output=True,
        text=True,
        check=True,
        env={"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == (
        "col2im: size: the result of shape (1, 1, 32768, 65536) takes 2147483648 bytes; "
        "the system does not give them now\n"
    )
