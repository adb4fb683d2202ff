"""What all charts share: colours, letters for workloads, and how a figure becomes a file.

Source of the colours: Okabe and Ito, "Color Universal Design", which people with any common
colour vision can tell apart; markers and hatches differ as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any, BinaryIO, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

BLACK: Final = "#000000"
GREY: Final = "#8a8a8a"
BLUE: Final = "#0072b2"
ORANGE: Final = "#e69f00"
GREEN: Final = "#009e73"
VERMILION: Final = "#d55e00"
PURPLE: Final = "#cc79a7"
SKY: Final = "#56b4e9"

OURS: Final = (BLUE, SKY, GREEN, PURPLE, BLACK)
PEERS: Final = {"torch": VERMILION, "onnxruntime": ORANGE}
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
DPI: Final = 150
LEGEND_COLUMNS: Final = 4
LONG_LABEL: Final = 16  # characters; with longer ones half as many columns fit
NEAR_PIXELS: Final = 12
"""What a sign takes of a line and of its height, at the screen's 100 dots per inch."""

_SETTINGS: Final[Any] = {
    "font.size": 9,
    "axes.labelsize": 9,
    "svg.hashsalt": "ascend-col2im",
}


def new_figure(width: float, height: float, title: str, subtitle: str) -> Figure:
    """Return an empty figure with a title and a smaller line below it; sizes in inches."""
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height))
        figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - 0.62 / height))
        figure.text(0.01, 1 - 0.08 / height, title, va="top", fontsize=12, fontweight="bold")
        figure.text(0.01, 1 - 0.34 / height, subtitle, va="top", fontsize=8, color="#444444")
    return figure


def save(figure: Figure, stream: BinaryIO, kind: str) -> None:
    """Write a figure; the same one gives the same bytes."""
    date = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with rc_context(_SETTINGS):
        figure.savefig(stream, format=kind, dpi=DPI, metadata=date)


def plain(axes: Axes, title: str) -> None:
    """Give an axes its title, and leave of its frame what carries a scale, over a faint grid."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_title(title, loc="left", fontsize=10)
    axes.tick_params(labelsize=8)


def logarithmic(axis: Axis) -> None:
    """Scale an axis by powers, with a number at every 1, 2 and 5."""
    (axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale)("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=99))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend_above(axes: Axes) -> None:
    """Put the legend where no data can be: between the axes and its title, which gives way."""
    labels = axes.get_legend_handles_labels()[1]
    columns = LEGEND_COLUMNS if max(map(len, labels)) <= LONG_LABEL else LEGEND_COLUMNS // 2
    rows = math.ceil(len(labels) / columns)
    title = axes.get_title(loc="left")
    axes.set_title(title, loc="left", fontsize=10, pad=8 + 13 * rows)
    axes.legend(
        fontsize=8,
        frameon=False,
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        borderpad=0,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def label_points(axes: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Write each point's sign beside it; those of points that lie together as one word."""
    shown: list[tuple[float, float, list[str]]] = []
    for x, y, sign in sorted(points):
        at_x, at_y = axes.transData.transform((x, y))
        for other_x, other_y, signs in shown:
            reach = NEAR_PIXELS * (1 + len(signs))
            if abs(at_x - other_x) < reach and abs(at_y - other_y) < NEAR_PIXELS:
                signs.append(sign)
                break
        else:
            shown.append((at_x, at_y, [sign]))
    back = axes.transData.inverted()
    for at_x, at_y, signs in shown:
        axes.annotate(
            " ".join(sorted(signs)),
            tuple(back.transform((at_x, at_y))),
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=8,
        )


def letters(names: Sequence[str]) -> dict[str, str]:
    """Return a short sign for each name: a, b, ... z, aa, ab, ..."""
    signs = [*ascii_lowercase, *(a + b for a in ascii_lowercase for b in ascii_lowercase)]
    return dict(zip(names, signs, strict=False))
