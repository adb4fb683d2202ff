"""The modelled figures of a fold: traffic, time over floor, balance, pipes, and the peer's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..peer_model import peer
from ..simulator import Assumption, LaunchReport, Pipe
from ..workloads import Fold
from .launching import ASSUMPTIONS, Kernels, Op


@dataclass(frozen=True)
class PeerFigure:
    """What aclnnIm2colBackward needs for the same fold: `ascend_col2im.peer_model`."""

    traffic: float
    time_us: Mapping[Assumption, float]


@dataclass(frozen=True)
class Figure:
    """One fold on one product, modelled.

    Attributes
    ----------
    traffic : bytes moved over bytes compulsory
    floor_us : the compulsory bytes at the chip's bandwidth, or the compulsory additions on all its
        vector lanes, whichever takes longer
    time_us : per assumption on bursts, without launch cost and scalar work
    balance : mean busy time of the cores over that of the busiest, "opt"
    share : busy time of each pipe over that of the cores, "opt"
    cycles_per_call : "opt" cycles for each call that the scalar unit issues
    launch_us : cost of a launch, not in ``time_us``
    peer : None where that operator does not exist
    """

    product: str
    dtype: str
    op: Op
    workload: str
    schedule: str
    cores: int
    compulsory_bytes: int
    traffic: float
    floor_us: float
    time_us: Mapping[Assumption, float]
    balance: float
    share: Mapping[Pipe, float]
    cycles_per_call: float
    launch_us: float
    peer: PeerFigure | None

    @property
    def over_floor(self) -> dict[Assumption, float]:
        """Time over floor."""
        return {name: self.time_us[name] / self.floor_us for name in ASSUMPTIONS}

    @property
    def peer_over_ours(self) -> float | None:
        """The peer's time over ours, "opt"."""
        return self.peer.time_us["opt"] / self.time_us["opt"] if self.peer else None


def figure(kernels: Kernels, fold: Fold, dtype: str, op: Op = "col2im") -> Figure:
    """Launch one fold and return its figures.

    Raises
    ------
    BackendError
        As `Kernels.launch` does.
    """
    return of_report(kernels, fold, dtype, op, kernels.launch(fold, dtype, op))


def of_report(kernels: Kernels, fold: Fold, dtype: str, op: Op, report: LaunchReport) -> Figure:
    """Return the figures of a launch that was recorded."""
    plan = kernels.plan(fold, dtype, op)
    opt = report.timing["opt"]
    other = (
        peer(fold.geometry, fold.N, fold.C, dtype, kernels.product.name)
        if op == "col2im"
        else None
    )
    return Figure(
        product=kernels.product.name,
        dtype=dtype,
        op=op,
        workload=fold.name,
        schedule=plan.schedule,
        cores=plan.cores,
        compulsory_bytes=report.compulsory_bytes,
        traffic=report.traffic,
        floor_us=opt.floor_us,
        time_us={name: report.timing[name].time_us for name in ASSUMPTIONS},
        balance=opt.balance,
        share=dict(opt.share),
        cycles_per_call=opt.cycles_per_scalar_call,
        launch_us=report.launch_us,
        peer=PeerFigure(other.traffic, dict(other.time_us)) if other else None,
    )


def means(figures: Iterable[Figure]) -> dict[Assumption, tuple[float, float]]:
    """Return geometric mean and worst of time over floor, per assumption."""
    ratios = [figure.over_floor for figure in figures]
    return {
        name: (
            math.exp(sum(math.log(ratio[name]) for ratio in ratios) / len(ratios)),
            max(ratio[name] for ratio in ratios),
        )
        for name in ASSUMPTIONS
    }
