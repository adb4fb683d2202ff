"""Files that ``run`` refuses to read or to write, and what it never harms."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from .command_line import COMMAND, ROOT, fails, invoke, python

Array = npt.NDArray[Any]

SIMPLE = ("--output-size", "3", "--kernel-size", "2")


def folded(path: Path, target: Path, *options: object) -> Array:
    result = invoke("run", path, *SIMPLE, *options, "-o", target)
    assert result.exit_code == 0, result.output
    array: Array = np.load(target)
    return array


def test_an_existing_image_is_replaced_with_its_mode_and_through_links(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((1, 4, 4)))
    target, link = tmp_path / "image.npy", tmp_path / "link.npy"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    folded(tmp_path / "col.npy", link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert np.load(target).shape == (1, 1, 3, 3)


def test_a_new_image_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((1, 4, 4)))
    folded(tmp_path / "col.npy", tmp_path / "image.npy")
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
    np.savez(path, np.ones((10000, 4, 4)))
    archive = bytearray(path.read_bytes())
    archive[archive.index(b"NUMPY") + 10**6] ^= 1
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
        "{path}: is not an array in .npy format (all elements of broadcast shape must be non-neg",
    ),
    "impossible shape": (
        "col.npy",
        lambda path: _header(
            path, "{'descr':'<f4','fortran_order':False,'shape':(0,4611686018427387904,8)}"
        ),
        "{path}: is not an array in .npy format",
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
    "a thousand arrays": (
        "col.npz",
        lambda path: np.savez(path, *[ONES] * 1000),
        "{path}: holds 1000 arrays, "
        + ", ".join(f"arr_{i}" for i in range(16))
        + ", ...; choose with --array NAME",
    ),
    "no arrays": ("col.npz", np.savez, "{path}: holds 0 arrays, none"),
    "encrypted": ("col.npz", _encrypted, "{path}: cannot be read as an .npz archive: File 'arr_0"),
    "damaged": (
        "col.npz",
        _damaged,
        "{path}: arr_0.npy: cannot be read as an .npz archive: Bad CRC-32",
    ),
    "damaged packing": ("col.npz", _damaged_packing, "{path}: "),
    "name too long": ("c" * 300 + ".npy", lambda path: None, "{path}: File name too long"),
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
    assert folded(source, target, "--array", "b").sum() == 32
    said = fails(5, "run", source, *SIMPLE, "--array", "c", "-o", target)
    assert said == f"{source}: holds no array 'c'; its arrays: a, b"
    np.save(tmp_path / "col.npy", ONES)
    said = fails(5, "run", tmp_path / "col.npy", *SIMPLE, "--array", "a", "-o", target)
    assert said.endswith("holds one array, without a name; leave out --array")


BAD_TARGETS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "directory": ("image.npy", Path.mkdir, "is a directory; name a file in it"),
    "pipe": ("image.npy", os.mkfifo, "is not a regular file; name one"),
    "name too long": ("c" * 300 + ".npy", lambda path: None, "File name too long"),
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


NAMES = {
    "line and colour": (b"\n\x1b[31m.npy", r"\n\x1b[31m.npy"),
    "no UTF-8": (b"\xff.npy", r"\udcff.npy"),
    "not in Latin-1": ("é漢.npy".encode(), r"é\u6f22.npy"),
}


@pytest.mark.parametrize(("name", "shown"), NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("exists", [True, False], ids=["in a report", "in a message"])
def test_names_are_shown_as_the_terminal_can_show_them(
    tmp_path: Path, name: bytes, shown: str, exists: bool
) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    if exists:
        np.save(path, ONES)
    result = subprocess.run(
        [sys.executable, "-c", COMMAND, "run", path, *SIMPLE, "-o", tmp_path / "image.npy"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "latin-1:strict", "PYTHONUTF8": "1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == (0 if exists else 5), result.stderr
    text = (result.stdout if exists else result.stderr).decode("latin-1")
    assert f"{tmp_path}/{shown}: " in text
    assert text.count("\n") == (4 if exists else 1)


def test_a_current_directory_that_is_gone_is_named_with_the_target(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", ONES)
    gone = tmp_path / "gone"
    code = f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})"
    done = python(f"{code}\n{COMMAND}", "run", tmp_path / "col.npy", *SIMPLE, "-o", "image.npy")
    assert done.returncode == 5
    assert done.stderr == "Error: image.npy: cannot be written: No such file or directory\n"
