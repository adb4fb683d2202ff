"""Right kernels give the documented results on both architectures, without a violation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_col2im.simulator import Array, LaunchReport

from .conftest import DTYPES, PRODUCTS, LoadLibrary, tiling

ARCHITECTURES = pytest.mark.parametrize("arch", [2201, 3002])
RNG = np.random.default_rng(20)


def run(
    simulator: LoadLibrary,
    arch: int,
    kernel: str,
    x: Array,
    shape: tuple[int, ...],
    out: np.dtype[Any],
    blob: bytes,
    *,
    dtypes: str = "",
    cores: int = 1,
    key: int = 0,
) -> LaunchReport:
    return (
        simulator(arch, dtypes)
        .launch(kernel, PRODUCTS[arch], cores, [x], [(shape, out)], tiling=blob, tiling_key=key)
        .check()
    )


@ARCHITECTURES
@pytest.mark.parametrize("dtype", ["float", "half", "int32_t"])
def test_twice_adds_in_kind(simulator: LoadLibrary, arch: int, dtype: str) -> None:
    numpy_dtype = DTYPES[dtype]
    x = RNG.integers(-2000, 2000, 3072).astype(numpy_dtype)
    report = run(
        simulator,
        arch,
        "twice",
        x,
        x.shape,
        x.dtype,
        tiling(1536, 512),
        dtypes=f"{dtype} {dtype}",
        cores=2,
    )
    assert np.array_equal(report.outputs[0], x + x)
    assert report.traffic == 1.0


@ARCHITECTURES
@pytest.mark.parametrize(
    ("x_dtype", "z_dtype"), [("half", "float"), ("float", "float"), ("half", "half")]
)
def test_axpy_accumulates(simulator: LoadLibrary, arch: int, x_dtype: str, z_dtype: str) -> None:
    x = RNG.standard_normal(2048).astype(DTYPES[x_dtype])
    z = DTYPES[z_dtype]
    report = run(
        simulator, arch, "axpy", x, x.shape, z, tiling(2048, 1024), dtypes=f"{x_dtype} {z_dtype}"
    )
    assert np.array_equal(report.outputs[0], x.astype(z) + np.float32(2).astype(z) * x.astype(z))


@ARCHITECTURES
def test_cast_half_to_float_is_exact_for_every_half(simulator: LoadLibrary, arch: int) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    report = run(
        simulator,
        arch,
        "cast",
        x,
        x.shape,
        np.dtype(np.float32),
        tiling(1 << 16, 4096),
        dtypes="half float",
    )
    assert np.array_equal(report.outputs[0], x.astype(np.float32), equal_nan=True)


def interesting_floats() -> Array:
    """Return every half, its neighbours, the ties between halves, and random bits."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    ties = (halves[:-1] + halves[1:]) / 2
    near = [np.nextafter(v, np.float32(d)) for v in (halves, ties) for d in (0, np.inf)]
    random = RNG.integers(0, 1 << 32, 1 << 15, dtype=np.uint32).view(np.float32)
    special = np.array(
        [65504, 65519.996, 65520, 7e4, np.inf, np.nan, 2**-25, 2**-26, 1e-45], np.float32
    )
    values = np.concatenate([halves, ties, *near, random, special])
    values = np.concatenate([values, -values])
    return np.pad(values, (0, -values.size % 4096)).astype(np.float32)


@ARCHITECTURES
def test_cast_float_to_half_rounds_to_nearest_even(simulator: LoadLibrary, arch: int) -> None:
    x = interesting_floats()
    blob = tiling(x.size, 4096, parameter=1)
    report = run(
        simulator, arch, "cast", x, x.shape, np.dtype(np.float16), blob, dtypes="float half"
    )
    with np.errstate(over="ignore"):
        assert np.array_equal(report.outputs[0], x.astype(np.float16), equal_nan=True)


FLOOR, CEIL, ROUND, TRUNC, ODD = 2, 3, 4, 5, 6


@pytest.mark.parametrize("mode", [FLOOR, CEIL, ROUND, TRUNC, ODD])
def test_cast_float_to_half_in_the_directed_modes(simulator: LoadLibrary, mode: int) -> None:
    x = interesting_floats()
    x = np.where(np.abs(x) < 65504, x, np.float32(1))
    blob = tiling(x.size, 4096, parameter=mode)
    got = run(
        simulator, 2201, "cast", x, x.shape, np.dtype(np.float16), blob, dtypes="float half"
    ).outputs[0]
    nearest = x.astype(np.float16)
    with np.errstate(over="ignore"):
        previous = np.nextafter(nearest, np.float16(-np.inf))
        following = np.nextafter(nearest, np.float16(np.inf))
    below = np.where(nearest.astype(np.float32) > x, previous, nearest)
    above = np.where(nearest.astype(np.float32) < x, following, nearest)
    toward_zero = np.where(x < 0, above, below)
    away = np.where(x < 0, below, above)
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
    odd = np.where((below.view(np.uint16) & 1) == 1, below, above)
    expected = {
        FLOOR: below,
        CEIL: above,
        TRUNC: toward_zero,
        ROUND: np.where(x == middle, away, nearest),
        ODD: np.where(below == above, below, odd),
    }[mode]
    assert np.array_equal(got, expected)


@ARCHITECTURES
def test_cast_float_to_bfloat16_rounds_to_nearest_even(simulator: LoadLibrary, arch: int) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = RNG.integers(0, 1 << 32, 1 << 16, dtype=np.uint32).view(np.float32)
    blob = tiling(x.size, 4096, parameter=1)
    got = run(
        simulator, arch, "cast", x, x.shape, np.dtype(np.uint16), blob, dtypes="float bfloat16_t"
    ).outputs[0]
    with np.errstate(invalid="ignore"):
        expected = x.astype(ml_dtypes.bfloat16)
    assert np.array_equal(got.view(ml_dtypes.bfloat16), expected, equal_nan=True)


@ARCHITECTURES
def test_copy_through_overlaps_loads_and_stores(simulator: LoadLibrary, arch: int) -> None:
    x = RNG.standard_normal(8192).astype(np.float16)
    report = run(simulator, arch, "copy_through", x, x.shape, x.dtype, tiling(4096, 1024), cores=2)
    assert np.array_equal(report.outputs[0], x)
    assert report.pipes["V"].instructions == 0


@ARCHITECTURES
def test_pad_rows_fills_both_sides(simulator: LoadLibrary, arch: int) -> None:
    x = RNG.standard_normal((5, 21)).astype(np.float16)
    report = run(
        simulator, arch, "pad_rows", x, (5, 32), x.dtype, tiling(21, 32, parameter=5, second=7)
    )
    assert np.array_equal(report.outputs[0], np.pad(x, ((0, 0), (7, 4))))


@ARCHITECTURES
@pytest.mark.parametrize(
    ("bits", "dtype", "width"),
    [(16, np.float16, 16), (16, np.float16, 64), (32, np.float32, 8), (32, np.float32, 40)],
)
def test_transpose_turns_rows_into_columns(
    simulator: LoadLibrary, arch: int, bits: int, dtype: type, width: int
) -> None:
    x: Array = RNG.standard_normal((16, width)).astype(dtype)
    report = run(simulator, arch, "transpose", x, (width, 16), x.dtype, tiling(width), key=bits)
    assert np.array_equal(report.outputs[0], x.T)


@ARCHITECTURES
def test_strides_and_bit_masks_address_blocks_and_elements(
    simulator: LoadLibrary, arch: int
) -> None:
    x = RNG.standard_normal(128).astype(np.float32)
    report = run(simulator, arch, "strided", x, (128 * 3,), x.dtype, tiling(128, parameter=3))
    expected = np.zeros((16, 3, 8), np.float32)
    expected[:, 0] = x.reshape(16, 8)
    expected[:, :, 1::2] *= np.float32(0.5)
    assert np.array_equal(report.outputs[0], expected.ravel())


@ARCHITECTURES
@pytest.mark.parametrize("key", [1, 2])
def test_pick_gathers_and_compresses(simulator: LoadLibrary, arch: int, key: int) -> None:
    x = RNG.standard_normal(256).astype(np.float32)
    report = run(simulator, arch, "pick", x, x.shape, x.dtype, tiling(256), key=key)
    assert np.array_equal(
        report.outputs[0], x[::-1] if key == 1 else np.concatenate([x[::2], x[1::2]])
    )


@ARCHITECTURES
def test_undefined_lanes_and_padding_may_travel_but_not_arrive(
    simulator: LoadLibrary, arch: int
) -> None:
    x = RNG.standard_normal((8, 11)).astype(np.float16)
    blob = tiling(11, parameter=8)
    report = run(simulator, arch, "unused_lanes", x, (8, 16), x.dtype, blob)
    assert np.array_equal(report.outputs[0], np.pad(x, ((0, 0), (0, 5))))


def test_atomic_stores_accumulate_over_cores(simulator: LoadLibrary) -> None:
    x = np.arange(4 * 64, dtype=np.float32)
    library = simulator(2201, "")
    report = library.launch(
        "accumulate", "910B1", 4, [x], [np.full(64, 5, np.float32)], tiling=tiling(64)
    ).check()
    assert np.array_equal(report.outputs[0], 5 + x.reshape(4, 64).sum(0))
    assert report.arguments[1].rewritten == 3 * 64 * 4
