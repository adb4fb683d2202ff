"""The modelled timeline: what overlaps, what it charges for bursts, and what a report adds up."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ascend_col2im.simulator import LaunchReport, SimulatorError

from .conftest import PRODUCTS, LoadLibrary, tiling


def copy(simulator: LoadLibrary, arch: int, elements: int, tile: int, cores: int) -> LaunchReport:
    x = np.ones(elements * cores, np.float16)
    return (
        simulator(arch, "")
        .launch(
            "copy_through",
            PRODUCTS[arch],
            cores,
            [x],
            [(x.shape, x.dtype)],
            tiling=tiling(elements, tile),
            record=True,
            trace="opt",
        )
        .check()
    )


@pytest.mark.parametrize(("arch", "cores"), [(2201, 48), (3002, 1)])
def test_large_aligned_tiles_reach_the_floor(
    simulator: LoadLibrary, arch: int, cores: int
) -> None:
    report = copy(simulator, arch, 1 << 16, 8192, cores)
    for timing in report.timing.values():
        assert 1.0 <= timing.time_us / timing.floor_us < 1.01
        assert timing.balance == pytest.approx(1)
    assert report.traffic == 1.0


@pytest.mark.parametrize(("arch", "lanes_mhz"), [(2201, 64 * 48 * 1850), (3002, 64 * 1224)])
def test_the_floor_is_the_slower_of_moving_and_adding(
    simulator: LoadLibrary, arch: int, lanes_mhz: int
) -> None:
    x = np.ones(1 << 10, np.float16)
    floors = [
        simulator(arch, "")
        .launch(
            "copy_through",
            PRODUCTS[arch],
            1,
            [x],
            [(x.shape, x.dtype)],
            tiling=tiling(1 << 10, 512),
            compulsory_additions=additions,
            record=True,
        )
        .timing["opt"]
        .floor_us
        for additions in (0, 1, lanes_mhz)
    ]
    assert floors[0] == floors[1] < floors[2] == pytest.approx(1)


def test_double_buffering_overlaps_loads_and_stores(simulator: LoadLibrary) -> None:
    report = copy(simulator, 2201, 1 << 15, 8192, 1)
    assert report.trace is not None
    spans = [
        (event["tid"], event["ts"], event["ts"] + event["dur"])
        for event in json.loads(report.trace)["traceEvents"]
    ]
    loads = [span for span in spans if span[0] == "MTE2"]
    stores = [span for span in spans if span[0] == "MTE3"]
    assert len(loads) == len(stores) == 4
    rounding = 1e-6  # the trace prints nine digits
    assert stores[0][1] >= loads[0][2] - rounding, "the first store waits for the first load"
    assert loads[1][1] < stores[0][2], "the second load does not wait for the first store"
    assert loads[2][1] >= stores[0][2] - rounding, "the third load reuses the first buffer"


def test_a_move_takes_at_least_20_cycles(simulator: LoadLibrary) -> None:
    report = copy(simulator, 2201, 1 << 14, 64, 48)  # 128 bytes a move
    moves = (1 << 14) / 64
    assert report.timing["opt"].time_us == pytest.approx(moves * 20 / 1850, rel=0.02)


@pytest.mark.parametrize(
    ("width", "opt", "pess"),
    [
        # One contiguous burst in opt. In pess 42 bytes touch one or two lines, unaligned.
        (21, 1.0, 128 / 42 / 0.784),
        (32, 1.0, 128 / 64),
    ],
)
def test_short_rows_pay_in_the_pessimistic_timeline(
    simulator: LoadLibrary, width: int, opt: float, pess: float
) -> None:
    rows = 2048
    report = simulator(2201, "").launch(
        "pad_rows",
        "910B1",
        1,
        [np.ones((rows, width), np.float16)],
        [((rows, 32), np.float16)],
        tiling=tiling(width, 32, parameter=rows),
        record=True,
    )
    assert report.violation_count == 0
    loaded, stored = rows * width * 2, rows * 64
    cycles = {a: timing.time_us * 1850 for a, timing in report.timing.items()}
    assert cycles["opt"] == pytest.approx((opt * loaded + stored) / 32, rel=0.05)
    assert cycles["pess"] == pytest.approx((pess * loaded + stored) / 32, rel=0.35)
    assert cycles["pess"] > (pess * loaded + stored) / 32 - 1


def test_more_blocks_than_cores_run_in_waves(simulator: LoadLibrary) -> None:
    one = copy(simulator, 2201, 1 << 14, 8192, 48).timing["opt"]
    two = copy(simulator, 2201, 1 << 14, 8192, 96).timing["opt"]
    assert two.time_us == pytest.approx(2 * one.time_us)
    assert len(two.core_us) == 48


def test_an_unrecorded_launch_has_no_timing(simulator: LoadLibrary) -> None:
    x = np.ones(1024, np.float16)
    report = simulator(2201, "").launch(
        "copy_through", "910B1", 1, [x], [(x.shape, x.dtype)], tiling=tiling(1024, 512)
    )
    assert report.timing == {}
    assert report.trace is None


def test_refusals_say_why(simulator: LoadLibrary) -> None:
    library = simulator(2201, "")
    x = np.ones(1024, np.float16)
    with pytest.raises(SimulatorError, match="product 310B1 is not one of this library"):
        library.launch("copy_through", "310B1", 1, [x], [])
    with pytest.raises(SimulatorError, match="no kernel named nothing"):
        library.launch("nothing", "910B1", 1, [x], [])
    with pytest.raises(SimulatorError, match="takes 4 addresses, got 2 GM arguments"):
        library.launch("copy_through", "910B1", 1, [x], [])
    with pytest.raises(SimulatorError, match="not C-contiguous"):
        library.launch("copy_through", "910B1", 1, [x[::2]], [((512,), x.dtype)])


def test_products_are_those_of_the_architecture(simulator: LoadLibrary) -> None:
    assert simulator(2201, "").products == ("910B1", "910B3", "910B4", "910_9391")
    assert simulator(3002, "").products == ("310B1", "310B4")
