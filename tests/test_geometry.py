"""Which window and tap touch which pixel, counted one by one over every small axis."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_col2im import overlap
from ascend_col2im.geometry import Geometry, geometry, span, window_count
from ascend_col2im.overlap import axis_overlap
from tests import oracles
from tests.cases import CASES, VALID_AXES, every_axis
from tests.oracles import Case


def geometry_of(case: Case) -> Geometry:
    return geometry(
        case.output_size,
        case.kernel_size,
        case.stride,
        case.pad_begin,
        case.pad_end,
        case.dilation,
    )


def test_window_count_is_how_many_windows_fit_in_the_padded_axis() -> None:
    for axis in every_axis():
        (size,), (kernel,), (stride,) = axis.output_size, axis.kernel_size, axis.stride
        padding, (dilation,) = axis.pad_begin[0] + axis.pad_end[0], axis.dilation
        last_tap = dilation * (kernel - 1)
        starts = [w for w in range(0, size + padding, stride) if w + last_tap < size + padding]
        count = window_count(size, kernel, stride, padding, dilation)
        assert max(0, count) == len(starts), axis
        assert span(kernel, dilation) == last_tap + 1


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_windows_K_and_L_of_several_axes(case: Case) -> None:
    geo = geometry_of(case)
    assert geo.axes == len(case.output_size)
    assert (geo.windows, geo.K, geo.L) == (case.windows, case.taps, case.length)


def test_equal_parameters_share_one_geometry() -> None:
    case = CASES["five different sizes"]
    assert geometry_of(case) is geometry_of(case)
    assert geometry_of(case) is not geometry_of(CASES["plain"])


def test_a_geometry_cannot_be_changed() -> None:
    geo = geometry_of(CASES["plain"])
    with pytest.raises(AttributeError):
        geo.stride = (2, 2)  # type: ignore[misc]


def test_taps_of_every_small_axis_and_range_are_those_found_one_by_one() -> None:
    for axis in VALID_AXES:
        geo = geometry_of(axis)
        (size,) = axis.output_size
        middle = size // 3
        for begin, end in {(0, size), (0, 1), (size - 1, size), (middle, min(middle + 2, size))}:
            touched = [
                (
                    k,
                    [
                        (w, p)
                        for w in range(geo.L)
                        if (p := pixel(axis, w, k)) in range(begin, end)
                    ],
                )
                for k in range(geo.K)
            ]
            expected = [(k, pairs) for k, pairs in touched if pairs]
            (stride,) = axis.stride
            actual = [
                (tap.k, [(w, tap.pixel_begin + i * stride) for i, w in enumerate(windows)])
                for tap in geo.axis_taps(0, begin, end)
                for windows in [range(tap.window_begin, tap.window_end)]
            ]
            assert actual == expected, (axis, begin, end)


def pixel(axis: Case, window: int, k: int) -> int:
    return window * axis.stride[0] + k * axis.dilation[0] - axis.pad_begin[0]


@pytest.mark.parametrize("exact", [overlap.EXACT, 0], ids=["64 bits", "any integers"])
def test_overlap_of_every_small_axis_is_what_the_loop_counts(
    exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlap, "EXACT", exact)
    for axis in VALID_AXES:
        assert (
            axis_overlap(geometry_of(axis), 0).tolist() == oracles.overlap_count(axis).tolist()
        ), axis


@given(*[st.integers(1, 2**63 - 1)] * 2, *[st.integers(0, 2**62)] * 2, st.integers(1, 2**40))
def test_huge_integers_stay_exact(size: int, stride: int, begin: int, end: int, tap: int) -> None:
    dilation = (size + begin + end - 1) // tap + 1
    assert window_count(size, tap + 1, stride, begin + end, dilation) <= 0
    if dilation > 1:
        windows = window_count(size, tap + 1, stride, begin + end, dilation - 1)
        room = size + begin + end - ((dilation - 1) * tap + 1)
        assert (windows - 1) * stride <= room < windows * stride


def test_taps_out_of_reach_are_not_looped_over() -> None:
    far = 2**62
    geo = geometry((5,), (far,), (1,), (far // 2,), (far // 2,), (1,))
    (windows,) = geo.windows
    taps = list(islice(geo.axis_taps(0, 0, 5), 20))
    assert len(taps) == 4 + windows
    assert [tap.k for tap in taps] == list(range(far // 2 - windows + 1, far // 2 + 5))


def test_overlap_is_counted_in_parts_of_a_long_axis() -> None:
    axis = Case((40_001,), (4,), (3,), (1,), (2,), (2,))
    assert axis_overlap(geometry_of(axis), 0).tolist() == oracles.overlap_count(axis).tolist()


def test_overlap_of_a_huge_kernel_is_counted_in_closed_form() -> None:
    far = 2**62
    geo = geometry((3,), (far,), (1,), (far,), (far,), (1,))
    assert axis_overlap(geo, 0).tolist() == [far] * 3
    # of the taps 3k, every second one meets the even or odd distance to a window's start
    strided = geometry((4,), (far // 4,), (2,), (far,), (far,), (3,))
    assert axis_overlap(strided, 0).tolist() == [far // 8] * 4
