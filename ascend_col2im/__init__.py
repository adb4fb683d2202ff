"""Col2Im (torch's ``fold``, ONNX ``Col2Im``) for Ascend NPUs and for any CPU.

Importing this package imports NumPy and nothing else.
"""

from __future__ import annotations

from .api import col2im, im2col, overlap_count
from .errors import (
    BackendError,
    Col2ImError,
    DtypeError,
    FileError,
    MismatchError,
    MissingExtraError,
    RuleError,
)

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "Col2ImError",
    "DtypeError",
    "FileError",
    "MismatchError",
    "MissingExtraError",
    "RuleError",
    "__version__",
    "col2im",
    "im2col",
    "overlap_count",
]
