"""``ascend-col2im build``: the operator package, with whatever toolkit is in use."""

from __future__ import annotations

from pathlib import Path

import click

from ..toolchain import building, cann
from . import plans


@click.command()
@click.option(
    "--soc",
    "socs",
    multiple=True,
    default=("ascend910b",),
    show_default=True,
    metavar="SOC",
    help=f"A product to build for: {', '.join(cann.SOCS)}. Give it once for each.",
)
@plans.vendor
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default="build_out",
    show_default=True,
    help="The directory that takes the package.",
)
@plans.jobs
@click.option(
    "--way",
    type=click.Choice(building.WAYS),
    help="CMake functions (CANN 9), project template (CANN 8) or ops-math; by default the first "
    "that is there.",
)
@click.option(
    "--ops-math",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A checkout of ops-math to build in a copy of.",
)
@plans.log_file
@plans.dry_run
def build(
    socs: tuple[str, ...],
    vendor: str,
    output: Path,
    jobs: int,
    way: building.Way | None,
    ops_math: Path | None,
    log: Path | None,
    dry_run: bool,
) -> None:
    """Build the operator package as one self-installing file.

    \b
    For Atlas A2, with the toolkit whose set_env.sh was sourced:
      ascend-col2im build --soc ascend910b
    For both products, and what would be done:
      ascend-col2im build --soc ascend910b --soc ascend310b --dry-run
    """  # noqa: D301
    request = building.Request(
        tuple(soc.lower() for soc in socs), vendor, output.absolute(), jobs, way, ops_math
    )
    plan = building.plan(request, cann.toolkit())
    if plans.carry_out(plan, dry_run=dry_run, log=log):
        click.echo(f"built {plan.result}")
