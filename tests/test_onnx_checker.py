"""``check_model``: what it refuses beyond ONNX itself, and what it must let through."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from ascend_col2im import DtypeError, FileError, RuleError
from ascend_col2im.onnx_op import check_model

HEADER = '<ir_version: 8, opset_import: ["" : 18, "my" : 1]>'


def graph(
    col: str = "float[N, 8, 12]",
    sizes: str = "int64[2] i = {4, 5}, int64[2] b = {2, 2}",
    node: str = "[fold] y = Col2Im (x, i, b)",
    out: str = "float[n, c, h, w]",
    inputs: str = "",
) -> onnx.ModelProto:
    """Return a model whose only node folds ``x``; ``sizes`` are constants, ``inputs`` are not."""
    return parser.parse_model(f"{HEADER} g ({col} x{inputs}) => ({out} y) <{sizes}> {{ {node} }}")


def attributes(text: str) -> str:
    return f"[fold] y = Col2Im <{text}> (x, i, b)"


REFUSED_BY_US_ALONE = {
    "string": (
        graph("string[N, 8, 12]", out="string[n, c, h, w]"),
        "dtype: col is string; cpu takes bfloat16, bool, complex128, complex64, float16, float32, "
        "float64, int16, int32, int64, int8, uint16, uint32, uint64, uint8",
    ),
    "image_shape 0": (
        graph(sizes="int64[2] i = {4, 0}, int64[2] b = {2, 2}"),
        "positive: output_size[1] is 0; must be >= 1",
    ),
    "image_shape negative": (
        graph(sizes="int64[2] i = {-4, 5}, int64[2] b = {2, 2}"),
        "positive: output_size[0] is -4; must be >= 1",
    ),
    "strides 0": (
        graph(node=attributes("strides = [1, 0]")),
        "positive: stride[1] is 0; must be >= 1",
    ),
    "dilations 0": (
        graph(node=attributes("dilations = [0, 1]")),
        "positive: dilation[0] is 0; must be >= 1",
    ),
    "pads negative": (
        graph(node=attributes("pads = [0, 1, 0, -1]")),
        "padding: padding[1] is (1, -1); must be >= 0",
    ),
    "channels": (
        graph("float[N, 7, 12]"),
        "channels: col has 7 channels; must be a multiple of K = 2 * 2 = 4, the product of "
        "kernel_size (2, 2)",
    ),
    "channels, image_shape unknown": (
        graph("float[N, 7, L]", "int64[2] b = {2, 2}", inputs=", int64[2] i"),
        "channels: col has 7 channels; must be a multiple of K = 2 * 2 = 4, the product of "
        "kernel_size (2, 2)",
    ),
    "channels, block_shape known in part": (
        graph(
            "float[N, 7, L]",
            "int64[1] two = {2}",
            "b = Concat <axis = 0> (two, k) [fold] y = Col2Im (x, i, b)",
            inputs=", int64[2] i, int64[1] k",
        ),
        "channels: col has 7 channels; must be a multiple of K = 2 * 1 = 2, the product of "
        "kernel_size (2, 1)",
    ),
    "kernel": (
        graph("float[N, C, L]", "int64[2] i = {4, 5}, int64[2] b = {1, 6}"),
        "kernel: kernel_size[1] is 6; must be at most the padded image, output_size[1] + padding "
        "= 5 + 0 + 0 = 5",
    ),
    "windows": (
        graph("float[N, C, L]", node=attributes("dilations = [4, 1]")),
        "windows: a window spans dilation * (kernel_size - 1) + 1 = 4 * (2 - 1) + 1 = 5 along "
        "axis 0; must be at most the padded image, output_size[0] + padding = 4 + 0 + 0 = 4",
    ),
    "length": (
        graph("float[N, C, 10]"),
        "length: col has L = 10; output_size (4, 5), kernel_size (2, 2), stride (1, 1), "
        "padding (0, 0) + (0, 0), dilation (1, 1) give 3 * 4 = 12 windows",
    ),
    "length 0": (
        graph("float[N, 8, 0]"),
        "positive: col has L = 0, shape (1, 8, 0); must be >= 1",
    ),
}

REFUSED_BY_ONNX_TOO = {
    "rank 2": (
        graph("float[8, 12]"),
        "rank: col has 2 axes, shape (8, 12); ONNX takes 3 (N, C*K, L) only",
    ),
    "rank 4": (
        graph("float[M, N, 8, 12]"),
        "rank: col has 4 axes, shape (1, 1, 8, 12); must have 3 (N, C*K, L), or 2 (C*K, L) "
        "unbatched",
    ),
    "image_shape of rank 2": (
        graph(sizes="int64[1, 2] i = {4, 5}, int64[2] b = {2, 2}"),
        "rank: output_size has 2 axes; ONNX takes 1, a list of sizes",
    ),
    "image_shape int32": (
        graph(sizes="int32[2] i = {4, 5}, int64[2] b = {2, 2}"),
        "dtype: output_size is int32; ONNX takes int64",
    ),
    "one stride for two axes": (
        graph(node=attributes("strides = [1]")),
        "arity: stride is (1); ONNX takes 2 values for 2 spatial axes",
    ),
    "one block for two axes": (
        graph(sizes="int64[2] i = {4, 5}, int64[1] b = {2}"),
        "arity: kernel_size is (2); ONNX takes 2 values for 2 spatial axes",
    ),
    "one pad": (
        graph(node=attributes("pads = [0]")),
        "arity: padding is (0); ONNX takes 4 values for 2 spatial axes",
    ),
    "pads for one axis of two": (
        graph(node=attributes("pads = [0, 0]")),
        "arity: padding has 2 values, (0, 0); must have 1 or 4 values, all begins and then all "
        "ends",
    ),
    "declared dtype": (
        graph(out="double[n, c, h, w]"),
        "dtype: out is float64; must be float32, the dtype of col",
    ),
    "declared size": (
        graph(out="float[n, 2, 4, 6]"),
        "output: out has shape (1, 2, 4, 6); the result has (1, 2, 4, 5)",
    ),
    "declared rank": (
        graph(out="float[n, 2, 20]"),
        "output: out has shape (1, 2, 20); the result has (1, 2, 4, 5)",
    ),
}

REFUSED_BY_NEWER_ONNX = {
    "block_shape negative": (
        graph(sizes="int64[2] i = {4, 5}, int64[2] b = {2, -2}"),
        "positive: kernel_size[1] is -2; must be >= 1",
    ),
}

REFUSED = REFUSED_BY_US_ALONE | REFUSED_BY_ONNX_TOO | REFUSED_BY_NEWER_ONNX


@pytest.mark.parametrize(("model", "message"), list(REFUSED.values()), ids=list(REFUSED))
def test_a_broken_rule_is_refused_with_the_nodes_name(
    model: onnx.ModelProto, message: str
) -> None:
    with pytest.raises(RuleError) as told:
        check_model(model)
    assert str(told.value) == f"Col2Im node 'fold': {message}"
    assert isinstance(told.value, DtypeError) == (told.value.rule == "dtype")


@pytest.mark.parametrize(
    "model", [model for model, _ in REFUSED_BY_US_ALONE.values()], ids=list(REFUSED_BY_US_ALONE)
)
def test_onnx_itself_lets_these_through(model: onnx.ModelProto) -> None:
    onnx.checker.check_model(model, full_check=True)


@pytest.mark.parametrize(
    "model", [model for model, _ in REFUSED_BY_ONNX_TOO.values()], ids=list(REFUSED_BY_ONNX_TOO)
)
def test_onnx_refuses_these_without_naming_the_rule(model: onnx.ModelProto) -> None:
    with pytest.raises(onnx.shape_inference.InferenceError):
        onnx.checker.check_model(model, full_check=True)


def test_a_node_without_a_name_is_named_by_its_output() -> None:
    with pytest.raises(RuleError, match=r"^Col2Im node giving 'y': length: "):
        check_model(graph("float[N, 8, 10]", node="y = Col2Im (x, i, b)"))


def test_of_several_nodes_the_broken_one_is_named() -> None:
    node = "[good] z = Col2Im (x, i, b) [bad] y = Col2Im <strides = [2, 2]> (x, i, b)"
    with pytest.raises(RuleError, match=r"^Col2Im node 'bad': length: "):
        check_model(graph(node=node))


VALID = {
    "as it is": graph(),
    "everything symbolic": graph("float[N, C, L]", "int64[2] b = {2, 2}", inputs=", int64[2] i"),
    "L may fit a run-time image": graph(
        "float[N, 8, 77]", "int64[2] b = {2, 2}", inputs=", int64[2] i"
    ),
    "channels may fit a run-time block": graph(
        "float[N, 7, 77]", "int64[2] i = {4, 5}", inputs=", int64[2] b"
    ),
    "number of axes unknown": graph(
        "float[N, 7, 77]",
        sizes="int64 u = {0}",
        inputs=", int64[d] i, int64[d] b, int64[1] flat",
        node="z = Col2Im (x, i, b) y = Reshape (z, flat)",
        out="float[m]",
    ),
    "number of axes from strides": graph(
        "float[N, 8, 12]",
        node=attributes("strides = [1, 2, 3]"),
        sizes="int64 u = {0}",
        inputs=", int64[d] i, int64[d] b",
        out="float[n, c, h, w, d]",
    ),
    "number of axes from the declared output": graph(
        out="float[n, c, h]", sizes="int64 u = {0}", inputs=", int64[d] i, int64[d] b"
    ),
    "shape of col unknown": graph(
        "float[n]", inputs=", int64[r] any", node="z = Reshape (x, any) y = Col2Im (z, i, b)"
    ),
    "a default that the caller may replace": graph(
        sizes="int64[2] b = {2, 2}", inputs=", int64[2] i = {4, 4}"
    ),
    "declared output of a run-time image": graph(
        sizes="int64[2] b = {2, 2}", inputs=", int64[2] i", out="float[7, 2, 9, 9]"
    ),
    "declared channels of a run-time block": graph(
        sizes="int64[2] i = {4, 5}", inputs=", int64[2] b", out="float[n, 4, 4, 5]"
    ),
    "open sizes written as -1": graph("float[-1, 8, -1]"),
    "empty batch": graph("float[0, 8, 12]"),
    "run-time block larger than the image": graph(
        "float[N, C, L]", "int64[2] i = {4, 5}", inputs=", int64[2] b"
    ),
    "windows of unknown image": graph(
        "float[N, 8, 1]",
        "int64[2] b = {2, 2}",
        node=attributes("dilations = [9, 9], pads = [1, 0, 0, 2]"),
        inputs=", int64[2] i",
    ),
}


@pytest.mark.parametrize("model", list(VALID.values()), ids=list(VALID))
def test_what_is_not_known_is_not_refused(model: onnx.ModelProto) -> None:
    check_model(model)


COMPUTED = """
    s = Shape (image)
    two = Constant <value_ints: ints = [2]> ()
    four = Constant <value_ints: ints = [4]> ()
    i = Slice (s, two, four)
    b = Constant <value = int64[2] {2, 2}> ()
"""


@pytest.mark.parametrize(
    ("image", "broken"),
    [("float[1, 2, 4, 5]", None), ("float[1, 2, 4, 6]", "length"), ("float[1, 2, H, W]", None),
     ("float[1, 2, 1, W]", "kernel"), ("float[1, 2, 2, W]", None)],
)  # fmt: skip
def test_shapes_computed_from_known_shapes_are_known(image: str, broken: str | None) -> None:
    model = graph(
        sizes="int64 u = {0}", inputs=f", {image} image", node=f"{COMPUTED} y = Col2Im (x, i, b)"
    )
    if broken is None:
        check_model(model)
    else:
        with pytest.raises(RuleError) as told:
            check_model(model)
        assert told.value.rule == broken


@pytest.mark.parametrize(
    ("col", "refused"), [("float[N, 8, 12]", False), ("float[N, 8, 9]", True)]
)
def test_bodies_of_if_are_checked_with_what_they_see_outside(col: str, refused: bool) -> None:
    body = """
        y = If (c) <
            then_branch = t () => (float[n, c, h, w] p) { p = Identity (zero) },
            else_branch = e () => (float[n, c, h, w] q) { [inner] q = Col2Im (x, i, b) }
        >
    """
    model = graph(col, node=body, inputs=", bool c, float[1, 2, 4, 5] zero")
    if refused:
        with pytest.raises(RuleError, match=r"^Col2Im node 'inner': length: col has L = 9"):
            check_model(model)
    else:
        check_model(model)


@pytest.mark.parametrize(
    ("col", "refused"), [("float[N, 8, 12]", False), ("float[N, 8, 9]", True)]
)
def test_functions_are_checked_with_the_arguments_of_each_call(col: str, refused: bool) -> None:
    model = parser.parse_model(f"""{HEADER}
        g ({col} x) => (float[n, c, h, w] y) <int64[2] i = {{4, 5}}, int64[2] b = {{2, 2}}>
        {{ y = my.f (x, i, b) }}
        <domain: "my", opset_import: ["" : 18]>
        f (p, q, r) => (s) {{ [inner] s = Col2Im (p, q, r) }}
    """)
    if refused:
        with pytest.raises(RuleError, match=r"^Col2Im node 'inner\w*': length: col has L = 9"):
            check_model(model)
    else:
        check_model(model)


@pytest.mark.parametrize("opset", range(18, onnx.defs.onnx_opset_version() + 1))
def test_every_opset_since_18_is_taken(opset: int) -> None:
    model = graph()
    model.opset_import[0].version = opset
    check_model(model)


def test_an_older_opset_is_refused_with_the_cure() -> None:
    model = graph()
    model.opset_import[0].version = 17
    with pytest.raises(FileError) as told:
        check_model(model)
    assert str(told.value) == (
        "model 'g': is written for opset 17; Col2Im exists since opset 18; "
        "export the model for that or a later one"
    )


def test_an_image_beyond_64_bits_is_refused() -> None:
    model = graph(
        f"float[1, 4, {2**62}]",
        f"int64[2] i = {{{2**31}, {2**31}}}, int64[2] b = {{2, 2}}",
        attributes("pads = [1, 1, 0, 0]"),
    )
    with pytest.raises(RuleError) as told:
        check_model(model)
    assert told.value.rule == "size"


def test_the_model_is_not_changed() -> None:
    model = graph(sizes="int64[2] b = {2, 2}", inputs=", int64[2] i = {4, 5}")
    before = model.SerializeToString(deterministic=True)
    check_model(model)
    assert model.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize(
    ("node", "fact"),
    [
        ("y = Col2Im (x, i)", "has input size 2 not in range"),
        ("y = Col2Im <stride = [1, 1]> (x, i, b)", "Unrecognized attribute: stride"),
        ("y = Col2Im <strides = 1> (x, i, b)", "Mismatched attribute type"),
        ("y = Col2Im (nowhere, i, b)", "topologically sorted"),
        ("y = Col2Img (x, i, b)", "No Op registered for Col2Img"),
    ],
)
def test_invalid_onnx_is_refused_in_one_line(node: str, fact: str) -> None:
    with pytest.raises(FileError) as told:
        check_model(graph(node=node))
    message = str(told.value)
    assert message.startswith("model 'g': ONNX's checker refuses the model: ")
    assert fact in message
    assert "\n" not in message


def test_element_types_that_do_not_exist_are_refused() -> None:
    model = graph()
    model.graph.input[0].type.tensor_type.elem_type = 999
    with pytest.raises(DtypeError, match="col is the unknown element type 999; cpu takes"):
        check_model(model)
    model = graph()
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([4, 5]), "i"))
    model.graph.initializer[0].data_type = 123
    with pytest.raises(FileError, match="shape inference refuses the model: Invalid tensor data"):
        check_model(model)
