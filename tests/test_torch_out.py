"""Tensors as out: written in place, or refused in words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from ascend_col2im import RuleError, col2im, im2col
from ascend_col2im.torch_op import operators
from tests.tensors import columns

COL2IM, IM2COL = operators.col2im, operators.im2col


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_out_is_overwritten_and_returned(dtype: torch.dtype) -> None:
    col = columns(dtype=dtype)
    expected = col2im(col, 4, 2)
    apart = torch.full((2, 3, 4, 8), 7, dtype=dtype)
    for out in (
        torch.full_like(expected, 7),
        apart[..., ::2],
        torch.full((4, 4, 3, 2), 7, dtype=dtype).permute(3, 2, 1, 0),
    ):
        assert col2im(col, 4, 2, out=out) is out
        assert torch.equal(out, expected)
    assert (apart[..., 1::2] == 7).all()
    col_out = torch.empty_like(col)
    assert im2col(expected, 2, out=col_out) is col_out
    assert torch.equal(col_out, im2col(expected, 2))


def test_out_counts_as_modified_so_that_autograd_notices() -> None:
    out = torch.ones(2, 3, 4, 4)
    weight = torch.ones(2, 3, 4, 4, requires_grad=True)
    product = (weight * out).sum()
    col2im(columns(), 4, 2, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_out_of_other_kinds_is_written_by_the_dispatcher() -> None:
    col = torch.complex(columns(), columns())
    out = torch.empty(2, 3, 4, 4, dtype=torch.complex64).conj()
    assert col2im(col, 4, 2, out=out) is out
    assert torch.equal(out, col2im(col, 4, 2))
    out = torch.empty(2, 3, 4, 4, dtype=torch.complex64)
    assert torch.equal(col2im(col.conj(), 4, 2, out=out), col2im(col, 4, 2).conj())
    meta = torch.empty(2, 3, 4, 4, device="meta")
    assert col2im(columns().to("meta"), 4, 2, out=meta) is meta
    leaf = torch.empty(2, 3, 4, 4, requires_grad=True)
    with torch.no_grad():
        assert col2im(columns().requires_grad_(), 4, 2, out=leaf) is leaf
    assert torch.equal(leaf, col2im(columns(), 4, 2))


BUFFER = torch.zeros(2, 200, 9)

OUT_REFUSED = {
    "shape": (torch.ones(2, 3, 4, 5), "output: out has shape (2, 3, 4, 5); the result has "),
    "dtype": (torch.ones(2, 3, 4, 4).double(), "dtype: out is float64; must be float32, the "),
    "type": (np.empty((2, 3, 4, 4), np.float32), "output: out is of type ndarray; must be a "),
    "device": (torch.empty(2, 3, 4, 4, device="meta"), "output: out is on meta; must be on cpu"),
    "sparse": (torch.ones(2, 3, 4, 4).to_sparse(), "format: out is sparse_coo; must be dense"),
    "broadcast": (torch.ones(1, 3, 4, 4).expand(2, -1, -1, -1), "output: elements of out over"),
    "shared": (BUFFER.flatten()[:96].view(2, 3, 4, 4), "output: out shares memory with col"),
    "leaf": (torch.ones(2, 3, 4, 4).requires_grad_(), "output: out takes no part in autograd"),
}


@pytest.mark.parametrize(("out", "words"), OUT_REFUSED.values(), ids=OUT_REFUSED)
def test_out_is_refused_and_left_alone(out: Any, words: str) -> None:
    col = BUFFER[:, :12]
    before = out.clone() if isinstance(out, torch.Tensor) else out.copy()
    with pytest.raises(RuleError, match=re.escape("col2im: " + words)):
        col2im(col, 4, 2, out=out)
    if isinstance(out, torch.Tensor) and out.device.type == "cpu":
        assert torch.equal(out.detach().to_dense(), before.detach().to_dense())


def test_out_that_shares_memory_is_refused_by_way_of_the_dispatcher_too() -> None:
    buffer = torch.zeros(2 * 12 * 9 + 2 * 3 * 16 - 1, dtype=torch.complex64)
    col = buffer[: 2 * 12 * 9].view(2, 12, 9).conj()
    with pytest.raises(RuleError, match="output: out shares memory with col"):
        col2im(col, 4, 2, out=buffer[2 * 12 * 9 - 1 :].view(2, 3, 4, 4))
    pairs = torch.zeros(2, 12, 9, 2, dtype=torch.complex64)
    out = torch.as_strided(pairs, (2, 3, 4, 4), (96, 32, 8, 2), 1)  # between the columns
    assert col2im(pairs[..., 0].conj(), 4, 2, out=out) is out


def test_out_of_a_call_that_needs_a_graph_is_refused() -> None:
    with pytest.raises(RuleError, match="but col requires grad; call without out, or under"):
        col2im(columns().requires_grad_(), 4, 2, out=torch.empty(2, 3, 4, 4))


@pytest.mark.parametrize("bits", [torch.float32, torch.bfloat16])
def test_an_inference_tensor_is_written_only_in_inference_mode(bits: torch.dtype) -> None:
    col = columns(dtype=bits)
    with torch.inference_mode():
        out = torch.zeros(2, 3, 4, 4, dtype=bits)
        assert col2im(col, 4, 2, out=out) is out
        ordinary = col2im(col, 4, 2)
        assert torch.equal(out, ordinary)
    with pytest.raises(RuleError, match="output: out is an inference tensor; can be written only"):
        col2im(columns(dtype=bits) * 2, 4, 2, out=out)
    assert torch.equal(out, ordinary)
    assert torch.equal(im2col(out, 2), im2col(out.clone(), 2))
