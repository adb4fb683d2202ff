"""Files with charts: the format by the name's ending, refused before any work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from ..errors import FileError
from .new_file import new_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = ("png", "svg", "pdf")

Draw = Callable[[ModuleType], "Figure"]


@contextmanager
def chart_file(path: Path) -> Iterator[Callable[[Draw], None]]:
    """Yield what draws into the file ``path``, which appears whole or not at all.

    It is called with a function that takes `ascend_col2im.charts` and returns a figure.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    FileError
        If the ending is none of `FORMATS`, or the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise FileError(f"{path}: a chart's name must end with one of {endings}")
    from .. import charts

    with new_file(path, []) as stream:

        def save(draw: Draw) -> None:
            charts.save(draw(charts), stream, kind)

        yield save
