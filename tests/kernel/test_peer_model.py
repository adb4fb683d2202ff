"""The modelled peer: its constants, its traffic counted by hand, its bounds."""

from __future__ import annotations

import re

import pytest

from ascend_col2im import peer_model
from ascend_col2im.geometry import geometry
from ascend_col2im.peer_model import Peer, peer

from . import cases
from .harness import DTYPES, ROOT, Case

MODEL = ROOT / "sim/model"


def modelled(case: Case, dtype: str, product: str = "910B1") -> Peer | None:
    return peer(geometry(*case.parameters), case.N, case.C, dtype, product)


def test_constants_are_those_of_the_simulator() -> None:
    costs = (MODEL / "costs.h").read_text(encoding="utf-8")
    constants = dict(re.findall(r"constexpr \w+ (\w+) = ([\d.]+);", costs))
    assert float(constants["kMoveIssueCycles"]) == peer_model.MOVE_ISSUE_CYCLES
    assert float(constants["kVectorIssueCycles"]) == peer_model.VECTOR_ISSUE_CYCLES
    assert float(constants["kLineBytes"]) == peer_model.LINE_BYTES
    found = re.search(r"kBurstRates\[\] = \{(.*)\};", costs)
    assert found
    rates = re.findall(r"\{(\d+), ([\d.]+)(?: / ([\d.]+))?\}", found[1])
    assert [(int(size), float(a) / float(b or 1)) for size, a, b in rates] == list(
        peer_model.BURST_RATES
    )


def test_products_are_those_of_the_simulator() -> None:
    products = (MODEL / "products.h").read_text(encoding="utf-8")
    rows = re.findall(
        r'\{"(\w+)",\s*"ascend910b",\s*2201, (\d+),\s*(\d+),\s*\w+,\s*(\d+), (\d+)\}', products
    )
    assert {name: tuple(map(int, row)) for name, *row in rows} == {
        name: (row.cores, row.mhz, row.core_bytes_per_cycle, row.chip_gb_per_s)
        for name, row in peer_model.PRODUCTS.items()
    }


def test_traffic_counted_by_hand() -> None:
    padded = cases.case(1, 1, (3, 1, 2, 1, 1, 1), (1, 1, 1, 0, 0, 1))
    # Windows at -1, 1, 3: three columns, of which one reaches the image of three pixels.
    found = modelled(padded, "float32")
    assert found
    assert found.compulsory_bytes == 4 * (3 + 3)
    assert found.moved_bytes == 4 * (3 + 3) + 64 * (3 + 3) + 64 * 3 + 1 * (64 + 64 + 64)

    plain = cases.case(1, 17, (2, 2, 1, 0, 0, 1), (3, 2, 1, 0, 0, 2))
    # One window of 2 x 2 taps over 2 x 3 pixels; 17 channels are two blocks of sixteen.
    found = modelled(plain, "bfloat16")
    assert found
    assert found.compulsory_bytes == 17 * 2 * (4 + 6)
    fold, cast = 4 * 32 + 6 * 64, 6 * (64 + 32)
    assert found.moved_bytes == 17 * 2 * 10 + 2 * (32 * 10 + 64 * 6 + fold + cast)


def test_time_counted_by_hand() -> None:
    found = modelled(cases.case(1, 16, (1, 1, 1, 1, 1, 2), (1, 1, 1, 0, 0, 1)), "float32")
    assert found
    # One column of three reaches the pixel: two moves of 20 cycles one after the other, one
    # addition of 22 + 1; around them NC1HWC0 and NCHW of 3 + 1 pixels, and a zero.
    cycles = 2 * 20 + 23
    passes = (2 * (3 + 1) + 1) * 64
    assert found.time_us["pess"] == pytest.approx(cycles / 1850 + passes / 1.6e6)

    found = modelled(cases.case(1, 16, (4, 4, 1, 0, 0, 1), (9, 2, 1, 0, 0, 1)), "float16")
    assert found
    # Eight windows: a load of 4 * 2 bursts of 32 bytes runs beside a store of 4 bursts of 128,
    # each burst whole lines at the core's 32 bytes per cycle; the cast takes two repeats. Then
    # nine times 256 bytes are loaded beside 128 stored, and cast.
    rest = 8 * (22 + 2) + 9 * (20 + 22 + 1)
    passes = (2 * (8 * 8 + 36) * 2 + 36 * 4) * 16
    bursts = 8 * (8 + 4) * 128 / 32
    assert found.time_us["pess"] == pytest.approx((bursts + rest) / 1850 + passes / 1.6e6)
    bursts *= 1.6 / 1.29
    assert found.time_us["opt"] == pytest.approx((bursts + rest) / 1850 + passes / 1.6e6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", cases.WORKLOADS)
def test_workloads(name: str, dtype: str) -> None:
    case = cases.WORKLOADS[name]
    found = modelled(case, dtype)
    assert (found is None) == (len(case.output_size) != 2)
    if found:
        assert 3 < found.traffic < 100
        assert min(found.time_us.values()) > found.moved_bytes / 1.6e6


def test_parallel_over_blocks_of_sixteen_channels_only() -> None:
    axes = [(20, 3, 1, 1, 1, 1)] * 2
    one, full, more = (modelled(cases.case(N, 1, *axes), "float16") for N in (1, 48, 49))
    assert one
    assert full
    assert more
    assert full.time_us["opt"] < 1.5 * one.time_us["opt"] < more.time_us["opt"]


@pytest.mark.parametrize(
    ("axes", "dtype", "product"),
    [
        ([(9, 3, 1, 1, 1, 1)], "float32", "910B1"),
        ([(9, 3, 1, 1, 1, 1)] * 3, "float32", "910B1"),
        ([(9, 3, 1, 1, 0, 1), (9, 3, 1, 1, 1, 1)], "float32", "910B1"),
        ([(9, 3, 1, 1, 1, 1)] * 2, "float64", "910B1"),
        ([(9, 3, 1, 1, 1, 1)] * 2, "float16", "310B1"),
    ],
)
def test_none_where_the_operator_does_not_exist(
    axes: list[cases.Axis], dtype: str, product: str
) -> None:
    assert modelled(cases.case(1, 1, *axes), dtype, product) is None
