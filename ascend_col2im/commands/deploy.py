"""``ascend-col2im deploy``: a package into the toolkit, verified by a launch."""

from __future__ import annotations

from pathlib import Path

import click

from ..toolchain import cann, deploying
from . import plans


@click.command()
@click.argument("package", required=False, type=click.Path(dir_okay=False, path_type=Path))
@plans.vendor
@plans.install_path
@plans.log_file
@plans.dry_run
def deploy(
    package: Path | None,
    vendor: str,
    install_path: Path | None,
    log: Path | None,
    dry_run: bool,
) -> None:
    """Install a package, and verify it by a launch.

    Verifying means: its library loads, its functions resolve, calls reach it, and one launch has
    the bits of the CPU. PACKAGE is the .run file, by default the vendor's newest in build_out.
    What was deployed before is replaced only by a package that works, and put back if anything
    fails.

    \b
      ascend-col2im deploy
      ascend-col2im deploy build_out/cann-col2im-custom_linux-aarch64.run
    """  # noqa: D301
    toolkit = cann.toolkit()
    where = deploying.place(toolkit, vendor, install_path)
    found = package or deploying.find_package(Path("build_out"), vendor)
    if plans.carry_out(deploying.plan(found, where, toolkit), dry_run=dry_run, log=log):
        click.echo(f"deployed to {where.package}; verified by a launch")
        if where.private:
            script = where.package / "bin/set_env.bash"
            click.echo(f"to use it: source {script}")
