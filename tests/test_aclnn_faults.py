"""Every function of CANN failing in turn, at each of its calls."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest

from ascend_col2im import _abi, aclnn, npu_backend
from ascend_col2im.geometry import Geometry

from .runtime.installation import environment, run
from .runtime.observer import calls, failing, live

SINGLE = Geometry((4, 5), (2, 3), (1, 1), (0, 0), (0, 0), (1, 1))
LISTS = Geometry((4, 5), (2, 3), (1, 2), (0, 1), (0, 0), (1, 1))

RELEASES = {
    "aclrtFree": "device_bytes",
    "aclrtDestroyStream": "aclrtStream",
    "aclrtDestroyEvent": "aclrtEvent",
    "aclDestroyTensor": "aclTensor",
    "aclDestroyIntArray": "aclIntArray",
}
"""Functions that keep what they were given when they fail: each failure leaves one behind."""


def fold(geometry: Geometry) -> npu_backend.Array:
    col = np.arange(2 * geometry.K * geometry.L, dtype=np.float32)
    image = np.zeros((1, 2, *geometry.output_size), np.float32)
    npu_backend.col2im(col.reshape(1, 2 * geometry.K, geometry.L), geometry, image)
    return image


def unfold(geometry: Geometry) -> npu_backend.Array:
    image = np.arange(2 * np.prod(geometry.output_size), dtype=np.float32)
    col = np.zeros((1, 2 * geometry.K, geometry.L), np.float32)
    npu_backend.im2col(image.reshape(1, 2, *geometry.output_size), geometry, col)
    return col


def timed(geometry: Geometry) -> npu_backend.Array:
    col = np.ones((1, 2 * geometry.K, geometry.L), np.float32)
    with npu_backend.timer(col, geometry, (1, 2, *geometry.output_size)) as seconds:
        return np.array([seconds(), seconds()])


OPERATIONS: tuple[tuple[Callable[[Geometry], npu_backend.Array], Geometry], ...] = (
    (fold, SINGLE),
    (fold, LISTS),
    (unfold, LISTS),
    (timed, SINGLE),
)


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_each_function_failing_at_each_call(number: int) -> None:
    printed = run(_each_function, environment(OPERATION=str(number)))
    assert "aclnn" in printed


def _each_function() -> None:
    operation, geometry = OPERATIONS[int(os.environ["OPERATION"])]
    expected = operation(geometry)
    before = calls()
    operation(geometry)
    made = {name: count - before.get(name, 0) for name, count in calls().items()}
    points = [(name, n) for name, count in made.items() for n in range(1, count + 1)]
    for name, n in points:
        held = live()
        assert held.get("misuse", 0) == 0
        with failing(name, n), pytest.raises(aclnn.NpuError) as caught:
            operation(geometry)
        error = caught.value
        assert f"no {name} today" in str(error), (name, n)
        assert "output_size (4, 5)" in str(error) or name == "aclrtGetSocName", (name, n)
        if name in _abi.SYMBOLS:
            assert error.symbol == name
        else:  # a kernel's fault shows where the stream is waited for
            assert (name[-7:], error.symbol) == ("/kernel", "aclrtSynchronizeStream")
        leaked = {kind for kind, count in live().items() if count != held.get(kind, 0)}
        assert leaked == ({RELEASES[name]} if name in RELEASES else set()), (name, n)
        np.testing.assert_array_equal(operation(geometry), expected)
    print(points)


def test_functions_of_the_first_call_can_fail_too() -> None:
    run(_first_call, environment())


def _first_call() -> None:
    for name in ("aclInit", "aclrtSetDevice", "aclrtGetDevice"):
        with failing(name), pytest.raises(aclnn.NpuError, match=f"^{name} failed with 507899"):
            fold(LISTS)
        assert live() == {}
    with failing("aclrtGetDeviceCount"), pytest.raises(aclnn.NpuError, match="DRV_INTERNAL"):
        npu_backend.require("col2im")
    fold(LISTS)


def test_an_executor_that_is_not_launched_is_destroyed() -> None:
    run(_no_workspace, environment())


def _no_workspace() -> None:
    fold(SINGLE)
    # the third allocation is the workspace, between the two stages
    with failing("aclrtMalloc", 3, 207001), pytest.raises(aclnn.NpuError, match="MEMORY_ALLOC"):
        fold(SINGLE)
    assert calls()["aclDestroyAclOpExecutor"] == 1
    assert live() == {}


def test_a_failing_clean_up_does_not_hide_what_went_wrong_first() -> None:
    run(_two_faults, environment())


def _two_faults() -> None:
    os.environ["ASCEND_SIM_FAIL"] = (
        "aclnnCol2ImNd@*=561003:the first;aclDestroyTensor@*=561000:the second;"
        "aclrtFree@*=507899:the third;aclrtDestroyStream@*=507899:the fourth"
    )
    with pytest.raises(aclnn.NpuError, match="the first"):
        fold(LISTS)


def test_device_memory_that_does_not_suffice_is_said_in_bytes() -> None:
    run(_out_of_memory, environment(ASCEND_SIM_MEMORY_MIB="1"))


def _out_of_memory() -> None:
    geometry = Geometry((600, 600), (1, 1), (1, 1), (0, 0), (0, 0), (1, 1))
    with pytest.raises(aclnn.NpuError, match=r"207001 .* 2880000 bytes; 0 of device 0's 1048576"):
        fold(geometry)
    assert live() == {}
