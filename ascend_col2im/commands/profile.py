"""``ascend-col2im profile``: one launch on the simulated NPU, instruction by instruction."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from .. import kernel_model
from ..geometry import Ints
from ..kernel_model import PRODUCTS, Figure
from ..kernel_model.figures import of_report
from ..kernel_model.timeline import ROWS
from ..simulator import LaunchReport
from ..workloads import Fold
from . import folds, options, simulated
from .charting import chart_file
from .new_file import check_distinct, new_file
from .options import Padding, Sizes
from .printing import Report, Table, quantity, shape_text, show

HEADERS: Final = ("pipe", "instructions", "bytes", "busy µs", "busy")


@click.command(no_args_is_help=False)
@click.argument("workload", required=False, metavar="[WORKLOAD]")
@folds.fold_options
@click.option(
    "--dtype",
    type=click.Choice(("float32", "float16", "bfloat16")),
    default="float32",
    show_default=True,
)
@click.option(
    "--product",
    type=click.Choice(tuple(PRODUCTS)),
    default="910B1",
    show_default=True,
    help="The device to model.",
)
@click.option(
    "--op",
    type=click.Choice(("col2im", "im2col")),
    default="col2im",
    show_default=True,
    help="What to launch.",
)
@click.option(
    "--trace",
    "trace_file",
    type=options.file_name,
    help="Write a Chrome trace there; https://ui.perfetto.dev opens it.",
)
@click.option(
    "--plot", type=options.file_name, help="Draw it: a .png, .svg or .pdf. Needs matplotlib."
)
@options.json_output
@click.pass_context
def profile(
    ctx: click.Context,
    workload: str | None,
    shape: Ints | None,
    kernel_size: Sizes | None,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    dtype: str,
    product: str,
    op: kernel_model.Op,
    trace_file: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Show what the kernel does in one launch, on the simulated NPU.

    Bytes, instructions and busy time of each pipe, time over floor, balance of the cores. Times
    are modelled, never measured; docs/profiling.md says how to read them. Needs a C++17 compiler.

    \b
    A workload of docs/performance.md:
      ascend-col2im profile conv_grad --trace trace.json --plot profile.png
    A fold of your own on the smallest device:
      ascend-col2im profile --shape 1,3,224,224 --kernel-size 16 --stride 16 --product 310B4
    """  # noqa: D301
    if workload is None and shape is None:
        raise click.UsageError("profile needs a WORKLOAD, such as conv_grad, or --shape")
    names = () if workload is None else (workload,)
    place = PRODUCTS[product]
    (fold,) = folds.chosen(ctx, names, shape, kernel_size, stride, padding, dilation, place.target)
    simulated.check_dtypes((product,), (dtype,))
    check_distinct(trace_file, plot)
    with ExitStack() as files:
        trace = files.enter_context(new_file(trace_file, [])) if trace_file else None
        chart = files.enter_context(chart_file(plot)) if plot else None
        kernels = simulated.kernels(place)
        report = kernels.launch(fold, dtype, op, trace="opt")
        figure = of_report(kernels, fold, dtype, op, report)
        found = kernel_model.instructions(report.trace or "")
        facts = _facts(fold, figure, report)
        if trace:
            about = {name: facts[name] for name in ("kind", "workload", "product", "dtype", "op")}
            text = json.dumps(kernel_model.chrome_trace(found, about), allow_nan=False)
            trace.write(text.encode())
        if chart:
            core_us = report.timing["opt"].core_us
            chart(lambda charts: charts.profile(figure, found, core_us))
        show(_report(fold, figure, report, facts), as_json)


def _facts(fold: Fold, figure: Figure, report: LaunchReport) -> dict[str, Any]:
    return {
        "kind": "modelled",
        **asdict(figure),
        "over_floor": figure.over_floor,
        "N": fold.N,
        "C": fold.C,
        **asdict(fold.geometry),
        "moved_bytes": report.moved_bytes,
        "scalar_calls": report.scalar_calls,
        "pipes": {
            pipe: {
                "instructions": count.instructions,
                "bytes": count.bytes,
                "busy_us": _busy_us(report, pipe),
                "share": report.timing["opt"].share.get(pipe),
            }
            for pipe, count in report.pipes.items()
            if pipe in ROWS
        },
        "core_us": list(report.timing["opt"].core_us),
    }


def _busy_us(report: LaunchReport, pipe: str) -> float:
    """Return the mean busy time of a pipe over the cores."""
    opt = report.timing["opt"]
    shares = {str(name): share for name, share in opt.share.items()}
    return shares[pipe] * sum(opt.core_us) / len(opt.core_us)


def _report(fold: Fold, figure: Figure, report: LaunchReport, facts: dict[str, Any]) -> Report:
    pipes = facts["pipes"]
    rows = tuple(
        (
            ROWS[pipe],
            f"{pipes[pipe]['instructions']:,}",
            f"{pipes[pipe]['bytes']:,}",
            f"{pipes[pipe]['busy_us']:.1f}",
            f"{pipes[pipe]['share']:.0%}",
        )
        for pipe in ROWS
    )
    over, cores = figure.over_floor, quantity(figure.cores, "core")
    lines = (
        ("modelled", "by the simulated NPU; nothing here was measured on a device"),
        ("fold", f"{fold.name}, {figure.op}: image {shape_text(fold.image_shape)} {figure.dtype}"),
        ("plan", f"{figure.schedule} on {cores} of {figure.product}"),
        (
            "moved",
            f"{report.moved_bytes:,} bytes, {figure.traffic:.3f} of the "
            f"{figure.compulsory_bytes:,} compulsory",
        ),
        (
            "floor",
            f"{figure.floor_us:.1f} µs: those at the chip's bandwidth, or the additions if longer",
        ),
        ("time, opt", f"{figure.time_us['opt']:.1f} µs, {over['opt']:.2f} of the floor"),
        ("time, pess", f"{figure.time_us['pess']:.1f} µs, {over['pess']:.2f} of the floor"),
        ("balance", f"{figure.balance:.2f}: the cores' mean time over the longest"),
        ("launch", _launch_cost(figure)),
        ("scalar unit", f"{figure.cycles_per_call:.0f} cycles for each call it issues"),
    )
    return Report(facts, lines, Table(HEADERS, rows))


def _launch_cost(figure: Figure) -> str:
    if not figure.launch_us:
        return f"not in the times above, and not published for {figure.product}"
    return f"{figure.launch_us:.0f} µs more, not in the times above"
