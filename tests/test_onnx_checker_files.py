"""The model checker reads files, with what they keep outside, and says what is wrong with one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from ascend_col2im import FileError, RuleError
from ascend_col2im.onnx_op import check_model

from .test_onnx_checker import graph


def test_files_are_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(graph(), path)
    check_model(path)
    check_model(str(path))
    onnx.save(graph("float[N, 8, 10]"), path)
    with pytest.raises(RuleError, match=r"^Col2Im node 'fold': length: "):
        check_model(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00"], ids=repr)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(FileError) as told:
        check_model(path)
    assert str(told.value).startswith(f"{path}: ")


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError) as told:
        check_model(tmp_path / "none.onnx")
    assert str(told.value) == f"{tmp_path}/none.onnx: cannot be read: No such file or directory"
    with pytest.raises(FileError) as told:
        check_model(tmp_path)
    assert str(told.value) == f"{tmp_path}: cannot be read: Is a directory"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(FileError, match=r"pipe.onnx: is not a regular file; save the model in"):
        check_model(tmp_path / "pipe.onnx")


def save_with_external_shape(directory: Path, image_shape: list[int]) -> Path:
    model = graph()
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(image_shape), "i"))
    path = directory / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path


def test_shapes_in_external_data_are_read(tmp_path: Path) -> None:
    check_model(save_with_external_shape(tmp_path, [4, 5]))
    with pytest.raises(RuleError, match="length: "):
        check_model(save_with_external_shape(tmp_path, [4, 6]))


def test_missing_external_data_is_named(tmp_path: Path) -> None:
    path = save_with_external_shape(tmp_path, [4, 5])
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(FileError) as told:
        check_model(path)
    assert str(path) in str(told.value)
    assert "weights.bin" in str(told.value)


def test_truncated_external_data_is_refused(tmp_path: Path) -> None:
    path = save_with_external_shape(tmp_path, [4, 5])
    (tmp_path / "weights.bin").write_bytes(b"123")
    with pytest.raises(FileError, match=r"i.*cannot be read|weights\.bin"):
        check_model(path)
