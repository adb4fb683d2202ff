"""The half of `bench` that measures: rounds, a table, and what was asked for as files."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from .. import bench as measuring
from .. import npu_backend, opp, rules
from ..aclnn import target
from ..bench import Measurement, Run
from ..workloads import Fold
from .charting import chart_file
from .new_file import new_file
from .printing import Report, Table, counted, quantity, show

LEAST_ROUNDS: Final = 7

PEER_NAMES: Final = {"torch": "torch", "onnxruntime": "ONNX Runtime"}


@dataclass(frozen=True)
class Asked:
    """What is to be measured, and the files that take it."""

    folds: Sequence[Fold]
    dtypes: Sequence[str]
    backends: tuple[str, ...]
    peers: tuple[str, ...]
    threads: int
    rounds: int
    table: Path | None
    plot: Path | None


def run(ctx: click.Context, asked: Asked, as_json: bool) -> None:
    """Measure, write the files, show the report; an interrupt shows what is there already.

    Raises
    ------
    Col2ImError
        As the rules, the backends and the files have it.
    """
    measuring.limit_threads(asked.threads)
    device = _device() if "npu" in asked.backends else None
    for dtype in asked.dtypes:
        for name in asked.backends:
            rules.check_dtype("bench", "col", dtype, _target_of(name))
    missing = {name: why for name, why in measuring.missing_peers().items() if name in asked.peers}
    peers = tuple(name for name in asked.peers if name not in missing)
    with ExitStack() as files:
        table = files.enter_context(new_file(asked.table, [])) if asked.table else None
        chart = files.enter_context(chart_file(asked.plot)) if asked.plot else None
        runs, interrupted = _measure(asked, peers)
        found = measuring.facts_of(
            runs,
            threads=asked.threads,
            rounds=asked.rounds,
            peers_missing=missing,
            device=device,
            interrupted=interrupted,
        )
        if not interrupted:
            if table:
                table.write(measuring.csv_lines(runs, asked.threads).encode())
            if chart:
                chart(lambda charts: charts.measured(runs, _subtitle(found)))
        show(_report(found, runs, peers), as_json)
        if interrupted:
            done, total = len(runs), len(asked.folds) * len(asked.dtypes)
            files_note = "; no file was written" if asked.table or asked.plot else ""
            click.echo(f"interrupted after {done} of {total}{files_note}", err=True)
            ctx.exit(130)


def _target_of(backend: str) -> str:
    return target().name if backend == "npu" else "cpu"


def _device() -> dict[str, str]:
    """Return what the device is, and the version of CANN that drives it."""
    words = npu_backend.require("col2im")
    soc = opp.runtime().aclrtGetSocName()
    declared = opp.declarations()
    return {
        "soc": soc.decode(),
        "cann": declared.get("Version", "unknown"),
        "event_times": declared.get("event_times", "measured"),
        "operator": words,
    }


def _measure(asked: Asked, peers: tuple[str, ...]) -> tuple[list[Run], bool]:
    """Return the runs, and whether they were interrupted."""
    runs: list[Run] = []
    jobs = [(fold, dtype) for dtype in asked.dtypes for fold in asked.folds]
    try:
        with counted(len(jobs)) as announce:
            for fold, dtype in jobs:
                announce(f"{fold.name} {dtype}")
                runs.append(
                    measuring.measured(
                        fold,
                        dtype,
                        asked.backends,
                        peers,
                        threads=asked.threads,
                        rounds=asked.rounds,
                    )
                )
    except KeyboardInterrupt:
        return runs, True
    return runs, False


def _report(found: dict[str, Any], runs: Sequence[Run], peers: tuple[str, ...]) -> Report:
    columns = tuple(f"{PEER_NAMES[peer]}/ours" for peer in peers)
    headers = ("workload", "dtype", "backend", "ms", "middle half", "GB/s", "of a copy", *columns)
    rows = tuple(_row(run, ours, peers) for run in runs for ours in run.of_kind("backend"))
    lines = [
        ("processor", f"{found['processor']}, {quantity(found['cores'], 'core')}"),
        ("versions", ", ".join(f"{name} {text}" for name, text in found["versions"].items())),
        ("how", f"{_threads(found)}, medians of {found['rounds']} rounds in turn"),
    ]
    if found["device"]:
        device = found["device"]
        lines.append(("npu", f"{device['soc']}, CANN {device['cann']}; {device['operator']}"))
        lines.append(("npu times", f"{device['event_times']}, by the device's events"))
    lines += [("peer missing", why) for why in found["peers_missing"].values()]
    lines += [
        ("left out", f"{run.fold.name} {run.dtype}: {PEER_NAMES[name]} {why}")
        for run in runs
        for name, why in run.left_out.items()
    ]
    lines += [
        (
            "geometric mean",
            f"{PEER_NAMES[mean['peer']]}/{mean['backend']} {mean['of_medians']:.2f} in "
            f"{mean['dtype']} over {quantity(mean['workloads'], 'workload')}, least "
            f"{mean['least']:.2f}; of best times {mean['of_best']:.2f}",
        )
        for mean in found["geometric_means"]
    ]
    return Report(found, tuple(lines), Table(headers, rows))


def _row(run: Run, ours: Measurement, peers: tuple[str, ...]) -> tuple[str, ...]:
    low, high = ours.quartiles
    of_copy, ratios = run.of_copy(ours), run.ratios(ours)
    backend = ours.name if ours.clock == "measured" else f"{ours.name}, modelled"
    return (
        run.fold.name,
        run.dtype,
        backend,
        milliseconds(ours.median),
        f"{milliseconds(low)}-{milliseconds(high)}",
        f"{run.gb_per_s(ours):.1f}",
        "" if of_copy is None else f"{of_copy:.0%}",
        *(f"{ratios[peer]:.2f}" if peer in ratios else "" for peer in peers),
    )


def milliseconds(seconds: float) -> str:
    """Write a time in ms with three digits."""
    value = seconds * 1e3
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _threads(found: dict[str, Any]) -> str:
    return quantity(found["threads"], "thread")


def _subtitle(found: dict[str, Any]) -> str:
    shown = {name: text for name, text in found["versions"].items() if name != "ascend-col2im"}
    versions = ", ".join(f"{name} {text}" for name, text in shown.items())
    return (
        f"{found['processor']}, {_threads(found)}, medians of {found['rounds']}; "
        f"{platform.system()}, {versions}"
    )
