"""Showing a plan, or carrying it out while people watch: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from ..toolchain.runner import Progress, Watch, run
from ..toolchain.steps import Plan, lines
from ..toolchain.user_directories import user_directory
from .printing import people_look_at

Command = TypeVar("Command", bound=Callable[..., Any])

LINE_WIDTH: Final = 60

dry_run = click.option("--dry-run", is_flag=True, help="Print the commands; run none.")

log_file = click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where everything that the commands print goes "
    "(~/.local/state/ascend-col2im/COMMAND.log by default).",
)

jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="the number of processors",
    help="Compile so many files at once.",
)

vendor = click.option(
    "--vendor", default="custom", show_default=True, help="The package's vendor, its directory."
)

install_path = click.option(
    "--install-path",
    type=click.Path(file_okay=False, path_type=Path),
    help="A directory of your own instead of the toolkit's opp.",
)


def carry_out(plan: Plan, *, dry_run: bool, log: Path | None) -> bool:
    """Print a plan, or run it and tell whether it ran.

    Raises
    ------
    ToolchainError
        If a step fails.
    """
    if dry_run:
        for line in lines(plan):
            click.echo(line)
        return False
    with _watching(plan) as watch:
        run(plan, log or _usual_log(plan.what), watch)
    return True


def _usual_log(what: str) -> Path:
    return user_directory("XDG_STATE_HOME", ".local/state") / f"{what}.log"


@contextmanager
def _watching(plan: Plan) -> Iterator[Watch]:
    for name, text in plan.facts.items():
        click.echo(f"{name}: {text}", err=True)
    if not people_look_at(sys.stderr):
        yield _told_by_line()
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("{task.description}", markup=False),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(plan.steps))

        def watch(at: Progress) -> None:
            text = f"{at.title}: {at.line[:LINE_WIDTH]}" if at.line else at.title
            bar.update(task, completed=at.done, description=text)

        yield watch


def _told_by_line() -> Watch:
    """Return what prints one line for each step."""
    told = ""

    def watch(at: Progress) -> None:
        nonlocal told
        if at.title != told:
            told = at.title
            click.echo(f"[{int(at.done)}/{at.total}] {at.title}", err=True)

    return watch
