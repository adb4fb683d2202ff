"""Tensors break the rules in the words of arrays, on every device and in every graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from ascend_col2im import DtypeError, RuleError, col2im, im2col
from ascend_col2im.torch_op import operators
from tests.tensors import columns

COL2IM, IM2COL = operators.col2im, operators.im2col


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.parametrize("dtype", [torch.complex32, torch.float8_e4m3fn, torch.quint8])
def test_a_dtype_that_col2im_lacks_is_refused(dtype: torch.dtype) -> None:
    col = (
        torch._empty_affine_quantized([2, 12, 9], scale=1.0, zero_point=0, dtype=dtype)
        if (dtype is torch.quint8)
        else torch.empty(2, 12, 9, dtype=dtype)
    )
    name = str(dtype).removeprefix("torch.")
    with pytest.raises(DtypeError, match=f"col2im: dtype: col is {name}; cpu takes bfloat16, "):
        col2im(col, 4, 2)


@pytest.mark.filterwarnings("ignore:.*beta state:UserWarning")
@pytest.mark.filterwarnings("ignore:.*prototype stage:UserWarning")
@pytest.mark.parametrize("kind", ["sparse_coo", "sparse_csr", "nested"])
def test_a_tensor_that_is_not_dense_is_refused(kind: str) -> None:
    image = torch.ones(4, 4)
    of_kind: dict[str, Callable[[], torch.Tensor]] = {
        "sparse_coo": image.to_sparse,
        "sparse_csr": image.to_sparse_csr,
        "nested": lambda: torch.nested.nested_tensor([image, image]),
    }
    col = of_kind[kind]()
    with pytest.raises(RuleError, match=f"format: col is {kind}; must be dense") as caught:
        col2im(col, 3, 2)
    assert caught.value.rule == "format"


def test_a_tensor_whose_storage_is_freed_is_refused() -> None:
    freed, image = columns(), torch.zeros(2, 3, 4, 4)
    freed.untyped_storage().resize_(0)
    words = "has no memory: its storage has been freed"
    for call in (lambda: col2im(freed, 4, 2), lambda: im2col(image, 2, out=freed)):
        with pytest.raises(RuleError, match=words) as caught:
            call()  # type: ignore[no-untyped-call]
        assert caught.value.rule == "format"


def col2im_call(shape: tuple[int, ...], *sizes: Any, **others: Any) -> tuple[Any, ...]:
    return col2im, shape, sizes, others


def im2col_call(shape: tuple[int, ...], *sizes: Any, **others: Any) -> tuple[Any, ...]:
    return im2col, shape, sizes, others


BROKEN = {
    "rank": [
        col2im_call((9,), 4, 2),
        col2im_call((1, 1, 4, 9), 4, 2),
        col2im_call((1, 4, 9), (), 2),
        im2col_call((4, 4), 2),
        im2col_call((1, 1, 1, 4, 4), 2),
    ],
    "arity": [
        col2im_call((1, 4, 9), (4, 4), (2, 2, 2)),
        col2im_call((1, 4, 9), (4, 4), 2, padding=((0, 1), 2)),
        im2col_call((1, 1, 4, 4), (2, 2), stride=(1, 1, 1)),
    ],
    "positive": [
        col2im_call((1, 4, 9), (4, 4), 2.0),
        col2im_call((1, 4, 9), (4, 4), True),
        col2im_call((1, 4, 9), (4, 4), 2, stride=0),
        col2im_call((1, 0, 9), (4, 4), 2),
        im2col_call((1, 0, 4, 4), 2),
    ],
    "padding": [
        col2im_call((1, 4, 9), (4, 4), 2, padding=-1),
        im2col_call((1, 1, 4, 4), 2, padding=((0, 0), (0, -1))),
    ],
    "channels": [col2im_call((1, 5, 9), (4, 4), 2)],
    "kernel": [
        col2im_call((1, 25, 9), (4, 4), 5),
        im2col_call((1, 1, 4, 4), 7, padding=1),
    ],
    "windows": [
        col2im_call((1, 4, 9), (4, 4), 2, dilation=4),
        im2col_call((1, 1, 4, 4), 2, dilation=9),
    ],
    "length": [col2im_call((1, 4, 10), (4, 4), 2)],
    "size": [
        col2im_call((1, 1, 2**40), (2**20, 2**20), 1),
        col2im_call((1, 4, 9), (2**70, 4), 2),
    ],
}
BROKEN_CALLS = [
    pytest.param(rule, *call, id=f"{rule} {i}")
    for rule, calls in BROKEN.items()
    for i, call in enumerate(calls)
]


def refusal(function: Any, array: Any, sizes: Any, others: Any) -> RuleError:
    with pytest.raises(RuleError) as caught:
        function(array, *sizes, **others)
    return caught.value


@pytest.mark.parametrize(("rule", "function", "shape", "sizes", "others"), BROKEN_CALLS)
def test_tensors_break_rules_in_the_words_of_arrays(
    rule: str, function: Any, shape: tuple[int, ...], sizes: Any, others: Any
) -> None:
    array = np.broadcast_to(np.float32(1), shape)
    expected = refusal(function, array, sizes, others)
    assert expected.rule == rule
    plain = torch.ones(1).expand(shape)
    kinds = (
        {"plain": plain, "with a graph": plain.clone().requires_grad_()}
        if (plain.numel() < 1000)
        else {"plain": plain}
    )
    if rule != "size" or sizes[0] != (2**20, 2**20):  # memory is no matter without any
        kinds["meta"] = plain.to("meta")
        with FakeTensorMode() as mode:
            kinds["fake"] = mode.from_tensor(plain)
    for kind, tensor in kinds.items():
        found = refusal(function, tensor, sizes, others)
        assert (str(found), found.rule) == (str(expected), rule), kind


RAW_BROKEN = {
    "rank": (COL2IM, (9,), ([4, 4], [2, 2], [1, 1], [0, 0], [0, 0], [1, 1])),
    "arity": (COL2IM, (1, 4, 9), ([4, 4], [2, 2], [1, 1], [0, 0], [0], [1, 1])),
    "positive": (IM2COL, (1, 1, 4, 4), ([2, 2], [1, 0], [0, 0], [0, 0], [1, 1])),
    "length": (COL2IM, (1, 4, 8), ([4, 4], [2, 2], [1, 1], [0, 0], [0, 0], [1, 1])),
}


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("rule", "call"), RAW_BROKEN.items(), ids=RAW_BROKEN)
def test_the_operators_themselves_check_the_rules(rule: str, call: Any, device: str) -> None:
    operator, shape, sizes = call
    with pytest.raises(RuleError) as caught:
        operator(torch.ones(shape, device=device), *sizes)
    assert caught.value.rule == rule


def test_an_allocation_that_fails_is_the_rule_size(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **others: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    col = columns()
    monkeypatch.setattr(torch.Tensor, "new_empty", fail)
    with pytest.raises(RuleError, match=r"size: the result of shape .* the system does not give"):
        col2im(col, 4, 2)
