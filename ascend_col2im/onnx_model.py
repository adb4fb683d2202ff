"""What an ONNX model says before it runs: its file, its Col2Im nodes, the values they see.

The values of computed shapes come from ONNX's data propagation, which does not hand them out; a
``ConstantOfShape`` of each, added to a copy of the model, makes them visible as the shape of its
output.
"""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple, NoReturn

import numpy as np
import onnx
from onnx import helper, inliner, numpy_helper, shape_inference

from .errors import FileError

Model = onnx.ModelProto | str | os.PathLike[str]
Sizes = tuple[int | None, ...]
"""Sizes along some axes, None where the model leaves one open."""

MAX_AXES: Final = 64
"""Longest constant that is read as a shape: NumPy's largest number of axes."""

PROBE: Final = "ascend_col2im/value_of/"


class Value(NamedTuple):
    """What a model says of one of its values before it runs; None where it does not say."""

    dtype: int | None = None
    shape: Sizes | None = None
    content: Sizes | None = None


Scope = ChainMap[str, Value]


def label_of(model: Model) -> str:
    """Return what messages call a model: its path, or its graph's name."""
    if isinstance(model, onnx.ModelProto):
        return f"model {model.graph.name!r}"
    return os.fspath(model)


def subject(node: onnx.NodeProto) -> str:
    """Return what messages call a Col2Im node: by its name, or else by its output's."""
    if node.name:
        return f"Col2Im node {node.name!r}"
    return f"Col2Im node giving {node.output[0]!r}"


def read(model: Model, external_data: bool = False) -> onnx.ModelProto:
    """Return the model of a file, or the model itself.

    Raises
    ------
    FileError
        If the file cannot be read, is not a model, or lacks its external data.
    """
    if isinstance(model, onnx.ModelProto):
        return model
    label = label_of(model)
    if os.path.exists(label) and not (os.path.isfile(label) or os.path.isdir(label)):
        raise FileError(f"{label}: is not a regular file; save the model in one")
    try:
        return onnx.load(label, format="protobuf", load_external_data=external_data)
    except OSError as error:
        raise FileError(f"{label}: cannot be read: {error.strerror or error}") from error
    except Exception as error:  # protobuf's DecodeError, onnx's ValidationError and others
        refuse_file(label, "is not an ONNX model that can be read", error)


def contains_col2im(model: onnx.ModelProto) -> bool:
    """Return whether any graph or function of the model has a Col2Im node."""
    holders = chain([model.graph], model.functions)
    return any(is_col2im(node) for holder in holders for node in _nodes(holder))


def _nodes(holder: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    for node in holder.node:
        yield node
        for graph in _subgraphs(node):
            yield from _nodes(graph)


def is_col2im(node: onnx.NodeProto) -> bool:
    """Return whether the node is ONNX's own Col2Im."""
    return node.op_type == "Col2Im" and node.domain in ("", "ai.onnx")


def _subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def refuse_file(label: str, fact: str, error: Exception) -> NoReturn:
    """Raise onnx's error as a `FileError` of one line."""
    raise FileError(f"{label}: {fact}: {' '.join(str(error).split())}") from error


def inferred(label: str, model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy with functions inlined, probes added and every known type written down."""
    probed = onnx.ModelProto()
    try:
        probed.CopyFrom(inliner.inline_local_functions(model) if model.functions else model)
        _keep_constants(probed.graph)
        _add_probes(probed.graph)
        return shape_inference.infer_shapes(probed, data_prop=True)
    except (shape_inference.InferenceError, RuntimeError, ValueError) as error:
        refuse_file(label, "ONNX's shape inference refuses the model", error)


def _keep_constants(graph: onnx.GraphProto) -> None:
    """Drop initializers that are mere defaults: a caller may give the input of that name."""
    inputs = {info.name for info in graph.input}
    constants = [tensor for tensor in graph.initializer if tensor.name not in inputs]
    del graph.initializer[:]
    graph.initializer.extend(constants)


def _add_probes(graph: onnx.GraphProto) -> None:
    shapes = {name for node in graph.node if is_col2im(node) for name in node.input[1:3]}
    for node in graph.node:
        for subgraph in _subgraphs(node):
            _add_probes(subgraph)
    graph.node.extend(
        helper.make_node("ConstantOfShape", [name], [PROBE + name]) for name in sorted(shapes)
    )


def col2im_nodes(
    graph: onnx.GraphProto, outer: Scope, base_dir: str
) -> Iterator[tuple[onnx.NodeProto, Scope]]:
    """Yield every Col2Im node with the values that it can see."""
    scope = outer.new_child()
    for info in chain(graph.input, graph.value_info, graph.output):
        scope[info.name] = _value_of_type(info.type)
    for tensor in graph.initializer:
        scope[tensor.name] = _value_of_tensor(tensor, base_dir)
    for node in graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                scope[node.output[0]] = _value_of_constant(attribute, base_dir)
        if is_col2im(node):
            yield node, scope
        for subgraph in _subgraphs(node):
            yield from col2im_nodes(subgraph, scope, base_dir)


def _value_of_type(type_proto: onnx.TypeProto) -> Value:
    tensor = type_proto.tensor_type
    shape = None
    if tensor.HasField("shape"):
        # some exporters write an open dimension as -1
        shape = tuple(
            dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None
            for dim in tensor.shape.dim
        )
    return Value(tensor.elem_type or None, shape)


def _value_of_tensor(tensor: onnx.TensorProto, base_dir: str) -> Value:
    shape = tuple(tensor.dims)
    content = None
    if tensor.data_type == onnx.TensorProto.INT64 and len(shape) == 1 and shape[0] <= MAX_AXES:
        try:
            content = tuple(numpy_helper.to_array(tensor, base_dir).tolist())
        except (OSError, ValueError) as error:
            refuse_file(f"initializer {tensor.name!r}", "its data cannot be read", error)
    return Value(tensor.data_type, shape, content)


def _value_of_constant(attribute: onnx.AttributeProto, base_dir: str) -> Value:
    if attribute.name == "value":
        return _value_of_tensor(attribute.t, base_dir)
    if attribute.name == "value_ints":
        return _value_of_tensor(numpy_helper.from_array(np.array(attribute.ints, np.int64)), "")
    if attribute.name == "value_int":
        return Value(onnx.TensorProto.INT64, ())
    return Value()


def content_of(scope: Scope, name: str) -> Sizes | None:
    """Return what is known of a shape's sizes; None where even their number is not."""
    value, probe = scope.get(name, Value()), scope.get(PROBE + name, Value())
    if value.content is not None:
        return value.content
    if probe.shape is not None:
        return probe.shape
    if value.shape is not None and value.shape[0] is not None:
        return (None,) * value.shape[0]
    return None


def dtype_name(elem_type: int | None) -> str:
    """Return NumPy's (ml_dtypes') name of an ONNX element type, and "string" for strings."""
    if elem_type == onnx.TensorProto.STRING:
        return "string"
    try:
        return str(helper.tensor_dtype_to_np_dtype(elem_type or 0).name)
    except KeyError:
        return f"the unknown element type {elem_type}"
