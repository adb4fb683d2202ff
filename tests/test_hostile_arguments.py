"""Arguments of any size and kind: refused by a rule, in bounded time and words, or taken."""

from __future__ import annotations

import array
import collections
import enum
import sys
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_col2im import BackendError, DtypeError, RuleError, col2im, im2col
from tests.oracles import Array
from tests.refusals import refusal

COL = np.ones((1, 4, 4), np.float32)
FAR = 2**62


def of(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return np.ones(shape, dtype)


HUGE: dict[str, dict[str, Any]] = {
    "padding 2^55": {"padding": 2**55},
    "padding 2^63 - 1": {"padding": 2**63 - 1},
    "one pad 2^63 - 1": {"padding": [(0, 2**63 - 1), (0, 0)]},
    "stride 2^63 - 1": {"stride": 2**63 - 1},
    "dilation 2^63 - 1": {"dilation": 2**63 - 1},
    "kernel 2^63 - 1": {"kernel_size": 2**63 - 1},
    "output 2^63 - 1": {"output_size": 2**63 - 1},
    "everything 2^62": dict.fromkeys(("output_size", "stride", "padding", "dilation"), FAR),
    "an integer of 10000 digits": {"stride": 10**10_000},
    "ten million strides": {"stride": range(10**7)},
    "ten million sizes": {"output_size": np.ones(10**7, int)},
    "ten million pads": {"padding": [0] * 10**7},
    "a string of ten million": {"padding": "1" * 10**7},
}


@pytest.mark.parametrize("arguments", HUGE.values(), ids=HUGE.keys())
def test_huge_arguments_are_refused_without_being_looped_over(arguments: dict[str, Any]) -> None:
    calls = 0
    errors: list[RuleError] = []

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        assert calls < 5000, "too many calls for a refusal"

    def fold() -> None:
        sys.setprofile(count)
        try:
            errors.append(
                refusal(col2im, COL, **{"output_size": 3, "kernel_size": 2, **arguments})
            )
        finally:
            sys.setprofile(None)

    thread = threading.Thread(target=fold, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "still running after 30 seconds"
    assert len(str(errors[0])) < 500


class Index:
    def __index__(self) -> int:
        return 2


class Size(enum.IntEnum):
    TWO = 2


@pytest.mark.parametrize(
    "value",
    [
        *(np.dtype(code).type(2) for code in "bBhHiIlLqQ"),
        Size.TWO,
        array.array("q", [2, 2]),
        collections.deque([2, 2]),
        range(2, 3),
        np.array([2, 2], object),
        np.array([2, 2])[::-1],
    ],
    ids=repr,
)
def test_every_kind_of_integer_and_sequence_is_taken(value: Any) -> None:
    expected = col2im(COL, 3, 2)
    np.testing.assert_array_equal(col2im(COL, 3, value), expected)


class Unspeakable:
    def __repr__(self) -> str:
        raise ValueError("no words")


class Verbose:
    def __repr__(self) -> str:
        return "line\n" * 1000


class Unconvertible:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise self.error


def circular() -> list[Any]:
    entries: list[Any] = []
    entries.append(entries)
    return entries


@pytest.mark.parametrize("name", ["output_size", "kernel_size", "stride", "padding", "dilation"])
@pytest.mark.parametrize(
    "value",
    [
        2.0,
        np.float32(2),
        2 + 0j,
        "2",
        b"22",
        bytearray(b"22"),
        memoryview(b"22"),
        memoryview(bytes(4)).cast("B", (2, 2)),
        None,
        True,
        np.True_,
        np.array(2),
        np.array([2.0, 2.0]),
        np.array([True, True]),
        np.array(["2", "2"]),
        np.timedelta64(2, "s"),
        np.array([2, 2], "m8[s]"),
        np.datetime64(2, "s"),
        np.ma.masked_equal([2, 3], 3),
        np.zeros(2, [("a", "i4")]),
        {2: 2},
        {2},
        (size for size in (2, 2)),
        collections.UserString("22"),
        Index(),
        object(),
        Unspeakable(),
        Verbose(),
        np.ones((2, 2)),
        ml_dtypes.int4(2),
        (2, [2]),
        ((((2, 2),),),),
        circular(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_integer_is_refused_by_rule(name: str, value: Any) -> None:
    error = refusal(col2im, COL, **{"output_size": 3, "kernel_size": 2, name: value})
    assert error.rule in ("positive", "arity")
    assert len(str(error)) < 300
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    "col",
    [
        None,
        "abc",
        b"abc",
        object(),
        [[1, 2], [3]],
        circular(),
        [[2**70]],
        (row for row in ([1], [2])),
        {1: 2},
        Unconvertible(TypeError("it lives on another device")),
        [Unconvertible(RuntimeError("it requires grad\nso detach it"))],
        of((1, 4, 4), "M8[s]"),
        of((1, 4, 4), "m8[s]"),
        of((1, 4, 4), object),
        of((1, 4, 4), np.clongdouble),
        np.zeros((1, 4, 4), [("re", "f4"), ("im", "f4")]),
        np.zeros((1, 4, 4), ml_dtypes.float8_e4m3fn),
        np.zeros((1, 4, 4), ml_dtypes.int4),
        np.full((1, 4, 4), "x"),
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', '')}",
)
def test_what_is_no_array_of_numbers_is_refused_by_its_dtype(col: Any) -> None:
    for call in (lambda: col2im(col, 3, 2), lambda: im2col(col, 2)):
        error = refusal(call)
        assert isinstance(error, DtypeError)
        assert len(str(error)) < 500
        assert "\n" not in str(error)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_is_an_array_like_any_other() -> None:
    col = np.matrix(np.arange(16.0).reshape(4, 4))
    image = col2im(col, 3, 2)
    assert type(image) is np.ndarray
    np.testing.assert_array_equal(image, col2im(np.asarray(col), 3, 2))
    out = np.matrix(np.zeros((2, 5)))
    assert col2im(col, (5,), (2,), out=out) is out
    np.testing.assert_array_equal(np.asarray(out), col2im(np.asarray(col), (5,), (2,)))
    x = np.matrix(np.arange(5.0))
    np.testing.assert_array_equal(im2col(x, (2,)), im2col(np.asarray(x), (2,)))


def test_plain_numbers_are_refused_by_their_rank() -> None:
    assert refusal(col2im, 3.0, 3, 2).rule == "rank"
    assert refusal(im2col, 3.0, 2).rule == "rank"


def test_an_out_that_shares_memory_with_the_input_is_refused() -> None:
    memory = np.ones(40, np.float32)
    col, over = memory[:16].reshape(1, 4, 4), memory[12:21].reshape(1, 1, 3, 3)
    words = "output: out shares memory with col; must lie apart from it"
    assert str(refusal(col2im, col, 3, 2, out=over)) == f"col2im: {words}"
    assert str(refusal(col2im, col, 4, 1, out=col.reshape(4, 1, 4)[:1, None])) != ""
    x = memory[:9].reshape(1, 3, 3)
    assert refusal(im2col, x, 1, out=x.reshape(1, 9)).rule == "output"
    assert refusal(col2im, x.reshape(1, 9), 3, 1, out=x).rule == "output"
    assert (memory == 1).all()


@pytest.mark.parametrize(
    "backend",
    ["gpu", "", None, 3, np.array(["cpu", "npu"]), ["cpu"], Unspeakable(), "gpu" * 10**6],
)
def test_an_unknown_backend_is_refused_by_name(backend: Any) -> None:
    with pytest.raises(BackendError, match="must be one of 'auto', 'cpu', 'npu'") as caught:
        col2im(COL, 3, 2, backend=backend)
    assert len(str(caught.value)) < 300
    with pytest.raises(BackendError, match="must be one of 'auto', 'cpu', 'npu'"):
        im2col(of((1, 3, 3)), 2, backend=backend)


def test_an_explicit_npu_never_falls_back_to_the_cpu() -> None:
    with pytest.raises(BackendError, match="npu"):
        col2im(COL, 3, 2, backend="npu")
    np.testing.assert_array_equal(col2im(COL, 3, 2, backend="cpu"), col2im(COL, 3, 2))
