"""``ascend-col2im sim``: a simulated installation of CANN, for machines without an NPU."""

from __future__ import annotations

from pathlib import Path

import click

from ..toolchain import simulation
from . import plans


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@plans.jobs
@plans.log_file
@plans.dry_run
def sim(directory: Path, jobs: int, log: Path | None, dry_run: bool) -> None:
    """Make a simulated CANN, for machines without an NPU.

    DIRECTORY takes a toolkit, its runtime and a model of the NPU. Needs a C++17 compiler and make.
    Kernels run unchanged, every access checked; times are not those of a device. ASCEND_SIM_SOC
    chooses the product, such as Ascend910B1 or Ascend310B1.

    \b
      ascend-col2im sim ~/npu
      source ~/npu/set_env.sh
      ascend-col2im build --soc ascend910b && ascend-col2im deploy
    """  # noqa: D301
    plan = simulation.plan(directory, jobs)
    if plans.carry_out(plan, dry_run=dry_run, log=log):
        click.echo(f"made {plan.result}; to use it: source {plan.result}/set_env.sh")
