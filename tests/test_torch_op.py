"""col2im and im2col of tensors: values, memory, graph, devices, and what is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import ascend_col2im
from ascend_col2im import BackendError, col2im, im2col
from ascend_col2im.facts import ACCUMULATORS
from ascend_col2im.torch_op import operators, tensors
from tests.cases import CASES, assert_same_bits, products
from tests.command_line import python
from tests.dtypes import random_array
from tests.oracles import Case
from tests.tensors import array_of, columns, tensor_of

COL2IM, IM2COL = operators.col2im, operators.im2col


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
    memory = tensors.array("col2im", "col", col)
    assert memory.__array_interface__["data"][0] == col.data_ptr()
    assert memory.shape == col.shape
    assert torch.equal(col2im(col, 4, 2), col2im(col.clone(), 4, 2))
    assert torch.equal(col, before)
    assert col._version == version
    assert col.untyped_storage().resizable()


def test_a_broadcast_column_matrix_takes_no_memory() -> None:
    code = """
import torch
from ascend_col2im import col2im
from tests.peak_memory import peak_mib
col2im(torch.ones(1).expand(1, 256, 256), (511,), (256,))  # which loads what folds
before = peak_mib()
image = col2im(torch.ones(1).expand(1, 8192, 8192), (16383,), (8192,))
assert image.max() == 8192
print(peak_mib() - before)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64


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


def test_subnormal_halves_survive_where_torch_flushes_denormals() -> None:
    assert torch.set_flush_denormal(True)
    try:
        col = torch.full((64, 4, 39 * 39), 2.0**-24, dtype=torch.float16)
        image = col2im(col, 40, 2)
        assert image[0, 0, :2, :2].tolist() == [[2.0**-24, 2.0**-23], [2.0**-23, 2.0**-22]]
    finally:
        torch.set_flush_denormal(False)


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
    tensors._numpy_dtype.cache_clear()
    with pytest.raises(ascend_col2im.MissingExtraError, match="pip install ml_dtypes"):
        col2im(columns(dtype=torch.bfloat16), 4, 2)
