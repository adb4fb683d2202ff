"""Draw how a tile is built, from a recorded launch: ``python -m tools.kernel_picture``.

Writes docs/images/tile.svg. Times are the simulated NPU's, modelled and not measured.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernel import cases
from tests.kernel.harness import DTYPES, Npu

PICTURE = Path(__file__).parent.parent / "docs/images/tile.svg"
WORKLOAD, DTYPE, PRODUCT = "conv_grad", "float16", "910B1"
TAP_INSTRUCTION = "Axpy"  # what adds a float16 tap

LEFT, TOP, ROW, BAR = 190, 70, 44, 28
PIXELS_PER_US = 330
ROWS = (
    *("MTE2 loads buffer A", "MTE2 loads buffer B"),
    *("V adds and rounds", "MTE3 stores"),
)
COLOURS = {
    "A": "#3b75af",
    "B": "#d9822b",
    "zeros": "#9a9a9a",
    "round": "#8e5ea2",
    "store": "#2f8f5b",
}
LEGEND = (
    ("A", "load, then addition, of a tap in buffer A"),
    ("B", "the same in buffer B"),
    ("zeros", "zeros: the sums; columns that wrap into the next row"),
    ("round", "round to float16"),
    ("store", "store"),
)


@dataclass(frozen=True)
class Bar:
    """One instruction: where and when it runs, in µs, and whether the tile or the next owns it."""

    row: int
    kind: str
    begin: float
    end: float
    label: str = ""
    next_tile: bool = False


@dataclass(frozen=True)
class Tile:
    """The first tile of a core, the beginning of the next, and how long buffers are held."""

    bars: tuple[Bar, ...]
    held: tuple[Bar, ...]
    end: float


def tile(trace: str) -> Tile:
    """Read the first tile of core 0 from a Chrome trace.

    Loads alternate between the two buffers and each is added by one instruction, in order.
    """
    events = sorted(
        (event for event in json.loads(trace)["traceEvents"] if event["pid"] == 0),
        key=lambda event: event["ts"],
    )
    store = next(event for event in events if event["tid"] == "MTE3")
    begin, end = store["ts"], store["ts"] + store["dur"]
    shown = [event for event in events if event["ts"] < end]
    loads = [event for event in shown if event["tid"] == "MTE2"]
    vector = [event for event in shown if event["tid"] == "V"]
    additions = [event for event in vector if event["name"] == TAP_INSTRUCTION]
    taps = sum(event["ts"] < begin for event in additions)

    def bar(row: int, kind: str, event: dict[str, Any], **more: Any) -> Bar:
        return Bar(row, kind, event["ts"], min(event["ts"] + event["dur"], end), **more)

    bars = [bar(3, "store", store, label="store")]
    held = []
    for i, load in enumerate(loads):
        later = i >= taps
        bars.append(bar(i % 2, "AB"[i % 2], load, label=f"tap {i % taps}", next_tile=later))
    for i, (load, addition) in enumerate(zip(loads, additions, strict=False)):
        later = i >= taps
        added = bar(2, "AB"[i % 2], addition, next_tile=later)
        bars.append(added)
        held.append(Bar(i % 2, added.kind, load["ts"] + load["dur"], added.end, next_tile=later))
    for event in vector:
        if event["name"] != TAP_INSTRUCTION:
            kind = "round" if event["name"] == "Cast" else "zeros"
            bars.append(bar(2, kind, event, next_tile=event["ts"] >= begin))
    return Tile(tuple(bars), tuple(held), end)


def _x(microseconds: float) -> float:
    return LEFT + microseconds * PIXELS_PER_US


def _text(x: float, y: float, words: str, anchor: str = "start", colour: str = "#222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def _rectangle(bar: Bar, height: int, opacity: float) -> str:
    y = TOP + bar.row * ROW + (ROW - height) / 2
    return (
        f'<rect x="{_x(bar.begin):.1f}" y="{y:.1f}" width="{_x(bar.end) - _x(bar.begin):.1f}" '
        f'height="{height}" fill="{COLOURS[bar.kind]}" opacity="{opacity}" stroke="white" '
        f'stroke-width="0.6"/>'
    )


def _axis(end: float) -> list[str]:
    bottom = TOP + len(ROWS) * ROW
    parts = []
    for tenth in range(0, int(end * 10) + 1, 5):
        x = _x(tenth / 10)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom + 6}" stroke="#ddd"/>')
        parts.append(_text(x, bottom + 22, f"{tenth / 10:.1f}", "middle"))
    parts.append(_text(LEFT - 14, bottom + 22, "modelled µs", "end"))
    return parts


def _legend() -> list[str]:
    parts = []
    y = TOP + len(ROWS) * ROW + 52
    for i, (kind, words) in enumerate(LEGEND):
        x, line = (LEFT, LEFT + 410)[i % 2], y + i // 2 * 24
        parts.append(
            f'<rect x="{x}" y="{line - 11}" width="14" height="14" fill="{COLOURS[kind]}"/>'
        )
        parts.append(_text(x + 22, line, words))
    x, line = LEFT + 410, y + len(LEGEND) // 2 * 24
    parts.append(_text(x, line, "thin: held until added; pale: the next tile"))
    return parts


def svg(drawn: Tile, title: str) -> str:
    """Return the picture."""
    width, height = int(_x(drawn.end)) + 30, TOP + len(ROWS) * ROW + 130
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="14">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="20" y="36" font-size="17" fill="#222">{title}</text>',
        *_axis(drawn.end),
        *(_text(LEFT - 14, TOP + (i + 0.5) * ROW + 5, row, "end") for i, row in enumerate(ROWS)),
        *(_rectangle(bar, 8, 0.25 if bar.next_tile else 0.6) for bar in drawn.held),
    ]
    for bar in drawn.bars:
        parts.append(_rectangle(bar, BAR, 0.4 if bar.next_tile else 1.0))
        if bar.label:
            middle = (_x(bar.begin) + _x(bar.end)) / 2
            colour = "#222" if bar.next_tile else "white"
            parts.append(
                _text(middle, TOP + (bar.row + 0.5) * ROW + 5, bar.label, "middle", colour)
            )
    return "\n".join([*parts, *_legend(), "</svg>\n"])


def record(npu: Npu) -> str:
    """Run the workload and return its trace."""
    case = cases.WORKLOADS[WORKLOAD]
    col = np.zeros(case.shapes[0], DTYPES[DTYPE][1])
    trace = npu.col2im(case, col, PRODUCT, trace="opt", check=False).trace
    assert trace
    return trace


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        recorded = record(Npu(Path(directory)))
    PICTURE.parent.mkdir(exist_ok=True)
    title = f"One tile of {WORKLOAD} on one core: {DTYPE}, 3 by 3 taps, {PRODUCT}"
    PICTURE.write_text(svg(tile(recorded), title), encoding="utf-8")
