"""Shape inference, which only graphs use: the shapes of the Python side, for every op."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .simulated import ROOT, original, unsourced


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("infer") / "infer_shape"
    home = original()
    subprocess.run(
        [
            *("c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-D_GLIBCXX_USE_CXX11_ABI=0"),
            *(f"-I{home / 'include'}", "-DOP_PROTO_LIB", "-o", str(built)),
            str(ROOT / "tests/toolchain/infer_shape.cpp"),
            *map(str, sorted((ROOT / "op_host").glob("*_infershape.cpp"))),
            *(f"-L{home / 'lib64'}", "-lregister", "-lascendcl"),
        ],
        check=True,
    )
    return built


def inferred(program: Path, *arguments: str) -> str | int:
    done = subprocess.run(
        [str(program), *arguments],
        env={**unsourced(), "LD_LIBRARY_PATH": str(original() / "lib64")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout.strip() or done.returncode


DEFAULTS = ("--", "1", "0", "1")


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        (("Col2Im", "2,18,20", "--", "4", "5", "2", "3", "1", "1", "1"), 4),  # 5 * 5 windows
        (("Col2Im", "2,18,25", "--", "4", "5", "2", "3", "1", "1", "1"), "2,3,4,5"),
        (("Col2Im", "18,25", "--", "4", "5", "2", "3", "1", "1", "1"), "3,4,5"),
        (("Col2ImNd", "1,5,5", "5,5", "1,5", *DEFAULTS), "1,1,5,5"),
        (("Col2ImNd", "2,12,3", "8", "4", "--", "1", "0", "2"), "2,3,8"),
        (("Col2ImNd", "1,10,12", "3,4,5", "1,1,5", *DEFAULTS), "1,2,3,4,5"),
        (("Col2ImNd", "1,5,6", "5,5", "1,5", *DEFAULTS), 4),
        (("Col2ImNd", "1,5,-1", "5,5", "1,5", *DEFAULTS), "-2"),
        (("Col2ImNd", "1,5,5", "?", "?", *DEFAULTS), "-2"),
        (("Im2ColNd", "2,3,4,5", "2,3", "--", "1", "1,0,0,2", "1"), "2,18,20"),
        (("Im2ColNd", "3,8", "4", "--", "1", "0", "2"), "12,3"),
    ],
    ids=str,
)
def test_a_graph_gets_the_outputs_shape(
    program: Path, arguments: tuple[str, ...], shape: str | int
) -> None:
    assert inferred(program, *arguments) == shape
