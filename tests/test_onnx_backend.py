"""Models: the official node tests, whole models, run-time shapes, every dtype, and the errors."""

from __future__ import annotations

import unittest
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, parser
from onnx.backend.test.runner import Runner
from onnx.reference import ReferenceEvaluator

from ascend_col2im import BackendError, DtypeError, FileError, RuleError, col2im
from ascend_col2im.facts import ACCUMULATORS
from ascend_col2im.onnx_op import Col2Im, Col2ImBackend

from .oracles import Case, scatter
from .test_onnx_op import EXAMPLES, columns, onnx_arguments, sampled_cases

HEADER = '<ir_version: 8, opset_import: ["" : 18, "my" : 1]>'

COL = np.arange(96, dtype=np.float32).reshape(1, 8, 12)
FOLDED = col2im(COL, (4, 5), (2, 2))
CONSTANTS = "int64[2] i = {4, 5}, int64[2] b = {2, 2}"


def graph(
    node: str, inputs: str = "float[N, 8, L] x", constants: str = CONSTANTS
) -> onnx.ModelProto:
    return parser.parse_model(
        f"{HEADER} g ({inputs}) => (float[n, c, h, w] y) <{constants}> {{ {node} }}"
    )


FOLD = graph("[fold] y = Col2Im (x, i, b)")


def run_time_model(case: Case, dtype: np.dtype[Any]) -> onnx.ModelProto:
    """Return a model that learns image_shape and block_shape when it runs."""
    axes = len(case.output_size)
    arguments = onnx_arguments(case)
    attributes = {name: arguments[name] for name in ("dilations", "pads", "strides")}
    node = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **attributes)
    element = helper.np_dtype_to_tensor_dtype(dtype)
    shapes = [
        helper.make_tensor_value_info("x", element, ["N", "CK", "L"]),
        helper.make_tensor_value_info("i", TensorProto.INT64, [axes]),
        helper.make_tensor_value_info("b", TensorProto.INT64, [axes]),
    ]
    out = helper.make_tensor_value_info("y", element, [None] * (axes + 2))
    opset = helper.make_opsetid("", 18)
    return helper.make_model(
        helper.make_graph([node], "g", shapes, [out]), opset_imports=[opset], ir_version=8
    )


def feeds(case: Case, col: Any) -> dict[str, Any]:
    return {"x": col, "i": np.array(case.output_size), "b": np.array(case.kernel_size)}


class CountingBackend(Col2ImBackend):
    """Counts what the official runner executes, since it can pass a test without running it."""

    runs = 0

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> Any:
        prepared = super().prepare(model, device, **kwargs)
        run = prepared.run

        def counted(*args: Any, **run_kwargs: Any) -> Any:
            outputs = run(*args, **run_kwargs)
            cls.runs += 1
            return outputs

        prepared.run = counted  # type: ignore[method-assign]
        return prepared


# the runner computes the reference data of all operators, some with infinities
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_official_runner_passes_its_five_col2im_tests() -> None:
    cases = Runner(CountingBackend, __name__).test_cases["OnnxBackendNodeModelTest"]
    names = [
        name
        for name in unittest.defaultTestLoader.getTestCaseNames(cases)
        if name.startswith("test_col2im") and name.endswith("_cpu")
    ]
    assert names == [
        "test_col2im_5d_cpu",
        "test_col2im_cpu",
        "test_col2im_dilations_cpu",
        "test_col2im_pads_cpu",
        "test_col2im_strides_cpu",
    ]
    result = unittest.TestResult()
    unittest.TestSuite(map(cases, names)).run(result)
    assert result.errors == result.failures == result.skipped == []
    assert result.testsRun == CountingBackend.runs == 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_the_examples_run_as_nodes(example: dict[str, Any]) -> None:
    node = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **example["attributes"])
    col = np.array(example["input"], np.float32).reshape(example["input_shape"])
    shapes = [np.array(example["image_shape"]), np.array(example["block_shape"])]
    (image,) = Col2ImBackend.run_node(node, [col, *shapes])
    expected = np.array(example["output"], np.float32).reshape(example["output_shape"])
    np.testing.assert_array_equal(image, expected, strict=True)


def test_run_time_shapes_agree_with_the_definition_and_the_reference() -> None:
    for case in sampled_cases(40):
        col = columns(case)
        model = run_time_model(case, col.dtype)
        (image,) = Col2ImBackend.run_model(model, feeds(case, col))
        np.testing.assert_array_equal(image, scatter(col, case), err_msg=str(case), strict=True)
        (reference,) = ReferenceEvaluator(model).run(None, feeds(case, col))
        np.testing.assert_array_equal(image, reference, err_msg=str(case), strict=True)


def onnx_runtime_is_right(case: Case) -> bool:
    """Leave out what ONNX Runtime computes wrongly.

    Measured against three oracles: with a dilation above 1, 1-D images of several channels and
    all 3-D images come out with elements missing from 1.32; from 1.23, the newest for Python
    3.10, all kinds of 1-D and 3-D images do.
    """
    dilated = any(d > 1 and k > 1 for d, k in zip(case.dilation, case.kernel_size, strict=True))
    recent = tuple(map(int, onnxruntime.__version__.split(".")[:2])) >= (1, 32)
    return len(case.output_size) == 2 or (recent and not dilated)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_onnx_runtime_agrees_where_it_is_right(dtype: type[np.generic]) -> None:
    compared = 0
    for case in filter(onnx_runtime_is_right, sampled_cases(100)):
        col = np.random.default_rng(1).integers(0, 8, columns(case).shape).astype(dtype)
        model = run_time_model(case, col.dtype)
        (image,) = Col2ImBackend.run_model(model, feeds(case, col))
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        (expected,) = session.run(None, feeds(case, col))
        np.testing.assert_array_equal(image, expected, err_msg=str(case), strict=True)
        compared += 1
    assert compared >= 30


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def col2im_dtypes() -> list[int]:
    """Return the element types of the schema, without string."""
    schema = onnx.defs.get_schema("Col2Im")
    (allowed,) = [kind for kind in schema.type_constraints if kind.type_param_str == "T"]
    names = {name.removeprefix("tensor(").removesuffix(")") for name in allowed.allowed_type_strs}
    return sorted(TensorProto.DataType.Value(name.upper()) for name in names - {"string"})


@pytest.mark.parametrize("element", col2im_dtypes(), ids=TensorProto.DataType.Name)
def test_every_onnx_dtype_gives_what_the_reference_gives(element: int) -> None:
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(element))
    case = Case((4, 5), (2, 2), (1, 1), (1, 0), (0, 1), (1, 1))
    col = (np.arange(2 * 4 * case.length).reshape(2, 4, -1) % 3).astype(dtype)
    model = run_time_model(case, dtype)
    (image,) = Col2ImBackend.run_model(model, feeds(case, col))
    (reference,) = ReferenceEvaluator(model).run(None, feeds(case, col))
    expected = np.asarray(reference)
    assert image.dtype == expected.dtype == dtype
    np.testing.assert_array_equal(image, expected)


def test_every_onnx_dtype_is_a_dtype_of_the_package() -> None:
    names = {np.dtype(helper.tensor_dtype_to_np_dtype(kind)).name for kind in col2im_dtypes()}
    assert names == set(ACCUMULATORS)


def test_float16_sums_are_kept_in_float32() -> None:
    """One pixel, four taps: the second partial sum is beyond float16, the last is not."""
    case = Case((1,), (4,), (1,), (3,), (3,), (1,))
    col = np.repeat(np.array([[[4e4], [4e4], [-4e4], [-4e4]]], np.float16), case.length, axis=2)
    (image,) = Col2ImBackend.run_model(run_time_model(case, col.dtype), feeds(case, col))
    np.testing.assert_array_equal(image, np.zeros((1, 1, 1), np.float16), strict=True)


IF_MODEL = graph(
    """
    y = If (c) <
        then_branch = t () => (float[n, c, h, w] p) { [inner] p = Col2Im (x, i, b) },
        else_branch = e () => (float[n, c, h, w] q) {
            k = Constant <value_ints: ints = [2, 4]> ()
            [other] q = Col2Im (x, i, k)
        }
    >
    """,
    "bool c, float[N, 8, L] x",
)

FUNCTION_MODEL = parser.parse_model(f"""{HEADER}
    g (float[N, 8, L] x) => (float[n, c, h, w] y) <{CONSTANTS}>
    {{ y = my.fold <strides = [2, 3]> (x, i, b) }}
    <domain: "my", opset_import: ["" : 18]>
    fold <strides, pads> (p, q, r) => (s)
    {{ s = Col2Im <strides: ints = @strides, pads: ints = @pads> (p, q, r) }}
""")


def test_bodies_of_if_run() -> None:
    prepared = Col2ImBackend.prepare(IF_MODEL)
    (image,) = prepared.run({"c": np.array(True), "x": COL})
    np.testing.assert_array_equal(image, FOLDED, strict=True)
    short = np.ascontiguousarray(COL[:, :, :6])
    (image,) = prepared.run({"c": np.array(False), "x": short})
    np.testing.assert_array_equal(image, col2im(short, (4, 5), (2, 4)), strict=True)


def test_functions_run_with_some_attributes_absent() -> None:
    col = COL[:, :, :4]
    (image,) = Col2ImBackend.run_model(FUNCTION_MODEL, [col])
    np.testing.assert_array_equal(image, col2im(col, (4, 5), (2, 2), stride=(2, 3)), strict=True)


def test_other_nodes_and_computed_shapes_run() -> None:
    model = graph(
        """
        s = Shape (image)
        two = Constant <value_ints: ints = [2]> ()
        four = Constant <value_ints: ints = [4]> ()
        i = Slice (s, two, four)
        z = Col2Im (x, i, b)
        y = Add (z, image)
        """,
        "float[N, 8, L] x, float[n, c, h, w] image",
        "int64[2] b = {2, 2}",
    )
    image = np.ones((1, 2, 4, 5), np.float32)
    (result,) = Col2ImBackend.run_model(model, [COL, image])
    np.testing.assert_array_equal(result, FOLDED + 1, strict=True)


def test_the_reference_evaluator_takes_the_operator() -> None:
    calls = []

    class Spy(Col2Im):
        def _run(self, *args: Any, **kwargs: Any) -> tuple[Any]:
            calls.append(self.onnx_node.name)
            return super()._run(*args, **kwargs)

    Spy.__name__ = "Col2Im"
    for model, inputs in ((FOLD, {"x": COL}), (IF_MODEL, {"x": COL, "c": np.array(True)})):
        (image,) = ReferenceEvaluator(model, new_ops=[Spy]).run(None, inputs)
        np.testing.assert_array_equal(image, FOLDED, strict=True)
    assert calls == ["fold", "inner"]


def test_outputs_answer_by_position_and_by_name() -> None:
    outputs = Col2ImBackend.prepare(FOLD).run(COL)
    assert len(outputs) == 1
    assert outputs["y"] is outputs[0]  # type: ignore[call-overload]


def test_a_default_may_be_given_or_left_out() -> None:
    model = graph(
        "y = Col2Im (x, i, b)",
        "float[N, 8, L] x, int64[2] i = {4, 5}",
        "int64[2] b = {2, 2}",
    )
    prepared = Col2ImBackend.prepare(model)
    np.testing.assert_array_equal(prepared.run([COL])[0], FOLDED)
    np.testing.assert_array_equal(prepared.run([COL, np.array([4, 5])])[0], FOLDED)
    np.testing.assert_array_equal(
        prepared.run({"x": COL, "i": np.array([5, 4])})[0], col2im(COL, (5, 4), (2, 2))
    )


@pytest.mark.parametrize(
    ("device", "supported"),
    [("CPU", True), ("CPU:0", True), ("CUDA", False), ("CPUX", False), ("", False)],
)
def test_the_device_is_the_cpu(device: str, supported: bool) -> None:
    assert Col2ImBackend.supports_device(device) is supported
    assert Col2ImBackend.is_compatible(FOLD, device) is supported
    if not supported:
        with pytest.raises(BackendError, match="is not supported; ONNX models run on 'CPU'"):
            Col2ImBackend.prepare(FOLD, device)


def test_a_model_that_cannot_run_is_not_compatible() -> None:
    assert not Col2ImBackend.is_compatible(graph("y = Col2Im <strides = [0, 1]> (x, i, b)"))
    assert not Col2ImBackend.is_compatible(graph("y = my.unknown (x)"))


def test_run_time_errors_name_the_node() -> None:
    with pytest.raises(RuleError) as told:
        Col2ImBackend.run_model(FOLD, [COL[:, :, 1:]])
    assert str(told.value) == (
        "Col2Im node 'fold': length: col has L = 11; output_size (4, 5), kernel_size (2, 2), "
        "stride (1, 1), padding (0, 0) + (0, 0), dilation (1, 1) give 3 * 4 = 12 windows"
    )
    with pytest.raises(RuleError, match=r"^Col2Im node 'inner': length: "):
        Col2ImBackend.run_model(IF_MODEL, {"c": np.array(True), "x": COL[:, :, 1:]})


def test_a_string_is_refused_as_itself_though_onnx_wraps_type_errors() -> None:
    strings = np.full(COL.shape, "a", object)
    message = r"^Col2Im node 'fold': dtype: col is string; cpu takes bfloat16, "
    with pytest.raises(DtypeError, match=message):
        ReferenceEvaluator(FOLD, new_ops=[Col2Im]).run(None, {"x": strings})


def test_functions_that_cannot_be_checked_before_are_checked_when_they_run() -> None:
    """A function of another opset is not inlined; what it does with its inputs shows late."""
    model = parser.parse_model(f"""{HEADER}
        g (string[N, 8, L] x) => (string[n, c, h, w] y) <{CONSTANTS}> {{ y = my.f (x, i, b) }}
        <domain: "my", opset_import: ["" : 19]>
        f (p, q, r) => (s) {{ [inner] s = Col2Im (p, q, r) }}
    """)
    prepared = Col2ImBackend.prepare(model)
    strings = np.full(COL.shape, "a", object)
    with pytest.raises(DtypeError, match=r"^Col2Im node 'inner': dtype: col is string; cpu"):
        prepared.run([strings])


def test_a_ragged_list_is_no_input() -> None:
    with pytest.raises(DtypeError, match="input 'x' is no array of numbers: setting an array"):
        Col2ImBackend.run_model(FOLD, [[[1], [2, 3]]])


def test_big_endian_input_is_the_same_dtype() -> None:
    (image,) = Col2ImBackend.run_model(FOLD, [COL.astype(">f4")])
    np.testing.assert_array_equal(image, FOLDED)


def test_an_operator_without_reference_is_named() -> None:
    with pytest.raises(
        BackendError, match=r"^model 'g': onnx's reference evaluator stopped: .*my"
    ):
        Col2ImBackend.prepare(graph("y = my.unknown (x)"))


def test_a_failure_of_another_node_is_told_in_one_line() -> None:
    model = graph("z = Reshape (x, s) y = Col2Im (z, i, b)", "float[n] x, int64[3] s")
    with pytest.raises(BackendError) as told:
        Col2ImBackend.run_model(model, [np.zeros(7, np.float32), np.array([1, 2, 3])])
    message = str(told.value)
    assert message.startswith("model 'g': onnx's reference evaluator stopped: cannot reshape")
    assert "\n" not in message


def test_nodes_run_alone_with_their_errors() -> None:
    relu = helper.make_node("Relu", ["a"], ["b"])
    np.testing.assert_array_equal(Col2ImBackend.run_node(relu, [np.array([-1.0, 2])])[0], [0, 2])
    fold = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], name="fold")
    shapes = [np.array([4, 5]), np.array([2, 2])]
    with pytest.raises(RuleError, match=r"^Col2Im node 'fold': length: col has L = 11"):
        Col2ImBackend.run_node(fold, [COL[:, :, 1:], *shapes])
    with pytest.raises(RuleError, match=r"^node 'fold': arity: takes 3 inputs; 1 given"):
        Col2ImBackend.run_node(fold, [COL])
    with pytest.raises(FileError, match=r"^node 'fold': ONNX's checker refuses the node: .*17"):
        Col2ImBackend.run_node(fold, [COL, *shapes], opset_version=17)
    with pytest.raises(BackendError, match="'CUDA' is not supported"):
        Col2ImBackend.run_node(fold, [COL, *shapes], "CUDA")
