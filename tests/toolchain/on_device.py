"""A program that compares the deployed kernels with the CPU, bit by bit."""

from __future__ import annotations

import ctypes
import json
import random
import sys
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np

from ascend_col2im import _abi, aclnn, cpu_fallback, npu_backend, opp
from ascend_col2im.aclnn import Call, View, col2im_call, dense_layout, target
from ascend_col2im.geometry import Geometry, geometry

from ..kernel.cases import random_case
from .simulated import ROOT

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def compare(geo: Geometry, dtype: str, seed: int) -> None:
    """Fold random columns and unfold the image, on both; compare all bits."""
    numbers = np.random.default_rng(seed).standard_normal((2, 3 * geo.K, geo.L))
    col = numbers.astype(DTYPES[dtype])
    image, expected = (np.empty((2, 3, *geo.output_size), col.dtype) for _ in range(2))
    npu_backend.col2im(col, geo, image)
    cpu_fallback.col2im(col, geo, expected)
    assert image.tobytes() == expected.tobytes(), ("col2im", geo, dtype)
    unfolded, wanted = np.empty_like(col), np.empty_like(col)
    npu_backend.im2col(image, geo, unfolded)
    cpu_fallback.im2col(image, geo, wanted)
    assert unfolded.tobytes() == wanted.tobytes(), ("im2col", geo, dtype)


def official_examples() -> int:
    """Run the examples of the ONNX operator page as Col2ImNd; return how many there were."""
    examples = json.loads((ROOT / "tests/data/onnx_col2im.json").read_text(encoding="utf-8"))
    for example in examples["cases"]:
        size, kernel = example["image_shape"], example["block_shape"]
        given = example["attributes"]
        axes = len(size)
        pads = given.get("pads", [0] * 2 * axes)
        geo = geometry(
            tuple(size),
            tuple(kernel),
            tuple(given.get("strides", [1] * axes)),
            tuple(pads[:axes]),
            tuple(pads[axes:]),
            tuple(given.get("dilations", [1] * axes)),
        )
        col = np.array(example["input"], np.float32)
        expected = np.array(example["output"], np.float32)
        image = np.empty_like(expected)
        with mock.patch.object(npu_backend, "col2im_call", _as_nd):
            npu_backend.col2im(col, geo, image)
        assert image.tolist() == expected.tolist(), example["name"]
    return len(examples["cases"])


def sizes_as_tensors() -> None:
    """Fold through the variant of Col2ImNd's first stage that takes its sizes as host tensors."""
    geo = geometry((5, 6), (2, 3), (1, 2), (1, 0), (0, 1), (1, 1))
    col = np.random.default_rng(0).standard_normal((3 * geo.K, geo.L)).astype(np.float32)
    image, expected = (np.empty((1, 3, *geo.output_size), np.float32) for _ in range(2))
    found = opp.operator(("aclnnCol2ImNd",), target().name)
    prepare = ctypes.CDLL(str(found.path)).aclnnCol2ImNdTensorGetWorkspaceSize
    prepare.argtypes = found.prepare.argtypes
    kept: list[Any] = []  # the values must outlive the call

    def tensor_or_array(handles: Any, values: tuple[int, ...]) -> Any:
        if len(kept) == 2:
            return original(handles, values)
        kept.append((ctypes.c_int64 * len(values))(*values))
        layout = dense_layout("int64", (len(values),))
        return handles.tensor(View(ctypes.addressof(kept[-1]), layout))

    original = aclnn._Handles.ints
    with (
        mock.patch.object(aclnn._Handles, "ints", tensor_or_array),
        mock.patch.dict(_abi.DTYPES, int64=9),
        mock.patch.object(opp, "operator", return_value=found._replace(prepare=prepare)),
        mock.patch.object(npu_backend, "col2im_call", _as_nd),
    ):
        npu_backend.col2im(col[None], geo, image)
    cpu_fallback.col2im(col[None], geo, expected)
    assert len(kept) == 2
    assert image.tobytes() == expected.tobytes()


def _as_nd(geo: Geometry, dtype: str) -> Call:
    return col2im_call(geo, dtype)._replace(names=("aclnnCol2ImNd",))


def main(folds: int) -> None:
    """Compare so many random folds in every dtype of the product, and the official examples."""
    random_ = random.Random(0)
    for seed in range(folds):
        case = random_case(random_, 3000)
        geo = geometry(*case.parameters)
        for dtype in target().dtypes:
            compare(geo, dtype, seed)
    sizes_as_tensors()
    print(f"{target().name}: {folds} folds, {official_examples()} official examples")


if __name__ == "__main__":
    main(int(sys.argv[1]))
