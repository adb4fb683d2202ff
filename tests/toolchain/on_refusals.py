"""A program that calls deployed ops with arguments they refuse, and prints what CANN answers."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from ascend_col2im import _abi, npu_backend
from ascend_col2im.aclnn import Call, NpuError, target

from .on_device import DTYPES

Ints = tuple[int, ...]


class Refused(NamedTuple):
    """One call that breaks a rule: of Col2Im with its attributes, or of Col2ImNd."""

    what: str
    nd: bool
    dtype: str
    shape: Ints
    out_shape: Ints
    output_size: Ints
    kernel_size: Ints
    strides: Ints = (1,)
    pads: Ints = (0,)
    dilations: Ints = (1,)
    out_dtype: str | None = None


CALLS = (
    Refused("rank", False, "float32", (1, 4, 9, 1), (1, 1, 4, 4), (4, 4), (2, 2)),
    Refused("axes", True, "float32", (1, 16, 1), (1, 1, 2, 2, 2, 2), (2,) * 4, (2,) * 4),
    Refused("arity", True, "float16", (4, 9), (1, 4, 4), (4, 4), (2, 2), strides=(1, 1, 1)),
    Refused("positive", False, "float32", (4, 9), (1, 4, 4), (4, 4), (2, 2), strides=(0,)),
    Refused("padding", False, "float32", (4, 9), (1, 4, 4), (4, 4), (2, 2), pads=(-1,)),
    Refused("channels", False, "float16", (5, 9), (1, 4, 4), (4, 4), (2, 2)),
    Refused("kernel", False, "float32", (25, 1), (1, 4, 4), (4, 4), (5, 5)),
    Refused("windows", False, "float32", (4, 1), (1, 4, 4), (4, 4), (2, 2), dilations=(4,)),
    Refused("length", False, "float32", (4, 8), (1, 4, 4), (4, 4), (2, 2)),
    Refused("output", False, "float32", (4, 9), (1, 4, 5), (4, 4), (2, 2)),
    Refused("bfloat16", False, "bfloat16", (4, 9), (1, 4, 4), (4, 4), (2, 2)),
    Refused("float64", True, "float64", (4, 9), (1, 4, 4), (4, 4), (2, 2)),
    Refused("mixed", False, "float32", (4, 9), (1, 4, 4), (4, 4), (2, 2), out_dtype="float16"),
)
"""One call of each rule, and the dtypes that the framework does not let through."""


def answer(refused: Refused) -> str:
    """Return what the failing function says of a call that must be refused."""
    sizes = refused.output_size, refused.kernel_size
    lists = refused.dilations, refused.pads, refused.strides
    attributes: dict[str, tuple[int | Ints, ...]] = {
        "aclnnCol2Im": (*sizes[0], *sizes[1], *(values[0] for values in reversed(lists))),
        "aclnnCol2ImNd": (*sizes, *lists),
    }
    name = "aclnnCol2ImNd" if refused.nd else "aclnnCol2Im"
    call = Call((name,), {name: attributes[name]}, refused.what)
    dtypes = {**DTYPES, "float64": np.float64}
    source = np.zeros(refused.shape, dtypes[refused.dtype])
    out = np.zeros(refused.out_shape, dtypes[refused.out_dtype or refused.dtype])
    try:
        npu_backend._visit(call, source, out, 0)
    except NpuError as error:
        return str(error.args[0])
    return "accepted"


def main() -> None:
    """Print the answers as JSON, by name."""
    _abi.DTYPES.setdefault("float64", 11)
    print(json.dumps({"target": target().name, **{call.what: answer(call) for call in CALLS}}))


if __name__ == "__main__":
    main()
