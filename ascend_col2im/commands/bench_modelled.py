"""The half of `bench` that models: the kernels on the simulated NPU beside CANN's own fold."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import click

from .. import __version__, kernel_model
from ..kernel_model import ASSUMPTIONS, PRODUCTS, Figure, Kernels, Op, PeerFigure
from ..simulator import Pipe
from ..workloads import Fold
from . import simulated
from .charting import chart_file
from .new_file import new_file
from .printing import Report, Table, counted, show

HEADERS: Final = (
    *("product", "dtype", "workload", "schedule", "cores", "bytes", "floor µs"),
    *("opt", "pess", "balance", "V", "MTE2", "MTE3", "cycles/call"),
    *("peer bytes", "peer opt", "peer pess"),
)

PIPES: Final[tuple[Pipe, ...]] = ("V", "MTE2", "MTE3")

LEGEND: Final = (
    ("modelled", "by the simulated NPU; nothing here was measured on a device"),
    ("bytes", "moved over compulsory: columns read once, image written once"),
    ("opt, pess", "time over floor: published rates for bursts; whole 128-byte lines for each"),
    ("V, MTE2, MTE3", "share of the time that the pipe is busy, opt"),
    ("cycles/call", "for each call of the scalar unit, whose work is not in the times"),
    ("peer", "aclnnIm2colBackward, which torch's fold reaches on Atlas A2: a lower bound"),
)


@dataclass(frozen=True)
class Asked:
    """What is to be modelled, and the files that take it."""

    folds: Sequence[Fold]
    dtypes: Sequence[str]
    products: Sequence[str]
    ops: Sequence[Op]
    table: Path | None
    plot: Path | None


def run(ctx: click.Context, asked: Asked, as_json: bool) -> None:
    """Model, write the files, show the report; an interrupt shows what is there already.

    Raises
    ------
    Col2ImError
        If the kernels cannot be built, or a product has none for a dtype.
    """
    with ExitStack() as files:
        table = files.enter_context(new_file(asked.table, [])) if asked.table else None
        chart = files.enter_context(chart_file(asked.plot)) if asked.plot else None
        places = [
            (PRODUCTS[product], dtype)
            for product in asked.products
            for dtype in asked.dtypes
            if dtype in PRODUCTS[product].dtypes
        ]
        simulated.check_dtypes(asked.products, asked.dtypes)
        kernels = {name: simulated.kernels(PRODUCTS[name]) for name in asked.products}
        jobs = [
            (kernels[product.name], fold, dtype, op)
            for op in asked.ops
            for product, dtype in places
            for fold in asked.folds
        ]
        figures, interrupted = _model(jobs)
        if table and not interrupted:
            table.write(csv_lines(figures).encode())
        if chart and not interrupted:
            chart(lambda charts: charts.modelled(figures))
        show(_report(figures, interrupted), as_json)
        if interrupted:
            note = "; no file was written" if asked.table or asked.plot else ""
            click.echo(f"interrupted after {len(figures)} of {len(jobs)}{note}", err=True)
            ctx.exit(130)


def _model(jobs: Sequence[tuple[Kernels, Fold, str, Op]]) -> tuple[list[Figure], bool]:
    figures: list[Figure] = []
    try:
        with counted(len(jobs)) as announce:
            for kernels, fold, dtype, op in jobs:
                announce(f"{kernels.product.name} {dtype} {op} {fold.name}")
                figures.append(kernel_model.figure(kernels, fold, dtype, op))
    except KeyboardInterrupt:
        return figures, True
    return figures, False


def places_of(figures: Sequence[Figure]) -> dict[tuple[Op, str, str], list[Figure]]:
    """Return the figures by operation, product and dtype."""
    places: dict[tuple[Op, str, str], list[Figure]] = {}
    for figure in figures:
        places.setdefault((figure.op, figure.product, figure.dtype), []).append(figure)
    return places


def facts_of(figures: Sequence[Figure], interrupted: bool = False) -> dict[str, Any]:
    """Return everything as one JSON object."""
    return {
        "kind": "modelled",
        "versions": {"ascend-col2im": __version__},
        "interrupted": interrupted,
        "figures": [
            {
                **asdict(figure),
                "over_floor": figure.over_floor,
                "peer_over_ours": figure.peer_over_ours,
            }
            for figure in figures
        ],
        "means": [
            {
                "op": op,
                "product": product,
                "dtype": dtype,
                **{
                    name: {"geometric_mean": mean, "worst": worst}
                    for name, (mean, worst) in kernel_model.means(group).items()
                },
            }
            for (op, product, dtype), group in places_of(figures).items()
        ],
    }


CSV_COLUMNS: Final = (
    *("product", "dtype", "op", "workload", "schedule", "cores", "compulsory_bytes", "traffic"),
    *("floor_us", "opt_us", "pess_us", "balance", "v_share", "mte2_share", "mte3_share"),
    *("cycles_per_call", "launch_us", "peer_traffic", "peer_opt_us", "peer_pess_us"),
)


def csv_lines(figures: Sequence[Figure]) -> str:
    """Return a table with a line per figure; empty where there is no peer."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for each in figures:
        peer = each.peer
        writer.writerow(
            [
                *(each.product, each.dtype, each.op, each.workload, each.schedule, each.cores),
                *(each.compulsory_bytes, each.traffic, each.floor_us),
                *(each.time_us[name] for name in ASSUMPTIONS),
                each.balance,
                *(each.share[pipe] for pipe in PIPES),
                *(each.cycles_per_call, each.launch_us),
                *(
                    [peer.traffic, *(peer.time_us[name] for name in ASSUMPTIONS)]
                    if peer
                    else [""] * 3
                ),
            ]
        )
    return text.getvalue()


def figure_of(facts: Mapping[str, Any]) -> Figure:
    """Return one of the figures that `facts_of` gave."""
    known = {field.name: facts[field.name] for field in fields(Figure)}
    peer = facts["peer"]
    return Figure(**{**known, "peer": PeerFigure(**peer) if peer else None})


def _report(figures: Sequence[Figure], interrupted: bool) -> Report:
    return Report(facts_of(figures, interrupted), LEGEND, Table(HEADERS, tuple(rows(figures))))


def rows(figures: Sequence[Figure]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table: every figure, and the means of each place."""
    for (_, product, dtype), group in places_of(figures).items():
        yield from map(_row, group)
        yield _mean_row(product, dtype, group)


def _row(figure: Figure) -> tuple[str, ...]:
    """Return a figure as text, a cell per header."""
    over = figure.over_floor
    peer: tuple[str, ...] = ("", "", "")
    if figure.peer:
        times = (figure.peer.time_us[name] / figure.floor_us for name in ASSUMPTIONS)
        peer = (f"{figure.peer.traffic:.1f}", *(f"{time:.1f}" for time in times))
    return (
        figure.product,
        figure.dtype,
        figure.workload,
        figure.schedule,
        str(figure.cores),
        f"{figure.traffic:.3f}",
        f"{figure.floor_us:.1f}",
        *(f"{over[name]:.2f}" for name in ASSUMPTIONS),
        f"{figure.balance:.2f}",
        *(f"{figure.share[pipe]:.2f}" for pipe in PIPES),
        f"{figure.cycles_per_call:.0f}",
        *peer,
    )


def _mean_row(product: str, dtype: str, figures: Sequence[Figure]) -> tuple[str, ...]:
    """Return the geometric means, with the worst in brackets, in the same cells."""
    found = kernel_model.means(figures)
    cells = [f"{mean:.2f} ({worst:.2f})" for mean, worst in (found[name] for name in ASSUMPTIONS)]
    blanks = [""] * (len(HEADERS) - 9)
    return (product, dtype, "geometric mean (worst)", "", "", "", "", *cells, *blanks)
