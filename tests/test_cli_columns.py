"""``run`` with a file of columns: formats, streaming, what it refuses, what it never harms."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ascend_col2im
from ascend_col2im.commands import run_columns
from ascend_col2im.facts import ACCUMULATORS

from .command_line import COMMAND, fails, invoke, python, sparse_columns

Array = npt.NDArray[Any]

FOLD: dict[str, Any] = {
    "output_size": (4, 5),
    "kernel_size": (2, 3),
    "stride": (2, 1),
    "padding": ((0, 1), (2, 0)),
    "dilation": (2, 1),
}
OPTIONS = (
    *("--output-size", "4,5", "--kernel-size", "2,3", "--stride", "2,1"),
    *("--padding", "0:1,2:0", "--dilation", "2,1"),
)
K, L = 6, 10
SIMPLE = ("--output-size", "3", "--kernel-size", "2")


def columns(shape: tuple[int, ...], dtype: object = np.float32) -> Array:
    """Return distinct small integers, so that every sum is exact in every dtype."""
    return (np.arange(np.prod(shape)) % 13).reshape(shape).astype(np.dtype(dtype))  # type: ignore[call-overload]


def folded(path: Path, target: Path, *options: object) -> Array:
    result = invoke("run", path, *options, "-o", target)
    assert result.exit_code == 0, result.output
    assert sorted(target.parent.glob(".*")) == []
    array: Array = np.load(target) if target.suffix == ".npy" else np.load(target)["image"]
    return array


SHAPES = {
    "one plane": (1, K, L),
    "channels": (1, 5 * K, L),
    "batch": (7, K, L),
    "both": (5, 3 * K, L),
    "unbatched": (4 * K, L),
    "empty batch": (0, 2 * K, L),
}


@pytest.mark.parametrize("target", ["image.npy", "image.npz"])
@pytest.mark.parametrize("kind", ["npy", "Fortran npy", "npz", "packed npz", "Fortran npz"])
@pytest.mark.parametrize("planes", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_groups_of_any_size_give_what_python_gives(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
    planes: int,
    kind: str,
    target: str,
) -> None:
    col = columns(shape)
    *how, suffix = kind.split()
    source = tmp_path / f"col.{suffix}"
    stored = np.asfortranarray(col) if "Fortran" in how else col
    save: Callable[..., None] = np.save if suffix == "npy" else np.savez
    (np.savez_compressed if "packed" in how else save)(source, stored)
    monkeypatch.setattr(run_columns, "GROUP_BYTES", planes * (K * L + 20) * 4)
    image = folded(source, tmp_path / target, *OPTIONS)
    np.testing.assert_array_equal(image, ascend_col2im.col2im(col, **FOLD), strict=True)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("name", ACCUMULATORS)
def test_every_dtype(tmp_path: Path, name: str, suffix: str) -> None:
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    col = columns((2, K, L), dtype)
    (np.save if suffix == ".npy" else np.savez)(tmp_path / f"col{suffix}", col)
    image = folded(tmp_path / f"col{suffix}", tmp_path / f"image{suffix}", *OPTIONS)
    expected = ascend_col2im.col2im(col, **FOLD)
    assert image.dtype == (np.dtype("V2") if name == "bfloat16" else dtype)
    assert image.tobytes() == expected.tobytes()


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_big_endian_columns_give_a_native_image(tmp_path: Path, suffix: str) -> None:
    col = columns((2, K, L))
    (np.save if suffix == ".npy" else np.savez)(tmp_path / f"col{suffix}", col.astype(">f4"))
    image = folded(tmp_path / f"col{suffix}", tmp_path / f"image{suffix}", *OPTIONS)
    np.testing.assert_array_equal(image, ascend_col2im.col2im(col, **FOLD), strict=True)
    assert image.dtype.isnative


def test_one_axis_is_written_with_a_comma(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((2, 2)))
    args = ("--output-size", "3,", "--kernel-size", "2")
    assert folded(tmp_path / "col.npy", tmp_path / "image.npy", *args).tolist() == [[1, 2, 1]]


def test_the_report_says_what_was_done(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", columns((2, K, L)))
    args = ("run", tmp_path / "col.npy", *OPTIONS, "-o", tmp_path / "image.npy")
    facts = json.loads(invoke(*args, "--json").stdout)
    assert facts["columns"] == {
        "file": str(tmp_path / "col.npy"),
        "shape": [2, K, L],
        "dtype": "float32",
    }
    assert facts["image"] == {
        "file": str(tmp_path / "image.npy"),
        "shape": [2, 1, 4, 5],
        "dtype": "float32",
    }
    assert facts["geometry"] == {
        "output_size": [4, 5],
        "kernel_size": [2, 3],
        "stride": [2, 1],
        "pad_begin": [0, 2],
        "pad_end": [1, 0],
        "dilation": [2, 1],
        "windows": [2, 5],
    }
    lines = invoke(*args).stdout.splitlines()
    assert lines[0] == f"columns  {tmp_path}/col.npy: 2 x 6 x 10 float32"
    assert lines[1] == f"image    {tmp_path}/image.npy: 2 x 1 x 4 x 5 float32"


MEASURED = """
import sys
from ascend_col2im.cli import main
from tests.peak_memory import peak_mib
main(["run", *sys.argv[1:]], standalone_mode=False)
print(peak_mib())
"""


LARGE = {
    "columns": ((64, 3721), ("--output-size", "128", "--kernel-size", "8", "--stride", "2"), 200),
    "image": ((1, 2**20), ("--output-size", "1024", "--kernel-size", "1"), 40),
}


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("large", LARGE)
def test_columns_and_image_stream_through_little_memory(
    tmp_path: Path, large: str, suffix: str
) -> None:
    plane, options, planes = LARGE[large]
    assert planes * np.prod(plane) * 4 > 150 * 2**20

    def resident_mb(planes: int) -> int:
        source = tmp_path / "col.npy"
        sparse_columns(source, (planes, *plane))
        if suffix == ".npz":
            with zipfile.ZipFile(
                tmp_path / "col.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1
            ) as archive:
                archive.write(source, source.name)
            source = tmp_path / "col.npz"
        target = tmp_path / f"image{suffix}"
        # A compiler takes memory of its own
        done = python(MEASURED, source, *options, "-o", target, NUMBA_DISABLE_JIT="1")
        assert done.returncode == 0, done.stderr
        return int(done.stdout.splitlines()[-1])

    assert resident_mb(planes) - resident_mb(1) < 70


def test_a_full_disk_is_an_error_before_any_work(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((1000, 4, 4), np.float32))
    target = tmp_path / "image.npy"
    target.write_bytes(b"precious")
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999)); "
    args = ("run", tmp_path / "col.npy", *SIMPLE, "-o")
    for path in (target, tmp_path / "image.npz"):
        done = python(limited + COMMAND, *args, path)
        assert (done.returncode, done.stdout) == (5, "")
        assert done.stderr == f"Error: {path}: cannot be written: File too large\n"
    assert target.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["col.npy", "image.npy"]


ONES = np.ones((1, 4, 4))
SIZE = "9000000000000000000"
RULES: dict[str, tuple[Array, tuple[str, ...], dict[str, Any]]] = {
    "dtype": (np.full((1, 4, 4), "a"), SIMPLE, {}),
    "rank": (np.ones(4), SIMPLE, {}),
    "arity": (ONES, (*SIMPLE, "--stride", "1,1,1"), {"stride": (1, 1, 1)}),
    "arity of pairs": (ONES, (*SIMPLE, "--padding", "0:1:2"), {"padding": ((0, 1, 2),)}),
    "arity of mixed pairs": (ONES, (*SIMPLE, "--padding", "1,0:2"), {"padding": (1, (0, 2))}),
    "positive": (ONES, (*SIMPLE, "--stride", "0"), {"stride": 0}),
    "padding": (ONES, (*SIMPLE, "--padding", "-1"), {"padding": -1}),
    "channels": (np.ones((1, 6, 4)), SIMPLE, {}),
    "kernel": (ONES, ("--output-size", "1", "--kernel-size", "2"), {"output_size": 1}),
    "windows": (ONES, (*SIMPLE, "--dilation", "3"), {"dilation": 3}),
    "length": (np.ones((1, 4, 5)), SIMPLE, {}),
    "size": (
        np.ones((1, 1, 1), np.int8),
        ("--output-size", SIZE, "--kernel-size", "1", "--stride", SIZE),
        {"output_size": int(SIZE), "kernel_size": 1, "stride": int(SIZE)},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules_speak_as_in_python(tmp_path: Path, rule: str) -> None:
    col, options, changed = RULES[rule]
    np.save(tmp_path / "col.npy", col)
    with pytest.raises(ascend_col2im.RuleError) as raised:
        ascend_col2im.col2im(col, **{"output_size": 3, "kernel_size": 2, **changed})
    assert raised.value.rule == rule.split(maxsplit=1)[0]
    target = tmp_path / "image.npy"
    said = fails(3, "run", tmp_path / "col.npy", *options, "-o", target)
    assert said == str(raised.value)
    assert not target.exists()
