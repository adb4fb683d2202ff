"""The operators on NPU tensors.

Importing this registers the kernels under ``PrivateUse1``, the dispatch key that torch_npu uses;
it needs neither torch_npu nor CANN. Autograd, compilation and the checks of users' arguments are
`ascend_col2im.torch_op`'s.

torch_npu queues its own launches on the host. Reading a stream's handle waits until that queue is
empty, so the handle is read for every launch, right before it, and never kept: then whatever was
queued before is on the stream before. Output and workspace come from torch's allocator on the
current stream, where memory may be used again as soon as the launch is queued. Inputs are
described by their strides and offset; the operator decides whether it has to make them dense.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final, NamedTuple

import torch

from .. import aclnn, opp, parameters, rules
from ..errors import BackendError
from ..geometry import Ints
from ..messages import refuse
from . import tensors
from .operators import Sizes, _paired

DENSE_FORMATS: Final = {0: "NCHW", 2: "ND", 30: "NCDHW", 47: "NCL"}
"""The formats of torch_npu (``aclFormat``) whose memory lies as the strides say."""


class Job(NamedTuple):
    """What one call computes: all that follows from shapes and parameters."""

    call: aclnn.Call
    rank: int  # of the batched input
    batched: Ints  # the result as the operator writes it
    shape: Ints  # the result as torch wants it


def _col2im(col: torch.Tensor, *sizes: Sizes) -> torch.Tensor:
    target, dtype = _checked("col2im", "col", col)
    return _run(target, _col2im_job(target, dtype, tuple(col.shape), *map(tuple, sizes)), col)


def _im2col(x: torch.Tensor, *sizes: Sizes) -> torch.Tensor:
    target, dtype = _checked("im2col", "x", x)
    return _run(target, _im2col_job(target, dtype, tuple(x.shape), *map(tuple, sizes)), x)


def _or_on_cpu(op: str, kernel: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Let the CPU do what no installed package can, and say so once for each reason."""

    def kernel_or_cpu(tensor: torch.Tensor, *sizes: Sizes) -> torch.Tensor:
        try:
            return kernel(tensor, *sizes)
        except aclnn.NpuError:
            raise
        except BackendError as error:
            reason = str(error)
        if reason not in _warned:
            _warned.add(reason)
            warnings.warn(f"{op} of NPU tensors runs on the CPU: {reason}", stacklevel=2)
        operator = getattr(torch.ops.ascend_col2im, op)
        result: torch.Tensor = operator(tensor.cpu(), *sizes).to(tensor.device)
        return result

    return kernel_or_cpu


_warned: set[str] = set()

_LIBRARY: Final[Any] = torch.library.Library("ascend_col2im", "IMPL")
_LIBRARY.impl("col2im", _or_on_cpu("col2im", _col2im), "PrivateUse1")
_LIBRARY.impl("im2col", _or_on_cpu("im2col", _im2col), "PrivateUse1")


def _checked(op: str, name: str, tensor: torch.Tensor) -> tuple[str, str]:
    """Check what only the device can tell; return the names of its target and of the dtype."""
    target, dtype = _target(), tensors.dtype_name(tensor)
    rules.check_dtype(op, name, dtype, target)
    layout = _torch_npu().get_npu_format(tensor)
    if layout not in DENSE_FORMATS:
        refuse(
            op,
            "format",
            f"{name} has format {layout!r}; must be {' or '.join(DENSE_FORMATS.values())}: "
            f"torch_npu.npu_format_cast({name}, 2)",
        )
    return target, dtype


def _run(target: str, job: Job, tensor: torch.Tensor) -> torch.Tensor:
    """Compute one job on the tensor's device."""
    operator = opp.operator(job.call.names, target)
    result = torch.empty(job.batched, dtype=tensor.dtype, device=tensor.device)
    if result.numel():
        npu, index = torch.get_device_module(tensor.device), tensor.device.index
        # The queue that reading a stream's handle empties is that of torch's current device.
        with nullcontext() if npu.current_device() == index else npu.device(index):
            _launch(operator, job, tensor, result)
    return result if job.shape == job.batched else result.view(job.shape)


def _launch(operator: opp.Operator, job: Job, tensor: torch.Tensor, result: torch.Tensor) -> None:
    """Launch on the current stream of torch's current device, which is the tensors'."""
    scratch = []

    def workspace(size: int) -> int:
        scratch.append(torch.empty(size, dtype=torch.uint8, device=tensor.device))
        return scratch[0].data_ptr()

    source, target = _view(tensor, job.rank), _view(result, len(job.batched))
    index = tensor.device.index
    with aclnn.Bound(operator.acl, index):
        aclnn.launch(operator, job.call, source, target, _stream_handle()(index), workspace)


@cache
def _stream_handle() -> Callable[[int], int]:
    """Return the function that waits for torch_npu's host queue and gives the current stream."""
    torch_npu = _torch_npu()
    # torch_npu before 2.5.1 has only the slower way.
    quick: Callable[[int], int] | None = getattr(torch_npu._C, "_npu_getCurrentRawStream", None)
    return quick or (lambda index: int(torch_npu.npu.current_stream(index).npu_stream))


@cache
def _torch_npu() -> Any:
    return import_module("torch_npu")


def _view(tensor: torch.Tensor, rank: int) -> aclnn.View:
    """Describe a tensor where it lies, an unbatched one as a batch of one."""
    shape, strides = tuple(tensor.shape), tensor.stride()
    if len(shape) < rank:
        shape, strides = (1, *shape), (shape[0] * strides[0], *strides)
    storage = tensor.untyped_storage()
    return aclnn.View(
        storage.data_ptr(),
        tensors.dtype_name(tensor),
        shape,
        strides,
        int(tensor.storage_offset()),
        storage.nbytes() // tensor.itemsize,
    )


@cache
def _target() -> str:
    return aclnn.target().name


# The plans are the CPU's, which takes an empty batch as torch does: nothing is launched for it. Of
# the device's own limits, the one on axes is checked here.
@lru_cache(maxsize=4096)
def _col2im_job(
    target: str, dtype: str, col_shape: Ints, output_size: Ints, *windows: Ints
) -> Job:
    op = "col2im"
    rules.check_col_rank(op, col_shape)
    given = parameters.col2im_parameters(op, target, output_size, *_paired(op, *windows))
    plan = rules.col2im_plan(op, col_shape, given, "cpu")
    rules.check_addressable(op, plan, getattr(torch, dtype).itemsize)
    call = aclnn.col2im_call(plan.geometry, dtype)
    return Job(call, 3, (plan.N, plan.C, *plan.geometry.output_size), plan.image_shape)


@lru_cache(maxsize=4096)
def _im2col_job(target: str, dtype: str, image_shape: Ints, *windows: Ints) -> Job:
    op = "im2col"
    given = parameters.im2col_parameters(op, target, image_shape, *_paired(op, *windows))
    plan = rules.im2col_plan(op, image_shape, given, "cpu")
    rules.check_addressable(op, plan, getattr(torch, dtype).itemsize)
    call, geometry = aclnn.im2col_call(plan.geometry), plan.geometry
    batched = (plan.N, plan.C * geometry.K, geometry.L)
    return Job(call, 2 + geometry.axes, batched, plan.col_shape)
