"""``ascend-col2im undeploy``: remove a deployed package."""

from __future__ import annotations

from pathlib import Path

import click

from ..toolchain import cann, deploying
from . import plans


@click.command()
@plans.vendor
@plans.install_path
@plans.log_file
@plans.dry_run
def undeploy(vendor: str, install_path: Path | None, log: Path | None, dry_run: bool) -> None:
    """Remove a deployed package.

    \b
      ascend-col2im undeploy
    A package in a directory of your own:
      ascend-col2im undeploy --install-path ~/packages
    """  # noqa: D301
    toolkit = cann.toolkit()
    where = deploying.place(toolkit, vendor, install_path)
    if plans.carry_out(deploying.removal(where, toolkit), dry_run=dry_run, log=log):
        click.echo(f"removed {where.package}")
