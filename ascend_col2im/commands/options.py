"""The options that commands share, and how their text becomes arguments of the operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import click

from .. import backends
from ..geometry import Ints
from ..messages import shown

Command = TypeVar("Command", bound=Callable[..., Any])
Sizes = int | Ints
Padding = int | tuple[int | Ints, ...]


@dataclass(frozen=True)
class Request:
    """What one ``run`` was asked for: the files to read, and None where an option was left out."""

    files: tuple[Path, ...]
    array: str | None
    output: Path | None
    output_size: Sizes | None
    kernel_size: Sizes | None
    stride: Sizes
    padding: Padding
    dilation: Sizes
    backend: backends.Name

    @property
    def target(self) -> Path:
        """The file to write, for jobs whose only outcome it is.

        Raises
        ------
        click.UsageError
            If none was named.
        """
        if self.output is None:
            raise click.UsageError("a result needs a file; name it with -o")
        return self.output


def parse_sizes(text: str) -> Sizes:
    """Read ``8``, ``4,5``, or ``5,`` for one axis alone.

    Raises
    ------
    ValueError
        If an entry is not an integer.
    """
    if "," not in text:
        return int(text)
    return tuple(int(entry) for entry in text.removesuffix(",").split(","))


def parse_padding(text: str) -> Padding:
    """Read what `parse_sizes` reads, each entry also as ``begin:end``.

    Raises
    ------
    ValueError
        If an entry is neither an integer nor a pair of them.
    """
    if ":" not in text:
        return parse_sizes(text)
    entries = text.removesuffix(",").split(",")
    return tuple(
        tuple(int(side) for side in entry.split(":")) if ":" in entry else int(entry)
        for entry in entries
    )


def _parsed_by(parse: Callable[[str], Padding], form: str) -> Callable[..., Padding | None]:
    def callback(
        ctx: click.Context, parameter: click.Parameter, text: str | None
    ) -> Padding | None:
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError:
            raise click.BadParameter(f"{shown(text)} is not {form}") from None

    return callback


_sizes = _parsed_by(parse_sizes, "an integer or a list of them such as 4,5")
_padding = _parsed_by(parse_padding, "an integer, a list such as 1,2, or pairs such as 0:1,2:0")

_FOLD: Final = (
    click.option("--output-size", callback=_sizes, metavar="SIZES", help="The image's size."),
    click.option(
        "--kernel-size", callback=_sizes, metavar="SIZES", help="The size of a window (patch)."
    ),
    click.option(
        "--stride",
        callback=_sizes,
        metavar="SIZES",
        default="1",
        show_default=True,
        help="Pixels from one window to the next.",
    ),
    click.option(
        "--padding",
        callback=_padding,
        metavar="SIZES",
        default="0",
        show_default=True,
        help="Pixels around the image; begin:end where the two sides differ, as 0:1,2:0.",
    ),
    click.option(
        "--dilation",
        callback=_sizes,
        metavar="SIZES",
        default="1",
        show_default=True,
        help="Pixels from one tap of a window to the next.",
    ),
)


def fold_parameters(command: Command) -> Command:
    """Add the operator's five parameters."""
    for option in reversed(_FOLD):
        command = option(command)
    return command


def window_parameters(command: Command) -> Command:
    """Add the operator's parameters but for the image's size."""
    for option in reversed(_FOLD[1:]):
        command = option(command)
    return command


class _FileName(click.Path):
    """The name of a file: not an empty one, which a path takes for the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


file_name: Final = _FileName(readable=False, path_type=Path)

output_file = click.option("-o", "--output", type=file_name, help="The file to write.")

array_name = click.option(
    "--array", metavar="NAME", help="Which array of an .npz file, where it holds several."
)

backend_name = click.option(
    "--backend",
    type=click.Choice(get_args(backends.Name)),
    default="auto",
    show_default=True,
    help="Where to compute; an explicit choice never falls back.",
)

json_output = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, also for an error."
)


def chosen_backend(asked: backends.Name) -> backends.Status:
    """Return the backend that arrays read from files run on, with the reason in words."""
    name = "cpu" if asked == "auto" else asked
    status = next(status for status in backends.statuses() if status.name == name)
    why = "auto: the arrays are in host memory" if asked == "auto" else "asked for"
    return status._replace(reason=f"{why}; {status.reason}")
