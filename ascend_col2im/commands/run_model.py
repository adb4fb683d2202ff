"""``run`` with an ONNX model: its Col2Im computed here, its inputs and outputs in files."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import click
import numpy as np

from .. import backends
from ..errors import FileError
from . import arrays
from .arrays import WHOLE, Array
from .options import Request, chosen_backend
from .printing import Report, shape_text


def run(request: Request) -> Report:
    """Run a model on arrays given in the order of its inputs.

    Raises
    ------
    Col2ImError
        As `ascend_col2im.onnx_op.run_model` does; FileError if an array cannot be read or written.
    """
    from ..onnx_op import run_model

    model, *sources = request.files
    target = request.target
    if not sources:
        raise click.UsageError("run MODEL.onnx needs its inputs: .npy files in the model's order")
    backends.check("col2im", request.backend)
    backend = chosen_backend(request.backend)
    arrays.check_suffix(target)
    began = time.perf_counter()
    with ExitStack() as opened:
        inputs = [
            opened.enter_context(arrays.open_array(source, request.array)).read(WHOLE)
            for source in sources
        ]
        outputs = {
            name: _plain(model, name, output) for name, output in run_model(model, inputs).items()
        }
    arrays.save_arrays(target, outputs, request.files)
    seconds = time.perf_counter() - began
    facts = {
        "job": "model",
        "model": str(model),
        "inputs": [
            {"file": str(source), "shape": array.shape, "dtype": array.dtype.name}
            for source, array in zip(sources, inputs, strict=True)
        ],
        "file": str(target),
        "outputs": {
            name: {"shape": array.shape, "dtype": array.dtype.name}
            for name, array in outputs.items()
        },
        "backend": {"name": backend.name, "reason": backend.reason},
        "seconds": seconds,
    }
    lines = (
        ("model", str(model)),
        *(("input", _text(source, array)) for source, array in zip(sources, inputs, strict=True)),
        *(("output", _text(f"{target}, {name}", array)) for name, array in outputs.items()),
        ("backend", f"{backend.name} ({backend.reason})"),
        ("time", f"{seconds:.2f} s"),
    )
    return Report(facts, lines)


def _plain(model: Path, name: str, output: object) -> Array:
    """Refuse an output that is no array of numbers, such as a sequence of arrays or strings."""
    if not isinstance(output, (np.ndarray, np.generic)) or output.dtype.hasobject:
        raise FileError(
            f"{model}: output {name!r} is no array of numbers; only these can be saved"
        )
    return np.asarray(output)


def _text(label: str | Path, array: Array) -> str:
    return f"{label}: {shape_text(array.shape)} {array.dtype.name}"
