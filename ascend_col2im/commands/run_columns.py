"""``run`` with a file of columns: folded group by group, so that it may exceed the memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from .. import backends, parameters, rules
from ..api import col2im
from . import arrays
from .arrays import Region
from .options import Request, chosen_backend
from .printing import Report, progress, shape_text

GROUP_BYTES: Final = 16 * 1024 * 1024
"""Columns and image worked on at a time, unless one plane takes more."""


class Group(NamedTuple):
    """Planes folded together: their region in the columns and in the image."""

    col: Region
    image: Region


def run(request: Request) -> Report:
    """Fold the columns in one file into an image in another.

    Raises
    ------
    RuleError, BackendError
        As `col2im` does, before anything is written.
    FileError
        If either file cannot be used.
    """
    (source,) = request.files
    target = request.target
    began = time.perf_counter()
    with arrays.open_array(source, request.array) as columns:
        plan = _plan(columns.shape, columns.dtype, request)
        with arrays.new_array(target, plan.image_shape, columns.dtype, [source]) as new_image:
            _fold(columns, plan, new_image, request)
    seconds = time.perf_counter() - began
    backend = chosen_backend(request.backend)
    dtype = columns.dtype.name
    facts = {
        "job": "columns",
        "columns": {"file": str(source), "shape": plan.col_shape, "dtype": dtype},
        "image": {"file": str(target), "shape": plan.image_shape, "dtype": dtype},
        "geometry": {**asdict(plan.geometry), "windows": plan.geometry.windows},
        "backend": {"name": backend.name, "reason": backend.reason},
        "seconds": seconds,
    }
    lines = (
        ("columns", f"{source}: {shape_text(plan.col_shape)} {dtype}"),
        ("image", f"{target}: {shape_text(plan.image_shape)} {dtype}"),
        ("backend", f"{backend.name} ({backend.reason})"),
        ("time", f"{seconds:.2f} s"),
    )
    return Report(facts, lines)


def _plan(shape: tuple[int, ...], dtype: np.dtype[Any], request: Request) -> rules.Plan:
    """Check the rules for the whole columns, in their order, without reading an element."""
    op = "col2im"
    target = backends.engine(op, request.backend).target
    rules.check_dtype(op, "col", dtype.name, target)
    rules.check_col_rank(op, shape)
    given = parameters.col2im_parameters(
        op,
        target,
        request.output_size,
        request.kernel_size,
        request.stride,
        request.padding,
        request.dilation,
    )
    plan = rules.col2im_plan(op, shape, given, target)
    rules.check_addressable(op, plan, dtype.itemsize)
    return plan


def _fold(
    columns: arrays.StoredArray, plan: rules.Plan, new_image: arrays.NewArray, request: Request
) -> None:
    total_bytes = math.prod(plan.col_shape) * columns.dtype.itemsize
    with progress("folding", total_bytes) as advance:
        for group in groups(plan, columns.dtype.itemsize):
            col, image = columns.read(group.col), new_image.region(group.image)
            col2im(
                col,
                plan.geometry.output_size,
                plan.geometry.kernel_size,
                stride=plan.geometry.stride,
                padding=tuple(zip(plan.geometry.pad_begin, plan.geometry.pad_end, strict=True)),
                dilation=plan.geometry.dilation,
                out=image,
                backend=request.backend,
            )
            new_image.store(image)
            advance(col.nbytes)


def groups(plan: rules.Plan, itemsize: int) -> Iterator[Group]:
    """Yield whole batch entries, or channels of one, in the order in which they are stored."""
    geometry = plan.geometry
    plane_bytes = (geometry.K * geometry.L + math.prod(geometry.output_size)) * itemsize
    planes = max(1, GROUP_BYTES // plane_bytes)
    batches, channels = max(1, planes // plan.C), min(plan.C, planes)
    unbatched = len(plan.col_shape) == 2
    for n, c in product(range(0, plan.N, batches), range(0, plan.C, channels)):
        batch = slice(n, n + batches)
        col = (batch, slice(c * geometry.K, (c + channels) * geometry.K))
        image = (batch, slice(c, c + channels))
        yield Group(col[1:], image[1:]) if unbatched else Group(col, image)
