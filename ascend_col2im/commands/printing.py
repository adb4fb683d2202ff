"""What commands print: rich tables for people, plain text in pipes, JSON for programs."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple, TextIO

import click

from ..errors import FileError

LONG_BYTES: Final = 256 * 1024 * 1024
"""Work on more than this, a good part of a second, shows a progress bar."""


class Table(NamedTuple):
    """Rows of text under headers."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """One command's outcome: ``facts`` for programs, ``table`` and ``lines`` for people."""

    facts: Mapping[str, object]
    lines: tuple[tuple[str, str], ...] = ()
    table: Table | None = None


def show(report: Report, as_json: bool) -> None:
    """Print a report on stdout."""
    if as_json:
        show_json(report.facts)
        return
    if report.table is not None:
        _show_table(report.table)
    if report.lines:
        if report.table is not None:
            _print("")
        width = max(len(name) for name, _ in report.lines)
        for name, text in report.lines:
            _print(f"{name:<{width}}  {printable(text)}")


def show_json(facts: Mapping[str, object]) -> None:
    """Print one JSON object on one line of stdout."""
    _print(json.dumps(facts, allow_nan=False))


def printable(text: str) -> str:
    """Escape what a terminal would obey, or the encoding of stdout lacks: names may hold any."""
    visible = "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    return visible.encode(encoding, "backslashreplace").decode(encoding)


def _print(line: str) -> None:
    try:
        click.echo(line)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader has seen enough; click ends the command
            raise
        raise FileError(f"standard output: cannot be written: {error.strerror}") from error


def shape_text(shape: Sequence[int]) -> str:
    """Write a shape for people: ``1 x 12 x 9``."""
    return " x ".join(map(str, shape))


def quantity(number: int, noun: str) -> str:
    """Write how many of something there are: ``1 core``, ``48 cores``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _show_table(table: Table) -> None:
    rows = [tuple(map(printable, row)) for row in table.rows]
    if people_look_at(sys.stdout) and _draw(table.headers, rows):
        return
    widths = [max(map(len, column)) for column in zip(table.headers, *rows, strict=True)]
    for row in (table.headers, *rows):
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        _print("  ".join(cells).rstrip())


def _draw(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Draw a table, unless the terminal is too narrow to show every word of it."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(*headers)
    for row in rows:
        drawn.add_row(*map(Text, row))
    console = Console()
    unlimited = console.options.update(max_width=10**6)
    fits = console.measure(drawn, options=unlimited).minimum <= console.width
    if fits:
        console.print(drawn)
    return fits


def people_look_at(stream: TextIO | None) -> bool:
    """Tell whether lines and colours help; https://no-color.org says when colours do not."""
    if stream is None or not stream.isatty():  # None where the command was started without it
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def progress(what: str, total_bytes: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr where that is a terminal and the work long; yield its advance."""
    if total_bytes <= LONG_BYTES or not people_look_at(sys.stderr):
        yield lambda done_bytes: None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total_bytes)
        yield lambda done_bytes: bar.advance(task, done_bytes)


@contextmanager
def counted(total: int) -> Iterator[Callable[[str], None]]:
    """Yield what announces the next of ``total`` items: on a bar on a terminal, else in a line."""
    begun = 0
    if not people_look_at(sys.stderr):

        def announce(text: str) -> None:
            nonlocal begun
            begun += 1
            click.echo(f"[{begun}/{total}] {text}", err=True)

        yield announce
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("{task.description}", markup=False),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def show_next(text: str) -> None:
            nonlocal begun
            bar.update(task, completed=begun, description=text)
            begun += 1

        yield show_next
