"""``run`` with a file of columns: formats, streaming, what it refuses, what it never harms."""

from __future__ import annotations

import io
import json
import os
import stat
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
import resource, sys
from ascend_col2im.cli import main
main(["run", *sys.argv[1:]], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_columns_and_image_stream_through_little_memory(tmp_path: Path, suffix: str) -> None:
    def resident_mb(planes: int) -> int:
        shape = (planes, 64, 3721)
        sparse_columns(tmp_path / "col.npy", shape)
        source = tmp_path / "col.npy"
        if suffix == ".npz":
            source = tmp_path / "col.npz"
            with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.write(tmp_path / "col.npy", "col.npy")
        target = tmp_path / f"image{suffix}"
        options = ("--output-size", "128", "--kernel-size", "8", "--stride", "2")
        done = python(MEASURED, source, *options, "-o", target)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.splitlines()[-1])

    assert 250 * 64 * 3721 * 4 > 220 * 2**20
    assert resident_mb(250) - resident_mb(1) < 60


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


def test_an_existing_image_is_replaced_with_its_mode_and_through_links(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((1, 4, 4)))
    target, link = tmp_path / "image.npy", tmp_path / "link.npy"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    folded(tmp_path / "col.npy", link, *SIMPLE)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert np.load(target).shape == (1, 1, 3, 3)


def test_a_new_image_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((1, 4, 4)))
    folded(tmp_path / "col.npy", tmp_path / "image.npy", *SIMPLE)
    assert (tmp_path / "image.npy").stat().st_mode == (tmp_path / "col.npy").stat().st_mode


def _npy(path: Path, array: Array, cut: int = 0) -> None:
    np.save(path, array, allow_pickle=True)
    os.truncate(path, path.stat().st_size - cut)


def _encrypted(path: Path) -> None:
    np.savez(path, np.ones((1, 4, 4)))
    archive = bytearray(path.read_bytes())
    for marker, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(marker) + flags] |= 1
    path.write_bytes(archive)


def _damaged(path: Path) -> None:
    np.savez(path, np.ones((1, 4, 4)))
    archive = bytearray(path.read_bytes())
    archive[archive.index(b"NUMPY") + 150] ^= 1
    path.write_bytes(archive)


def _damaged_packing(path: Path) -> None:
    np.savez_compressed(path, np.arange(16.0).reshape(1, 4, 4))
    archive = bytearray(path.read_bytes())
    middle = archive.index(b"PK\x01\x02") // 2
    archive[middle : middle + 8] = b"\xff" * 8
    path.write_bytes(archive)


def _header(path: Path, text: str) -> None:
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())


ONES = np.ones((1, 4, 4))


def _bytes(save: Callable[..., object]) -> bytes:
    stream = io.BytesIO()
    save(stream, ONES)
    return stream.getvalue()


def _header_3(path: Path) -> None:
    _header(path, "{'descr':[('é','<f4')],'fortran_order':False,'shape':(1,4,4)}")
    archive = bytearray(path.read_bytes())
    archive[6] = 3
    path.write_bytes(archive)


SHORT = "{path}: is truncated: shape (1, 4, 4) of float64 takes 128 bytes, 123 are there"
BAD_SOURCES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("col.npy", lambda path: None, "{path}: cannot be read: No such file or directory"),
    "directory": ("col.npy", Path.mkdir, "{path}: is a directory"),
    "pipe": ("col.npy", os.mkfifo, "{path}: is not a regular file"),
    "empty": ("col.npy", Path.touch, "{path}: is empty"),
    "empty npz": ("col.npz", Path.touch, "{path}: is empty"),
    "text": (
        "col.npy",
        lambda path: path.write_text("1 2 3 4 5 6"),
        "{path}: is not an array in .npy format",
    ),
    "short text": (
        "col.npy",
        lambda path: path.write_text("1"),
        "{path}: is not an array in .npy format (EOF",
    ),
    "cut in its header": (
        "col.npy",
        lambda path: _npy(path, ONES, 150),
        "{path}: is not an array in .npy format (EOF",
    ),
    "cut": ("col.npy", lambda path: _npy(path, ONES, 5), SHORT),
    "cut Fortran": ("col.npy", lambda path: _npy(path, np.asfortranarray(ONES), 5), SHORT),
    "odd header": (
        "col.npy",
        lambda path: _header(path, "__import__('os').getcwd()"),
        "{path}: is not an array in .npy format",
    ),
    "negative shape": (
        "col.npy",
        lambda path: _header(path, "{'descr':'<f4','fortran_order':False,'shape':(1,-4,4)}"),
        "{path}: has a negative size in its shape (1, -4, 4)",
    ),
    "objects": (
        "col.npy",
        lambda path: _npy(path, np.array([[{}]], object)),
        "{path}: holds pickled Python objects",
    ),
    "objects in npz": (
        "col.npz",
        lambda path: np.savez(path, a=np.array([[{}]], object)),
        "{path}: a.npy: holds pickled Python objects",
    ),
    "fields in another language": (
        "col.npy",
        _header_3,
        "{path}: is not an array in .npy format (format version 3.0 holds no plain array)",
    ),
    "npy in npz's clothes": (
        "col.npz",
        lambda path: path.write_bytes(_bytes(np.save)),
        "{path}: cannot be read as an .npz archive: File is not a zip file",
    ),
    "npz in npy's clothes": (
        "col.npy",
        lambda path: path.write_bytes(_bytes(np.savez)),
        "{path}: is not an array in .npy format",
    ),
    "several arrays": (
        "col.npz",
        lambda path: np.savez(path, a=ONES, b=ONES),
        "{path}: holds 2 arrays, a, b; choose with --array NAME",
    ),
    "no arrays": ("col.npz", np.savez, "{path}: holds 0 arrays, none"),
    "encrypted": ("col.npz", _encrypted, "{path}: cannot be read as an .npz archive: File 'arr_0"),
    "damaged": (
        "col.npz",
        _damaged,
        "{path}: cannot be read as an .npz archive: Bad CRC-32",
    ),
    "damaged packing": ("col.npz", _damaged_packing, "{path}: "),
    "another name": (
        "col.txt",
        Path.touch,
        "{path}: does not end in .npy or .npz; arrays are kept in these",
    ),
}


@pytest.mark.parametrize(("name", "make", "message"), BAD_SOURCES.values(), ids=BAD_SOURCES)
def test_a_file_that_holds_no_columns(
    tmp_path: Path, name: str, make: Callable[[Path], object], message: str
) -> None:
    source, target = tmp_path / name, tmp_path / "image.npy"
    make(source)
    target.write_bytes(b"precious")
    said = fails(5, "run", source, *SIMPLE, "-o", target)
    assert said.startswith(message.format(path=source))
    assert target.read_bytes() == b"precious"
    assert sorted(tmp_path.glob(".*")) == []


def test_an_array_is_chosen_by_its_name(tmp_path: Path) -> None:
    source, target = tmp_path / "col.npz", tmp_path / "image.npy"
    np.savez(source, a=ONES, b=2 * ONES)
    assert folded(source, target, *SIMPLE, "--array", "b").sum() == 32
    said = fails(5, "run", source, *SIMPLE, "--array", "c", "-o", target)
    assert said == f"{source}: holds no array 'c'; its arrays: a, b"
    np.save(tmp_path / "col.npy", ONES)
    said = fails(5, "run", tmp_path / "col.npy", *SIMPLE, "--array", "a", "-o", target)
    assert said.endswith("holds one array, without a name; leave out --array")


BAD_TARGETS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "directory": ("image.npy", Path.mkdir, "is a directory; name a file in it"),
    "pipe": ("image.npy", os.mkfifo, "is not a regular file; name one"),
    "lost": ("no/image.npy", lambda path: None, "there is no directory {path.parent} to write"),
    "below a file": ("col.npy/image.npy", lambda path: None, "there is no directory"),
    "source": ("col.npy", lambda path: None, "is the file being read; write to another"),
    "link to source": (
        "image.npy",
        lambda path: path.symlink_to(path.with_name("col.npy")),
        "is the file being read; write to another",
    ),
    "hard link to source": (
        "image.npy",
        lambda path: path.hardlink_to(path.with_name("col.npy")),
        "is the file being read; write to another",
    ),
    "another name": ("image.png", lambda path: None, "does not end in .npy or .npz"),
    "no name": ("image", lambda path: None, "does not end in .npy or .npz"),
}


@pytest.mark.parametrize(("name", "make", "message"), BAD_TARGETS.values(), ids=BAD_TARGETS)
def test_a_target_that_cannot_take_the_image(
    tmp_path: Path, name: str, make: Callable[[Path], object], message: str
) -> None:
    np.save(tmp_path / "col.npy", ONES)
    before = (tmp_path / "col.npy").read_bytes()
    target = tmp_path / name
    make(target)
    said = fails(5, "run", tmp_path / "col.npy", *SIMPLE, "-o", target)
    assert said.startswith(f"{target}: {message.format(path=target)}")
    assert (tmp_path / "col.npy").read_bytes() == before
    assert sorted(tmp_path.glob(".*")) == []


def test_a_protected_target_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "col.npy", ONES)
    protected = {tmp_path / "image.npy", tmp_path / "locked"}
    (tmp_path / "image.npy").touch()
    (tmp_path / "locked").mkdir()
    # The superuser may write everywhere, so the system's answer is put in its mouth.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) not in protected)
    for target, words in (
        (tmp_path / "image.npy", "is write-protected; make it writable or name another"),
        (tmp_path / "locked" / "image.npy", "is not writable; choose another"),
    ):
        assert fails(5, "run", tmp_path / "col.npy", *SIMPLE, "-o", target).endswith(words)


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


USAGE = {
    "no output": (("run", "col.npy", *SIMPLE), "a result needs a file; name it with -o"),
    "no kernel": (("run", "col.npy", "--output-size", "3"), "run COLUMNS needs --kernel-size"),
    "no size": (("run", "col.npy", "--kernel-size", "3"), "run COLUMNS needs --output-size"),
    "two files": (("run", "a.npy", "b.npy"), "run takes one file of columns, not 2"),
    "file and image": (("run", "a.npy", "--image", "b.png"), "run --image takes no other files"),
    "size of a picture": (
        ("run", "--image", "b.png", "--output-size", "3", "--kernel-size", "3"),
        "run --image takes no --output-size",
    ),
    "sizes of a model": (("run", "m.onnx", *SIMPLE), "run MODEL.onnx takes no --output-size"),
    "fraction": (("run", "--stride", "1.5"), "'1.5' is not an integer or a list of them"),
    "nothing": (("run", "--stride", ""), "'' is not an integer or a list of them"),
    "gap": (("run", "--stride", "1,,2"), "'1,,2' is not an integer or a list of them"),
    "word": (("run", "--padding", "1:x"), "'1:x' is not an integer, a list such as 1,2, or pairs"),
    "backend": (("run", "--backend", "gpu"), "'gpu' is not one of 'auto', 'cpu', 'npu'"),
}


@pytest.mark.parametrize(("args", "message"), USAGE.values(), ids=USAGE)
def test_a_command_line_that_cannot_be_meant(args: tuple[str, ...], message: str) -> None:
    assert message in fails(2, *args)
