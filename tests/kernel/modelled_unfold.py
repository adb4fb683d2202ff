"""Print the modelled figures of Im2ColNd: ``python -m tests.kernel.modelled_unfold``.

What the columns mean, and what the figures leave out, stands in `tests.kernel.modelled`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from . import cases
from .harness import DTYPES, MACHINES, Npu

PLACES = (("910B1", "float32"), ("910B1", "float16"), ("310B1", "float16"))
SCHEDULES = {0: "tap by tap", 5: "once"}
COLUMNS = (
    *("product", "dtype", "workload", "schedule", "bytes / compulsory", "floor µs"),
    *("opt", "pess", "balance", "V", "MTE2", "MTE3", "cycles / call"),
)


def rows(npu: Npu, names: list[str]) -> None:
    """Print one line per workload and place, and the geometric mean and worst of each place."""
    print("|", " | ".join(COLUMNS), "|")
    print("|" + "---|" * len(COLUMNS))
    for product, dtype in PLACES:
        ratios = []
        for name in names:
            case = cases.WORKLOADS[name]
            plan = npu.plan(case, dtype, MACHINES[product], im2col=True)
            image = np.zeros(case.shapes[1], DTYPES[dtype][1])
            report = npu.im2col(case, image, product, plan=plan, record=True, check=False)
            opt, pess = report.timing["opt"], report.timing["pess"]
            ratios.append((opt.time_us / opt.floor_us, pess.time_us / pess.floor_us))
            shares = " | ".join(f"{opt.share[pipe]:.2f}" for pipe in ("V", "MTE2", "MTE3"))
            print(
                f"| {product} | {dtype} | {name} | {SCHEDULES[plan.key]} | {report.traffic:.3f} | "
                f"{opt.floor_us:.1f} | {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} | "
                f"{opt.balance:.2f} | {shares} | {opt.cycles_per_scalar_call:.0f} |",
                flush=True,
            )
        mean, worst = np.exp(np.log(ratios).mean(0)), np.max(ratios, 0)
        print(
            f"| {product} | {dtype} | geometric mean (worst) | | | | "
            f"{mean[0]:.2f} ({worst[0]:.2f}) | {mean[1]:.2f} ({worst[1]:.2f}) | | | | | |",
            flush=True,
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        rows(Npu(Path(directory)), sys.argv[1:] or list(cases.WORKLOADS))
