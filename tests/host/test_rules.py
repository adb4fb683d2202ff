"""The C++ rules say what the Python rules say: same verdict, same rule, same words."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from ascend_col2im import errors, parameters, rules
from ascend_col2im.aclnn import SOC_TARGETS
from ascend_col2im.facts import TARGETS
from ascend_col2im.messages import listed, refuse
from tests import sanitizers

ROOT = Path(__file__).parents[2]
DEVICES = sorted(set(TARGETS) - {"cpu"})
ITEMSIZES = {"float32": 4, "float16": 2, "bfloat16": 2}
INT64_MAX = 2**63 - 1
HOSTILE = (0, -1, INT64_MAX, -INT64_MAX - 1, 2**31, 2**32, 2**62, 2**40 + 1, INT64_MAX - 1)
DTYPES = ("dtype", "out_dtype")
LISTS = ("shape", "out_shape", "output_size", "kernel_size", "strides", "pads", "dilations")

Ints = tuple[int, ...]


@dataclass
class Call:
    """One op call as its arguments arrive, valid or not."""

    im2col: bool
    target: str
    dtype: str
    out_dtype: str
    shape: Ints
    out_shape: Ints
    output_size: Ints
    kernel_size: Ints
    strides: Ints
    pads: Ints
    dilations: Ints


def python_verdict(call: Call) -> tuple[str, str]:
    op = "op"
    try:
        (_check_im2col if call.im2col else _check_col2im)(op, call)
    except errors.RuleError as error:
        return error.rule, error.sentence
    return "", ""


def _padding(op: str, pads: Ints, axes: int) -> object:
    """Turn the op's list into pairs: one value, or all begins and then all ends."""
    if len(pads) == 1:
        return pads[0]
    if len(pads) != 2 * axes:
        limit = f"1 or {2 * axes} values, all begins and then all ends"
        refuse(op, "arity", f"padding has {len(pads)} values, {listed(pads)}; must have {limit}")
    return tuple(zip(pads[:axes], pads[axes:], strict=True))


def _check_col2im(op: str, call: Call) -> None:
    rules.check_dtype(op, "col", call.dtype, call.target)
    rules.check_out_dtype(op, "col", call.dtype, call.out_dtype)
    rules.check_col_rank(op, call.shape)
    sizes = (call.output_size, call.kernel_size, call.strides)
    parameters.col2im_parameters(op, call.target, *sizes, 0, call.dilations)
    padding = _padding(op, call.pads, len(call.output_size))
    given = parameters.col2im_parameters(op, call.target, *sizes, padding, call.dilations)
    plan = rules.col2im_plan(op, call.shape, given, call.target)
    rules.check_out_shape(op, call.out_shape, plan.image_shape)
    rules.check_addressable(op, plan, ITEMSIZES[call.dtype])


def _check_im2col(op: str, call: Call) -> None:
    rules.check_dtype(op, "x", call.dtype, call.target)
    rules.check_out_dtype(op, "x", call.dtype, call.out_dtype)
    sizes = (call.shape, call.kernel_size, call.strides)
    parameters.im2col_parameters(op, call.target, *sizes, 0, call.dilations)
    padding = _padding(op, call.pads, len(call.kernel_size))
    given = parameters.im2col_parameters(op, call.target, *sizes, padding, call.dilations)
    plan = rules.im2col_plan(op, call.shape, given, call.target)
    rules.check_out_shape(op, call.out_shape, plan.col_shape)
    rules.check_addressable(op, plan, ITEMSIZES[call.dtype])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Build the C++ rules as C++11, which is what the toolkit's template compiles them as."""
    built = tmp_path_factory.mktemp("rules") / "rules.so"
    source = Path(__file__).parent / "host_library.cpp"
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(
        [
            sanitizers.find_compiler(),
            *strict,
            "-O1",
            "-shared",
            "-fPIC",
            str(source),
            "-o",
            str(built),
        ],
        check=True,
    )
    loaded = ctypes.CDLL(str(built))
    loaded.target_dtypes.restype = ctypes.c_char_p
    loaded.target_of_soc.restype = ctypes.c_char_p
    return loaded


def cpp_verdict(library: ctypes.CDLL, call: Call, layout: str = "ND") -> tuple[str, str]:
    lists = [call.shape, call.out_shape]
    lists += [] if call.im2col else [call.output_size]
    lists += [call.kernel_size, call.strides, call.pads, call.dilations]
    flat = [value for values in lists for value in values]
    answer = ctypes.create_string_buffer(2048)
    library.check(
        int(call.im2col),
        call.target.encode(),
        call.dtype.encode(),
        call.out_dtype.encode(),
        layout.encode(),
        (ctypes.c_int64 * max(1, len(flat)))(*flat),
        (ctypes.c_int64 * len(lists))(*map(len, lists)),
        answer,
        ctypes.c_size_t(len(answer)),
    )
    rule, sentence = answer.value.decode().split("\n")
    return rule, sentence


def random_call(random_: random.Random) -> Call:
    """Draw a call that breaks no rule about as often as it breaks one."""
    axes = random_.choice((1, 2, 2, 3))
    shift = random_.randint(20, 62 // axes - 3) if random_.random() < 0.05 and axes < 3 else 0
    sizes = tuple(random_.randint(1, 8) << shift for _ in range(axes))
    kernel = tuple(random_.randint(1, 3) for _ in range(axes))
    strides = tuple(random_.randint(1, 3) for _ in range(random_.choice((1, axes))))
    dilations = tuple(random_.randint(1, 2) for _ in range(random_.choice((1, axes))))
    pads = tuple(random_.randint(0, 2) for _ in range(random_.choice((1, 2 * axes))))
    im2col = random_.random() < 0.4
    batch = random_.choice(((), (random_.randint(1, 3),)))
    channels = random_.randint(1, 3) << (20 if shift else 0)
    target = random_.choice(DEVICES)
    dtype = random_.choice(("float32", "float16", "float32", "float16", "bfloat16"))
    call = Call(im2col, target, dtype, dtype, (), (), sizes, kernel, strides, pads, dilations)
    columns, image = _shapes(call, batch, channels)
    call.shape, call.out_shape = (image, columns) if im2col else (columns, image)
    for _ in range(random_.choice((0, 0, 1, 1, 2, 4))):
        spoil(random_, call)
    return call


def _shapes(call: Call, batch: Ints, channels: int) -> tuple[Ints, Ints]:
    """Return the shapes of both arrays, or any where no window fits."""
    image = (*batch, channels, *call.output_size)
    try:
        padding = _padding("op", call.pads, len(call.output_size))
        given = parameters.col2im_parameters(
            "op",
            call.target,
            call.output_size,
            call.kernel_size,
            call.strides,
            padding,
            call.dilations,
        )
        geometry = rules.checked_geometry("op", given)
    except errors.RuleError:
        return (*batch, channels, 4), image
    return (*batch, channels * geometry.K, geometry.L), image


def spoil(random_: random.Random, call: Call) -> None:
    """Change one argument to something unlikely."""
    field = random_.choice((*DTYPES, *LISTS, *LISTS))
    if field.endswith("dtype"):
        setattr(call, field, random_.choice(("float32", "float64", "int8", "bool", "bfloat16")))
        return
    values = list(getattr(call, field))
    action = random_.choice(
        ("hostile", "hostile", "small", "small", "append", "remove", "all", "long")
    )
    if action == "append" or not values:
        values.append(random_.choice((1, 2, random_.choice(HOSTILE))))
    elif action == "remove":
        values.pop()
    elif action == "long":
        values += [1] * 20
    elif action == "all":
        values = [random_.choice(HOSTILE) for _ in values]
    else:
        value = random_.choice(HOSTILE) if action == "hostile" else random_.randint(-1, 12)
        values[random_.randrange(len(values))] = value
    setattr(call, field, tuple(values))


@pytest.mark.parametrize("seed", range(4))
def test_random_and_hostile_calls_get_the_same_words(library: ctypes.CDLL, seed: int) -> None:
    random_ = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(30_000):
        call = random_call(random_)
        expected = python_verdict(call)
        assert cpp_verdict(library, call) == expected, call
        seen[expected[0]] += 1
    assert set(seen) == (set(rules.RULES) - {"format"}) | {""}, seen
    assert seen[""] > 3000


def test_formats(library: ctypes.CDLL) -> None:
    call = Call(
        False,
        "ascend910b",
        "float32",
        "float32",
        (4, 1),
        (1, 2, 2),
        (2, 2),
        (2, 2),
        (1,),
        (0,),
        (1,),
    )
    assert cpp_verdict(library, call, "NCHW") == ("", "")
    assert cpp_verdict(library, call, "NHWC") == (
        "format",
        "col has format NHWC; must be ND or NCHW",
    )


@pytest.mark.parametrize("device", DEVICES)
def test_the_targets_are_those_of_the_python_table(library: ctypes.CDLL, device: str) -> None:
    assert library.target_dtypes(device.encode()).decode() == ", ".join(TARGETS[device].dtypes)


@pytest.mark.parametrize("device", DEVICES)
def test_a_soc_is_known_by_the_name_of_its_platform_file(
    library: ctypes.CDLL, device: str
) -> None:
    soc = next(begin for begin, name in SOC_TARGETS if name == device)
    assert library.target_of_soc(soc.encode()).decode() == device
    assert library.target_of_soc(b"Ascend310P") is None
