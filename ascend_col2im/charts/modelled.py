"""The chart of modelled figures: bandwidth under the chip's roof, and time over floor."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Chart
from matplotlib.ticker import LogLocator

from ..kernel_model import PRODUCTS, Figure
from ..simulator import Assumption
from .style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    MARKERS,
    VERMILION,
    label_points,
    legend_above,
    letters,
    logarithmic,
    new_figure,
    plain,
)

COLOURS = {"float32": BLUE, "float16": GREEN, "bfloat16": BLACK}
MEBI = 1024 * 1024
DECADE = 10


def modelled(figures: Sequence[Figure]) -> Chart:
    """Return two panels per operation and product: bandwidth over size, and time over floor."""
    places = list(dict.fromkeys((figure.op, figure.product) for figure in figures))
    names = list(dict.fromkeys(figure.workload for figure in figures))
    height = 1.6 + len(places) * max(2.8, 0.36 * len(names) + 1.2)
    subtitle = (
        "No time here was measured on a device: it is the simulated NPU's cost table. "
        "A bar reaches from published burst rates to whole 128-byte lines for every burst."
    )
    chart = new_figure(11, height, "The kernels, modelled", subtitle)
    panels = chart.subplots(len(places), 2, squeeze=False)
    signs = letters(names)
    for (roof, floor), (op, product) in zip(panels, places, strict=True):
        of_place = [figure for figure in figures if (figure.op, figure.product) == (op, product)]
        what = product if op == "col2im" else f"{product}, im2col"
        plain(roof, f"{what}: bandwidth")
        _draw_roof(roof, of_place, signs)
        plain(floor, f"{what}: time over floor")
        _draw_floor(floor, of_place, names, signs)
    return chart


def _draw_roof(axes: Axes, figures: Sequence[Figure], signs: dict[str, str]) -> None:
    roof = PRODUCTS[figures[0].product].gb_per_s
    axes.axhline(roof, color=GREY, linewidth=1.5, label=f"roof: {roof:,.0f} GB/s")
    lowest = roof
    labelled: list[tuple[float, float, str]] = []
    for index, dtype in enumerate(dict.fromkeys(figure.dtype for figure in figures)):
        of_dtype = [figure for figure in figures if figure.dtype == dtype]
        size = [figure.compulsory_bytes / MEBI for figure in of_dtype]
        best = [_gb_per_s(figure, "opt") for figure in of_dtype]
        worst = [_gb_per_s(figure, "pess") for figure in of_dtype]
        low, high = zip(*map(sorted, zip(best, worst, strict=True)), strict=True)
        axes.vlines(size, low, high, color=COLOURS[dtype], linewidth=1)
        axes.plot(
            size,
            best,
            linestyle="none",
            marker=MARKERS[index],
            markersize=5,
            color=COLOURS[dtype],
            label=dtype,
        )
        lowest = min(lowest, *low)
        if index == 0:
            labelled = [
                (x, y, signs[figure.workload])
                for x, y, figure in zip(size, best, of_dtype, strict=True)
            ]
    logarithmic(axes.xaxis)
    axes.set_ylim(lowest * 0.92, max(roof * 1.05, axes.get_ylim()[1]))
    label_points(axes, labelled)
    axes.set_xlabel("columns and image, MiB")
    axes.set_ylabel("modelled bandwidth, GB/s")
    legend_above(axes)


def _gb_per_s(figure: Figure, assumption: Assumption) -> float:
    return figure.compulsory_bytes / figure.time_us[assumption] / 1e3


def _draw_floor(
    axes: Axes, figures: Sequence[Figure], names: Sequence[str], signs: dict[str, str]
) -> None:
    dtypes = list(dict.fromkeys(figure.dtype for figure in figures))
    thickness = 0.8 / len(dtypes)
    for index, dtype in enumerate(dtypes):
        of_dtype = [figure for figure in figures if figure.dtype == dtype]
        places = [
            names.index(figure.workload) + (index + 0.5) * thickness - 0.4 for figure in of_dtype
        ]
        best = [figure.over_floor["opt"] for figure in of_dtype]
        worst = [figure.over_floor["pess"] for figure in of_dtype]
        axes.hlines(places, best, worst, color=COLOURS[dtype], linewidth=2)
        axes.plot(
            best,
            places,
            linestyle="none",
            marker=MARKERS[index],
            markersize=4,
            color=COLOURS[dtype],
            label=dtype,
        )
        peers = [
            (figure.peer.time_us["opt"] / figure.floor_us, place)
            for figure, place in zip(of_dtype, places, strict=True)
            if figure.peer
        ]
        if peers:
            axes.plot(
                [time for time, _ in peers],
                [place for _, place in peers],
                linestyle="none",
                marker=MARKERS[index],
                markersize=4,
                color=VERMILION,
                markerfacecolor="white",
                label="" if index else "aclnnIm2colBackward",
            )
    axes.set_yticks(range(len(names)), [f"{signs[name]}  {name}" for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(1, color="black", linewidth=1)
    if axes.get_xlim()[1] > DECADE:
        logarithmic(axes.xaxis)
        axes.xaxis.set_major_locator(LogLocator(numticks=99))
    axes.set_xlabel("modelled time over floor")
    legend_above(axes)
