"""The parameter sets that the tests share: named ones, every small axis, products of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.oracles import Array, Case

CASES = {
    "plain": Case((3, 3), (2, 2), (1, 1), (0, 0), (0, 0), (1, 1)),
    "five different sizes": Case((7, 6), (3, 2), (2, 1), (1, 2), (1, 2), (2, 1)),
    "padding on one side only": Case((4, 3), (2, 2), (1, 1), (1, 0), (0, 2), (1, 1)),
    "windows wholly in the padding": Case((2, 3), (2, 1), (1, 2), (3, 2), (3, 3), (1, 1)),
    "stride leaves gaps": Case((6, 7), (2, 2), (3, 4), (0, 0), (0, 0), (1, 1)),
    "last pixels in no window": Case((6, 8), (2, 3), (3, 3), (0, 0), (0, 0), (1, 1)),
    "stride equals kernel": Case((6, 6), (2, 3), (2, 3), (0, 0), (0, 0), (1, 1)),
    "stride and dilation share a factor": Case((8, 7), (3, 2), (4, 2), (2, 1), (2, 2), (2, 4)),
    "stride and dilation are coprime": Case((8, 7), (3, 4), (2, 3), (1, 2), (2, 1), (3, 2)),
    "window larger than the image": Case((2, 1), (4, 3), (1, 1), (2, 2), (1, 3), (1, 2)),
    "one pixel": Case((1, 1), (1, 1), (1, 1), (0, 0), (0, 0), (1, 1)),
    "many taps on one pixel": Case((1, 1), (5, 5), (1, 1), (4, 4), (4, 4), (1, 1)),
    "many taps on two pixels": Case((1, 2), (6, 4), (1, 1), (5, 3), (5, 3), (1, 1)),
    "one window": Case((3, 4), (3, 4), (5, 9), (0, 0), (0, 0), (1, 1)),
    "kernel of one": Case((4, 5), (1, 1), (2, 3), (1, 0), (0, 1), (3, 1)),
    "a row": Case((1, 9), (1, 4), (1, 2), (0, 2), (0, 1), (1, 2)),
    "one axis": Case((9,), (4,), (2,), (3,), (1,), (2,)),
    "three axes": Case((3, 4, 5), (2, 1, 3), (1, 2, 2), (1, 0, 2), (0, 1, 1), (2, 1, 1)),
    "four axes": Case(
        (2, 3, 2, 3), (2, 2, 1, 2), (1, 2, 1, 1), (0, 1, 0, 1), (1, 0, 0, 0), (1,) * 4
    ),
}

AMOUNTS = ("few planes", "some planes", "many planes")
"""A backend may look up tiny folds in a table, add medium ones tap by tap, cut up large ones."""

OUTPUT_SIZES = range(1, 9)
KERNEL_SIZES = range(1, 5)
STRIDES = range(1, 5)
PADDINGS = range(4)
DILATIONS = range(1, 4)


def every_axis() -> Iterator[Case]:
    """Yield every small one-axis parameter set, also those in which no window fits."""
    for size, kernel, stride, begin, end, dilation in itertools.product(
        OUTPUT_SIZES, KERNEL_SIZES, STRIDES, PADDINGS, PADDINGS, DILATIONS
    ):
        yield Case((size,), (kernel,), (stride,), (begin,), (end,), (dilation,))


VALID_AXES = [axis for axis in every_axis() if axis.valid]


def together(axes: list[Case]) -> Case:
    """Return the case whose axes are the given one-axis cases."""

    def joined(name: str) -> tuple[int, ...]:
        return tuple(getattr(axis, name)[0] for axis in axes)

    return Case(*map(joined, Case.__dataclass_fields__))


def products(axes: int, count: int, most_work: int = 4000) -> list[Case]:
    """Return ``count`` products of small axes, always the same, K * L at most ``most_work``."""
    draw = random.Random(axes)
    cases: list[Case] = []
    while len(cases) < count:
        case = together(draw.choices(VALID_AXES, k=axes))
        if case.taps * case.length <= most_work:
            cases.append(case)
    return cases


def fingerprints(case: Case, channels: int = 1) -> Array:
    """Return columns ``(1, channels*K, L)`` in which tap t holds 2^t.

    A pixel meets each tap at most once, so that its sum names the taps that reached it.
    """
    taps = np.tile(2.0 ** np.arange(case.taps), channels)
    return np.repeat(taps[None, :, None], case.length, axis=2)


def numbered(case: Case, N: int = 1, C: int = 1, dtype: Any = np.float64) -> Array:
    """Return columns ``(N, C*K, L)`` of consecutive integers, which name windows as well."""
    shape = (N, C * case.taps, case.length)
    return np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)


def batch(amount: str, case: Case, itemsize: int = 8) -> tuple[int, int]:
    """Return N and C of a few elements, of more than 8192, or of more than 256 KiB."""
    elements = {"few planes": 0, "some planes": 8192, "many planes": 2**18 // itemsize}[amount]
    C = 3
    return max(2, elements // (C * case.taps * case.length) + 1), C


def assert_equal_taps(image: Array, expected: Array, case: Case) -> None:
    """Compare folded fingerprints, and name the pixels and taps that differ."""
    assert image.shape == expected.shape
    wrong = np.argwhere(image != expected)
    report = [
        f"pixel {tuple(map(int, where[2:]))}: sum {image[tuple(where)]:b} in binary, expected "
        f"{expected[tuple(where)]:b} (lowest bit: tap 0)"
        for image, expected, where in ((image.astype(int), expected.astype(int), w) for w in wrong)
    ]
    assert not report, f"{case}\n" + "\n".join(report)


def assert_same_bits(actual: Array, expected: Array) -> None:
    """Compare dtype, shape and every bit, so that -0 is not 0 and a NaN equals itself."""
    assert actual.dtype.name == expected.dtype.name
    assert actual.shape == expected.shape
    native = np.ascontiguousarray(actual).astype(expected.dtype, copy=False)
    same = native.view(np.uint8) == np.ascontiguousarray(expected).view(np.uint8)
    assert same.all(), f"differ:\n{actual}\nexpected:\n{expected}"
