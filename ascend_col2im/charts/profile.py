"""The picture of one launch: the first tiles of a core, the pipes' busy times, the cores' ends."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Chart
from matplotlib.patches import Patch

from ..kernel_model import Figure, Instruction
from ..kernel_model.timeline import ROWS
from .style import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure, plain

TILE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
TILES_SHOWN = 4


def profile(
    figure: Figure, instructions: Sequence[Instruction], core_us: Sequence[float]
) -> Chart:
    """Return the picture of a launch that was recorded under "opt"."""
    subtitle = (
        f"{figure.product}, {figure.dtype}, schedule {figure.schedule}: "
        f"{figure.time_us['opt']:.1f} µs where the floor is {figure.floor_us:.1f} µs; "
        "no time here was measured on a device"
    )
    title = f"{figure.workload}: one launch, modelled"
    chart = new_figure(11, 6.6, title, subtitle)
    grid = chart.add_gridspec(2, 2, height_ratios=(1.15, 1), width_ratios=(1, 1.5))
    _draw_tiles(chart.add_subplot(grid[0, :]), instructions, core_us)
    _draw_pipes(chart.add_subplot(grid[1, 0]), figure)
    _draw_cores(chart.add_subplot(grid[1, 1]), figure, core_us)
    return chart


def _draw_tiles(axes: Axes, instructions: Sequence[Instruction], core_us: Sequence[float]) -> None:
    """Draw the first tiles of the core that ends last, a row per pipe, a colour per tile."""
    busiest = max(range(len(core_us)), key=core_us.__getitem__)
    of = 1 + max(each.tile for each in instructions if each.core == busiest)
    plain(axes, f"core {busiest}: the first {min(of, TILES_SHOWN)} of its {of} tiles")
    shown = [each for each in instructions if each.core == busiest and each.tile < TILES_SHOWN]
    rows = list(ROWS)
    for each in shown:
        axes.broken_barh(
            [(each.begin_us, each.duration_us)],
            (rows.index(each.pipe) - 0.36, 0.72),
            facecolor=TILE_COLOURS[each.tile % len(TILE_COLOURS)],
            edgecolor="white",
            linewidth=0.4,
        )
    tiles = sorted({each.tile for each in shown})
    axes.set_yticks(range(len(rows)), [ROWS[row] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, max((each.begin_us + each.duration_us for each in shown), default=1))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("modelled µs")
    axes.legend(
        handles=[
            Patch(color=TILE_COLOURS[tile % len(TILE_COLOURS)], label=f"tile {tile}")
            for tile in tiles
        ],
        fontsize=8,
        frameon=False,
        ncols=len(tiles),
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0,
    )


def _draw_pipes(axes: Axes, figure: Figure) -> None:
    plain(axes, "the pipes")
    names = [pipe for pipe in ROWS if pipe in figure.share]
    shares = [figure.share[pipe] * 100 for pipe in names]
    bars = axes.barh(range(len(names)), shares, color=BLUE, height=0.6)
    axes.bar_label(bars, fmt="%.0f%%", fontsize=8, padding=3)
    axes.set_yticks(range(len(names)), [ROWS[name] for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 112)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("busy, % of the cores' time")


def _draw_cores(axes: Axes, figure: Figure, core_us: Sequence[float]) -> None:
    plain(axes, f"the cores: balance {figure.balance:.2f}")
    axes.bar(range(len(core_us)), core_us, color=BLUE, width=0.8)
    axes.axhline(figure.floor_us, color=GREY, linewidth=1.5, label="floor")
    axes.set_xlim(-0.6, max(len(core_us) - 0.4, 3))
    axes.set_ylim(0, max(core_us) * 1.22)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("core")
    axes.set_ylabel("modelled end, µs")
    axes.legend(fontsize=8, frameon=False, loc="upper right")
