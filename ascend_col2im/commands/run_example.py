"""``run`` without files: the example of the Ascend operator, checked by a loop of its own."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..api import col2im
from ..errors import MismatchError
from .options import Request, chosen_backend
from .printing import Report, Table, shape_text

COL_SHAPE: Final = (1, 12, 9)
IMAGE_SHAPE: Final = (1, 3, 4, 4)
KERNEL_SIZE: Final = (2, 2)


def run(request: Request) -> Report:
    """Fold the example, compare every pixel with the loop, and report both.

    Raises
    ------
    MismatchError
        If a pixel differs.
    """
    backend = chosen_backend(request.backend)
    values = [index % 10 for index in range(108)]
    col = np.array(values, np.float32).reshape(COL_SHAPE)
    image = col2im(col, IMAGE_SHAPE[2:], KERNEL_SIZE, backend=request.backend)
    planes = image[0].tolist()
    _compare(planes, folded_by_loop(values), backend.name)
    facts = {
        "job": "example",
        "columns": {"shape": COL_SHAPE, "dtype": "float32"},
        "image": {"shape": image.shape, "dtype": image.dtype.name, "values": [planes]},
        "kernel_size": KERNEL_SIZE,
        "backend": {"name": backend.name, "reason": backend.reason},
        "check": "equal to the independent loop",
    }
    lines = (
        ("columns", f"{shape_text(COL_SHAPE)} float32, element i is i mod 10"),
        ("image", f"{shape_text(image.shape)} {image.dtype.name}, kernel_size 2 x 2"),
        ("check", "every pixel equals the independent loop's"),
        ("backend", f"{backend.name} ({backend.reason})"),
    )
    return Report(facts, lines, _table(planes))


def folded_by_loop(values: list[int]) -> list[list[list[float]]]:
    """Fold the example by the operator's definition: one element at a time, without NumPy."""
    image = [[[0.0] * 4 for _ in range(4)] for _ in range(3)]
    for index, value in enumerate(values):
        channel_and_tap, window = divmod(index, 9)
        channel, tap = divmod(channel_and_tap, 4)
        row = window // 3 + tap // 2
        column = window % 3 + tap % 2
        image[channel][row][column] += value
    return image


def _compare(
    planes: list[list[list[float]]], expected: list[list[list[float]]], backend: str
) -> None:
    for index in np.ndindex(IMAGE_SHAPE[1:]):
        c, y, x = index
        if planes[c][y][x] != expected[c][y][x]:
            raise MismatchError(
                f"run: image[0, {c}, {y}, {x}] is {planes[c][y][x]:g} on {backend}; the "
                f"independent loop gives {expected[c][y][x]:g}; ascend-col2im doctor checks "
                "each backend"
            )


def _table(planes: list[list[list[float]]]) -> Table:
    """Lay the channels side by side, one line per image row."""
    headers = ("row", *(f"channel {channel}" for channel in range(len(planes))))
    rows = tuple(
        (str(y), *(" ".join(f"{value:2g}" for value in plane[y]) for plane in planes))
        for y in range(len(planes[0]))
    )
    return Table(headers, rows)
