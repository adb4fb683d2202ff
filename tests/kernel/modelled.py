"""Print the modelled figures of the benchmarks' workloads: ``python -m tests.kernel.modelled``.

Times come from the simulated NPU's cost table, never from a device. "opt" charges strided bursts
at the published rates, "pess" whole lines per burst and the published loss of unaligned rows.
Launch cost and scalar work are not in them. The last three columns are aclnnIm2colBackward's, by
`ascend_col2im.peer_model`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from ascend_col2im.geometry import geometry
from ascend_col2im.peer_model import peer

from . import cases
from .harness import DTYPES, MACHINES, Case, Npu

PLACES = (
    *(("910B1", dtype) for dtype in DTYPES),
    *(("310B1", dtype) for dtype in ("float32", "float16")),
)
SCHEDULES = {1: "rows", 2: "flat", 3: "channels", 4: "neighbours"}
COLUMNS = (
    *("product", "dtype", "workload", "schedule", "bytes / compulsory", "floor µs"),
    *("opt", "pess", "balance", "V", "MTE2", "MTE3", "cycles / call"),
    *("peer: bytes / compulsory", "opt", "pess"),
)


def peer_cells(case: Case, dtype: str, product: str) -> str:
    """Return the three columns of what is there today, where there is anything."""
    found = peer(geometry(*case.parameters), case.N, case.C, dtype, product)
    if found is None:
        return " | | "
    times = (found.time_us[assumption] / found.floor_us for assumption in ("opt", "pess"))
    return " | ".join([f"{found.traffic:.1f}", *(f"{time:.1f}" for time in times)])


def rows(npu: Npu, names: list[str]) -> None:
    """Print one line per workload and place, and the geometric mean and worst of each place."""
    print("|", " | ".join(COLUMNS), "|")
    print("|" + "---|" * len(COLUMNS))
    for product, dtype in PLACES:
        ratios = []
        for name in names:
            case = cases.WORKLOADS[name]
            plan = npu.plan(case, dtype, MACHINES[product])
            col = np.zeros(case.shapes[0], DTYPES[dtype][1])
            report = npu.col2im(case, col, product, plan=plan, record=True, check=False)
            opt, pess = report.timing["opt"], report.timing["pess"]
            ratios.append((opt.time_us / opt.floor_us, pess.time_us / pess.floor_us))
            shares = " | ".join(f"{opt.share[pipe]:.2f}" for pipe in ("V", "MTE2", "MTE3"))
            print(
                f"| {product} | {dtype} | {name} | {SCHEDULES[plan.key]} | {report.traffic:.3f} | "
                f"{opt.floor_us:.1f} | {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} | "
                f"{opt.balance:.2f} | {shares} | {opt.cycles_per_scalar_call:.0f} | "
                f"{peer_cells(case, dtype, product)} |",
                flush=True,
            )
        mean, worst = np.exp(np.log(ratios).mean(0)), np.max(ratios, 0)
        print(
            f"| {product} | {dtype} | geometric mean (worst) | | | | "
            f"{mean[0]:.2f} ({worst[0]:.2f}) | {mean[1]:.2f} ({worst[1]:.2f}) | | | | | | | | |",
            flush=True,
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        rows(Npu(Path(directory)), sys.argv[1:] or list(cases.WORKLOADS))
