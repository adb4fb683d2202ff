"""What follows from times: medians, spread, ratios to peers, bandwidth; as JSON and as CSV.

docs/measuring.md documents every field.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import Any, Literal

from ..workloads import Fold
from . import machine

Kind = Literal["backend", "peer", "copy"]
Clock = Literal["measured", "modelled"]


@dataclass(frozen=True)
class Measurement:
    """One candidate's times over all rounds, in seconds, and what they come from."""

    name: str
    kind: Kind
    clock: Clock
    seconds: tuple[float, ...]

    @property
    def on_this_cpu(self) -> bool:
        """Whether the copy and the peers, which run on this CPU, can be set against it."""
        return self.name != "npu"

    @property
    def median(self) -> float:
        """The middle of the times."""
        return median(self.seconds)

    @property
    def best(self) -> float:
        """The least of the times."""
        return min(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Between which the middle half of the times lies."""
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return low, high


@dataclass(frozen=True)
class Run:
    """One fold in one dtype: all measurements, and who was left out with the reason.

    ``bytes`` are those of columns and image: what any fold must move.
    """

    fold: Fold
    dtype: str
    bytes: int
    measurements: tuple[Measurement, ...]
    left_out: Mapping[str, str]

    def of_kind(self, kind: Kind) -> tuple[Measurement, ...]:
        """Return the measurements of one kind."""
        return tuple(each for each in self.measurements if each.kind == kind)

    def gb_per_s(self, measurement: Measurement) -> float:
        """Return the bandwidth that the fold's own bytes amount to."""
        return self.bytes / measurement.median / 1e9

    def of_copy(self, measurement: Measurement) -> float | None:
        """Return the bandwidth as a share of a plain copy's; None for a time not of this CPU."""
        copies = self.of_kind("copy")
        if not copies or not measurement.on_this_cpu:
            return None
        return copies[0].median / measurement.median

    def ratios(self, ours: Measurement) -> dict[str, float]:
        """Return each peer's median over ours: above 1, ours is faster."""
        if not ours.on_this_cpu:
            return {}
        return {peer.name: peer.median / ours.median for peer in self.of_kind("peer")}


@dataclass(frozen=True)
class Mean:
    """A backend against a peer over the workloads that both did, in one dtype."""

    dtype: str
    backend: str
    peer: str
    workloads: int
    of_medians: float
    least: float
    of_best: float


def geometric_means(runs: Sequence[Run]) -> list[Mean]:
    """Return the geometric means of ratios, by dtype, backend and peer."""
    ratios: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for run in runs:
        for ours in run.of_kind("backend"):
            for peer in run.of_kind("peer") if ours.on_this_cpu else ():
                pair = (peer.median / ours.median, peer.best / ours.best)
                ratios.setdefault((run.dtype, ours.name, peer.name), []).append(pair)
    return [
        Mean(
            *key,
            workloads=len(pairs),
            of_medians=_mean([medians for medians, _ in pairs]),
            least=min(medians for medians, _ in pairs),
            of_best=_mean([best for _, best in pairs]),
        )
        for key, pairs in ratios.items()
    ]


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def facts_of(
    runs: Sequence[Run],
    *,
    threads: int,
    rounds: int,
    peers_missing: Mapping[str, str],
    device: Mapping[str, str] | None,
    interrupted: bool,
) -> dict[str, Any]:
    """Return everything as one JSON object."""
    return {
        "kind": "measured",
        "versions": machine.versions(),
        "processor": machine.processor(),
        "cores": machine.usable_cores(),
        "threads": threads,
        "rounds": rounds,
        "device": device,
        "peers_missing": dict(peers_missing),
        "interrupted": interrupted,
        "runs": [_run_facts(run) for run in runs],
        "geometric_means": [asdict(mean) for mean in geometric_means(runs)],
    }


def _run_facts(run: Run) -> dict[str, Any]:
    return {
        "workload": run.fold.name,
        "N": run.fold.N,
        "C": run.fold.C,
        **asdict(run.fold.geometry),
        "dtype": run.dtype,
        "bytes": run.bytes,
        "measurements": [
            {
                "name": each.name,
                "kind": each.kind,
                "clock": each.clock,
                "median_s": each.median,
                "quartiles_s": list(each.quartiles),
                "best_s": each.best,
                "gb_per_s": run.gb_per_s(each),
                "of_copy": run.of_copy(each),
                "peer_ratios": run.ratios(each) if each.kind == "backend" else {},
            }
            for each in run.measurements
        ],
        "left_out": dict(run.left_out),
    }


CSV_COLUMNS = (
    *("workload", "dtype", "bytes", "name", "kind", "clock", "threads", "rounds"),
    *("median_s", "low_quartile_s", "high_quartile_s", "best_s", "gb_per_s", "of_copy"),
)


def csv_lines(runs: Sequence[Run], threads: int) -> str:
    """Return a table with a line per run and measurement; empty where there is no value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for run in runs:
        for each in run.measurements:
            of_copy = run.of_copy(each)
            writer.writerow(
                [
                    *(run.fold.name, run.dtype, run.bytes, each.name, each.kind, each.clock),
                    *(threads, len(each.seconds), each.median, *each.quartiles, each.best),
                    run.gb_per_s(each),
                    "" if of_copy is None else of_copy,
                ]
            )
    return text.getvalue()
