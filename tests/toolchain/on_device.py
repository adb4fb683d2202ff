"""A program that compares the deployed kernels with the CPU, bit by bit."""

from __future__ import annotations

import json
import random
import sys
from unittest import mock

import ml_dtypes
import numpy as np

from ascend_col2im import cpu_fallback, npu_backend
from ascend_col2im.aclnn import Call, col2im_call, target
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
    print(f"{target().name}: {folds} folds, {official_examples()} official examples")


if __name__ == "__main__":
    main(int(sys.argv[1]))
