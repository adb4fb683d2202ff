"""col2im and im2col of tensors: values, memory, out, devices, and the rules."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import ascend_col2im
from ascend_col2im import BackendError, DtypeError, RuleError, col2im, im2col
from ascend_col2im.facts import ACCUMULATORS
from ascend_col2im.torch_op import operators, tensors
from tests.cases import CASES, assert_same_bits, products
from tests.dtypes import random_array
from tests.oracles import Case
from tests.tensors import array_of, tensor_of

COL2IM, IM2COL = operators.col2im, operators.im2col


def columns(N: int = 2, C: int = 3, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return columns for an image of 4 by 4 and a kernel of 2 by 2."""
    return torch.arange(1, N * C * 36 + 1).reshape(N, C * 4, 9).to(dtype)


def shapes(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (2, 3 * case.taps, case.length), (2, 3, *case.output_size)


@pytest.mark.parametrize("dtype", ACCUMULATORS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_dtype_equals_numpy_bit_for_bit(case: Case, dtype: str) -> None:
    col_shape, image_shape = shapes(case)
    col, image = random_array(dtype, col_shape), random_array(dtype, image_shape)
    folded = col2im(tensor_of(col), **case.kwargs)
    unfolded = im2col(tensor_of(image), **case.window_kwargs)
    assert_same_bits(array_of(folded), col2im(col, **case.kwargs))
    assert_same_bits(array_of(unfolded), im2col(image, **case.window_kwargs))
    assert folded.dtype is unfolded.dtype is tensor_of(col).dtype
    for i in range(2):
        assert_same_bits(array_of(col2im(tensor_of(col)[i], **case.kwargs)), array_of(folded[i]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bits_equal_torch_wherever_it_supports_the_case(dtype: torch.dtype) -> None:
    cases = [case for case in [*CASES.values(), *products(2, 1200)] if len(case.output_size) == 2]
    cases = [case for case in cases if case.pad_begin == case.pad_end]
    assert len(cases) > 60
    for case in cases:
        col_shape, image_shape = shapes(case)
        col, image = torch.randn(col_shape, dtype=dtype), torch.randn(image_shape, dtype=dtype)
        window = (case.kernel_size, case.dilation, case.pad_begin, case.stride)
        assert_same_bits(
            array_of(col2im(col, **case.kwargs)), array_of(F.fold(col, case.output_size, *window))
        )
        assert_same_bits(
            array_of(im2col(image, **case.window_kwargs)), array_of(F.unfold(image, *window))
        )


def test_an_empty_batch_gives_an_empty_result() -> None:
    assert col2im(torch.empty(0, 12, 9), (4, 4), 2).shape == (0, 3, 4, 4)
    assert im2col(torch.empty(0, 3, 4, 4), 2).shape == (0, 12, 9)


LAYOUTS = {
    "transposed": lambda t: t.transpose(1, 2).contiguous().transpose(1, 2),
    "every second": lambda t: torch.stack([t, t + 1], -1)[..., 0],
    "offset": lambda t: torch.cat([t.flatten(), t.flatten()])[t.numel() :].view(t.shape),
    "broadcast batch": lambda t: t[:1].expand(2, -1, -1),
    "broadcast columns": lambda t: t[:, :1].expand(-1, 12, -1),
    "broadcast windows": lambda t: t[..., :1].expand(-1, -1, 9),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_are_read_in_place_and_never_written(layout: Any, dtype: torch.dtype) -> None:
    col = layout(columns().to(dtype))
    before, version = col.clone(), col._version
    memory = tensors.array(col)
    assert memory.__array_interface__["data"][0] == col.data_ptr()
    assert memory.shape == col.shape
    assert torch.equal(col2im(col, 4, 2), col2im(col.clone(), 4, 2))
    assert torch.equal(col, before)
    assert col._version == version
    assert col.untyped_storage().resizable()


def test_a_broadcast_column_matrix_takes_no_memory() -> None:
    col2im(torch.ones(1).expand(1, 2, 2), (3,), (2,))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    image = col2im(torch.ones(1).expand(1, 8192, 8192), (16383,), (8192,))
    assert image.max() == 8192
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # in KiB


def test_conjugate_and_negative_views_are_resolved() -> None:
    col = torch.complex(columns(), -columns())
    conjugate = col.conj()
    negative = conjugate.imag
    assert conjugate.is_conj()
    assert negative.is_neg()
    assert torch.equal(col2im(conjugate, 4, 2), col2im(col.conj_physical(), 4, 2))
    assert torch.equal(col2im(negative, 4, 2), F.fold(columns(), (4, 4), 2))
    image = col2im(col, 4, 2)
    assert torch.equal(im2col(image.conj(), 2), im2col(image.conj_physical(), 2))


def test_a_zero_tensor_is_zero() -> None:
    zero = torch._efficientzerotensor((1, 4, 9))
    assert torch.equal(col2im(zero, 4, 2), torch.zeros(1, 1, 4, 4))


def test_the_graph_is_kept_exactly_where_torch_keeps_one() -> None:
    col = columns().requires_grad_()
    assert col2im(col, 4, 2).grad_fn is not None
    assert im2col(col2im(col, 4, 2), 2).requires_grad
    assert not col2im(col.detach(), 4, 2).requires_grad
    assert not col2im(columns(dtype=torch.int32), 4, 2).requires_grad
    with torch.no_grad():
        assert not col2im(col, 4, 2).requires_grad
    with torch.inference_mode():
        assert col2im(col, 4, 2).is_inference()
        assert im2col(col2im(columns(), 4, 2), 2).is_inference()
    assert torch.equal(col2im(col, 4, 2), F.fold(col, (4, 4), 2))


def test_a_result_is_a_tensor_of_its_own_that_can_be_resized() -> None:
    image = col2im(columns(), 4, 2)
    assert image.is_contiguous()
    assert image.untyped_storage().resizable()
    assert im2col(image, 1).data_ptr() != image.data_ptr()


class Named(torch.Tensor):
    """A subclass that torch's functions return."""


class Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[Any] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


class FunctionRecorder(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def test_subclasses_and_modes_see_the_operators() -> None:
    col = columns()
    named = col2im(col.as_subclass(Named), 4, 2)
    assert type(named) is Named
    assert type(im2col(named, 2)) is Named
    assert torch.equal(named.as_subclass(torch.Tensor), col2im(col, 4, 2))
    assert type(col2im(torch.nn.Parameter(col), 4, 2)) is torch.Tensor
    with Recorder() as dispatched:
        im2col(col2im(col, 4, 2), 2)
    assert [func for func in dispatched.seen if func in (COL2IM, IM2COL)] == [COL2IM, IM2COL]
    with FunctionRecorder() as called:
        col2im(col, 4, 2)
    assert COL2IM in called.seen


def test_autocast_and_a_default_device_change_nothing() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert col2im(columns(), 4, 2).dtype is torch.float32
    with torch.device("meta"):
        pass
    with torch.device("meta"):
        col = torch.ones(1, 4, 9, device="cpu")
        assert col2im(col, 4, 2).device.type == "cpu"


def test_threads_get_the_same_bits() -> None:
    col = torch.randn(4, 27, 256)
    expected = col2im(col, 16, 3, padding=1)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: col2im(col, 16, 3, padding=1), range(64)))
    assert all(torch.equal(result, expected) for result in results)


# out


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


def test_out_of_a_call_that_needs_a_graph_is_refused() -> None:
    with pytest.raises(RuleError, match="but col requires grad; call without out, or under"):
        col2im(columns().requires_grad_(), 4, 2, out=torch.empty(2, 3, 4, 4))


# devices


def test_meta_tensors_give_shapes_and_rules() -> None:
    image = col2im(columns().to("meta"), 4, 2)
    assert (image.device.type, image.shape, image.dtype) == ("meta", (2, 3, 4, 4), torch.float32)
    assert im2col(image, 2, padding=((0, 1), (2, 3))).shape == (2, 12, 4 * 8)


def test_a_tensor_elsewhere_is_refused_with_the_way_out() -> None:
    with FakeTensorMode():
        col = torch.empty(2, 12, 9, device="cuda")
    with pytest.raises(BackendError, match=r"col is on cuda:0, for which .*: col\.cpu\(\)"):
        col2im(col, 4, 2)
    with pytest.raises(BackendError, match="backend 'cpu': col is on cuda:0; use 'auto'"):
        col2im(col, 4, 2, backend="cpu")


@pytest.fixture
def cuda_kernel() -> Iterator[None]:
    library = torch.library.Library("ascend_col2im", "IMPL")
    library.impl("col2im", lambda *_: NotImplemented, "CUDA")
    yield
    library._destroy()


@pytest.mark.usefixtures("cuda_kernel")
def test_a_kernel_registered_elsewhere_opens_its_device() -> None:
    with FakeTensorMode():
        image = col2im(torch.empty(2, 12, 9, device="cuda"), 4, 2)
    assert (image.device.type, image.shape) == ("cuda", (2, 3, 4, 4))


def test_backends_are_honoured_or_refused() -> None:
    assert torch.equal(col2im(columns(), 4, 2, backend="cpu"), col2im(columns(), 4, 2))
    with pytest.raises(BackendError, match="col2im: backend is 'gpu'; must be one of"):
        col2im(columns(), 4, 2, backend="gpu")  # type: ignore[call-overload]
    with pytest.raises(BackendError, match="im2col: backend 'npu'"):
        im2col(torch.ones(1, 1, 4, 4), 2, backend="npu")


# rules


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

    monkeypatch.setattr(torch, "empty", fail)
    with pytest.raises(RuleError, match=r"size: the result of shape .* the system does not give"):
        col2im(columns(), 4, 2)


# what is installed


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


def test_without_torch_everything_else_works_and_the_room_says_what_it_needs() -> None:
    found = run(
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, ascend_col2im\n"
        "assert ascend_col2im.col2im(np.ones((1, 4, 9)), 4, 2).shape == (1, 1, 4, 4)\n"
        "try:\n    import ascend_col2im.torch_op\n"
        "except ascend_col2im.MissingExtraError as error:\n    print(error)\n"
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == (
        "ascend_col2im.torch_op needs torch >= 2.4, which is not installed; "
        "pip install 'ascend-col2im[torch]'\n"
    )


def test_an_old_torch_is_named() -> None:
    found = run(
        "import sys, types\n"
        "torch = types.ModuleType('torch'); torch.__version__ = '2.3.1'\n"
        "torch.library = types.ModuleType('torch.library'); sys.modules['torch'] = torch\n"
        "import ascend_col2im\n"
        "try:\n    import ascend_col2im.torch_op\n"
        "except ascend_col2im.MissingExtraError as error:\n    print(error)\n"
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert "needs torch >= 2.4; torch 2.3.1 is installed; pip install --upgrade" in found.stdout


def test_importing_the_package_does_not_import_torch() -> None:
    found = run("import sys, ascend_col2im; print('torch' in sys.modules)")
    assert found.stdout == "False\n"


def test_bfloat16_without_ml_dtypes_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ascend_col2im.MissingExtraError, match="pip install ml_dtypes"):
        col2im(columns(dtype=torch.bfloat16), 4, 2)
