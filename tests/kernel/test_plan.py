"""The tiling plan: cores, buffers and offsets, also of folds too large to run here."""

from __future__ import annotations

import struct

import pytest

from . import cases
from .cases import case
from .harness import DTYPES, MACHINES, Case, Npu, Plan

AXIS_BYTES = 96
HEAD = struct.Struct("<4q13I4x")
FIELDS = (
    *("planes", "groups", "units", "column_tiles"),
    *("rows", "columns", "residues", "pitch", "phase", "stage", "taps", "row_pitch"),
    *("row_residues", "last_taps", "turned", "sheets", "buffers"),
)


def fields(plan: Plan) -> dict[str, int]:
    """Read the tiling behind its three axes."""
    return dict(zip(FIELDS, HEAD.unpack_from(plan.tiling, 3 * AXIS_BYTES), strict=True))


def test_the_tiling_is_small(npu: Npu) -> None:
    plan = npu.plan(cases.scaled("conv_grad"), "float16", MACHINES["910B1"])
    assert len(plan.tiling) == 3 * AXIS_BYTES + HEAD.size == 376


@pytest.mark.parametrize("name", cases.WORKLOADS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_workloads_use_every_core_evenly(npu: Npu, name: str, dtype: str) -> None:
    machine = MACHINES["910B1"]
    plan = npu.plan(cases.WORKLOADS[name], dtype, machine)
    units = fields(plan)["units"]
    most = -(-units // plan.cores)
    if units >= 4 * machine.cores:
        assert plan.cores == machine.cores
        assert units / (most * machine.cores) >= 0.9


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_plane_is_split_over_all_cores(npu: Npu, dtype: str) -> None:
    plan = npu.plan(cases.WORKLOADS["denoise"], dtype, MACHINES["910B1"])
    assert plan.cores == 48


def test_a_tiny_fold_starts_few_cores(npu: Npu) -> None:
    tiny = case(1, 1, (4, 2, 1, 0, 0, 1), (4, 2, 1, 0, 0, 1))
    assert npu.plan(tiny, "float16", MACHINES["910B1"]).cores == 1
    small = case(1, 64, (14, 3, 1, 1, 1, 1), (14, 3, 1, 1, 1, 1))
    assert npu.plan(small, "float16", MACHINES["910B1"]).cores < 48


LARGE = {
    "many planes": case(64, 4096, *[(56, 3, 1, 1, 1, 1)] * 2),
    "one plane": case(1, 1, *[(40_000, 3, 1, 1, 1, 1)] * 2),
    "one long row": case(1, 1, (2**33, 2, 2, 0, 0, 1)),
    "rows beyond a gap's 32 bits": case(1, 1, (4, 2, 2, 0, 0, 1), (2**32, 2, 2, 0, 0, 1)),
    "planes beyond a gap's 32 bits": case(2, 16, (2**20, 3, 1, 1, 1, 1), (2**13, 3, 1, 1, 1, 1)),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("product", ["910B1", "310B1"])
def test_column_matrices_beyond_2_to_the_32(npu: Npu, name: str, product: str) -> None:
    large: Case = LARGE[name]
    for plan in npu.plans(large, "float16", MACHINES[product]):
        tile = fields(plan)
        pixels = tile["rows"] * tile["columns"] * tile["residues"] * tile["sheets"]
        pixels *= tile["row_residues"]
        assert tile["units"] > 0
        assert tile["planes"] == large.N * large.C
        if plan.key in (1, 2, 4):
            # No pixel is left without a tile.
            planes = large.N * large.C
            covered = tile["units"] * pixels
            assert covered >= planes * _pixels(large)
            if name == "rows beyond a gap's 32 bits":
                assert tile["rows"] == 1
        else:
            assert name == "many planes"


def _pixels(large: Case) -> int:
    product = 1
    for size in large.output_size:
        product *= size
    return product
