"""Extra memory is bounded and the column matrix is never copied: measured, not assumed."""

from __future__ import annotations

import math
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ascend_col2im import col2im, im2col, overlap_count
from ascend_col2im.facts import ACCUMULATORS
from tests.dtypes import dtype_of, random_array
from tests.layouts import OUT_LAYOUTS
from tests.oracles import Array, Case

MIB = 2**20


def peak_bytes(call: Callable[[], Any]) -> int:
    """Return how much more memory than before was held at most while ``call`` ran again."""
    call()  # which may compile
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del result
    return peak - before


def test_the_measurement_sees_numpy_arrays() -> None:
    assert 8 * MIB <= peak_bytes(lambda: np.ones(MIB)) < 9 * MIB


def plane_bytes(case: Case, dtype: str) -> int:
    return math.prod(case.output_size) * np.dtype(ACCUMULATORS[dtype]).itemsize


SHAPES = {
    "many planes": (64, 96, Case((14, 14), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))),
    "many tiny planes": (256, 400, Case((2, 3), (2, 2), (1, 1), (1, 1), (0, 0), (1, 1))),
    "large planes": (1, 3, Case((1200, 1100), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1))),
    "many taps": (2, 4, Case((64, 64), (40, 40), (2, 2), (10, 10), (10, 10), (1, 1))),
    "stride one, many taps": (1, 2, Case((64, 70), (33, 33), (1, 1), (3, 3), (3, 3), (1, 1))),
    "stride equals kernel": (8, 3, Case((224, 224), (16, 16), (16, 16), (0, 0), (0, 0), (1, 1))),
    "stride beyond the kernel": (8, 32, Case((99, 99), (2, 2), (7, 5), (0, 0), (0, 0), (3, 2))),
    "one axis, many taps": (1, 1, Case((4096,), (4096,), (1,), (40,), (40,), (1,))),
    "one long axis": (2, 1, Case((400_000,), (512,), (256,), (0,), (0,), (1,))),
    "three axes": (2, 8, Case((16, 30, 30), (3, 3, 3), (1, 2, 2), (1,) * 3, (1,) * 3, (1,) * 3)),
}
shapes = pytest.mark.parametrize(("N", "C", "case"), SHAPES.values(), ids=SHAPES.keys())
dtypes = pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "complex128"])


@pytest.mark.usefixtures("either_way")
@shapes
@dtypes
def test_extra_memory_is_below_one_mebibyte_and_a_plane(
    N: int, C: int, case: Case, dtype: str
) -> None:
    col = np.ones((N, C * case.taps, case.length), dtype_of(dtype))
    out = np.empty((N, C, *case.output_size), col.dtype)
    extra = peak_bytes(lambda: col2im(col, **case.kwargs, out=out))
    assert extra < MIB + plane_bytes(case, dtype)


@shapes
@dtypes
def test_a_new_result_is_all_that_is_added_without_out(
    N: int, C: int, case: Case, dtype: str
) -> None:
    col = np.broadcast_to(dtype_of(dtype).type(1), (N, C * case.taps, case.length))
    result = N * C * math.prod(case.output_size) * col.itemsize
    extra = peak_bytes(lambda: col2im(col, **case.kwargs))
    assert result <= extra < result + MIB + plane_bytes(case, dtype)


@shapes
def test_im2col_needs_no_more_than_its_result(N: int, C: int, case: Case) -> None:
    x = np.ones((N, C, *case.output_size), np.float16)
    result = N * C * case.taps * case.length * x.itemsize
    extra = peak_bytes(lambda: im2col(x, **case.window_kwargs))
    assert result <= extra < result + MIB + plane_bytes(case, "float16")


@pytest.mark.parametrize("layout", OUT_LAYOUTS.values(), ids=OUT_LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_no_layout_of_the_columns_is_copied(layout: Callable[[Array], Array], dtype: str) -> None:
    case = Case((60, 60), (5, 5), (1, 1), (2, 2), (2, 2), (1, 1))
    col = layout(random_array(dtype, (2, 16 * case.taps, case.length)))
    out = np.empty((2, 16, *case.output_size), dtype)
    assert col.nbytes > 5 * MIB
    extra = peak_bytes(lambda: col2im(col, **case.kwargs, out=out))
    assert extra < MIB + plane_bytes(case, dtype)


@pytest.mark.parametrize("layout", OUT_LAYOUTS.values(), ids=OUT_LAYOUTS.keys())
def test_no_layout_of_out_is_buffered_whole(layout: Callable[[Array], Array]) -> None:
    case = Case((60, 60), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1))
    out = layout(np.empty((8, 64, *case.output_size), np.float32))
    assert out.nbytes > 7 * MIB
    col = np.broadcast_to(np.float32(1), (8, 64 * case.taps, case.length))
    extra = peak_bytes(lambda: col2im(col, **case.kwargs, out=out))
    assert extra < MIB + plane_bytes(case, "float32")


HUGE_MATRIX = """
import resource
import numpy as np
from ascend_col2im import col2im

taps = 65537
col = np.broadcast_to(np.float32(1), (1, taps, taps))
[size] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmSize")]
limit = int(size) * 1024 + 8 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
image = col2im(col, (taps,), (taps,), padding=taps // 2)
print(col.nbytes, *image[0, 0, [0, taps // 2, -1]].tolist())
"""


def test_a_matrix_of_16_gigabytes_from_one_broadcast_scalar_runs_in_8_megabytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HUGE_MATRIX],
        capture_output=True,
        text=True,
        check=True,
        env={
            "NUMBA_DISABLE_JIT": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": ":".join(sys.path),
        },
    )
    assert done.stdout.split() == [str(4 * 65537**2), "32769.0", "65537.0", "32769.0"]


@dtypes
def test_many_taps_cost_no_memory(dtype: str) -> None:
    taps = 65537
    case = Case((129,), (taps,), (1,), (taps // 2,), (taps // 2,), (1,))
    col = np.broadcast_to(dtype_of(dtype).type(1), (3, 2 * taps, case.length))
    assert peak_bytes(lambda: col2im(col, **case.kwargs)) < MIB


def test_overlap_count_needs_little_more_than_its_result() -> None:
    extra = peak_bytes(lambda: overlap_count((900, 1100), 65, stride=2, padding=32))
    assert extra < 900 * 1100 * 8 + MIB
    extra = peak_bytes(lambda: overlap_count((500_000,), 65, stride=2, padding=32))
    assert extra < 2 * 500_000 * 8 + MIB


def test_what_repeated_calls_keep_is_bounded() -> None:
    def fold_in_forty_ways() -> None:
        for size in range(32, 72):
            col2im(np.ones((1, 1024, 1)), (1, size, size), (1, 32, 32), stride=size)

    assert peak_bytes(fold_in_forty_ways) < 8 * MIB
