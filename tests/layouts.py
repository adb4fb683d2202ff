"""Every way an array may lie in memory: the same values, other strides, order, bytes, class."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from tests.oracles import Array


class Subclass(np.ndarray[Any, Any]):
    """An array that a library derives; its methods answer like the array's own."""


def every_second(array: Array) -> Array:
    """Put it apart on every axis, with junk between the elements."""
    junk = np.full([2 * size for size in array.shape], 113).astype(array.dtype)
    junk[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return junk[tuple(slice(None, None, 2) for _ in array.shape)]


def backwards(array: Array) -> Array:
    """Give every axis a negative stride."""
    flip = tuple(slice(None, None, -1) for _ in array.shape)
    return np.ascontiguousarray(array[flip])[flip]


def axes_turned(array: Array) -> Array:
    """Put the last axis outermost in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, -1, 0)), 0, -1)


def unaligned(array: Array) -> Array:
    """Put it one byte off every alignment."""
    memory = np.empty(array.nbytes + 1, np.uint8)[1:]
    view = memory.view(array.dtype).reshape(array.shape)
    view[...] = array
    assert view.flags.aligned == (array.itemsize == 1)
    return view


def field(array: Array) -> Array:
    """Make it one field of packed records."""
    records = np.empty(array.shape, [("flag", "?"), ("value", array.dtype), ("rest", "3u1")])
    records["value"] = array
    return records["value"]


def big_endian(array: Array) -> Array:
    """Put the most significant byte first."""
    return array.astype(array.dtype.newbyteorder(">"))


def mapped(array: Array) -> Array:
    """Map a file into memory."""
    with tempfile.TemporaryFile() as file:
        view = np.memmap(file, array.dtype, "w+", shape=array.shape)
    view[...] = array
    return view


def subclassed(array: Array) -> Array:
    """Return an instance of a subclass."""
    return array.copy().view(Subclass)


def read_only(array: Array) -> Array:
    """Forbid writing."""
    view = array.copy()
    view.flags.writeable = False
    return view


OUT_LAYOUTS = {
    "every second element": every_second,
    "backwards": backwards,
    "Fortran order": np.asfortranarray,
    "axes turned": axes_turned,
    "unaligned": unaligned,
    "a field of records": field,
    "big-endian": big_endian,
    "a memory map": mapped,
    "a subclass": subclassed,
}
LAYOUTS = {**OUT_LAYOUTS, "read-only": read_only}
