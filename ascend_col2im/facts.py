"""Tables of facts that more than one room needs: dtypes, targets, limits.

Sources: dtypes from the ONNX ``Col2Im``-18 schema; device rows from CANN's platform files and the
AscendC API documentation (bfloat16 moves and casts exist on Atlas A2, its columns are left out on
Atlas 200I/500 A2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ACCUMULATORS: Final = {
    "bfloat16": "float32",
    "bool": "bool",
    "complex128": "complex128",
    "complex64": "complex64",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "int8": "int8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "uint8": "uint8",
}
"""Every dtype col2im knows, by NumPy's (ml_dtypes') name, and the dtype its sums are kept in."""

OLDEST_NUMBA: Final = "0.60"
"""The first numba that compiles the cpu backend's code; older ones are left alone."""

MAX_BYTES: Final = 2**63 - 1
"""Largest array any target addresses: sizes and offsets are signed 64-bit integers."""


@dataclass(frozen=True)
class Target:
    """What one place of execution accepts.

    Attributes
    ----------
    name : the name users type, for a device CANN's build name
    product : the product's name in the vendor's documents
    dtypes : accepted dtypes, by name, sorted
    max_axes : largest number of spatial axes
    empty_batch : whether N = 0 is valid and gives an empty result
    """

    name: str
    product: str
    dtypes: tuple[str, ...]
    max_axes: int
    empty_batch: bool


CPU: Final = Target("cpu", "any machine", tuple(ACCUMULATORS), 15, True)
"""Axes: NumPy before 2.0 has 32 per array, and the columns are split into 2 + 2·D of them."""

TARGETS: Final = {
    target.name: target
    for target in (
        CPU,
        Target("ascend910b", "Atlas A2 training", ("bfloat16", "float16", "float32"), 3, False),
        Target("ascend910_93", "Atlas A3 training", ("bfloat16", "float16", "float32"), 3, False),
        Target("ascend310b", "Atlas 200I/500 A2 inference", ("float16", "float32"), 3, False),
    )
}
