"""The operators under autograd, vmap, torch.func, torch.compile and torch.export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from ascend_col2im import RuleError, col2im, im2col
from ascend_col2im.torch_op import operators

COL2IM, IM2COL = operators.col2im, operators.im2col

Fold = Callable[[torch.Tensor], torch.Tensor]

# Warnings of torch about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Please use `torch.vmap`:FutureWarning"),
    pytest.mark.filterwarnings("ignore:At pre-dispatch tracing:UserWarning"),
]


@pytest.fixture(autouse=True)
def _compile_anew() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def fold(col: torch.Tensor) -> torch.Tensor:
    return col2im(col, (4, 5), (2, 3), stride=(1, 2), padding=((1, 0), (0, 2)), dilation=(2, 1))


def unfold(x: torch.Tensor) -> torch.Tensor:
    return im2col(x, (2, 3), stride=(1, 2), padding=((1, 0), (0, 2)), dilation=(2, 1))


def fold_1d(col: torch.Tensor) -> torch.Tensor:
    return col2im(col, (7,), (3,), stride=2, dilation=2, padding=((2, 1),))


COL, IMAGE, COL_1D = (2, 12, 9), (2, 2, 4, 5), (2, 6, 3)
FOLDS: dict[str, tuple[Fold, tuple[int, ...]]] = {
    "col2im": (fold, COL),
    "im2col": (unfold, IMAGE),
    "col2im in one axis": (fold_1d, COL_1D),
}
EACH = pytest.mark.parametrize(("function", "shape"), FOLDS.values(), ids=FOLDS)


def double(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(4)
    return torch.randn(shape, dtype=torch.float64, generator=generator)


OPCHECKS = {
    "col2im": (COL2IM, COL, ([4, 5], [2, 3], [1, 2], [1, 0], [0, 2], [2, 1])),
    "im2col": (IM2COL, IMAGE, ([2, 3], [1, 2], [1, 0], [0, 2], [2, 1])),
    "col2im unbatched": (COL2IM, COL[1:], ([4, 5], [2, 3], [1, 2], [1, 0], [0, 2], [2, 1])),
    "im2col in one axis": (IM2COL, (2, 3, 7), ([3], [2], [2], [1], [2])),
    "col2im in three axes": (
        COL2IM,
        (1, 8, 8),
        ([3] * 3, [2] * 3, [1] * 3, [0] * 3, [0] * 3, [1] * 3),
    ),
    "an empty batch": (COL2IM, (0, 4, 9), ([4, 4], [2, 2], [1, 1], [0, 0], [0, 0], [1, 1])),
}
CHECKS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize(("operator", "shape", "sizes"), OPCHECKS.values(), ids=OPCHECKS)
def test_opcheck(operator: Any, shape: tuple[int, ...], sizes: Any, dtype: torch.dtype) -> None:
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    for tensor in (x, x.detach()):
        found = torch.library.opcheck(operator, (tensor, *sizes), test_utils=CHECKS)
        assert found == dict.fromkeys(CHECKS, "SUCCESS")


def test_opcheck_of_integers() -> None:
    col = torch.ones(2, 4, 9, dtype=torch.int16)
    torch.library.opcheck(COL2IM, (col, [4, 4], [2, 2], [1, 1], [0, 0], [0, 0], [1, 1]))


# derivatives


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@EACH
def test_derivatives(function: Fold, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = double(*shape)[:1, : shape[1] // 2].to(dtype).requires_grad_()
    assert torch.autograd.gradcheck(
        function,
        x,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )
    assert torch.autograd.gradgradcheck(
        function, x, check_fwd_over_rev=True, check_rev_over_rev=True
    )
    assert torch.autograd.gradcheck(function, x[0].detach().requires_grad_())


def test_the_gradient_is_the_adjoint() -> None:
    col = double(*COL).requires_grad_()
    grad = double(*IMAGE)
    (found,) = torch.autograd.grad(fold(col), col, grad)
    assert torch.equal(found, unfold(grad))
    image = double(*IMAGE).requires_grad_()
    (found,) = torch.autograd.grad(unfold(image), image, col.detach())
    assert torch.equal(found, fold(col.detach()))


def test_gradients_equal_those_of_torch() -> None:
    col = torch.randn(2, 12, 9, requires_grad=True)
    weight = torch.randn(2, 3, 4, 4)
    (found,) = torch.autograd.grad((col2im(col, 4, 2) * weight).sum(), col)
    (expected,) = torch.autograd.grad((F.fold(col, (4, 4), 2) * weight).sum(), col)
    assert torch.equal(found, expected)


def test_functionalized_it_equals_eager() -> None:
    col = torch.randn(4, 2, 12, 9)
    assert torch.equal(functionalize(fold)(col[0]), fold(col[0]))
    expected = torch.stack(list(map(fold, col)))
    assert torch.equal(functionalize(torch.vmap(fold))(col), expected)
    assert torch.equal(torch.vmap(functionalize(fold))(col), expected)

    def written(col: torch.Tensor) -> torch.Tensor:
        return col2im(col, 4, 2, out=torch.zeros(2, 3, 4, 4))

    assert torch.equal(functionalize(written)(col[0]), col2im(col[0], 4, 2))


def test_a_dual_tensor_keeps_its_tangent() -> None:
    col, tangent = double(*COL), double(*COL).flip(0)
    with forward_ad.dual_level():
        image = fold(forward_ad.make_dual(col, tangent))
        assert torch.equal(forward_ad.unpack_dual(image).tangent, fold(tangent))
        assert forward_ad.unpack_dual(fold(col)).tangent is None


@EACH
def test_torch_func_equals_autograd(function: Fold, shape: tuple[int, ...]) -> None:
    x = double(*shape)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return (function(x) ** 3).sum()

    leaf = x.clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss(leaf), leaf)
    assert torch.equal(torch.func.grad(loss)(x), expected)
    jacobian = torch.autograd.functional.jacobian(function, x)
    assert torch.equal(torch.func.jacrev(function)(x), jacobian)
    assert torch.equal(torch.func.jacfwd(function)(x), jacobian)
    value, tangent = torch.func.jvp(function, (x,), (x.flip(0),))[:2]
    assert torch.equal(value, function(x))
    assert torch.equal(tangent, function(x.flip(0)))
    hessian = torch.autograd.functional.hessian(loss, x)
    torch.testing.assert_close(torch.func.hessian(loss)(x), hessian)


@EACH
def test_gradients_per_sample(function: Fold, shape: tuple[int, ...]) -> None:
    x = double(*shape)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return (function(x) ** 2).sum()

    found = torch.vmap(torch.func.grad(loss))(x)
    assert torch.equal(found, torch.func.grad(loss)(x))
    through = torch.func.grad(lambda x: (torch.vmap(function)(x) ** 2).sum())(x)
    assert torch.equal(through, found)


# vmap


@EACH
def test_vmap_over_any_axis_equals_a_loop(function: Fold, shape: tuple[int, ...]) -> None:
    for axis in range(len(shape) + 1):
        stacked = torch.stack([double(*shape) + i for i in range(3)], axis)
        expected = torch.stack([function(x) for x in stacked.unbind(axis)])
        assert torch.equal(torch.vmap(function, in_dims=axis)(stacked), expected)
        last = torch.vmap(function, in_dims=axis, out_dims=-1)(stacked)
        assert torch.equal(last, expected.movedim(0, -1))
    unbatched = double(*shape)
    assert torch.equal(torch.vmap(function)(unbatched), function(unbatched))
    twice = double(4, 3, *shape)
    expected = function(twice.flatten(0, 2)).unflatten(0, (4, 3, shape[0]))
    assert torch.equal(torch.vmap(torch.vmap(function))(twice), expected)


def test_vmap_is_one_call_on_a_larger_batch() -> None:
    graph = make_fx(torch.vmap(fold))(double(5, *COL)).graph
    (call,) = [node for node in graph.nodes if node.target is COL2IM]
    assert call.args[0].meta["tensor_meta"].shape == (10, 12, 9)


@pytest.mark.skipif(
    not hasattr(torch.library, "register_vmap"), reason="torch 2.4 has no rules for bare operators"
)
def test_vmap_of_the_bare_operators() -> None:
    for operator, shape, sizes in (OPCHECKS["col2im"], OPCHECKS["im2col"]):
        stacked = double(3, *shape)
        found = torch.vmap(lambda x, f=operator, s=sizes: f(x, *s), in_dims=0)(stacked)
        assert torch.equal(found, torch.stack([operator(x, *sizes) for x in stacked]))
        last = torch.vmap(lambda x, f=operator, s=sizes: f(x, *s), in_dims=3)(
            stacked.movedim(0, 3)
        )
        assert torch.equal(last, found)
    with pytest.raises(RuleError, match=r"rank: col has 1 axes, shape \(9\)"):
        torch.vmap(lambda col: COL2IM(col, *OPCHECKS["col2im"][2]))(double(4, 9))


# graphs


def both(x: torch.Tensor) -> torch.Tensor:
    return (unfold(fold(x) * 2).sin() + x).sum(-1)


@pytest.mark.parametrize("dynamic", [None, False, True])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_whole_it_equals_eager(backend: str, dynamic: bool | None) -> None:
    compiled = torch.compile(both, backend=backend, dynamic=dynamic, fullgraph=True)
    for N in (2, 3, 5):
        x = double(N, 12, 9).requires_grad_()
        result, expected = compiled(x), both(x)
        assert torch.equal(result, expected)
        found = torch.autograd.grad(result.sum(), x)
        assert torch.equal(*found, *torch.autograd.grad(expected.sum(), x))
        assert torch.equal(compiled(x.detach()), expected)


def test_inductor_compiles_it_whole() -> None:
    compiled = torch.compile(both, fullgraph=True, dynamic=True)
    for N in (2, 3):
        x = double(N, 12, 9).requires_grad_()
        result = compiled(x)
        torch.testing.assert_close(result, both(x))
        (found,) = torch.autograd.grad(result.sum(), x)
        torch.testing.assert_close(found, *torch.autograd.grad(both(x).sum(), x))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_every_size_may_be_symbolic(backend: str) -> None:
    def there_and_back(x: torch.Tensor, kernel: int) -> torch.Tensor:
        height, width = x.shape[2:]
        col = im2col(x, (kernel, kernel + 1), padding=((kernel, 0), (0, 1)))
        return col2im(col, (height, width), (kernel, kernel + 1), padding=((kernel, 0), (0, 1)))

    compiled = torch.compile(there_and_back, backend=backend, dynamic=True, fullgraph=True)
    for kernel, shape in ((2, (2, 3, 5, 6)), (2, (4, 5, 7, 6)), (3, (2, 2, 8, 9))):
        x = torch.randn(shape)
        assert torch.equal(compiled(x, kernel), there_and_back(x, kernel))


def test_transforms_within_a_compiled_graph() -> None:
    def per_sample(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.vmap(torch.func.grad(lambda x: (fold(x) ** 2).sum()))(x)
        return result

    x = double(*COL)
    compiled = torch.compile(per_sample, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x), per_sample(x))


def test_out_within_a_compiled_graph() -> None:
    def into(col: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        return col2im(col, 4, 2, out=out) + 1

    compiled = torch.compile(into, backend="aot_eager", fullgraph=True)
    col, out = torch.randn(2, 12, 9), torch.empty(2, 3, 4, 4)
    assert torch.equal(compiled(col, out), col2im(col, 4, 2) + 1)
    assert torch.equal(out, col2im(col, 4, 2))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_broken_rule_is_named_while_a_graph_is_compiled(dynamic: bool) -> None:
    col = torch.ones(2, 12, 10)
    with pytest.raises(RuleError) as eager:
        col2im(col, 4, 2)
    compiled = torch.compile(
        lambda col: col2im(col, 4, 2), backend="eager", dynamic=dynamic, fullgraph=True
    )
    with pytest.raises(Exception, match=r"col has L = 10; .* give 3 \* 3 = 9") as caught:
        compiled(col)
    (rule,) = [error for error in causes(caught.value) if isinstance(error, RuleError)]
    assert (rule.rule, str(rule)) == ("length", str(eager.value))


def test_a_compiled_graph_checks_the_rules_for_each_size_it_meets() -> None:
    compiled = torch.compile(
        lambda col: COL2IM(col, [4, 4], [2, 2], [1, 1], [0, 0], [0, 0], [1, 1]),
        backend="aot_eager",
        dynamic=True,
    )
    assert compiled(torch.ones(2, 12, 9)).shape == (2, 3, 4, 4)
    with pytest.raises(RuleError, match="length: col has L = 10"):
        compiled(torch.ones(2, 12, 10))


class Model(torch.nn.Module):
    def __init__(self, function: Fold) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


@pytest.mark.parametrize("strict", [False, True])
@EACH
def test_export_with_a_dynamic_batch(function: Fold, shape: tuple[int, ...], strict: bool) -> None:
    N = torch.export.Dim("N")
    program = torch.export.export(
        Model(function), (double(*shape),), dynamic_shapes=({0: N},), strict=strict
    )
    targets = [node.target for node in program.graph.nodes if node.op == "call_function"]
    assert targets in ([COL2IM], [IM2COL])
    for batch in (1, 2, 7):
        x = double(batch, *shape[1:])
        assert torch.equal(program.module()(x), function(x))


def test_export_with_a_dynamic_batch_refuses_sizes_that_break_a_rule() -> None:
    model = Model(lambda col: COL2IM(col, *OPCHECKS["col2im"][2]))
    with pytest.raises(Exception, match=r"col has L = 8; .* give 3 \* 3 = 9 windows"):
        torch.export.export(
            model, (double(2, 12, 8),), dynamic_shapes=({0: torch.export.Dim("N")},), strict=False
        )


def test_export_with_a_batch_that_depends_on_values() -> None:
    def positive(x: torch.Tensor) -> torch.Tensor:
        return fold(x[x[:, 0, 0] > 0])

    program = torch.export.export(Model(positive), (double(6, 12, 9),), strict=False)
    x = -double(6, 12, 9)
    assert 0 < len(positive(x)) < 6
    assert torch.equal(program.module()(x), positive(x))


def test_traced_by_make_fx_with_symbolic_sizes() -> None:
    graph = make_fx(both, tracing_mode="symbolic")(double(*COL))
    x = double(5, 12, 9)
    assert torch.equal(graph(x), both(x))


def test_traced_by_torch_jit() -> None:
    traced = torch.jit.trace(both, double(*COL))
    x = double(5, 12, 9)
    assert torch.equal(traced(x), both(x))
