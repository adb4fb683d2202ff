"""``ascend-col2im bench``: speed measured beside peers, or modelled for a device."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeVar

import click
from click.core import ParameterSource

from .. import bench as measuring
from .. import facts, kernel_model
from ..geometry import Ints
from . import bench_measured, bench_modelled, folds, options
from .bench_measured import LEAST_ROUNDS
from .new_file import check_distinct
from .options import Padding, Sizes

Name = TypeVar("Name", bound=str)

MODELLED_ALONE: Final = ("products", "ops")
MEASURED_ALONE: Final = ("names", "threads", "rounds", "without_peers")


@click.command(no_args_is_help=False)
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...")
@folds.fold_options
@click.option(
    "--dtype",
    "dtypes",
    multiple=True,
    type=click.Choice(tuple(facts.ACCUMULATORS)),
    default=("float32",),
    show_default=True,
    help="Give it once for each.",
)
@click.option(
    "--backend",
    "names",
    multiple=True,
    type=click.Choice(measuring.backend_names()),
    default=("cpu",),
    show_default=True,
    help="What to time: a backend, or one engine of the cpu backend. Give it once for each.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    default=measuring.usable_cores,
    show_default="the number of processors",
    help="For everyone alike.",
)
@click.option(
    "--rounds",
    type=click.IntRange(LEAST_ROUNDS),
    default=9,
    show_default=True,
    help="Times of each candidate, after one to warm up.",
)
@click.option("--no-peers", "without_peers", is_flag=True, help="Time this package alone.")
@click.option(
    "--modelled",
    is_flag=True,
    help="The kernels on the simulated NPU, beside a model of CANN's own fold: no time is "
    "measured. Needs a C++17 compiler.",
)
@click.option(
    "--product",
    "products",
    multiple=True,
    type=click.Choice(tuple(kernel_model.PRODUCTS)),
    default=("910B1",),
    show_default=True,
    help="A device to model. Give it once for each.",
)
@click.option(
    "--op",
    "ops",
    multiple=True,
    type=click.Choice(("col2im", "im2col")),
    default=("col2im",),
    show_default=True,
    help="What to model. Give it once for each.",
)
@click.option("--csv", "table", type=options.file_name, help="Write every number there.")
@click.option(
    "--plot", type=options.file_name, help="Draw charts: a .png, .svg or .pdf. Needs matplotlib."
)
@options.json_output
@click.pass_context
def bench(
    ctx: click.Context,
    workloads: tuple[str, ...],
    shape: Ints | None,
    kernel_size: Sizes | None,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    dtypes: tuple[str, ...],
    names: tuple[str, ...],
    threads: int,
    rounds: int,
    without_peers: bool,
    modelled: bool,
    products: tuple[str, ...],
    ops: tuple[kernel_model.Op, ...],
    table: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Time folds beside torch and ONNX Runtime, or model a device.

    Without a WORKLOAD, all of those in docs/performance.md. Everyone folds the same columns in
    turn, on the same threads; whoever gives other values is left out.

    \b
    What this machine does:
      ascend-col2im bench
    Two workloads in two dtypes, with a picture:
      ascend-col2im bench conv_grad small7 --dtype float32 --dtype float16 --plot bench.png
    A fold of your own, NumPy's way:
      ascend-col2im bench --shape 8,64,56,56 --kernel-size 3 --padding 1 --backend numpy
    What the kernels would do on two devices:
      ascend-col2im bench --modelled --product 910B1 --product 310B1
    """  # noqa: D301
    _check_options(ctx, modelled)
    check_distinct(table, plot)
    target = kernel_model.PRODUCTS[products[0]].target if modelled else "cpu"
    wanted = folds.chosen(ctx, workloads, shape, kernel_size, stride, padding, dilation, target)
    if modelled:
        asked = bench_modelled.Asked(
            wanted, _once(dtypes), _once(products), _once(ops), table, plot
        )
        bench_modelled.run(ctx, asked, as_json)
        return
    peers = () if without_peers else tuple(measuring.PEERS)
    bench_measured.run(
        ctx,
        bench_measured.Asked(
            wanted, _once(dtypes), _once(names), peers, threads, rounds, table, plot
        ),
        as_json,
    )


def _once(values: tuple[Name, ...]) -> tuple[Name, ...]:
    return tuple(dict.fromkeys(values))


def _check_options(ctx: click.Context, modelled: bool) -> None:
    """Refuse options that the other half of the command would take."""
    words = "bench --modelled takes no" if modelled else "only bench --modelled takes"
    unfit = MEASURED_ALONE if modelled else MODELLED_ALONE
    for parameter in ctx.command.params:
        given = ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        if parameter.name in unfit and given:
            raise click.UsageError(f"{words} {parameter.opts[-1]}")
