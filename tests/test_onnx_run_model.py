"""`run_model` runs a model file on named or ordered inputs, and refuses what it cannot run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from ascend_col2im import FileError, RuleError
from ascend_col2im.onnx_op import run_model

from .test_onnx_backend import COL, FOLD, FOLDED, IF_MODEL, graph

WRONG_INPUTS: dict[str, tuple[Any, str]] = {
    "none": ([], "arity: the model takes the inputs 'c', 'x'; 0 given"),
    "one": ([COL], "arity: the model takes the inputs 'c', 'x'; 1 given"),
    "three": ([COL] * 3, "arity: the model takes the inputs 'c', 'x'; 3 given"),
    "unknown name": (
        {"c": np.array(True), "x": COL, "z": COL},
        "arity: the model takes the inputs 'c', 'x'; 'c', 'x', 'z' given",
    ),
    "missing name": ({"x": COL}, "arity: the model takes the inputs 'c', 'x'; 'x' given"),
    "no array": ([np.array(True), None], "dtype: input 'x' is object; the model takes float32"),
    "a list": (
        [np.array(True), COL.tolist()],
        "dtype: input 'x' is float64; the model takes float32",
    ),
    "no names": ({}, "arity: the model takes the inputs 'c', 'x'; none given"),
    "dtype": (
        {"c": np.array(True), "x": COL.astype(np.float64)},
        "dtype: input 'x' is float64; the model takes float32",
    ),
    "string": (
        {"c": np.array(True), "x": np.full(COL.shape, "a")},
        "dtype: input 'x' is string; the model takes float32",
    ),
}


@pytest.mark.parametrize(
    ("inputs", "message"), list(WRONG_INPUTS.values()), ids=list(WRONG_INPUTS)
)
def test_wrong_inputs_are_refused(inputs: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(IF_MODEL, path)
    with pytest.raises(RuleError) as told:
        run_model(path, inputs)
    assert str(told.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    "inputs", [COL, [COL], (COL,), {"x": COL}], ids=lambda i: type(i).__name__
)
def test_a_model_file_gives_its_outputs_by_name(tmp_path: Path, inputs: Any) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(FOLD, path)
    outputs = run_model(path, inputs)
    assert list(outputs) == ["y"]
    np.testing.assert_array_equal(outputs["y"], FOLDED, strict=True)


def test_external_data_is_read_and_missed(tmp_path: Path) -> None:
    model = graph("z = Col2Im (x, i, b) y = Add (z, w)")
    weights = np.arange(20, dtype=np.float32).reshape(4, 5)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    np.testing.assert_array_equal(run_model(path, COL)["y"], FOLDED + weights, strict=True)
    (tmp_path / "w.bin").unlink()
    with pytest.raises(FileError) as told:
        run_model(path, COL)
    assert str(told.value).startswith(f"{path}: ")
    assert str(tmp_path / "w.bin") in str(told.value)


def test_files_that_cannot_be_run_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(FileError) as told:
        run_model(path, COL)
    assert str(told.value).startswith(f"{path}: is not an ONNX model that can be read: ")
    onnx.save(graph("y = Relu (x)", "float[n, c, h, w] x"), path)
    with pytest.raises(FileError) as told:
        run_model(path, FOLDED)
    assert str(told.value) == f"{path}: has no Col2Im node; needs at least one"
    onnx.save(graph("[fold] y = Col2Im <strides = [0, 1]> (x, i, b)"), path)
    with pytest.raises(RuleError, match=r"^Col2Im node 'fold': positive: stride\[0\] is 0"):
        run_model(path, COL)
