"""Writing a file whole or not at all: a temporary neighbour, renamed once it is complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import FileError


def writing_error(path: Path, error: OSError) -> FileError:
    """Return the error of a file that cannot be written, in the system's words."""
    return FileError(f"{path}: cannot be written: {error.strerror or error}")


@contextmanager
def new_file(path: Path, sources: Sequence[Path]) -> Iterator[BinaryIO]:
    """Yield a stream that becomes the file ``path`` when the block ends without an exception.

    Otherwise, by an error or an interrupt, a file that was there before stays as it was. A
    symbolic link is written through, and an existing file keeps its permissions.

    Raises
    ------
    FileError
        If ``path`` cannot be written, or is one of ``sources``, the files being read.
    """
    try:
        target = Path(os.path.realpath(path))
    except OSError as error:  # the current directory is gone
        raise writing_error(path, error) from error
    _check_target(path, target, sources)
    part = target.with_name(f".ascend-col2im-{secrets.token_hex(8)}.part")
    try:
        with part.open("x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except FileError:
        raise
    except OSError as error:
        raise writing_error(path, error) from error
    finally:
        with suppress(OSError):
            part.unlink()


def check_distinct(*paths: Path | None) -> None:
    """Refuse files to be written of which one would take the place of another.

    Raises
    ------
    FileError
        If two paths lead to the same file.
    """
    seen: set[str] = set()
    for path in paths:
        target = os.path.realpath(path) if path else None
        if target in seen:
            raise FileError(f"{path}: is named for two files; name another for one of them")
        if target:
            seen.add(target)


def _check_target(path: Path, target: Path, sources: Sequence[Path]) -> None:
    """Refuse what renaming would harm, before any work is done."""
    if target.is_dir():
        raise FileError(f"{path}: is a directory; name a file in it")
    if not target.parent.is_dir():
        raise FileError(f"{path}: there is no directory {path.parent} to write into; create it")
    if target.exists():
        if not target.is_file():
            raise FileError(f"{path}: is not a regular file; name one")
        if any(source.exists() and source.samefile(target) for source in sources):
            raise FileError(f"{path}: is the file being read; write to another")
        if not os.access(target, os.W_OK):
            raise FileError(f"{path}: is write-protected; make it writable or name another")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError(f"{path}: the directory {path.parent} is not writable; choose another")
