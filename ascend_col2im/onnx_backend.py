"""Run ONNX models with this package's Col2Im in onnx's reference evaluator.

Every other operator is the reference evaluator's own: written for correctness, not for speed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, inliner
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from . import rules
from .errors import BackendError, Col2ImError, FileError, RuleError
from .messages import one_line, refuse
from .onnx_checker import check_model
from .onnx_model import contains_col2im, dtype_name, label_of, read, refuse_file, subject
from .onnx_op import onnx_col2im

Array = npt.NDArray[Any]
Inputs = npt.ArrayLike | Sequence[Any] | Mapping[str, Any]
"""A model's inputs: a sequence in the model's order, a mapping by name, or a single array."""


class Col2Im(OpRun):
    """ONNX's Col2Im for ``onnx.reference.ReferenceEvaluator(model, new_ops=[Col2Im])``.

    Takes what `ascend_col2im.onnx_op.onnx_col2im` takes; errors name the node.
    """

    op_domain = ""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the node; a `DtypeError` comes out as it is, though onnx wraps every TypeError."""
        try:
            return super().run(*args, **kwargs)  # type: ignore[no-untyped-call]
        except TypeError as error:
            raise _own_error(error) or error from None

    def _run(
        self,
        col: Array,
        image_shape: Array,
        block_shape: Array,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> tuple[Array]:
        try:
            if _dtype_name(col) == "string":
                rules.check_dtype("col2im", "col", "string", "cpu")
            return (onnx_col2im(col, image_shape, block_shape, dilations, pads, strides),)
        except RuleError as error:
            raise type(error)(subject(self.onnx_node), error.rule, error.sentence) from None


class Evaluator(ReferenceEvaluator):
    """A reference evaluator with this package's Col2Im, which it passes on to functions too."""

    def __init__(
        self, proto: Any, *, new_ops: Sequence[type[OpRun]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(proto, new_ops=[Col2Im, *(new_ops or ())], **kwargs)


class PreparedModel(BackendRep):
    """A checked model, to be run any number of times; see `Col2ImBackend.prepare`."""

    def __init__(self, model: onnx.ModelProto, label: str) -> None:
        self._label = label
        constants = {tensor.name for tensor in model.graph.initializer}
        self._types = {info.name: info.type for info in model.graph.input}
        self._required = [name for name in self._types if name not in constants]
        try:
            # The evaluator runs a function only if the call gives all of its attributes; inlined,
            # optional ones may be absent.
            flat = inliner.inline_local_functions(model) if model.functions else model
            self._evaluator = Evaluator(flat)
        except Exception as error:  # each operator has its own way to refuse a node
            raise _stopped(label, error) from error

    def run(self, inputs: Inputs, **kwargs: Any) -> tuple[Any, ...]:
        """Run the model once.

        Parameters
        ----------
        inputs : sequence in the order of the model's inputs, mapping by name, or single array
            Inputs with a default in the model may be left out.

        Returns
        -------
        The outputs in the model's order; also ``outputs[name]``.

        Raises
        ------
        RuleError
            If inputs are missing, unknown or of the wrong dtype, or a Col2Im node's break a rule.
        BackendError
            If onnx's reference evaluator cannot run another node.
        """
        names = list(self._evaluator.output_names)
        values = _evaluate(self._label, self._evaluator, self._feeds(inputs))
        outputs: tuple[Any, ...] = namedtupledict("Outputs", names)(*values)
        return outputs

    def run_by_name(self, inputs: Inputs) -> dict[str, Any]:
        """Run the model once and return its outputs by name; otherwise as `run`."""
        return dict(zip(self._evaluator.output_names, self.run(inputs), strict=True))

    def _feeds(self, inputs: Inputs) -> dict[str, Any]:
        if isinstance(inputs, Mapping):
            feeds = dict(inputs)
        else:
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            every = len(given) == len(self._types)
            names = list(self._types) if every else self._required
            if len(given) != len(names):
                self._refuse_inputs(f"{len(given)} given")
            feeds = dict(zip(names, given, strict=True))
        missing = [name for name in self._required if name not in feeds]
        unknown = [name for name in feeds if name not in self._types]
        if missing or unknown:
            self._refuse_inputs(f"{', '.join(map(repr, feeds)) or 'none'} given")
        return {name: self._checked(name, value) for name, value in feeds.items()}

    def _refuse_inputs(self, given: str) -> None:
        needed = ", ".join(
            repr(name) if name in self._required else f"{name!r} (optional)"
            for name in self._types
        )
        refuse(self._label, "arity", f"the model takes the inputs {needed}; {given}")

    def _checked(self, name: str, value: Any) -> Any:
        """Return an input, as an array where the model takes a tensor, or refuse its dtype."""
        elem_type = self._types[name].tensor_type.elem_type
        if not elem_type:
            return value
        try:
            array = value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value)
        except (TypeError, ValueError, RuntimeError) as error:
            reason = one_line(str(error))
            refuse(self._label, "dtype", f"input {name!r} is no array of numbers: {reason}")
        needed = dtype_name(elem_type)
        given = _dtype_name(array)
        if given != needed:
            refuse(self._label, "dtype", f"input {name!r} is {given}; the model takes {needed}")
        return array


def _dtype_name(array: Array | np.generic) -> str:
    """Return the name of an array's dtype, "string" for all the ways in which NumPy has text."""
    text = array.dtype.kind in "UST" or (
        array.dtype.kind == "O" and all(isinstance(each, (str, bytes)) for each in array.flat)
    )
    return "string" if text else array.dtype.name


class Col2ImBackend(Backend):
    """An ONNX backend on the CPU: this package's Col2Im amid onnx's reference operators."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return whether the device is the CPU, as ONNX writes it: ``CPU`` or ``CPU:0``."""
        return device.partition(":")[0] == "CPU"

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Return whether `prepare` takes the model."""
        try:
            cls.prepare(model, device, **kwargs)
        except Col2ImError:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> PreparedModel:
        """Check a model and make it ready to run.

        Raises
        ------
        RuleError, FileError
            As `ascend_col2im.onnx_op.check_model`.
        BackendError
            If the device is not the CPU, or the reference evaluator lacks an operator.
        """
        _check_device(device)
        check_model(model)
        return PreparedModel(model, label_of(model))

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node on the arrays of its inputs; ``opset_version`` may be given.

        Raises
        ------
        RuleError
            If the inputs of a Col2Im break a rule.
        FileError
            If ONNX's checker refuses the node.
        BackendError
            If the device is not the CPU, or the reference evaluator cannot run the node.
        """
        _check_device(device)
        label = f"node {node.name or node.op_type!r}"
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        try:
            super().run_node(node, inputs, device, outputs_info, opset_version=version)
        except onnx.checker.ValidationError as error:
            refuse_file(label, "ONNX's checker refuses the node", error)
        if len(inputs) != len(node.input):
            refuse(label, "arity", f"takes {len(node.input)} inputs; {len(inputs)} given")
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], label, [], outputs)
        evaluator = Evaluator(graph, opsets={"": version, node.domain: version})
        return tuple(_evaluate(label, evaluator, dict(zip(node.input, inputs, strict=True))))


def run_model(path: str | os.PathLike[str], inputs: Inputs) -> dict[str, Any]:
    """Run an ONNX model file that contains Col2Im.

    Parameters
    ----------
    path : a binary model file; external data is read from beside it
    inputs : array, sequence in the order of the model's inputs, or mapping by name

    Returns
    -------
    The model's outputs by name.

    Raises
    ------
    FileError
        If the file cannot be read, is not a valid model, lacks its external data, or has no
        Col2Im node.
    RuleError
        If a Col2Im node breaks a rule, or the inputs are not what the model takes.
    BackendError
        If onnx's reference evaluator cannot run another node.
    """
    check_model(path)
    model = read(path, external_data=True)
    label = label_of(path)
    if not contains_col2im(model):
        raise FileError(f"{label}: has no Col2Im node; needs at least one")
    return PreparedModel(model, label).run_by_name(inputs)


def _check_device(device: str) -> None:
    if not Col2ImBackend.supports_device(device):
        raise BackendError(f"device {device!r} is not supported; ONNX models run on 'CPU'")


def _evaluate(label: str, evaluator: Evaluator, feeds: dict[str, Any]) -> list[Any]:
    try:
        return list(evaluator.run(None, feeds))
    except Exception as error:  # each operator has its own way to refuse its inputs
        raise _own_error(error) or _stopped(label, error) from error


def _stopped(label: str, error: Exception) -> BackendError:
    message = " ".join(str(error).split())
    return BackendError(f"{label}: onnx's reference evaluator stopped: {message}")


def _own_error(error: BaseException | None) -> Col2ImError | None:
    """Return the error of this package that the evaluator wrapped, if it is one."""
    while error is not None and not isinstance(error, Col2ImError):
        error = error.__cause__
    return error
