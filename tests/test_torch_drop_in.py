"""fold, unfold, Fold and Unfold stand wherever torch's stand, and take more."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from ascend_col2im import DtypeError, RuleError, col2im, im2col
from ascend_col2im.torch_op import Fold, Unfold, fold, unfold
from tests.cases import CASES
from tests.oracles import Case


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(fold, F.fold), (unfold, F.unfold), (Fold, torch.nn.Fold), (Unfold, torch.nn.Unfold)],
)
def test_arguments_have_torchs_names_order_and_defaults(ours: Any, theirs: Any) -> None:
    def arguments(function: Any) -> list[tuple[str, object, object]]:
        parameters = inspect.signature(function).parameters.values()
        return [(each.name, each.kind, each.default) for each in parameters]

    assert arguments(ours) == arguments(theirs)


def test_positional_calls_mean_what_they_mean_in_torch() -> None:
    image = torch.randn(2, 3, 9, 8)
    window = ((3, 2), (2, 1), (1, 0), (1, 3))
    col = F.unfold(image, *window)
    assert torch.equal(unfold(image, *window), col)
    assert torch.equal(Unfold(*window)(image), col)
    assert torch.equal(fold(col, (9, 8), *window), F.fold(col, (9, 8), *window))
    assert torch.equal(Fold((9, 8), *window)(col), F.fold(col, (9, 8), *window))
    assert torch.equal(fold(col[0], (9, 8), *window), F.fold(col[0], (9, 8), *window))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_any_number_of_axes_and_padding_by_side(case: Case) -> None:
    col = torch.randn(2, 3 * case.taps, case.length)
    arguments = (case.kwargs[name] for name in ("kernel_size", "dilation", "padding", "stride"))
    window = tuple(arguments)
    image = col2im(col, **case.kwargs)
    assert torch.equal(fold(col, case.output_size, *window), image)
    assert torch.equal(Fold(case.output_size, *window)(col), image)
    assert torch.equal(unfold(image, *window), im2col(image, **case.window_kwargs))
    assert torch.equal(Unfold(*window)(image), im2col(image, **case.window_kwargs))


def test_integers_are_folded() -> None:
    assert fold(torch.ones(1, 4, 4, dtype=torch.int8), 3, 2)[0, 0, 1, 1] == 4


def test_modules_are_torchs_modules() -> None:
    module = Fold((4, 4), 2, padding=1)
    assert isinstance(module, torch.nn.Fold)
    assert isinstance(Unfold(2), torch.nn.Unfold)
    assert repr(module) == repr(torch.nn.Fold((4, 4), 2, padding=1))
    assert module.state_dict() == {}
    col = torch.randn(1, 4, 25)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(twin(col), F.fold(col, (4, 4), 2, padding=1))


def test_gradients_pass_through_modules() -> None:
    image = torch.randn(1, 2, 5, 5, requires_grad=True)
    network = torch.nn.Sequential(Unfold(3, padding=1), Fold((5, 5), 3, padding=1))
    network(image).sum().backward()
    overlap = F.fold(F.unfold(torch.ones(1, 2, 5, 5), 3, padding=1), (5, 5), 3, padding=1)
    assert image.grad is not None
    assert torch.equal(image.grad, overlap)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated:DeprecationWarning")
def test_modules_compile_whole() -> None:
    torch.compiler.reset()
    network = torch.nn.Sequential(Unfold(3, padding=1), Fold((5, 5), 3, padding=1))
    image = torch.randn(1, 2, 5, 5)
    compiled = torch.compile(network, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(image), network(image))


def test_modules_are_traced_by_fx() -> None:
    image = torch.randn(1, 2, 5, 5)
    network = torch.nn.Sequential(Unfold(3, padding=1), Fold((5, 5), 3, padding=1))
    traced = torch.fx.symbolic_trace(network)
    assert torch.equal(traced(image), network(image))


def test_what_is_no_tensor_is_refused() -> None:
    for call in (lambda: fold(None, 4, 2), lambda: unfold(np.ones((1, 4, 4)), 2)):  # type: ignore[arg-type]
        with pytest.raises(DtypeError, match="must be a torch tensor"):
            call()  # type: ignore[no-untyped-call]


def test_rules_are_those_of_col2im() -> None:
    col = torch.ones(1, 4, 10)
    with pytest.raises(RuleError) as ours:
        fold(col, 4, 2)
    with pytest.raises(RuleError) as expected:
        col2im(col, 4, 2)
    assert str(ours.value) == str(expected.value)
