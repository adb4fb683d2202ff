"""Arrays in .npy and .npz files, read and written region by region in little memory.

A .npy file is memory-mapped, and after each region its pages are given back to the system. An
array in an .npz file, which may be compressed, is read or written from beginning to end. The
format is described in ``numpy.lib.format``.
"""

from __future__ import annotations

import math
import mmap
import os
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from ..errors import FileError, MissingExtraError
from ..geometry import Ints
from ..messages import listed
from .new_file import new_file

Array = npt.NDArray[Any]
Region = tuple[slice, ...]

WHOLE: Final[Region] = ()
"""The region that is the whole array."""

SUFFIXES: Final = (".npy", ".npz")

_HEADER_READERS: Final = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}

_ARCHIVE_ERRORS: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What reading an .npz raises: RuntimeError where it is encrypted, or packed as Python cannot."""

_BFLOAT16_ON_DISK: Final = np.dtype("V2")
"""What ``numpy.save`` writes for bfloat16, which the format has no name for."""


class StoredArray(Protocol):
    """An array in a file, to be read region by region in ascending order."""

    shape: Ints
    dtype: np.dtype[Any]

    def read(self, region: Region) -> Array:
        """Return one region, native or not in its byte order."""


class NewArray(Protocol):
    """An array in a new file, to be written region by region in ascending order."""

    def region(self, region: Region) -> Array:
        """Return an array to put one region's elements in."""

    def store(self, array: Array) -> None:
        """Take over what `region` returned, once it is filled."""


class _Header(NamedTuple):
    shape: Ints
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def size_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def array(self, memory: mmap.mmap | bytes, offset: int = 0) -> Array:
        array: Array = np.ndarray(
            self.shape, self.dtype, memory, offset, order="F" if self.fortran_order else "C"
        )
        return array


@contextmanager
def open_array(path: Path, name: str | None) -> Iterator[StoredArray]:
    """Open the array in a .npy file, or the one called ``name`` (or the only one) in an .npz.

    Raises
    ------
    FileError
        If the file cannot be read as such.
    MissingExtraError
        For bfloat16 where ml_dtypes is not installed.
    """
    _check_source(path)
    with ExitStack() as opened:
        with _reading(path):
            array = _open(path, name, opened)
        yield array


@contextmanager
def new_array(
    path: Path, shape: Ints, dtype: np.dtype[Any], sources: Sequence[Path]
) -> Iterator[NewArray]:
    """Create an .npy file, or an .npz file with one array ``image``, once the block has ended.

    Raises
    ------
    FileError
        As for `new_file`; the space needed is claimed before the first region is written.
    """
    check_suffix(path)
    header = _Header(shape, False, dtype.newbyteorder("="))
    with new_file(path, sources) as stream:
        if path.suffix.lower() == ".npy":
            image = _NewMappedArray(stream, header)
            yield image
            image.flush()
        else:
            with zipfile.ZipFile(stream, "w") as archive, _new_member(archive, "image") as member:
                yield _NewArchivedArray(member, header)


def save_arrays(path: Path, arrays: Mapping[str, Array], sources: Sequence[Path]) -> None:
    """Write one array as .npy, or any number as .npz under their names.

    Raises
    ------
    FileError
        As for `new_file`, and for several arrays in an .npy file.
    """
    check_suffix(path)
    if path.suffix.lower() == ".npz":
        with new_file(path, sources) as stream, zipfile.ZipFile(stream, "w") as archive:
            for name, array in arrays.items():
                with _new_member(archive, name) as member_stream:
                    npy.write_array(member_stream, array, allow_pickle=False)
        return
    if len(arrays) != 1:
        raise FileError(f"{path}: an .npy file holds one array, not {len(arrays)}; name an .npz")
    with new_file(path, sources) as stream:
        npy.write_array(stream, next(iter(arrays.values())), allow_pickle=False)


def check_suffix(path: Path) -> None:
    """Refuse a name that says neither .npy nor .npz.

    Raises
    ------
    FileError
        Naming the two.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise FileError(
            f"{path}: does not end in {' or '.join(SUFFIXES)}; arrays are kept in these"
        )


class _MappedArray:
    def __init__(self, stream: BinaryIO, label: str) -> None:
        header = _read_header(stream, label)
        offset, size = stream.tell(), os.fstat(stream.fileno()).st_size
        if offset + header.size_bytes > size:
            raise _truncated(label, header, size - offset)
        self.shape, self.dtype = header.shape, header.dtype
        self._memory = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._array = header.array(self._memory, offset)

    def read(self, region: Region) -> Array:
        self._memory.madvise(mmap.MADV_DONTNEED)
        return self._array[region]


class _ArchivedArray:
    """Reads in C order; an array in Fortran order has to be brought into memory whole."""

    def __init__(self, stream: IO[bytes], label: str) -> None:
        self._stream, self._label = stream, label
        self._header = _read_header(stream, label)
        self.shape, self.dtype = self._header.shape, self._header.dtype
        self._read_bytes = 0
        self._array: Array | None = None
        if self._header.fortran_order:
            self._array = self._header.array(self._take(self._header.size_bytes))

    def read(self, region: Region) -> Array:
        if self._array is not None:
            return self._array[region]
        shape = _region_shape(self.shape, region)
        memory = self._take(math.prod(shape) * self.dtype.itemsize)
        return np.ndarray(shape, self.dtype, memory)

    def _take(self, size: int) -> bytes:
        with _reading(self._label):
            memory = self._stream.read(size)
            self._read_bytes += len(memory)
        if len(memory) < size:
            raise _truncated(self._label, self._header, self._read_bytes)
        return memory


class _NewMappedArray:
    def __init__(self, stream: BinaryIO, header: _Header) -> None:
        _write_header(stream, header)
        offset = stream.tell()
        stream.flush()
        # A write to a mapped page that the disk has no room for kills the process: claim it now.
        os.posix_fallocate(stream.fileno(), 0, offset + header.size_bytes)
        self._memory = mmap.mmap(stream.fileno(), 0)
        self._array = header.array(self._memory, offset)

    def region(self, region: Region) -> Array:
        return self._array[region]

    def store(self, array: Array) -> None:
        self._memory.madvise(mmap.MADV_DONTNEED)

    def flush(self) -> None:
        self._memory.flush()


class _NewArchivedArray:
    def __init__(self, stream: IO[bytes], header: _Header) -> None:
        _write_header(stream, header)
        self._stream, self._header = stream, header

    def region(self, region: Region) -> Array:
        return np.empty(_region_shape(self._header.shape, region), self._header.dtype)

    def store(self, array: Array) -> None:
        self._stream.write(array.reshape(-1).view(np.uint8).data)


def _check_source(path: Path) -> None:
    """Refuse what is not a file with something in it, in clearer words than the system's."""
    check_suffix(path)
    if path.is_dir():
        raise FileError(f"{path}: is a directory; name an .npy or .npz file in it")
    if path.exists() and not path.is_file():
        raise FileError(f"{path}: is not a regular file; save the array in one")
    if path.exists() and path.stat().st_size == 0:
        raise FileError(f"{path}: is empty; write it with numpy.save")


def _open(path: Path, name: str | None, opened: ExitStack) -> StoredArray:
    stream = opened.enter_context(path.open("rb"))
    if path.suffix.lower() == ".npy":
        if name is not None:
            raise FileError(f"{path}: holds one array, without a name; leave out --array")
        return _MappedArray(stream, str(path))
    archive = opened.enter_context(zipfile.ZipFile(stream))
    member = _member(archive, path, name)
    return _ArchivedArray(opened.enter_context(archive.open(member)), f"{path}: {member}")


@contextmanager
def _reading(subject: object) -> Iterator[None]:
    """Turn what reading raises into errors that name the file."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{subject}: cannot be read: {error.strerror or error}") from error
    except _ARCHIVE_ERRORS as error:
        raise FileError(f"{subject}: cannot be read as an .npz archive: {error}") from error


def _region_shape(shape: Ints, region: Region) -> Ints:
    cut = (len(range(*part.indices(size))) for part, size in zip(region, shape, strict=False))
    return (*cut, *shape[len(region) :])


def _read_header(stream: IO[bytes], label: str) -> _Header:
    try:
        version = npy.read_magic(stream)
        if version not in _HEADER_READERS:
            raise ValueError("format version {}.{} holds no plain array".format(*version))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a slower way to read what Python 2 wrote
            header = _Header(*_HEADER_READERS[version](stream))
        np.broadcast_to(np.empty((), header.dtype), header.shape)  # refuses impossible shapes
    except _ARCHIVE_ERRORS:
        raise
    except Exception as error:  # NumPy parses a text; a damaged one can make it raise anything
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        raise FileError(
            f"{label}: is not an array in .npy format ({first_line}); write it with numpy.save"
        ) from error
    if header.dtype.hasobject:
        raise FileError(
            f"{label}: holds pickled Python objects, which can run any code when they are read; "
            "save an array of numbers"
        )
    if header.dtype == _BFLOAT16_ON_DISK:
        return header._replace(dtype=_bfloat16(label))
    return header


def _bfloat16(label: str) -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError as error:
        raise MissingExtraError(
            f"{label}: holds 2-byte elements without a type, as bfloat16 is saved; reading them "
            "needs ml_dtypes: pip install 'ascend-col2im[onnx]'"
        ) from error
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


def _write_header(stream: IO[bytes], header: _Header) -> None:
    fields = {
        "descr": npy.dtype_to_descr(header.dtype),
        "fortran_order": header.fortran_order,
        "shape": header.shape,
    }
    npy.write_array_header_1_0(stream, fields)


def _truncated(label: str, header: _Header, found: int) -> FileError:
    return FileError(
        f"{label}: is truncated: shape {header.shape} of {header.dtype.name} takes "
        f"{header.size_bytes} bytes, {found} are there; write it again"
    )


def _member(archive: zipfile.ZipFile, path: Path, name: str | None) -> str:
    """Return the name of the file in the archive that holds the array asked for."""
    members = {member.removesuffix(".npy"): member for member in archive.namelist()}
    names = listed(members)[1:-1] or "none"
    if name is None and len(members) == 1:
        return next(iter(members.values()))
    if name is None:
        raise FileError(f"{path}: holds {len(members)} arrays, {names}; choose with --array NAME")
    if name not in members:
        raise FileError(f"{path}: holds no array {name!r}; its arrays: {names}")
    return members[name]


def _new_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open an array's file in a new archive, dated as `zipfile.ZipInfo` does: the same always."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)
