"""ONNX Runtime's Col2Im on the CPU, ready to be timed beside this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import MissingExtraError
from .workloads import Fold

try:
    import onnx
    import onnxruntime
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"ONNX Runtime as a peer needs onnx and onnxruntime; {error.name} is not installed; "
        "pip install onnx onnxruntime"
    ) from error

Array = npt.NDArray[Any]

OPSET = 18
IR_VERSION = 9


def prepare(
    fold: Fold, col: Array, threads: int
) -> tuple[Callable[[], Array], Callable[[Any], Array]]:
    """Return what folds ``col`` with a session of so many threads, and what reads its result.

    Waiting threads sleep: spinning ones would take the cores from whoever is timed next.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        _model(fold, col).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, {"col": col})[0], np.asarray


def _model(fold: Fold, col: Array) -> onnx.ModelProto:
    helper, geometry = onnx.helper, fold.geometry
    kind = helper.np_dtype_to_tensor_dtype(col.dtype)
    sizes = {"image_shape": geometry.output_size, "block_shape": geometry.kernel_size}
    node = helper.make_node(
        "Col2Im",
        ["col", *sizes],
        ["image"],
        strides=geometry.stride,
        pads=geometry.pad_begin + geometry.pad_end,
        dilations=geometry.dilation,
    )
    graph = helper.make_graph(
        [node],
        "fold",
        [helper.make_tensor_value_info("col", kind, col.shape)],
        [helper.make_tensor_value_info("image", kind, None)],
        [onnx.numpy_helper.from_array(np.array(size), name) for name, size in sizes.items()],
    )
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
