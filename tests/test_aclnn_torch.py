"""The real torch_npu wheel on the simulated installation: `col2im` and `im2col` of NPU tensors."""

from __future__ import annotations

import ctypes
import gc
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

from ascend_col2im.errors import BackendError
from ascend_col2im.parameters import col2im_parameters
from ascend_col2im.rules import checked_geometry

from .runtime.installation import environment, installation, run
from .runtime.npu_tensors import DTYPES, SIZES, columns, ready, unfold_sizes
from .runtime.observer import calls, failing, live


def _layouts(col: Any, torch: Any) -> Iterator[Any]:
    """Yield NPU tensors of the same values that lie differently in memory."""
    yield col.npu()
    yield col.permute(2, 0, 1).contiguous().npu().permute(1, 2, 0)  # transposed
    wide = torch.zeros(col.shape[0] + 1, col.shape[1], 2 * col.shape[2] + 3, dtype=col.dtype)
    wide[1:, :, 3::2] = col
    yield wide.npu()[1:, :, 3::2]  # sliced, with an offset


@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend310B1"])
def test_every_dtype_and_layout_equals_the_cpu(soc: str) -> None:
    run(_dtypes_and_layouts, environment(ASCEND_SIM_SOC=soc))


def _dtypes_and_layouts() -> None:
    torch = ready()
    from ascend_col2im import aclnn, col2im, im2col

    for sizes in SIZES:
        for dtype in DTYPES:
            col = columns(sizes, torch, dtype)
            if dtype not in aclnn.target().dtypes:
                with pytest.raises(TypeError, match="col is bfloat16; ascend310b takes"):
                    col2im(col.npu(), **sizes)
                continue
            image = col2im(col, **sizes)
            unfolded = im2col(image, **unfold_sizes(sizes))
            for tensor in _layouts(col, torch):
                result = col2im(tensor, **sizes)
                assert result.device.type == "npu"
                assert torch.equal(result.cpu(), image)
                assert torch.equal(col2im(tensor[1], **sizes).cpu(), image[1])
            result = im2col(image.npu(), **unfold_sizes(sizes))
            assert torch.equal(result.cpu(), unfolded)
            assert torch.equal(im2col(image[1].npu(), **unfold_sizes(sizes)).cpu(), unfolded[1])
            empty = col2im(col[:0].npu(), **sizes)
            assert empty.device.type == "npu"
            assert empty.shape == (0, *image.shape[1:])
    for dtype in ("float64", "int32"):
        with pytest.raises(TypeError, match=f"col is {dtype}"):
            col2im(columns(SIZES[0], torch, dtype).npu(), **SIZES[0])


def test_views_are_described_and_not_copied() -> None:
    run(_views, environment(TASK_QUEUE_ENABLE="0"))


def _views() -> None:
    torch = ready()
    from ascend_col2im import col2im

    tensors = list(_layouts(columns(SIZES[2], torch), torch))
    col2im(tensors[0], **SIZES[2])
    for tensor in tensors:
        torch.npu.synchronize()
        before = calls()
        col2im(tensor, **SIZES[2])
        made = {name for name, count in calls().items() if count != before.get(name, 0)}
        assert not any("Copy" in name or "cpy" in name for name in made), made


def test_gradients_equal_the_cpu_s() -> None:
    run(_gradients, environment())


def _gradients() -> None:
    torch = ready()
    from ascend_col2im import col2im, im2col

    for sizes in SIZES:
        col = columns(sizes, torch)
        image = col2im(col, **sizes)
        for function, x, given in (
            (col2im, col, sizes),
            (im2col, image, unfold_sizes(sizes)),
        ):
            found = []
            for device in ("cpu", "npu"):
                leaf = x.detach().clone().to(device).requires_grad_()
                result = function(leaf, **given)
                upstream = (torch.arange(result.numel()) % 7.0).view(result.shape).to(device)
                upstream.requires_grad_()
                (grad,) = torch.autograd.grad(result, leaf, upstream, create_graph=True)
                second = (torch.arange(grad.numel()) % 5.0).view(grad.shape).to(device)
                (double,) = torch.autograd.grad(grad, upstream, second)
                function(leaf, **given).backward(upstream.detach())
                function(leaf, **given).backward(upstream.detach())  # accumulates
                found.append([value.cpu() for value in (result, grad, double, leaf.grad)])
            for on_cpu, on_npu in zip(*found, strict=True):
                assert torch.equal(on_cpu, on_npu)


def test_out_is_written_unless_it_shares_memory() -> None:
    run(_out, environment())


def _out() -> None:
    torch = ready()
    from ascend_col2im import RuleError, col2im

    sizes = SIZES[0]
    col = columns(sizes, torch)
    expected = col2im(col, **sizes)
    count, pixels = col.numel(), expected.numel()
    buffer = torch.zeros(2 * (count + pixels)).npu()
    x = buffer[:count].view(col.shape).copy_(col.npu())
    outs = (
        torch.zeros(expected.shape).npu(),
        torch.zeros((*expected.shape, 2)).npu()[..., 1],
        buffer[count : count + pixels].view(expected.shape),  # right behind the input
    )
    for out in outs:
        assert col2im(x, **sizes, out=out) is out
        assert torch.equal(out.cpu(), expected)
    for start in (0, count - 1):
        shared = buffer[start : start + pixels].view(expected.shape)
        before = shared.cpu()
        with pytest.raises(RuleError, match="output: out shares memory with col"):
            col2im(x, **sizes, out=shared)
        assert torch.equal(shared.cpu(), before)
    with pytest.raises(RuleError, match="output: elements of out overlap"):
        col2im(x, **sizes, out=torch.zeros(1, 1, 4, 5).npu().expand(expected.shape))
    with pytest.raises(RuleError, match="output: out is on cpu; must be on npu:0"):
        col2im(x, **sizes, out=torch.zeros(expected.shape))
    with pytest.raises(RuleError, match="output: out has shape"):
        col2im(x, **sizes, out=torch.zeros(7).npu())


@pytest.mark.parametrize("queue", ["0", "1", "2"])
def test_work_queued_before_a_call_is_seen_by_it(queue: str) -> None:
    run(_queued, environment(TASK_QUEUE_ENABLE=queue, ASCEND_SIM_TASK_DELAY_US="1000"))


def _queued() -> None:
    torch = ready()
    from ascend_col2im import col2im

    sizes = SIZES[2]
    col = columns(sizes, torch)
    expected = col2im(col + col, **sizes)
    side = torch.npu.Stream()
    for stream in (torch.npu.current_stream(), side):
        with torch.npu.stream(stream):
            for _ in range(10):
                x = torch.zeros(col.shape, device="npu")
                x.copy_(col.pin_memory(), non_blocking=True)
                x += x
                image = col2im(x, **sizes)
                x.zero_()  # after the call: must not be seen by it
                assert torch.equal(image.cpu(), expected)
    torch.npu.synchronize()


def test_streams_run_beside_each_other_and_wait_by_events() -> None:
    run(_streams, environment(ASCEND_SIM_TASK_DELAY_US="2000"))


def _streams() -> None:
    torch = ready()
    from ascend_col2im import col2im, im2col

    sizes = SIZES[1]
    col = columns(sizes, torch)
    expected = im2col(col2im(col, **sizes), **unfold_sizes(sizes))
    first, second = torch.npu.Stream(), torch.npu.Stream()
    x, zeros = col.npu(), torch.zeros(col.shape).npu()
    torch.npu.synchronize()
    for _ in range(5):
        with torch.npu.stream(first):
            # Other values first, in the same memory: the other stream sees them unless it waits.
            for source in (*(zeros,) * 5, x):
                image = col2im(source, **sizes)
            event = first.record_event()
        with torch.npu.stream(second):
            second.wait_event(event)
            result = im2col(image, **unfold_sizes(sizes))
            image.record_stream(second)
            assert torch.equal(result.cpu(), expected)


def test_tensors_of_other_devices_stay_there() -> None:
    run(_devices, environment(ASCEND_SIM_DEVICES="2", ASCEND_SIM_TASK_DELAY_US="500"))


def _devices() -> None:
    torch = ready()
    from ascend_col2im import col2im

    col = columns(SIZES[2], torch)
    expected = col2im(col + col, **SIZES[2])
    for device in (1, 0, 1):
        x = torch.zeros(col.shape, device=f"npu:{device}")
        x.copy_(col.pin_memory(), non_blocking=True)
        x += x
        image = col2im(x, **SIZES[2])
        assert image.device.index == device
        assert torch.npu.current_device() == 0
        assert torch.equal(image.cpu(), expected)


def test_a_device_chosen_behind_torch_s_back_is_given_back() -> None:
    run(_behind, environment(ASCEND_SIM_DEVICES="2"))


def _behind() -> None:
    torch = ready()
    from ascend_col2im import col2im, opp

    col = columns(SIZES[2], torch)
    x = col.npu()
    expected = col2im(x, **SIZES[2]).cpu()  # and memory for the next call is at hand
    acl, current = opp.runtime(), ctypes.c_int32()
    assert acl.aclrtSetDevice(1) == 0  # as another library in this thread would
    image = col2im(x, **SIZES[2])
    assert acl.aclrtGetDevice(ctypes.byref(current)) == 0
    assert current.value == 1
    assert acl.aclrtSetDevice(0) == 0
    assert torch.equal(image.cpu(), expected)


def test_a_thread_that_never_touched_the_device_works() -> None:
    run(_fresh_thread, environment(ASCEND_SIM_DEVICES="2"))


def _fresh_thread() -> None:
    torch = ready()
    from ascend_col2im import col2im

    col = columns(SIZES[0], torch)
    expected = col2im(col, **SIZES[0])
    for device in (0, 1):
        x = col.to(f"npu:{device}")
        torch.npu.synchronize(device)
        with ThreadPoolExecutor(1) as fresh:
            image = fresh.submit(partial(col2im, x, **SIZES[0])).result()
            assert fresh.submit(torch.npu.current_device).result() == 0
        assert torch.equal(image.cpu(), expected)


def test_a_thousand_calls_leave_memory_flat() -> None:
    run(_thousand, environment())


def _thousand() -> None:
    torch = ready()
    from ascend_col2im import col2im

    x = columns(SIZES[2], torch).npu()
    for _ in range(20):
        col2im(x, **SIZES[2])
    gc.collect()
    torch.npu.synchronize()
    before = (torch.npu.memory_allocated(), torch.npu.memory_reserved(), live())
    for _ in range(1000):
        col2im(x, **SIZES[2])
    torch.npu.synchronize()
    assert (torch.npu.memory_allocated(), torch.npu.memory_reserved(), live()) == before


def test_faults_are_errors_and_the_next_call_works() -> None:
    run(_faults, environment())


def _faults() -> None:
    torch = ready()
    from ascend_col2im import aclnn, col2im

    sizes = SIZES[2]
    x = columns(sizes, torch).npu()
    expected = col2im(x, **sizes).cpu()
    torch.npu.synchronize()
    before = calls()
    col2im(x, **sizes)
    torch.npu.synchronize()
    made = {name: count - before.get(name, 0) for name, count in calls().items()}
    points = [(name, n) for name, count in made.items() for n in range(1, count + 1)]
    assert {"aclnnCol2ImNd", "aclCreateIntArray", "aclDestroyTensor"} <= set(made)
    for name, n in points:
        if name.endswith("/kernel") or "Synchronize" in name:
            continue  # torch_npu's own to report
        held, allocated = live(), torch.npu.memory_allocated()
        with failing(name, n), pytest.raises(aclnn.NpuError, match=f"no {name} today"):
            col2im(x, **sizes)
        gc.collect()
        assert torch.npu.memory_allocated() == allocated
        leaked = {kind for kind, count in live().items() if count != held.get(kind, 0)}
        kept = {"aclDestroyTensor": {"aclTensor"}, "aclDestroyIntArray": {"aclIntArray"}}
        assert leaked == kept.get(name, set()), (name, n)
        assert torch.equal(col2im(x, **sizes).cpu(), expected)


def test_without_a_package_the_cpu_computes_and_one_warning_says_so() -> None:
    opp = str(installation() / "no_packages")
    run(_no_package, environment(None, ASCEND_OPP_PATH=opp))
    run(_no_package, environment("only_310b", ASCEND_OPP_PATH=opp))


def _no_package() -> None:
    torch = ready()
    from ascend_col2im import col2im, npu_backend

    col = columns(SIZES[2], torch)
    x = col.npu()
    warnings.simplefilter("always")
    with pytest.warns(UserWarning, match="col2im of NPU tensors runs on the CPU: no installed"):
        image = col2im(x, **SIZES[2])
    assert image.device.type == "npu"
    assert torch.equal(image.cpu(), col2im(col, **SIZES[2]))
    warnings.simplefilter("error")
    col2im(x, **SIZES[2])  # said once
    with pytest.raises(BackendError, match="no installed operator package"):
        npu_backend.require("col2im")


def test_numpy_arrays_and_tensors_share_the_device() -> None:
    run(_beside, environment())


def _beside() -> None:
    torch = ready()
    from ascend_col2im import col2im, npu_backend

    sizes = SIZES[2]
    geometry = checked_geometry("test", col2im_parameters("test", "cpu", *sizes.values()))
    col = columns(sizes, torch)
    image = np.zeros((2, 3, 9, 7), np.float32)
    npu_backend.col2im(col.numpy(), geometry, image)  # initialises CANN before torch_npu does
    result = col2im(col.npu(), **sizes).cpu()
    np.testing.assert_array_equal(result.numpy(), image)
    image[...] = 0
    npu_backend.col2im(col.numpy(), geometry, image)
    np.testing.assert_array_equal(result.numpy(), image)


def test_tensors_of_the_cpu_work_where_there_is_no_cann() -> None:
    without = environment(None, TORCH_DEVICE_BACKEND_AUTOLOAD="0", LD_LIBRARY_PATH="")
    del without["ASCEND_HOME_PATH"], without["ASCEND_OPP_PATH"]
    run(_no_cann, without)


def _no_cann() -> None:
    import torch

    from ascend_col2im import col2im, npu_backend
    from ascend_col2im.torch_op import npu  # noqa: F401

    col = columns(SIZES[2], torch)
    np.testing.assert_array_equal(col2im(col, **SIZES[2]), col2im(col.numpy(), **SIZES[2]))
    with pytest.raises(BackendError, match="of CANN cannot be loaded"):
        npu_backend.require("col2im")
