"""Refuse models whose Col2Im cannot run: what ONNX's own checker and shape inference let through.

The rules are those of `ascend_col2im.rules`. What a model leaves open (a symbolic dimension, a
run-time image_shape) is filled in so that no rule can fail because of it, and then every rule is
checked as for a call.
"""

from __future__ import annotations

import math
import os
from typing import Final

import onnx
from onnx import helper

from . import parameters, rules
from .errors import FileError
from .geometry import Ints, span, window_count
from .messages import listed, refuse
from .onnx_model import (
    Model,
    Scope,
    Sizes,
    Value,
    col2im_nodes,
    contains_col2im,
    content_of,
    dtype_name,
    inferred,
    label_of,
    read,
    refuse_file,
    subject,
)

FIRST_OPSET: Final = 18


def check_model(model: Model) -> None:
    """Refuse a model that is not valid ONNX, or whose Col2Im nodes break a rule.

    Col2Im is looked for in the graph, in the bodies of If, Loop and Scan, and in functions written
    for the same opsets as the model. What is known only when the model runs is not refused; where
    a message needs such a size it shows 1.

    Parameters
    ----------
    model : a model, or the path of a binary model file
        Beside a file, external data must exist; it is not read.

    Raises
    ------
    RuleError
        A `ValueError` with the node's name as ``.op`` and the broken rule's name as ``.rule``.
    FileError
        If there is no such file, or ONNX itself refuses the model.

    Source: the ONNX operator ``Col2Im``, since opset 18.
    """
    label, proto = label_of(model), read(model)
    if contains_col2im(proto):
        _check_opset(label, proto)
    _check_onnx(label, model)
    base_dir = "" if isinstance(model, onnx.ModelProto) else os.path.dirname(os.fspath(model))
    for node, scope in col2im_nodes(inferred(label, proto).graph, Scope(), base_dir):
        _check_node(node, scope)


def _check_opset(label: str, model: onnx.ModelProto) -> None:
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version < FIRST_OPSET:
            raise FileError(
                f"{label}: is written for opset {opset.version}; Col2Im exists since opset "
                f"{FIRST_OPSET}; export the model for that or a later one"
            )


def _check_onnx(label: str, model: Model) -> None:
    """Let ONNX's own checker judge the model; by its path, so that external data is found.

    Not its ``full_check``, which refuses valid models where it fails to infer another operator.
    """
    target = model if isinstance(model, onnx.ModelProto) else os.fspath(model)
    try:
        onnx.checker.check_model(target)
    except (onnx.checker.ValidationError, ValueError) as error:
        refuse_file(label, "ONNX's checker refuses the model", error)


def _check_node(node: onnx.NodeProto, scope: Scope) -> None:
    """Check every rule, in the order in which a call checks them."""
    op = subject(node)
    col, image_shape, block_shape = (scope.get(name, Value()) for name in node.input)
    out = scope.get(node.output[0], Value())
    _check_types(op, col, image_shape, block_shape, out)
    contents = [content_of(scope, name) for name in node.input[1:3]]
    attributes: dict[str, Ints] = {item.name: tuple(item.ints) for item in node.attribute}
    axes = _axis_count(contents, attributes, out.shape)
    output_size, kernel_size = ((None,) * axes if sizes is None else sizes for sizes in contents)
    given = _parameters(op, axes, output_size, kernel_size, attributes)
    col_shape = (None, None, None) if col.shape is None else col.shape
    completed = _completed_shape(col_shape, output_size, kernel_size, given)
    plan = rules.col2im_plan(op, completed, given, "cpu")
    channels = None if None in (col_shape[1], *kernel_size) else plan.C
    _check_declared_shape(op, out.shape, (col_shape[0], channels, *output_size), plan.image_shape)
    if col.dtype and None not in (*col_shape, *output_size, *kernel_size):
        itemsize = helper.tensor_dtype_to_np_dtype(col.dtype).itemsize
        rules.check_addressable(op, plan, itemsize)


def _check_types(op: str, col: Value, image_shape: Value, block_shape: Value, out: Value) -> None:
    """Check the rules dtype and rank."""
    if col.dtype:
        rules.check_dtype(op, "col", dtype_name(col.dtype), "cpu")
    if col.dtype and out.dtype:
        rules.check_out_dtype(op, "col", dtype_name(col.dtype), dtype_name(out.dtype))
    shapes = (("output_size", image_shape), ("kernel_size", block_shape))
    for name, value in shapes:
        if value.dtype not in (None, onnx.TensorProto.INT64):
            refuse(op, "dtype", f"{name} is {dtype_name(value.dtype)}; ONNX takes int64")
    if col.shape is not None:
        shape = _filled(col.shape)
        rules.check_col_rank(op, shape)
        if len(shape) == 2:
            refuse(
                op,
                "rank",
                f"col has 2 axes, shape {listed(shape)}; ONNX takes 3 (N, C*K, L) only",
            )
    for name, value in shapes:
        if value.shape is not None and len(value.shape) != 1:
            refuse(
                op, "rank", f"{name} has {len(value.shape)} axes; ONNX takes 1, a list of sizes"
            )


def _axis_count(
    contents: list[Sizes | None], attributes: dict[str, Ints], out_shape: Sizes | None
) -> int:
    """Return how many spatial axes there are: of what tells it, the first."""
    for sizes in contents:
        if sizes is not None:
            return len(sizes)
    for name, values_per_axis in (("strides", 1), ("dilations", 1), ("pads", 2)):
        if name in attributes:
            return max(1, len(attributes[name]) // values_per_axis)
    return 1 if out_shape is None else max(1, len(out_shape) - 2)


def _parameters(
    op: str, axes: int, output_size: Sizes, kernel_size: Sizes, attributes: dict[str, Ints]
) -> parameters.Parameters:
    """Check the rule arity, and complete the parameters: kernels of 1, images with one window."""
    given = parameters.col2im_parameters(
        op,
        "cpu",
        _filled(output_size),
        _filled(kernel_size),
        attributes.get("strides", 1),
        parameters.OnnxPads(attributes.get("pads", 0)),
        attributes.get("dilations", 1),
    )
    _check_arity(op, axes, kernel_size, attributes)
    completed = tuple(
        max(1, span(kernel, dilation)) if size is None else size
        for size, kernel, dilation in zip(
            output_size, given.kernel_size, given.dilation, strict=True
        )
    )
    return given._replace(output_size=completed)


def _filled(sizes: Sizes) -> Ints:
    return tuple(1 if size is None else size for size in sizes)


def _check_arity(op: str, axes: int, kernel_size: Sizes, attributes: dict[str, Ints]) -> None:
    """Refuse what only a call may do: one number for every axis."""
    lists = (
        ("kernel_size", kernel_size, axes),
        ("stride", attributes.get("strides"), axes),
        ("dilation", attributes.get("dilations"), axes),
        ("padding", attributes.get("pads"), 2 * axes),
    )
    for name, values, needed in lists:
        if values is not None and len(values) != needed:
            refuse(
                op,
                "arity",
                f"{name} is {listed('?' if value is None else value for value in values)}; "
                f"ONNX takes {needed} values for {axes} spatial axes",
            )


def _completed_shape(
    shape: Sizes, output_size: Sizes, kernel_size: Sizes, given: parameters.Parameters
) -> Ints:
    """Fill in the open sizes of ``col``, and those that cannot be judged, with fitting ones."""
    N, columns, length = shape
    if columns is None:
        columns = max(1, math.prod(given.kernel_size))
    if length is None or (length > 0 and None in (*output_size, *kernel_size)):
        length = _window_product(given)
    return (1 if N is None else N, columns, length)


def _window_product(given: parameters.Parameters) -> int:
    """Return L, or 1 where a rule that is checked before it fails."""
    if min(given.stride) < 1:
        return 1
    paddings = map(sum, zip(given.pad_begin, given.pad_end, strict=True))
    windows = map(
        window_count, given.output_size, given.kernel_size, given.stride, paddings, given.dilation
    )
    return math.prod(max(1, count) for count in windows)


def _check_declared_shape(op: str, declared: Sizes | None, known: Sizes, result: Ints) -> None:
    """Check the rule output on the sizes that are both declared and known."""
    if declared is None:
        return
    if len(declared) == len(result):
        declared = tuple(
            size if None in (wanted, actual) else wanted
            for wanted, actual, size in zip(declared, known, result, strict=True)
        )
    rules.check_out_shape(op, _filled(declared), result)
