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
from typing import Any, Final, NamedTuple, cast

import torch

from .. import aclnn, opp, parameters, rules
from ..errors import BackendError
from ..geometry import Ints
from ..messages import refuse
from . import operators, tensors
from .operators import Sizes, paired

DENSE_FORMATS: Final = {0: "NCHW", 2: "ND", 30: "NCDHW", 47: "NCL"}
"""The formats of torch_npu (``aclFormat``) whose memory lies as the strides say."""


class Job(NamedTuple):
    """What one call computes: all that follows from shapes and parameters."""

    call: aclnn.Call
    source: aclnn.Layout  # of the batched input, where it is contiguous
    rank: int  # of the batched input
    batched: Ints  # the result's shape as the operator writes it
    result: aclnn.Layout
    shape: Ints  # the result's as torch wants it
    empty: bool


def col2im(col: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor:
    """Fold an NPU tensor, its parameters being `ascend_col2im.parameters.exact`."""
    try:
        target = _checked("col2im", "col", col)
        return _run(target, _col2im_job(target, col.dtype, tuple(col.shape), sizes), col)
    except BackendError as error:
        _warn_of_cpu("col2im", error)
    given = parameters.col2im_parameters("col2im", "cpu", *sizes)
    return cast(torch.Tensor, operators.col2im(col.cpu(), *given)).to(col.device)


def im2col(x: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor:
    """Unfold an NPU tensor, its parameters being `ascend_col2im.parameters.exact`."""
    try:
        target = _checked("im2col", "x", x)
        return _run(target, _im2col_job(target, x.dtype, tuple(x.shape), sizes), x)
    except BackendError as error:
        _warn_of_cpu("im2col", error)
    _, *given = parameters.im2col_parameters("im2col", "cpu", tuple(x.shape), *sizes)
    return cast(torch.Tensor, operators.im2col(x.cpu(), *given)).to(x.device)


def _col2im(col: torch.Tensor, output_size: Sizes, *windows: Sizes) -> torch.Tensor:
    return col2im(col, (tuple(output_size), *paired("col2im", *map(tuple, windows))))


def _im2col(x: torch.Tensor, *windows: Sizes) -> torch.Tensor:
    return im2col(x, paired("im2col", *map(tuple, windows)))


_LIBRARY: Final[Any] = torch.library.Library("ascend_col2im", "IMPL")
_LIBRARY.impl("col2im", _col2im, "PrivateUse1")
_LIBRARY.impl("im2col", _im2col, "PrivateUse1")


def _warn_of_cpu(op: str, error: BackendError) -> None:
    """Say once for each reason that the CPU does what no installed package can."""
    if isinstance(error, aclnn.NpuError):
        raise error
    reason = str(error)
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn(f"{op} of NPU tensors runs on the CPU: {reason}", stacklevel=3)


_warned: set[str] = set()


def _checked(op: str, name: str, tensor: torch.Tensor) -> str:
    """Check what only the device can tell; return the name of its target."""
    target = _target()
    rules.check_dtype(op, name, tensors.dtype_name(tensor.dtype), target)
    layout = _torch_npu().get_npu_format(tensor)
    if layout not in DENSE_FORMATS:
        refuse(
            op,
            "format",
            f"{name} has format {layout!r}; must be {' or '.join(DENSE_FORMATS.values())}: "
            f"torch_npu.npu_format_cast({name}, 2)",
        )
    return target


def _run(target: str, job: Job, tensor: torch.Tensor) -> torch.Tensor:
    """Compute one job on the tensor's device."""
    operator = opp.operator(job.call.names, target)
    result = tensor.new_empty(job.batched)
    if not job.empty:
        npu, index = _torch_npu().npu, tensor.device.index
        # The queue that reading a stream's handle empties is that of torch's current device.
        with nullcontext() if npu.current_device() == index else npu.device(index):
            _launch(operator, job, tensor, result, index)
    return result if job.shape == job.batched else result.view(job.shape)


def _launch(
    operator: opp.Operator, job: Job, tensor: torch.Tensor, result: torch.Tensor, index: int
) -> None:
    """Launch on the current stream of torch's current device, which is the tensors'."""
    scratch = []

    def workspace(size: int) -> int:
        scratch.append(torch.empty(size, dtype=torch.uint8, device=tensor.device))
        return scratch[0].data_ptr()

    if tensor.is_contiguous():
        source = aclnn.View(tensor.data_ptr(), job.source)
    else:
        source = _view(tensor, job.rank)
    out = aclnn.View(result.data_ptr(), job.result)
    with aclnn.Bound(operator.acl, index):
        aclnn.launch(operator, job.call, source, out, _stream_handle()(index), workspace)


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
    layout = aclnn.layout(
        tensors.dtype_name(tensor.dtype),
        shape,
        strides,
        int(tensor.storage_offset()),
        storage.nbytes() // tensor.itemsize,
    )
    return aclnn.View(storage.data_ptr(), layout)


@cache
def _target() -> str:
    return aclnn.target().name


# The plans are the CPU's, which takes an empty batch as torch does: nothing is launched for it. Of
# the device's own limits, the one on axes is checked here.
@lru_cache(maxsize=4096)
def _col2im_job(target: str, dtype: torch.dtype, col_shape: Ints, sizes: tuple[Any, ...]) -> Job:
    op, name = "col2im", tensors.dtype_name(dtype)
    rules.check_col_rank(op, col_shape)
    given = parameters.col2im_parameters(op, target, *sizes)
    plan = rules.col2im_plan(op, col_shape, given, "cpu")
    rules.check_addressable(op, plan, dtype.itemsize)
    col, image = _batched(plan)
    return _job(aclnn.col2im_call(plan.geometry, name), name, col, image, plan.image_shape)


@lru_cache(maxsize=4096)
def _im2col_job(target: str, dtype: torch.dtype, image_shape: Ints, sizes: tuple[Any, ...]) -> Job:
    op, name = "im2col", tensors.dtype_name(dtype)
    given = parameters.im2col_parameters(op, target, image_shape, *sizes)
    plan = rules.im2col_plan(op, image_shape, given, "cpu")
    rules.check_addressable(op, plan, dtype.itemsize)
    col, image = _batched(plan)
    return _job(aclnn.im2col_call(plan.geometry), name, image, col, plan.col_shape)


def _job(call: aclnn.Call, dtype: str, source: Ints, result: Ints, shape: Ints) -> Job:
    return Job(
        call,
        aclnn.dense_layout(dtype, source),
        len(source),
        result,
        aclnn.dense_layout(dtype, result),
        shape,
        0 in result,
    )


def _batched(plan: rules.Plan) -> tuple[Ints, Ints]:
    """Return the shapes of the columns and of the image, with a batch of one if there is none."""
    geometry = plan.geometry
    col = (plan.N, plan.C * geometry.K, geometry.L)
    return col, (plan.N, plan.C, *geometry.output_size)
