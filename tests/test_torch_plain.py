"""Calls past the dispatcher: the same bits and errors, and only where nobody would notice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from ascend_col2im import RuleError, col2im, im2col
from ascend_col2im.torch_op import operators, plain
from tests.tensors import columns

PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"stride": 1, "padding": ((0, 0), (0, 0)), "dilation": (1, 1)},
    {"stride": [1, 1], "padding": [(0, 0), (0, 0)], "dilation": [1]},
)


@pytest.mark.parametrize("given", PARAMETERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_the_bits_are_those_of_the_operators(given: dict[str, Any], dtype: torch.dtype) -> None:
    col = columns(dtype=dtype)
    windows = ([2, 2], [1, 1], [0, 0], [0, 0], [1, 1])
    image = operators.col2im(col, [4, 4], *windows)
    for _ in range(2):  # and from the cache
        assert torch.equal(col2im(col, (4, 4), [2, 2], **given), image)
        assert torch.equal(col2im(col[0], 4, 2, **given), image[0])
        assert torch.equal(im2col(image, 2, **given), operators.im2col(image, *windows))


@pytest.mark.parametrize(
    "given",
    [
        {"stride": True},
        {"stride": 1.0},
        {"stride": (1, True)},
        {"padding": 0.0},
        {"padding": ((0, 0), (0, False))},
        {"padding": [(0, 0), (0, 0.0)]},
        {"dilation": (1, 1.0)},
    ],
    ids=str,
)
def test_what_equals_a_known_argument_is_not_taken_for_it(given: dict[str, Any]) -> None:
    col: Any = columns()
    image: Any = col2im(col, 4, 2, stride=1, padding=0, dilation=1)
    known: tuple[dict[str, Any], ...]
    known = ({"stride": (1, 1)}, {"padding": ((0, 0), (0, 0))}, {"dilation": (1, 1)})
    for exact in known:
        col2im(col, 4, 2, **exact)
        im2col(image, 2, **exact)
    with pytest.raises(RuleError, match="must be an integer"):
        col2im(col, 4, 2, **given)
    with pytest.raises(RuleError, match="must be an integer"):
        im2col(image, 2, **given)


def test_a_refusal_is_not_kept() -> None:
    for _ in range(2):
        with pytest.raises(RuleError, match="length"):
            col2im(columns(), 5, 2)
    for kind in (torch.float32, torch.float64):  # the dtype is part of what is known
        assert col2im(columns(dtype=kind), 4, 2).dtype is kind


class Dispatched(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **kwargs or {})


class Overridden(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **kwargs or {})


class Subclass(torch.Tensor):
    pass


NOTICED: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Callable[[Any], Any]]] = {
    "a dispatch mode": (Dispatched, lambda x: x),
    "a function mode": (Overridden, lambda x: x),
    "forward-mode differentiation": (forward_ad.dual_level, lambda x: x),
    "a profiler": (torch.profiler.profile, lambda x: x),
    "a subclass": (nullcontext, lambda x: x.as_subclass(Subclass)),
    "the meta device": (nullcontext, lambda x: x.to("meta")),
    "a sparse tensor": (nullcontext, lambda x: x.to_sparse()),
    "a conjugate view": (nullcontext, lambda x: (x + 0j).conj()),
    "a negative view": (nullcontext, torch._neg_view),
    "an array": (nullcontext, lambda x: x.numpy()),
}


@pytest.mark.parametrize(("context", "changed"), NOTICED.values(), ids=NOTICED)
def test_whoever_would_notice_keeps_the_dispatcher(
    context: Callable[[], AbstractContextManager[Any]], changed: Callable[[Any], Any]
) -> None:
    x = columns()
    assert plain.is_plain(x)
    with context():
        assert not plain.is_plain_or_recorded(changed(x))
    assert plain.is_plain(x)


def test_function_transforms_keep_the_dispatcher() -> None:
    seen: list[bool] = []

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.append(plain.is_plain_or_recorded(x))
        seen.append(plain.is_plain_or_recorded(columns()))  # not wrapped, but in their reach
        return x.sum()

    torch.func.grad(look)(columns())
    torch.func.vmap(look)(columns())
    torch.func.functionalize(look)(columns())
    assert seen == [False] * 6


def test_a_profiler_shows_the_operators() -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        image = col2im(columns(), 4, 2)
        im2col(image, 2)
    names = {event.key for event in profile.key_averages()}
    assert {"ascend_col2im::col2im", "ascend_col2im::im2col"} <= names


def test_a_graph_is_recorded_where_one_is_asked_for() -> None:
    col = columns().requires_grad_()
    assert not plain.is_plain(col)
    with torch.no_grad():
        assert plain.is_plain(col)
        assert col2im(col, 4, 2).grad_fn is None
    image = col2im(col, 4, 2)
    assert image.requires_grad
    upstream = torch.randn(image.shape, requires_grad=True)
    (grad,) = torch.autograd.grad(image, col, upstream, create_graph=True)
    assert torch.equal(grad, im2col(upstream.detach(), 2))
    (double,) = torch.autograd.grad(grad, upstream, col.detach())
    assert torch.equal(double, image.detach())
    (unfolded,) = torch.autograd.grad(im2col(upstream[0], 2), upstream, col[0].detach())
    assert torch.equal(unfolded[0], col2im(col.detach()[0], 4, 2))
    assert (unfolded[1:] == 0).all()


def test_batched_gradients_are_those_of_each() -> None:
    col = columns().requires_grad_()
    image = col2im(col, 4, 2)
    upstreams = torch.randn(3, *image.shape)
    (batched,) = torch.autograd.grad(image, col, upstreams, is_grads_batched=True)
    assert torch.equal(batched, torch.stack([im2col(each, 2) for each in upstreams]))
