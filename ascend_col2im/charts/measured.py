"""The chart of a measurement: bandwidth under its roof, and how many times faster than peers.

A fold adds about once for each element it moves, whatever its kernel, so a roofline over
arithmetic intensity would be one point. What differs is how much is moved, and with it which cache
holds it: the roof here is a plain copy of the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..bench import Measurement, Run, geometric_means
from .style import (
    GREY,
    MARKERS,
    OURS,
    PEERS,
    label_points,
    legend_above,
    letters,
    logarithmic,
    new_figure,
    plain,
)

MEBI = 1024 * 1024
ONE_SIZE = 0.1  # what is within a tenth of each other is drawn as one size of copy
PEER_NAMES = {"torch": "torch", "onnxruntime": "ONNX Runtime"}


def measured(runs: Sequence[Run], subtitle: str) -> Figure:
    """Return two panels per dtype: bandwidth over size, and time of each peer over ours."""
    dtypes = list(dict.fromkeys(run.dtype for run in runs))
    rows = max(len([run for run in runs if run.dtype == dtype]) for dtype in dtypes)
    bars = len({(mean.backend, mean.peer) for mean in geometric_means(runs)})
    height = 1.6 + len(dtypes) * max(2.6, (0.14 + 0.1 * bars) * (rows + 1) + 1)
    figure = new_figure(11, height, "Col2Im on the CPU, measured", subtitle)
    panels = figure.subplots(len(dtypes), 2, squeeze=False)
    for (roof, ratio), dtype in zip(panels, dtypes, strict=True):
        of_dtype = [run for run in runs if run.dtype == dtype]
        signs = letters([run.fold.name for run in of_dtype])
        plain(roof, f"{dtype}: bandwidth")
        _draw_roof(roof, of_dtype, signs)
        plain(ratio, f"{dtype}: a peer's time over ours")
        _draw_ratios(ratio, of_dtype, signs)
    return figure


def _colour(index: int, each: Measurement) -> str:
    return PEERS.get(each.name, OURS[index % len(OURS)])


def _candidates(runs: Sequence[Run]) -> list[str]:
    names = [
        each.name for run in runs for kind in ("backend", "peer") for each in run.of_kind(kind)
    ]
    return list(dict.fromkeys(names))


def _draw_roof(axes: Axes, runs: Sequence[Run], signs: dict[str, str]) -> None:
    by_size = sorted(runs, key=lambda run: run.bytes)
    roof: dict[int, tuple[float, float]] = {}  # the best copy of nearly the same size
    for run in by_size:
        for copy in run.of_kind("copy"):
            size = run.bytes / MEBI
            near = round(math.log(size) / ONE_SIZE)
            roof[near] = max((run.gb_per_s(copy), size), roof.get(near, (0, 0)))
    axes.plot(
        [size for _, size in roof.values()],
        [bandwidth for bandwidth, _ in roof.values()],
        color=GREY,
        linewidth=1.5,
        label="roof: a plain copy",
    )
    for index, name in enumerate(_candidates(runs)):
        points = [(run, each) for run in by_size for each in run.measurements if each.name == name]
        ours = points[0][1].kind == "backend"
        colour = _colour(index, points[0][1])
        axes.plot(
            [run.bytes / MEBI for run, _ in points],
            [run.gb_per_s(each) for run, each in points],
            linestyle="none",
            marker=MARKERS[index % len(MARKERS)],
            markersize=6 if ours else 4.5,
            color=colour,
            markerfacecolor=colour if ours else "white",
            label=_label(points[0][1]),
        )
    for axis in (axes.xaxis, axes.yaxis):
        logarithmic(axis)
    first = [(run, run.of_kind("backend")[0]) for run in by_size]
    label_points(
        axes,
        [(run.bytes / MEBI, run.gb_per_s(each), signs[run.fold.name]) for run, each in first],
    )
    axes.set_xlabel("columns and image, MiB")
    axes.set_ylabel("bandwidth, GB/s")
    legend_above(axes)


def _label(each: Measurement) -> str:
    name = PEER_NAMES.get(each.name, f"ours: {each.name}")
    return name if each.clock == "measured" else f"{name} (modelled)"


def _draw_ratios(axes: Axes, runs: Sequence[Run], signs: dict[str, str]) -> None:
    """Draw a bar from 1 per workload, backend and peer, and the geometric means below."""
    pairs = [(mean.backend, mean.peer) for mean in geometric_means(runs)]
    several = len({backend for backend, _ in pairs}) > 1
    rows = [f"{signs[run.fold.name]}  {run.fold.name}" for run in runs] + ["geometric mean"]
    thickness = 0.8 / max(1, len(pairs))
    for index, (backend, peer) in enumerate(pairs):
        values = {
            row: run.ratios(ours)[peer]
            for row, run in enumerate(runs)
            for ours in run.of_kind("backend")
            if ours.name == backend and peer in run.ratios(ours)
        }
        (mean,) = (
            mean for mean in geometric_means(runs) if (mean.backend, mean.peer) == (backend, peer)
        )
        values[len(runs)] = mean.of_medians
        places = [row + (index + 0.5) * thickness - 0.4 for row in values]
        label = f"{PEER_NAMES[peer]} / {backend}" if several else PEER_NAMES[peer]
        bars = axes.barh(
            places,
            [value - 1 for value in values.values()],
            left=1,
            height=thickness * 0.9,
            color=PEERS[peer],
            hatch=("", "///", "...", "xx")[[b for b, p in pairs if p == peer].index(backend) % 4],
            edgecolor="white",
            label=label,
        )
        axes.bar_label(bars, [f"{value:.1f}" for value in values.values()], fontsize=7, padding=2)
    axes.set_yticks(range(len(rows)), rows)
    axes.axvline(1, color="black", linewidth=1)
    axes.axhline(len(runs) - 0.5, color=GREY, linewidth=0.6)
    logarithmic(axes.xaxis)
    axes.margins(x=0.12)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("times as long as ours; right of 1, ours is faster")
    if pairs:
        legend_above(axes)
    else:
        axes.text(0.5, 0.5, "no peer was timed", transform=axes.transAxes, ha="center")
