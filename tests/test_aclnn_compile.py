"""The real torch_npu on the simulated installation: compiled graphs, tangents and transforms."""

from __future__ import annotations

import os
import warnings
from functools import partial
from typing import Any

import pytest

from .runtime.installation import environment, run
from .runtime.npu_tensors import SIZES, columns, ready, unfold_sizes
from .runtime.observer import calls


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "aot_eager_decomp_partition"])
@pytest.mark.parametrize("dynamic", ["static", "dynamic"])
def test_compiled_functions_run_on_the_npu(backend: str, dynamic: str) -> None:
    run(_compiled, environment(BACKEND=backend, SIZES=dynamic))


def _compiled() -> None:
    torch = ready()
    from ascend_col2im import col2im

    def twice(col: Any, sizes: dict[str, Any]) -> Any:
        image = col2im(col, **sizes)
        return image + image

    dynamic = os.environ["SIZES"] == "dynamic"
    compiled = torch.compile(twice, backend=os.environ["BACKEND"], fullgraph=True, dynamic=dynamic)
    for sizes in SIZES[:3]:
        for N in (2, 3):
            col = columns(sizes, torch, N=N)
            before = _kernels()
            leaf = col.npu().requires_grad_()
            result = compiled(leaf, sizes)
            assert torch.equal(result.detach().cpu(), twice(col, sizes))
            result.backward(torch.ones(result.shape).npu())
            expected = col.requires_grad_()
            twice(expected, sizes).backward(torch.ones(result.shape))
            assert torch.equal(leaf.grad.cpu(), expected.grad)
            assert _kernels() >= before + 2  # forward and backward


def _kernels() -> int:
    return sum(count for name, count in calls().items() if name.endswith("/kernel"))


def test_inductor_takes_the_operators_where_it_knows_npus() -> None:
    run(_inductor, environment())


def _inductor() -> None:
    torch = ready()
    from torch._inductor.exc import InductorError

    from ascend_col2im import col2im

    warnings.filterwarnings("ignore", message="triton-ascend is not installed")
    col = columns(SIZES[2], torch)
    compiled = torch.compile(partial(col2im, **SIZES[2]), fullgraph=True)
    if torch.utils._triton.has_triton():
        assert torch.equal(compiled(col.npu()).cpu(), col2im(col, **SIZES[2]))
    else:  # torch_npu's inductor is built on triton-ascend
        with pytest.raises(InductorError, match="Device npu not supported"):
            compiled(col.npu())


def test_tangents_and_function_transforms_equal_the_cpu_s() -> None:
    run(_tangents, environment())


def _tangents() -> None:
    torch = ready()
    from torch.autograd import forward_ad

    from ascend_col2im import col2im, im2col

    for sizes in SIZES:
        col = columns(sizes, torch)
        image = col2im(col, **sizes)
        for function, x in (
            (partial(col2im, **sizes), col),
            (partial(im2col, **unfold_sizes(sizes)), image),
        ):
            tangent = (torch.arange(x.numel()) % 5.0).view(x.shape)
            with forward_ad.dual_level():
                dual = function(forward_ad.make_dual(x.npu(), tangent.npu()))
                primal, moved = forward_ad.unpack_dual(dual)
            assert primal.device.type == moved.device.type == "npu"
            assert torch.equal(primal.cpu(), function(x))
            assert torch.equal(moved.cpu(), function(tangent))
            _, moved = torch.func.jvp(function, (x.npu(),), (tangent.npu(),))
            assert torch.equal(moved.cpu(), function(tangent))
            result, pull = torch.func.vjp(function, x.npu())
            (pulled,) = pull(result)
            assert torch.equal(pulled.cpu(), torch.func.vjp(function, x)[1](function(x))[0])
            mapped = torch.func.vmap(function)(x.npu())
            assert torch.equal(mapped.cpu(), function(x))
