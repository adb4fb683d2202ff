"""Time what a call on an NPU tensor costs the host beyond the calls of a program in C.

    source set_env.sh
    python -m benchmarks.npu_overhead

Folds so little that the device does not matter: a column matrix of (1, 12, 9) to an image of
(1, 3, 4, 4). Needs torch_npu, a deployed package, a C++ compiler and a CANN, which may be a
simulated one: all that is timed is on the host, up to the launch. All rows run in turn, round
after round, in one process and on one stream, which is waited for between them; times are of one
call, in microseconds. Where others use the machine, the best times say more than the medians.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, cast
from unittest import mock

import torch

from ascend_col2im import aclnn, col2im, opp, parameters
from ascend_col2im.torch_op import npu, plain

SIZES = ((4, 4), (2, 2))
COL, IMAGE = (1, 12, 9), (1, 3, 4, 4)

C_CALLS = "the calls of a program in C"
THROUGH_CTYPES = "the same calls through ctypes"
WITHOUT = "col2im(tensor), launching nothing"
WHOLE = "col2im(tensor)"


def compiled(operator: opp.Operator) -> Callable[..., float]:
    """Compile the program in C against the deployed package; return its function."""
    headers = operator.path.parents[1] / "include"
    home = Path(os.environ["ASCEND_HOME_PATH"])
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "calls.so"
        subprocess.run(
            [
                *(os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-shared", "-fPIC"),
                *(str(Path(__file__).with_suffix(".cpp")), "-o", str(library)),
                *(f"-I{home / 'include'}", f"-I{headers}", f"-L{home / 'lib64'}"),
                *(str(operator.path), "-lnnopbase", "-lascendcl"),
            ],
            check=True,
        )
        function = ctypes.CDLL(str(library)).TimeCalls
    function.restype = ctypes.c_double
    function.argtypes = (ctypes.c_int, *(ctypes.c_void_p,) * 7)
    return cast(Callable[..., float], function)


def timed(call: Callable[[], object]) -> Callable[[int], float]:
    """Return what gives the nanoseconds of one of so many calls."""

    def nanoseconds(count: int) -> float:
        begin = time.perf_counter_ns()
        for _ in range(count):
            call()
        return (time.perf_counter_ns() - begin) / count

    return nanoseconds


def rows(device: Any) -> dict[str, Callable[[int], float]]:
    """Return what is timed, by its name; ``device`` is `torch.npu`."""
    col = torch.randn(COL).to("npu")
    image = col2im(col, *SIZES)
    grad = torch.randn(COL).to("npu").requires_grad_()
    scratch = torch.empty(1 << 25, dtype=torch.uint8, device=col.device)
    given = (*SIZES, 1, 0, 1)
    target = aclnn.target().name
    job = npu._col2im_job(target, col.dtype, COL, given)
    operator = opp.operator(job.call.names, target)
    stream = device.current_stream().npu_stream
    views = (
        aclnn.View(col.data_ptr(), job.source),
        aclnn.View(image.data_ptr(), job.result),
    )
    c_calls = compiled(operator)
    arrays = [(ctypes.c_int64 * len(v))(*v) for v in (COL, IMAGE, (*SIZES[0], *SIZES[1]))]

    def in_c(count: int) -> float:
        spent = c_calls(
            count, *arrays, col.data_ptr(), image.data_ptr(), scratch.data_ptr(), stream
        )
        if spent < 0:
            raise SystemExit(f"a call failed with {-spent:.0f}")
        return spent

    def through_ctypes() -> None:
        aclnn.launch(operator, job.call, *views, stream, lambda size: scratch.data_ptr())

    def with_bound() -> None:
        with aclnn.Bound(operator.acl, 0):
            pass

    def without_launch(count: int) -> float:
        with mock.patch.object(aclnn, "launch", _nothing):
            return timed(lambda: col2im(col, *SIZES))(count)

    return {
        C_CALLS: in_c,
        THROUGH_CTYPES: timed(through_ctypes),
        "torch: the result's memory": timed(lambda: col.new_empty(IMAGE)),
        "torch_npu: the stream's handle": timed(lambda: npu._stream_handle()(0)),
        "torch_npu: the tensor's format": timed(lambda: npu._checked("col2im", "col", col)),
        "whether the tensor is plain": timed(lambda: plain.is_plain(col)),
        "whether the parameters are known": timed(lambda: parameters.exact(given)),
        "the job, from its cache": timed(
            lambda: npu._col2im_job(target, col.dtype, tuple(col.shape), given)
        ),
        "the operator, for this environment": timed(lambda: opp.operator(job.call.names, target)),
        "the thread's device": timed(with_bound),
        WITHOUT: without_launch,
        WHOLE: timed(lambda: col2im(col, *SIZES)),
        "col2im(tensor that requires grad)": timed(lambda: col2im(grad, *SIZES)),
    }


def _nothing(*arguments: object) -> None:
    """Stand for a launch."""


def main() -> None:
    """Print every row's times, and the overhead."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=20, help="in a row, in each round")
    options = parser.parse_args()
    device = import_module("torch_npu").npu
    torch.set_num_threads(1)
    timers = rows(device)
    times: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(options.rounds):
        for name, timer in timers.items():
            times[name].append(timer(options.calls) / 1000)
            device.synchronize()
    show(times)


def show(times: dict[str, list[float]]) -> None:
    """Print the table of times in microseconds."""
    width = max(map(len, times))
    print(f"{'microseconds':{width}}   best  median")
    for name, found in times.items():
        print(f"{name:{width}} {min(found):6.1f} {median(found):7.1f}")
    for name, figure in (("best", min), ("median", median)):
        in_c, through, without, whole = (
            figure(times[row]) for row in (C_CALLS, THROUGH_CTYPES, WITHOUT, WHOLE)
        )
        print(
            f"{name}: {whole - in_c:.1f} beyond the calls in C as a whole, of which "
            f"{without:.1f} before the launch and {through - in_c:.1f} in ctypes; "
            "the rest shows only beside launches at work"
        )


if __name__ == "__main__":
    main()
