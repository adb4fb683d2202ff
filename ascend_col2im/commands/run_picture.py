"""``run --image``: cut a picture into overlapping patches, put them back, and compare.

Patches are cut by `im2col` and added up by `col2im`, then divided by how many windows cover each
pixel. The work goes band by band, as all patches together can be K times the picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import backends, parameters, rules
from ..api import col2im, im2col, overlap_count
from ..geometry import Geometry, ceil_div, span
from ..messages import refuse
from . import pictures
from .options import Request, chosen_backend
from .printing import Report, progress

Planes = npt.NDArray[Any]

BAND_BYTES: Final = 16 * 1024 * 1024
"""Patches held at a time, unless one row of windows takes more."""


class Band(NamedTuple):
    """Rows of windows cut together: the image rows they reach, and the padding beyond these."""

    rows: slice
    padding: tuple[int, int]


class Comparison(NamedTuple):
    """How the restored picture differs where windows cover it; None where they cover nothing."""

    largest_difference: float | None
    psnr_db: float | None
    uncovered: int
    overlap: tuple[int, int]


def run(request: Request) -> Report:
    """Cut the picture, put it together again, write it if asked to, and report the difference.

    Raises
    ------
    RuleError, BackendError
        As `im2col` does.
    FileError
        If the picture cannot be read or written.
    MissingExtraError
        If Pillow is not installed.
    """
    (path,) = request.files
    backends.check("im2col", request.backend)
    picture = pictures.read(path)
    geometry = _geometry(picture.planes.shape, request)
    pairs = tuple(zip(geometry.pad_begin, geometry.pad_end, strict=True))
    count = overlap_count(
        geometry.output_size,
        geometry.kernel_size,
        stride=geometry.stride,
        padding=pairs,
        dilation=geometry.dilation,
    )
    restored = _restored(picture.planes, geometry, request.backend)
    restored /= np.maximum(count, 1)
    comparison = compare(picture.planes, restored, count, picture.peak)
    if request.output is not None:
        pictures.write(request.output, picture, restored, [path])
    return _report(request, picture, geometry, comparison)


def _geometry(shape: tuple[int, ...], request: Request) -> Geometry:
    given = parameters.im2col_parameters(
        "im2col",
        "cpu",
        shape,
        request.kernel_size,
        request.stride,
        request.padding,
        request.dilation,
    )
    if len(given.kernel_size) != 2:
        axes = len(given.kernel_size)
        refuse("im2col", "rank", f"kernel_size has {axes} values; a picture has 2 axes")
    return rules.im2col_plan("im2col", shape, given, "cpu").geometry


def _restored(planes: Planes, geometry: Geometry, backend: backends.Name) -> Planes:
    """Add the patches of every band up, not yet divided by the overlap."""
    kernel_size, stride, dilation = geometry.kernel_size, geometry.stride, geometry.dilation
    restored = np.zeros_like(planes)
    column_bytes = planes.shape[0] * planes.itemsize
    with progress("patching", column_bytes * geometry.K * geometry.L) as advance:
        for band in bands(geometry, column_bytes):
            part = planes[:, band.rows]
            padding = (band.padding, (geometry.pad_begin[1], geometry.pad_end[1]))
            col = im2col(
                part,
                kernel_size,
                stride=stride,
                padding=padding,
                dilation=dilation,
                backend=backend,
            )
            restored[:, band.rows] += col2im(
                col,
                part.shape[1:],
                kernel_size,
                stride=stride,
                padding=padding,
                dilation=dilation,
                backend=backend,
            )
            advance(col.nbytes)
    return restored


def bands(geometry: Geometry, column_bytes: int) -> Iterator[Band]:
    """Yield the bands that touch the image; ``column_bytes`` is what one pixel of it takes."""
    size, stride, pad = geometry.output_size[0], geometry.stride[0], geometry.pad_begin[0]
    reach = span(geometry.kernel_size[0], geometry.dilation[0])
    first = max(0, ceil_div(pad - reach + 1, stride))
    last = min(geometry.windows[0] - 1, (pad + size - 1) // stride)
    step = max(1, BAND_BYTES // (column_bytes * geometry.K * geometry.windows[1]))
    for window in range(first, last + 1, step):
        begin = window * stride - pad
        end = min(window + step - 1, last) * stride - pad + reach
        rows = slice(max(0, begin), min(size, end))
        yield Band(rows, (rows.start - begin, end - rows.stop))


def compare(
    original: Planes, restored: Planes, count: npt.NDArray[np.int64], peak: float
) -> Comparison:
    """Compare two pictures where at least one window covers them; NaN equals NaN."""
    covered = count > 0
    uncovered = int(covered.size - np.count_nonzero(covered))
    overlap = int(count.min()), int(count.max())
    if not covered.any():
        return Comparison(None, None, uncovered, overlap)
    before, after = original[:, covered], restored[:, covered]
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0, np.abs(after.astype(np.float64) - before))
    mean_square = float(np.mean(np.square(difference)))
    psnr = 10 * math.log10(peak**2 / mean_square) if mean_square else math.inf
    return Comparison(float(difference.max()), psnr, uncovered, overlap)


def _report(
    request: Request,
    picture: pictures.Picture,
    geometry: Geometry,
    comparison: Comparison,
) -> Report:
    (path,) = request.files
    height, width = geometry.output_size
    backend = chosen_backend(request.backend)
    finite = comparison.psnr_db is not None and math.isfinite(comparison.psnr_db)
    facts = {
        "job": "picture",
        "picture": {
            "file": str(path),
            "mode": picture.mode,
            "width": width,
            "height": height,
            "frames": picture.frames,
        },
        "output": None if request.output is None else str(request.output),
        "windows": geometry.windows,
        "overlap": {"least": comparison.overlap[0], "most": comparison.overlap[1]},
        "uncovered_pixels": comparison.uncovered,
        "identical": comparison.largest_difference == 0,
        "largest_difference": comparison.largest_difference,
        "psnr_db": comparison.psnr_db if finite else None,
        "backend": {"name": backend.name, "reason": backend.reason},
    }
    only_first = f", the first of {picture.frames} frames" if picture.frames > 1 else ""
    rows, columns = geometry.windows
    lines = [
        ("picture", f"{path}: {width} x {height} {picture.mode}{only_first}"),
        ("patches", f"{rows} rows of {columns}"),
        ("overlap", "{} to {} patches on a pixel".format(*comparison.overlap)),
        ("uncovered", _uncovered_text(comparison.uncovered, height * width)),
        ("largest difference", _number_text(comparison.largest_difference)),
        ("PSNR", _psnr_text(comparison.psnr_db)),
        ("backend", f"{backend.name} ({backend.reason})"),
    ]
    if request.output is not None:
        lines.append(("written", str(request.output)))
    return Report(facts, tuple(lines))


def _uncovered_text(uncovered: int, pixels: int) -> str:
    if not uncovered:
        return "no pixel"
    return (
        f"{uncovered:,} of {pixels:,} pixels; they become 0 and are kept out of the figures below"
    )


def _number_text(value: float | None) -> str:
    return "none: no window covers a pixel" if value is None else f"{value:.6g}"


def _psnr_text(psnr_db: float | None) -> str:
    if psnr_db is None:
        return _number_text(None)
    return "infinite: identical" if psnr_db == math.inf else f"{psnr_db:.2f} dB"
