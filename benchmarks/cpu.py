"""Time col2im on the CPU beside torch's ``fold`` and ONNX Runtime's ``Col2Im``.

    python -m benchmarks.cpu --threads 2 --dtypes float32 float16
    NUMBA_DISABLE_JIT=1 python -m benchmarks.cpu   # the NumPy path

Every workload is run by all candidates in turn, round after round, in one process and with the
same number of threads; a candidate whose result is not ours, element for element, is left out.
Columns hold small integers, so that every order and width of accumulation gives the same sums.
Times are medians; a ratio above 1 means that this package is faster. On a shared machine, ratios
of best times, which the last lines give as well, say more than those of medians.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch

from ascend_col2im import backends, col2im
from ascend_col2im.workloads import WORKLOADS, Workload

Array = npt.NDArray[Any]
Run = Callable[[], Any]


def ours(workload: Workload, col: Array) -> Run:
    return lambda: col2im(
        col,
        workload.output_size,
        workload.kernel_size,
        stride=workload.stride,
        padding=workload.padding,
        dilation=workload.dilation,
    )


def torch_fold(workload: Workload, col: Array) -> Run:
    tensor = torch.from_numpy(col)
    return lambda: torch.nn.functional.fold(
        tensor,
        workload.output_size,
        workload.kernel_size,
        workload.dilation,
        workload.padding,
        workload.stride,
    )


def onnx_runtime(workload: Workload, col: Array, threads: int) -> Run:
    kind = onnx.helper.np_dtype_to_tensor_dtype(col.dtype)
    sizes = {"image_shape": workload.output_size, "block_shape": workload.kernel_size}
    node = onnx.helper.make_node(
        "Col2Im",
        ["col", *sizes],
        ["image"],
        strides=workload.stride,
        pads=workload.padding * 2,
        dilations=workload.dilation,
    )
    graph = onnx.helper.make_graph(
        [node],
        "fold",
        [onnx.helper.make_tensor_value_info("col", kind, col.shape)],
        [onnx.helper.make_tensor_value_info("image", kind, None)],
        [onnx.numpy_helper.from_array(np.array(size), name) for name, size in sizes.items()],
    )
    opset = [onnx.helper.make_opsetid("", 18)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, {"col": col})[0]


def plain_copy(workload: Workload, col: Array) -> Run:
    """Move as many bytes as the workload must: half of them read, half of them written."""
    source = torch.ones(workload.elements // 2, dtype=torch.from_numpy(col).dtype)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def peers(workload: Workload, col: Array, threads: int) -> Iterator[tuple[str, Run | str]]:
    """Yield each peer, ready to run, or why it is left out."""
    builders: dict[str, Callable[[], Run]] = {
        "torch": lambda: torch_fold(workload, col),
        "onnxruntime": lambda: onnx_runtime(workload, col, threads),
    }
    expected = ours(workload, col)()
    for name, build in builders.items():
        try:
            run = build()
            same = np.array_equal(np.asarray(run()), expected)
        except Exception as error:  # a peer may refuse a workload in its own words
            yield name, str(error).strip().splitlines()[0][:60]
        else:
            yield name, run if same else "gives other values than ours"


def timed(runs: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """Return each candidate's seconds over interleaved rounds, after one to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - begin)
    return {name: values[1:] for name, values in seconds.items()}


def measure(dtype: str, workloads: list[Workload], threads: int, rounds: int) -> None:
    """Print one table: a line per workload, then geometric means."""
    print(f"\n{dtype}, {threads} thread{'s' * (threads > 1)}, ms, median of {rounds}")
    heads = ("ours", "torch", "ORT", "torch/ours", "ORT/ours", "GB/s", "of a copy")
    print(f"{'':12}" + "".join(f"{head:>11}" for head in heads))
    medians: dict[str, list[float]] = {"torch": [], "onnxruntime": []}
    bests: dict[str, list[float]] = {"torch": [], "onnxruntime": []}
    for workload in workloads:
        random = np.random.default_rng(0)
        col = random.integers(-8, 9, workload.col_shape, np.int8).astype(dtype)
        others = dict(peers(workload, col, threads))
        runs: dict[str, Run] = {"ours": ours(workload, col), "copy": plain_copy(workload, col)}
        runs |= {name: run for name, run in others.items() if callable(run)}
        seconds = timed(runs, rounds)
        middle = {name: median(values) for name, values in seconds.items()}
        for name in seconds.keys() & medians.keys():
            medians[name].append(middle[name] / middle["ours"])
            bests[name].append(min(seconds[name]) / min(seconds["ours"]))
        cells = [f"{middle['ours'] * 1e3:.2f}"]
        cells += [f"{middle[name] * 1e3:.2f}" if name in middle else "-" for name in medians]
        cells += [f"{medians[name][-1]:.2f}" if name in middle else "-" for name in medians]
        cells += [f"{workload.elements * col.itemsize / middle['ours'] / 1e9:.1f}"]
        cells += [f"{middle['copy'] / middle['ours']:.0%}"]
        print(f"{workload.name:12}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
        for name, reason in others.items():
            if isinstance(reason, str):
                print(f"{'':12}  left out: {name}: {reason}")
    for title, ratios in (("medians", medians), ("best times", bests)):
        for name, values in ratios.items():
            if values:
                mean = math.exp(sum(map(math.log, values)) / len(values))
                print(f"{title}: {name}/ours {mean:.2f} geometric mean, {min(values):.2f} least")


def processor() -> str:
    """Return the processor's name where Linux tells it, else its architecture."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float16"])
    parser.add_argument("--workloads", nargs="+", help="names; all of them if not given")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["NUMBA_NUM_THREADS"] = str(options.threads)  # read when numba is imported
    print(f"{processor()}; Python {platform.python_version()}, NumPy {np.__version__}, ", end="")
    print(f"torch {torch.__version__}, ONNX Runtime {onnxruntime.__version__}")
    print(f"ours: {backends.statuses()[0].reason}")
    names = options.workloads or [workload.name for workload in WORKLOADS]
    chosen = [workload for workload in WORKLOADS if workload.name in names]
    for dtype in options.dtypes:
        measure(dtype, chosen, options.threads, options.rounds)


if __name__ == "__main__":
    main()
