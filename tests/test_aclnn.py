"""NumPy arrays on the simulated NPU: results, libraries looked up, and errors."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_col2im import _abi, aclnn, cpu_fallback, npu_backend, opp
from ascend_col2im.errors import BackendError
from ascend_col2im.geometry import Geometry

from .runtime.installation import ROOT, environment, installation, package, run
from .runtime.observer import calls, live

GEOMETRIES = (
    # output_size, kernel_size, stride, pad_begin, pad_end, dilation
    Geometry((4, 5), (2, 3), (1, 1), (0, 0), (0, 0), (1, 1)),
    Geometry((9, 7), (3, 2), (2, 2), (1, 1), (1, 1), (2, 2)),
    Geometry((9, 7), (3, 2), (2, 3), (1, 0), (2, 1), (2, 1)),
    Geometry((11,), (3,), (2,), (1,), (0,), (2,)),
    Geometry((4, 5, 6), (2, 1, 3), (1, 2, 1), (0, 1, 2), (1, 0, 1), (1, 1, 2)),
)
SINGLE_VALUED = GEOMETRIES[:2]


def columns(
    geometry: Geometry, dtype: Any = np.float32, N: int = 2, C: int = 3
) -> npu_backend.Array:
    """Return columns whose tap t adds 2^t, and whose windows can be told apart."""
    tap = 2.0 ** (np.arange(geometry.K) % 8)
    plane = np.arange(1, N * C + 1).reshape(N, C, 1, 1)
    window = np.arange(geometry.L) % 5
    col = tap[:, None] * plane + window
    columns: npu_backend.Array = col.reshape(N, C * geometry.K, geometry.L).astype(dtype)
    return columns


def fold(
    col: npu_backend.Array, geometry: Geometry, on_device: bool, device: int = 0
) -> npu_backend.Array:
    image = np.full((len(col), col.shape[1] // geometry.K, *geometry.output_size), -1, col.dtype)
    if on_device:
        npu_backend.col2im(col, geometry, image, device)
    else:
        cpu_fallback.col2im(col, geometry, image)
    return image


def test_every_geometry_and_dtype_equals_the_cpu() -> None:
    run(_every_geometry_and_dtype, environment())


def _every_geometry_and_dtype() -> None:
    for geometry in GEOMETRIES:
        for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
            col = columns(geometry, dtype)
            image = fold(col, geometry, on_device=True)
            expected = fold(col, geometry, on_device=False)
            np.testing.assert_array_equal(
                image.view(f"u{col.itemsize}"), expected.view(f"u{col.itemsize}")
            )
            unfolded, reference = np.full_like(col, -1), np.full_like(col, -2)
            npu_backend.im2col(image, geometry, unfolded)
            cpu_fallback.im2col(image, geometry, reference)
            np.testing.assert_array_equal(unfolded, reference)
    assert live() == {}


def test_layouts_that_are_not_contiguous_are_read_and_written() -> None:
    run(_strided, environment())


def _strided() -> None:
    geometry = GEOMETRIES[0]
    col = columns(geometry)
    wide = np.zeros((*col.shape[:2], 2 * geometry.L), np.float32)
    wide[..., ::2] = col
    image = np.zeros((3, 2, *geometry.output_size), np.float32).swapaxes(0, 1)
    npu_backend.col2im(wide[..., ::2], geometry, image)
    np.testing.assert_array_equal(image, fold(col, geometry, on_device=False))


def test_col2im_is_used_where_it_suffices() -> None:
    run(_which_operator, environment())


def _which_operator() -> None:
    for geometry in GEOMETRIES:
        for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
            before = calls()
            fold(columns(geometry, dtype), geometry, on_device=True)
            new = {name for name in calls() if calls()[name] != before.get(name, 0)}
            simple = geometry in SINGLE_VALUED and dtype is not ml_dtypes.bfloat16
            assert ("aclnnCol2Im" in new, "aclnnCol2ImNd" in new) == (simple, not simple)


def test_a_package_with_only_col2im_serves_what_it_can() -> None:
    run(_only_col2im, environment("only_col2im", ASCEND_OPP_PATH="/no/opp"))


def _only_col2im() -> None:
    for geometry in SINGLE_VALUED:
        col = columns(geometry)
        np.testing.assert_array_equal(fold(col, geometry, True), fold(col, geometry, False))
    with pytest.raises(BackendError, match="has aclnnCol2ImNd for ascend910b"):
        fold(columns(GEOMETRIES[2]), GEOMETRIES[2], on_device=True)
    with pytest.raises(BackendError, match=r"only_col2im.*: has no aclnnIm2ColNd"):
        npu_backend.require("im2col")
    assert "only_col2im" in npu_backend.require("col2im")


def test_libraries_are_looked_up_when_called_and_in_cann_s_order() -> None:
    run(_lookup, environment(None, ASCEND_OPP_PATH=""))


def _lookup() -> None:
    names, target = ("aclnnIm2ColNd",), "ascend910b"

    def vendor() -> str:
        return opp.operator(names, target).path.parents[2].name

    del os.environ["ASCEND_HOME_PATH"]
    with pytest.raises(BackendError, match="none of ASCEND_CUSTOM_OPP_PATH, ASCEND_OPP_PATH"):
        vendor()
    # config.ini lists empty, only_col2im, full: the first that has the function wins
    os.environ["ASCEND_OPP_PATH"] = str(installation() / "opp")
    assert vendor() == "full"
    assert opp.operator(("aclnnCol2Im",), target).path.parents[2].name == "only_col2im"
    # ASCEND_CUSTOM_OPP_PATH comes first, left to right
    both = f"{package('empty')}:{package('full')}:{package('only_col2im')}"
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = both
    assert opp.operator(("aclnnCol2Im",), target).path.parents[2].name == "full"
    # neither: every path tried is in the error, with what is wrong with it
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = f"/nowhere:{package('only_310b')}:{package('empty')}"
    os.environ["ASCEND_OPP_PATH"] = "/no/opp"
    with pytest.raises(BackendError) as caught:
        vendor()
    assert str(caught.value).splitlines() == [
        "no installed operator package has aclnnIm2ColNd for ascend910b; build and deploy it: "
        "ascend-col2im build --soc ascend910b && ascend-col2im deploy; tried",
        "  /nowhere/op_api/lib/libcust_opapi.so: there is no such file",
        f"  {package('only_310b')}/op_api/lib/libcust_opapi.so: "
        "is built for ascend310b, not for ascend910b",
        f"  {package('empty')}/op_api/lib/libcust_opapi.so: has no aclnnIm2ColNd",
        "  /no/opp/vendors/config.ini: No such file or directory",
    ]


def test_without_cann_every_path_tried_is_listed() -> None:
    environ = environment(None, ASCEND_HOME_PATH="/no/cann")
    run(_no_cann, {**environ, "LD_LIBRARY_PATH": ""})


def _no_cann() -> None:
    with pytest.raises(BackendError, match="source its set_env") as caught:
        npu_backend.require("col2im")
    assert "\n  libascendcl.so: " in str(caught.value)
    assert "\n  /no/cann/lib64/libascendcl.so: " in str(caught.value)
    # and nothing of that is remembered
    os.environ["ASCEND_HOME_PATH"] = str(installation())
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(package("full"))
    assert npu_backend.require("col2im").startswith("1 of Atlas A2 training, aclnnCol2Im of /")


def test_the_product_decides_what_is_taken() -> None:
    run(_product, environment(ASCEND_SIM_SOC="Ascend310B1"))
    run(_package_for_another_product, environment("only_310b", ASCEND_OPP_PATH="/no/opp"))


def _product() -> None:
    assert aclnn.target().name == "ascend310b"
    fold(columns(GEOMETRIES[0]), GEOMETRIES[0], on_device=True)


def _package_for_another_product() -> None:
    with pytest.raises(BackendError, match="is built for ascend310b, not for ascend910b"):
        fold(columns(GEOMETRIES[0]), GEOMETRIES[0], on_device=True)


def test_threads_and_devices_keep_to_themselves() -> None:
    run(_threads, environment(ASCEND_SIM_DEVICES="3", ASCEND_SIM_TASK_DELAY_US="500"))


def _threads() -> None:
    assert npu_backend.device_count() == 3
    problems: list[BaseException] = []

    def work(device: int) -> None:
        try:
            for geometry in GEOMETRIES:
                col = columns(geometry) + device
                image = fold(col, geometry, on_device=True, device=device)
                np.testing.assert_array_equal(image, fold(col, geometry, on_device=False))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(device,)) for device in (0, 1, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert live() == {}
    current = ctypes.c_int32()
    for device in (1, 2, 0):  # and one thread goes from device to device, and back
        opp.runtime().aclrtSetDevice(1)
        work(device)
        opp.runtime().aclrtGetDevice(ctypes.byref(current))
        assert (problems, current.value) == ([], 1)
    with pytest.raises(
        aclnn.NpuError, match=r"aclrtSetDevice failed with 107001 .*device 3; there are 3"
    ):
        fold(columns(GEOMETRIES[0]), GEOMETRIES[0], on_device=True, device=3)


def test_an_error_names_function_status_reason_and_shapes() -> None:
    run(_error_text, environment())


def _error_text() -> None:
    col = columns(GEOMETRIES[0])
    with pytest.raises(aclnn.NpuError) as caught:
        npu_backend.col2im(col, GEOMETRIES[0], np.empty((2, 3, 5, 5), np.float32))
    assert str(caught.value) == (
        "aclnnCol2ImGetWorkspaceSize failed with 561002 (ACLNN_ERR_INNER_TILING_ERROR): "
        "reference tiling: output; aclnnCol2Im of "
        "float32 (2, 18, 9), strides (162, 9, 1), offset 0 of 324, to "
        "float32 (2, 3, 5, 5), strides (75, 25, 5, 1), offset 0 of 150, "
        "output_size (4, 5), kernel_size (2, 3), stride (1, 1), pad_begin (0, 0), "
        "pad_end (0, 0), dilation (1, 1)"
    )
    assert caught.value.symbol == "aclnnCol2ImGetWorkspaceSize"
    assert caught.value.status in _abi.STATUS_NAMES
    assert live() == {}


def test_a_thousand_calls_leave_nothing_behind() -> None:
    run(_thousand, environment())


def _thousand() -> None:
    geometry = GEOMETRIES[2]
    col = columns(geometry)
    for _ in range(1000):
        fold(col, geometry, on_device=True)
    assert calls()["aclnnCol2ImNd"] == 1000
    assert live() == {}


def test_the_official_onnx_examples_on_both_products() -> None:
    for soc in ("Ascend910B1", "Ascend310B1"):
        run(_onnx_examples, environment(ASCEND_SIM_SOC=soc))


def _onnx_examples() -> None:
    examples = json.loads((ROOT / "tests/data/onnx_col2im.json").read_text())["cases"]
    assert len(examples) == 5
    for example in examples:
        D = len(example["image_shape"])
        pads = tuple(example["attributes"].get("pads", [0] * 2 * D))
        geometry = Geometry(
            tuple(example["image_shape"]),
            tuple(example["block_shape"]),
            tuple(example["attributes"].get("strides", [1] * D)),
            pads[:D],
            pads[D:],
            tuple(example["attributes"].get("dilations", [1] * D)),
        )
        image = np.zeros(example["output_shape"], np.float32)
        npu_backend.col2im(np.array(example["input"], np.float32), geometry, image)
        np.testing.assert_array_equal(image, np.array(example["output"]))
