"""``onnx_col2im``: ONNX's spelling of the arguments, the same rules, and no need of onnx."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascend_col2im import DtypeError, RuleError, col2im, onnx_op
from ascend_col2im.onnx_op import onnx_col2im

from .oracles import Case, adjoint, gather, scatter

EXAMPLES = json.loads((Path(__file__).parent / "data" / "onnx_col2im.json").read_text())["cases"]

COL = np.arange(96, dtype=np.float32).reshape(1, 8, 12)
"""Fits image_shape (4, 5) and block_shape (2, 2)."""


def sampled_cases(count: int) -> list[Case]:
    """Return cases of 1 to 3 axes whose pads differ on every side."""
    random = np.random.default_rng(18)
    found: list[Case] = []
    while len(found) < count:
        axes = int(random.integers(1, 4))
        fields = [
            tuple(random.integers(low, high + 1, axes).tolist())
            for low, high in ((1, 6), (1, 3), (1, 3), (0, 2), (0, 2), (1, 3))
        ]
        case = Case(*fields)
        if case.valid and case.pad_begin != case.pad_end:
            found.append(case)
    return found


def columns(case: Case, channels: int = 2) -> np.ndarray[Any, Any]:
    """Return columns in which tap t adds 2**t (times a factor for N and C) to its pixel."""
    taps = np.left_shift(1, np.arange(case.taps))
    factors = np.arange(1, 2 * channels + 1).reshape(2, channels, 1, 1)
    col = np.broadcast_to(factors * taps[:, None], (2, channels, case.taps, case.length))
    return col.reshape(2, channels * case.taps, case.length).astype(np.float64)


def onnx_arguments(case: Case) -> dict[str, Any]:
    return {
        "image_shape": np.array(case.output_size),
        "block_shape": np.array(case.kernel_size),
        "dilations": list(case.dilation),
        "pads": [*case.pad_begin, *case.pad_end],
        "strides": list(case.stride),
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_the_examples_of_the_operator_page_come_out(example: dict[str, Any]) -> None:
    col = np.array(example["input"], np.float32).reshape(example["input_shape"])
    image = onnx_col2im(
        col, example["image_shape"], example["block_shape"], **example["attributes"]
    )
    expected = np.array(example["output"], np.float32).reshape(example["output_shape"])
    np.testing.assert_array_equal(image, expected, strict=True)


def test_all_five_examples_are_there() -> None:
    assert [example["name"] for example in EXAMPLES] == [
        "default",
        "strides",
        "pads",
        "dilations",
        "5d",
    ]


@pytest.mark.parametrize("oracle", [scatter, gather, adjoint], ids=lambda oracle: oracle.__name__)
def test_pads_are_all_begins_and_then_all_ends(oracle: Any) -> None:
    for case in sampled_cases(60):
        col = columns(case)
        np.testing.assert_array_equal(
            onnx_col2im(col, **onnx_arguments(case)), oracle(col, case), err_msg=str(case)
        )


def test_one_number_stands_for_every_axis_and_side() -> None:
    col = np.arange(1.0, 65).reshape(1, 4, 16)
    expected = col2im(col, (5, 5), (2, 2), stride=2, padding=3, dilation=4)
    for one in (int, lambda n: [n], lambda n: np.array([n])):
        image = onnx_col2im(col, [5, 5], [2, 2], dilations=one(4), pads=one(3), strides=one(2))
        np.testing.assert_array_equal(image, expected, strict=True)


def test_arguments_come_in_the_order_of_the_reference_implementation() -> None:
    col = np.arange(1.0, 25).reshape(1, 4, 6)
    np.testing.assert_array_equal(
        onnx_col2im(col, [5, 6], [2, 2], [3, 2], [0, 1, 0, 0], [1, 2]),
        col2im(col, (5, 6), (2, 2), dilation=(3, 2), padding=((0, 0), (1, 0)), stride=(1, 2)),
    )


BROKEN: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "dtype": (COL.astype("U4"), {}, {}),
    "rank of col": (COL[None], {}, {}),
    "no axes": (COL, {"image_shape": []}, {"output_size": []}),
    "arity of block_shape": (COL, {"block_shape": [2, 2, 2]}, {"kernel_size": [2, 2, 2]}),
    "arity of strides": (COL, {"strides": [1, 1, 1]}, {"stride": [1, 1, 1]}),
    "arity of dilations": (COL, {"dilations": []}, {"dilation": []}),
    "float": (COL, {"image_shape": [4.0, 5]}, {"output_size": [4.0, 5]}),
    "bool pads": (COL, {"pads": True}, {"padding": True}),
    "image_shape 0": (COL, {"image_shape": [4, 0]}, {"output_size": [4, 0]}),
    "block_shape 0": (COL, {"block_shape": [0, 2]}, {"kernel_size": [0, 2]}),
    "strides 0": (COL, {"strides": [0, 1]}, {"stride": [0, 1]}),
    "dilations -1": (COL, {"dilations": [1, -1]}, {"dilation": [1, -1]}),
    "pads -1": (COL, {"pads": [0, 0, 0, -1]}, {"padding": ((0, 0), (0, -1))}),
    "channels": (COL[:, :7], {}, {}),
    "kernel": (COL, {"block_shape": [8, 1]}, {"kernel_size": [8, 1]}),
    "windows": (COL, {"dilations": [1, 5]}, {"dilation": [1, 5]}),
    "length": (COL[:, :, 1:], {}, {}),
    "size": (
        np.broadcast_to(np.float32(0), (1, 1, 2**60)),
        {"image_shape": [2**30, 2**30], "block_shape": [1, 1]},
        {"output_size": [2**30, 2**30], "kernel_size": [1, 1]},
    ),
}


@pytest.mark.parametrize("broken", list(BROKEN.values()), ids=list(BROKEN))
def test_a_broken_rule_speaks_the_same_words_as_col2im(
    broken: tuple[Any, dict[str, Any], dict[str, Any]],
) -> None:
    col, arguments, same = broken
    with pytest.raises(RuleError) as told:
        onnx_col2im(col, **{"image_shape": [4, 5], "block_shape": [2, 2], **arguments})
    with pytest.raises(RuleError) as expected:
        col2im(col, **{"output_size": [4, 5], "kernel_size": [2, 2], **same})
    assert str(told.value) == str(expected.value)
    assert told.value.rule == expected.value.rule
    assert type(told.value) is type(expected.value)


@pytest.mark.parametrize(
    ("pads", "listed"),
    [
        ([], "()"),
        ([1, 2], "(1, 2)"),
        ([1, 2, 3], "(1, 2, 3)"),
        (np.ones(5, int), "(1, 1, 1, 1, 1)"),
    ],
)
def test_pads_of_another_length_are_refused(pads: Any, listed: str) -> None:
    with pytest.raises(RuleError) as told:
        onnx_col2im(COL, [4, 5], [2, 2], pads=pads)
    assert str(told.value) == (
        f"col2im: arity: padding has {len(pads)} values, {listed}; "
        "must have 1 or 4 values, all begins and then all ends"
    )


def test_the_first_broken_rule_is_the_one_reported() -> None:
    """Every argument breaks a rule; mended one by one, the rules come in their order."""
    arguments: dict[str, Any] = {
        "input": np.zeros((1, 1, 7, 11), "U1"),
        "image_shape": [],
        "block_shape": [2, 0],
        "dilations": [1, 1, 1],
        "pads": [0, 0, -1],
        "strides": [1],
    }
    mended: list[tuple[str, dict[str, Any]]] = [
        ("dtype", {"input": np.zeros((1, 1, 7, 11))}),
        ("rank", {"input": np.zeros((1, 7, 11))}),
        ("rank", {"image_shape": [4, 5]}),
        ("arity", {"dilations": [1, 1]}),
        ("arity", {"pads": [0, 0, 0, -1]}),
        ("positive", {"block_shape": [2, 2]}),
        ("padding", {"pads": [0, 0, 0, 0]}),
        ("channels", {"input": np.zeros((1, 8, 11)), "block_shape": [5, 1]}),
        ("channels", {"input": np.zeros((1, 10, 11))}),
        ("kernel", {"block_shape": [2, 1], "dilations": [4, 1]}),
        ("windows", {"dilations": [1, 1]}),
        ("length", {"input": np.zeros((1, 10, 15))}),
    ]
    for rule, mend in mended:
        with pytest.raises(RuleError) as told:
            onnx_col2im(**arguments)
        assert told.value.rule == rule
        arguments |= mend
    assert onnx_col2im(**arguments).shape == (1, 5, 4, 5)


@pytest.mark.parametrize(("dtype", "extra"), list(product(["U3", "S3", object], [[1], [1, 2, 3]])))
def test_strings_are_refused_before_anything_else(dtype: Any, extra: list[int]) -> None:
    with pytest.raises(
        DtypeError, match=r"^col2im: dtype: col is (str|bytes|object)\d*; cpu takes"
    ):
        onnx_col2im(np.full((1, 8, 12), "a", dtype), [4, 5], [2, 2], strides=extra)


def test_unknown_names_are_not_looked_for_in_onnx() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Im2Col'"):
        onnx_op.Im2Col  # noqa: B018


WITHOUT_ONNX = """
    import sys

    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "onnx":
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Absent())
    import numpy as np
    from ascend_col2im import MissingExtraError, onnx_op

    print(onnx_op.onnx_col2im(np.ones((1, 2, 3)), [4], [2]).tolist())
    for name in ("Col2Im", "Col2ImBackend", "check_model", "run_model"):
        try:
            getattr(onnx_op, name)
        except MissingExtraError as error:
            print(error)
"""


def run_python(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    return done.stdout.splitlines()


def test_the_function_needs_no_onnx_and_the_rest_names_the_extra() -> None:
    image, *messages = run_python(WITHOUT_ONNX)
    assert image == "[[[1.0, 2.0, 2.0, 1.0]]]"
    assert messages == [
        f"ascend_col2im.onnx_op.{name} needs onnx, which is not installed; "
        "pip install 'ascend-col2im[onnx]'"
        for name in ("Col2Im", "Col2ImBackend", "check_model", "run_model")
    ]


def test_importing_the_module_does_not_import_onnx() -> None:
    code = "import sys, ascend_col2im.onnx_op; print('onnx' in sys.modules)"
    assert run_python(code) == ["False"]
