"""Measure and model everything docs/performance.md shows: ``python -m tools.performance``.

Writes docs/data/*.json and the charts by running the commands below, then the generated parts of
the documents. ``--modelled`` leaves out what is measured, which wants an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any, Final, NamedTuple

from ascend_col2im.commands import bench_modelled
from ascend_col2im.workloads import WORKLOADS

ROOT: Final = Path(__file__).parent.parent
DATA: Final = ROOT / "docs/data"

DTYPES: Final = "--dtype float32 --dtype float16"
PRODUCTS: Final = "--product 910B1 --product 310B1"
BACKENDS: Final = "--backend cpu --backend numpy"


class Source(NamedTuple):
    """A file of data, and the command whose output it is."""

    file: str
    command: str


MEASURED: Final = (
    Source("cpu-2-threads.json", f"bench --threads 2 {DTYPES} {BACKENDS} --rounds 15"),
    Source("cpu-1-thread.json", f"bench --threads 1 {DTYPES} {BACKENDS} --rounds 15"),
)
MODELLED: Final = Source(
    "modelled.json",
    f"bench --modelled {PRODUCTS} {DTYPES} --dtype bfloat16",
)
MODELLED_IM2COL: Final = Source(
    "modelled-im2col.json",
    f"bench --modelled --op im2col {PRODUCTS} {DTYPES} --dtype bfloat16",
)
CHARTS: Final = {
    MEASURED[0]: "bench.png",
    MODELLED: "modelled.png",
    Source("profile.json", "profile conv_grad --dtype float16"): "profile.png",
}
"""What is drawn into docs/images by which command."""


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table whose numbers stand to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, rule, *rows])


def data_of(source: Source) -> dict[str, Any]:
    """Return what a command printed when the data were last made."""
    found: dict[str, Any] = json.loads((DATA / source.file).read_text(encoding="utf-8"))
    return found


def setting() -> str:
    """Return on what the measured tables were measured, as a list."""
    lines = []
    for source in MEASURED:
        data = data_of(source)
        versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
        lines.append(
            f"- `ascend-col2im {source.command}` on {data['processor']}, {data['cores']} cores: "
            f"{versions}."
        )
    return "\n".join(lines)


def geometric_means() -> str:
    """Return how many times as long as ours, and as a copy, the peers take over all workloads."""
    header = [
        *("threads, dtype", "backend", "peer", "workloads", "geometric mean", "least"),
        "a copy's mean",
    ]
    rows = [
        [
            f"{data['threads']}, {mean['dtype']}",
            mean["backend"],
            mean["peer"],
            str(mean["workloads"]),
            f"{mean['of_medians']:.2f}",
            f"{mean['least']:.2f}",
            f"{_over_copy(data, mean['dtype'], mean['peer']):.2f}",
        ]
        for data in map(data_of, MEASURED)
        for mean in data["geometric_means"]
    ]
    return table(header, rows)


def _over_copy(data: dict[str, Any], dtype: str, peer: str) -> float:
    """Return the geometric mean of a peer's time over that of a copy of the same bytes."""
    ratios = []
    for run in data["runs"]:
        medians = {each["name"]: each["median_s"] for each in run["measurements"]}
        if run["dtype"] == dtype and peer in medians:
            ratios.append(medians[peer] / medians["copy"])
    return geometric_mean(ratios)


def measured() -> str:
    """Return one table per number of threads and dtype, a line per workload."""
    parts = []
    for data in map(data_of, MEASURED):
        threads = f"{data['threads']} thread{'s' * (data['threads'] > 1)}"
        for dtype in dict.fromkeys(run["dtype"] for run in data["runs"]):
            runs = [run for run in data["runs"] if run["dtype"] == dtype]
            parts.append(f"### {dtype}, {threads}\n\n{_measured_table(runs)}")
    return "\n\n".join(parts)


def _measured_table(runs: list[dict[str, Any]]) -> str:
    named = [{each["name"]: each for each in run["measurements"]} for run in runs]
    backends = [each["name"] for each in runs[0]["measurements"] if each["kind"] == "backend"]
    peers = list(
        dict.fromkeys(
            each["name"] for run in runs for each in run["measurements"] if each["kind"] == "peer"
        )
    )
    header = ["workload", "bytes"]
    for backend in backends:
        header += [f"{backend}, ms", "GB/s", "of a copy"]
        header += [f"{peer}/{backend}" for peer in peers]
    rows = []
    for run, found in zip(runs, named, strict=True):
        row = [run["workload"], f"{run['bytes'] / 1e6:.1f} MB"]
        for backend in backends:
            ours = found[backend]
            row += [
                f"{ours['median_s'] * 1e3:.2f}",
                f"{ours['gb_per_s']:.1f}",
                f"{ours['of_copy']:.0%}",
            ]
            row += [
                f"{ours['peer_ratios'][peer]:.2f}" if peer in ours["peer_ratios"] else ""
                for peer in peers
            ]
        rows.append(row)
    return table(header, rows)


def left_out() -> str:
    """Return which peers were left out of which workloads, and why."""
    reasons: dict[str, list[str]] = {}
    for run in data_of(MEASURED[0])["runs"]:
        for peer, why in run["left_out"].items():
            reasons.setdefault(f"{peer} {why}", []).append(f"`{run['workload']}` {run['dtype']}")
    lines = [f"- {why}: {', '.join(workloads)}." for why, workloads in reasons.items()]
    return "\n".join(lines) or "No peer was left out."


def modelled(source: Source) -> str:
    """Return the table of an operator's modelled figures."""
    figures = [bench_modelled.figure_of(facts) for facts in data_of(source)["figures"]]
    return table(list(bench_modelled.HEADERS), list(map(list, bench_modelled.rows(figures))))


def workloads() -> str:
    """Return what the workloads are."""
    header = ["name", "what it is", "N, C", "image", "kernel", "stride", "padding", "dilation"]

    def sizes(values: tuple[int, ...]) -> str:
        return (
            str(values[0]) if len(set(values)) == 1 < len(values) else "×".join(map(str, values))
        )

    rows = [
        [
            f"`{each.name}`",
            each.meaning,
            f"{each.N}, {each.C}",
            "×".join(map(str, each.output_size)),
            "×".join(map(str, each.kernel_size)),
            *map(sizes, (each.stride, each.padding, each.dilation)),
        ]
        for each in WORKLOADS
    ]
    return table(header, rows)


PARTS: Final[dict[str, Callable[[], str]]] = {
    "workloads": workloads,
    "performance-setting": setting,
    "performance-means": geometric_means,
    "performance-measured": measured,
    "performance-left-out": left_out,
    "performance-modelled": partial(modelled, MODELLED),
    "performance-modelled-im2col": partial(modelled, MODELLED_IM2COL),
}
"""The generated parts of docs/performance.md, which `tools.generate_docs` writes."""


def make(source: Source) -> None:
    """Run a command, and keep what it prints and draws."""
    command = [sys.executable, "-m", "ascend_col2im.cli", *shlex.split(source.command), "--json"]
    chart = CHARTS.get(source)
    if chart:
        command += ["--plot", str(ROOT / "docs/images" / chart)]
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    print("ascend-col2im", source.command, flush=True)
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    DATA.mkdir(exist_ok=True)
    text = json.dumps(json.loads(done.stdout), indent=1, ensure_ascii=False)
    if source in (*MEASURED, MODELLED, MODELLED_IM2COL):
        (DATA / source.file).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Make the data and charts, then the documents."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--modelled", action="store_true", help="leave out what is measured")
    measured_too = () if parser.parse_args().modelled else MEASURED
    charted = [each for each in CHARTS if each not in MEASURED]
    for source in (*measured_too, *charted, MODELLED_IM2COL):
        make(source)
    from tools import generate_docs

    for name in generate_docs.rewrite():
        print(f"{name}: rewritten")


if __name__ == "__main__":
    main()
