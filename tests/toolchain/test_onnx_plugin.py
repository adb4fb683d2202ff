"""The ONNX plug-in: a standard Col2Im node becomes a Col2ImNd."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest
from google.protobuf import json_format

from .simulated import ROOT, original, unsourced

Attributes = dict[str, list[int]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the plug-in into a program that maps one node."""
    built = tmp_path_factory.mktemp("onnx") / "onnx_mapping"
    home = original()
    subprocess.run(
        [
            *("c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-D_GLIBCXX_USE_CXX11_ABI=0"),
            *(f"-I{home / 'include'}", "-o", str(built)),
            str(ROOT / "tests/toolchain/onnx_mapping.cpp"),
            str(ROOT / "framework/onnx_plugin/col2im_onnx_plugin.cpp"),
            *(f"-L{home / 'lib64'}", "-lregister", "-lascendcl"),
        ],
        check=True,
    )
    return built


def mapped(program: Path, *arguments: str) -> tuple[int, str, Attributes]:
    done = subprocess.run(
        [str(program), *arguments],
        env={**unsourced(), "LD_LIBRARY_PATH": str(original() / "lib64")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    op, *lines = done.stdout.splitlines() or [""]
    words = [line.split() for line in lines]
    return done.returncode, op, {name: list(map(int, values)) for name, *values in words}


def as_json(*, quoted: bool, **attributes: Any) -> str:
    """Write a node's attributes as CANN's parser does, 64-bit integers as numbers or quoted."""
    node = onnx.helper.make_node("Col2Im", ["col", "size", "kernel"], ["image"], **attributes)
    found = json_format.MessageToDict(node)  # quotes them
    if not quoted:
        for attribute in found.get("attribute", []):
            attribute.update(
                {name: numbers(value) for name, value in attribute.items() if name != "name"}
            )
    return json.dumps({"attribute": found.get("attribute", [])})


def numbers(value: Any) -> Any:
    return list(map(int, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("version", range(18, 26))
def test_every_version_with_the_operator_is_mapped(program: Path, version: int) -> None:
    assert mapped(program, f"ai.onnx::{version}::Col2Im") == (
        0,
        "Col2ImNd",
        {"dilations": [1], "pads": [0], "strides": [1]},
    )


@pytest.mark.parametrize("origin", ["ai.onnx::17::Col2Im", "ai.onnx::18::Col2im"])
def test_nothing_else_is(program: Path, origin: str) -> None:
    assert mapped(program, origin)[0] == 3


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"pads": [0, 1, 2, 3]},
        {"strides": [2, 3], "dilations": [1, 2]},
        {"pads": [1, 2, 3, 4, 5, 6], "strides": [1, 2, 3], "dilations": [3, 2, 1]},
    ],
    ids=str,
)
def test_attributes_keep_their_values_and_absent_ones_take_the_default(
    program: Path, given: Attributes, quoted: bool
) -> None:
    status, op, found = mapped(
        program, "ai.onnx::18::Col2Im", as_json(quoted=quoted, **given, note='a, "b" ]}{', k=3)
    )
    assert (status, op) == (0, "Col2ImNd")
    assert found == {"dilations": [1], "pads": [0], "strides": [1], **given}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"attribute": [{"name": "pads", "ints": [1, x]}]}',
        '{"attribute": [{"name": 1',
        "}",
    ],
)
def test_what_is_no_list_of_attributes_is_refused(program: Path, text: str) -> None:
    assert mapped(program, "ai.onnx::18::Col2Im", text)[0] == 4


def test_the_maps_defaults_are_the_definitions(program: Path) -> None:
    definition = (ROOT / "op_host/definition.h").read_text(encoding="utf-8")
    _, _, found = mapped(program, "ai.onnx::18::Col2Im")
    for name, values in found.items():
        expected = ", ".join(map(str, values))
        assert f'op.Attr("{name}").AttrType(ops::OPTIONAL).ListInt({{{expected}}})' in definition
