"""``run`` with an ONNX model: inputs and outputs in files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import ascend_col2im

from .command_line import COMMAND, fails, invoke, python

COL = np.arange(2 * 12 * 9, dtype=np.float32).reshape(2, 12, 9)
IMAGE = ascend_col2im.col2im(COL, 4, 2)


def save_model(
    path: Path, nodes: list[Any] | None = None, outputs: tuple[str, ...] = ("image",)
) -> Path:
    """Write a model of Col2Im, followed by other nodes, with the shapes as inputs."""
    inputs = [
        helper.make_tensor_value_info("col", TensorProto.FLOAT, ["N", 12, 9]),
        helper.make_tensor_value_info("image_shape", TensorProto.INT64, [2]),
        helper.make_tensor_value_info("block_shape", TensorProto.INT64, [2]),
    ]
    col2im = helper.make_node("Col2Im", ["col", "image_shape", "block_shape"], ["image"])
    shape = ["N", "C", "H", "W"]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs]
    graph = helper.make_graph([col2im, *(nodes or [])], "graph", inputs, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)
    return path


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.npy" for name in ("col", "image_shape", "block_shape")]
    for path, array in zip(paths, (COL, np.array([4, 4]), np.array([2, 2])), strict=True):
        np.save(path, array)
    return paths


def test_one_output_in_an_npy_file(tmp_path: Path, sources: list[Path]) -> None:
    model, target = save_model(tmp_path / "model.onnx"), tmp_path / "image.npy"
    result = invoke("run", model, *sources, "-o", target)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(target), IMAGE, strict=True)
    lines = result.stdout.splitlines()
    assert lines[0] == f"model    {model}"
    assert lines[1] == f"input    {sources[0]}: 2 x 12 x 9 float32"
    assert lines[4] == f"output   {target}, image: 2 x 3 x 4 x 4 float32"


def test_several_outputs_in_an_npz_file(tmp_path: Path, sources: list[Path]) -> None:
    nodes = [helper.make_node("Neg", ["image"], ["file"])]
    model = save_model(tmp_path / "model.onnx", nodes, ("image", "file"))
    result = invoke("run", model, *sources, "-o", tmp_path / "out.npz", "--json")
    facts = json.loads(result.stdout)
    assert facts["outputs"]["file"] == {"shape": [2, 3, 4, 4], "dtype": "float32"}
    with np.load(tmp_path / "out.npz") as saved:
        assert sorted(saved) == ["file", "image"]
        np.testing.assert_array_equal(saved["file"], -IMAGE, strict=True)
    said = fails(5, "run", model, *sources, "-o", tmp_path / "out.npy")
    assert said == f"{tmp_path}/out.npy: an .npy file holds one array, not 2; name an .npz"


def test_columns_from_an_npz_file(tmp_path: Path, sources: list[Path]) -> None:
    np.savez(tmp_path / "col.npz", a=COL)
    model, target = save_model(tmp_path / "model.onnx"), tmp_path / "image.npy"
    result = invoke("run", model, tmp_path / "col.npz", *sources[1:], "-o", target)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(target), IMAGE, strict=True)


def test_an_output_that_is_no_array_is_refused(tmp_path: Path, sources: list[Path]) -> None:
    nodes = [helper.make_node("SequenceConstruct", ["image", "image"], ["pair"])]
    model = save_model(tmp_path / "model.onnx", nodes)
    proto = onnx.load(model)
    del proto.graph.output[:]
    proto.graph.output.append(
        helper.make_tensor_sequence_value_info("pair", TensorProto.FLOAT, None)
    )
    onnx.save(proto, model)
    said = fails(5, "run", model, *sources, "-o", tmp_path / "out.npz")
    assert said.startswith(f"{model}: output 'pair' is no array of numbers")


def test_mistakes_are_messages(tmp_path: Path, sources: list[Path]) -> None:
    model, target = save_model(tmp_path / "model.onnx"), tmp_path / "image.npy"
    (tmp_path / "text.onnx").write_text("no model")
    cases: tuple[tuple[int, tuple[object, ...], str], ...] = (
        (2, (model, *sources), "a result needs a file; name it with -o"),
        (2, (model, "-o", target), "run MODEL.onnx needs its inputs"),
        (2, (model, *sources, "--stride", 2, "-o", target), "run MODEL.onnx takes no --stride"),
        (3, (model, *sources[:2], "-o", target), "block_shape"),
        (3, (model, *sources, sources[0], "-o", target), "inputs"),
        (3, (model, sources[1], *sources[1:], "-o", target), "col"),
        (4, (model, *sources, "--backend", "npu", "-o", target), "backend 'npu'"),
        (5, (tmp_path / "no.onnx", *sources, "-o", target), "no.onnx: cannot be read"),
        (5, (tmp_path / "text.onnx", *sources, "-o", target), "text.onnx: "),
        (5, (model, tmp_path / "no.npy", *sources[1:], "-o", target), "no.npy: cannot be read"),
        (5, (model, *sources, "-o", sources[0]), "is the file being read"),
        (5, (model, *sources, "-o", tmp_path / "image.png"), "does not end in .npy or .npz"),
    )
    for exit_code, args, words in cases:
        assert words in fails(exit_code, "run", *args)
    assert not target.exists()


def test_without_onnx_the_message_says_how_to_get_it(tmp_path: Path, sources: list[Path]) -> None:
    model = save_model(tmp_path / "model.onnx")
    hidden = "import sys; sys.modules['onnx'] = None; " + COMMAND
    done = python(hidden, "run", model, *sources, "-o", tmp_path / "image.npy")
    assert (done.returncode, done.stdout) == (6, "")
    assert "pip install 'ascend-col2im[onnx]'" in done.stderr
    assert "Traceback" not in done.stderr
