"""The instructions of a recorded launch: whose tile each works on, and the trace a viewer opens.

A core works through its tiles one after the other, in program order, and ends each with its
stores. So a tile is every instruction up to a store that a load or an addition follows; the pipes
still overlap, because each runs ahead as far as the queues let it.

Source of the format: "Trace Event Format", complete events ("X") with metadata ("M"), which
Perfetto and chrome://tracing open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

from ..simulator import Pipe

ROWS: Final[Mapping[Pipe, str]] = {"MTE2": "MTE2: loads", "V": "V: vector", "MTE3": "MTE3: stores"}
"""The pipes that do the work, in the order in which data pass through them."""


class Instruction(NamedTuple):
    """One instruction: where, on whose tile, what, when in modelled µs, and its bytes.

    ``bytes`` are of global memory for loads and stores, of the widest operand for V.
    """

    core: int
    pipe: Pipe
    tile: int
    api: str
    begin_us: float
    duration_us: float
    bytes: int


def instructions(trace: str) -> list[Instruction]:
    """Return the instructions of a simulator's trace, core by core in program order."""
    events = json.loads(trace)["traceEvents"]
    events.sort(key=lambda event: (event["pid"], event["args"]["step"]))
    found: list[Instruction] = []
    for core, of_core in groupby(events, key=lambda event: event["pid"]):
        tile, stored = 0, False
        for event in of_core:
            stores = event["tid"] == "MTE3"
            tile += stored and not stores
            stored = stores
            found.append(
                Instruction(
                    core,
                    event["tid"],
                    tile,
                    event["name"],
                    event["ts"],
                    event["dur"],
                    event["args"]["bytes"],
                )
            )
    return found


def chrome_trace(found: Iterable[Instruction], facts: Mapping[str, object]) -> dict[str, Any]:
    """Return a trace with one row per core and pipe; ``facts`` say what was launched."""
    rows = list(ROWS)
    named: set[tuple[int, Pipe]] = set()
    metadata: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for each in sorted(found, key=lambda each: (each.core, rows.index(each.pipe), each.begin_us)):
        row = rows.index(each.pipe)
        if (each.core, each.pipe) not in named:
            if not any(core == each.core for core, _ in named):
                metadata.append(_named("process_name", each.core, 0, f"core {each.core}"))
            metadata.append(_named("thread_name", each.core, row, ROWS[each.pipe]))
            named.add((each.core, each.pipe))
        events.append(
            {
                "name": f"tile {each.tile}: {each.api}",
                "cat": each.pipe,
                "ph": "X",
                "pid": each.core,
                "tid": row,
                "ts": each.begin_us,
                "dur": each.duration_us,
                "args": {"tile": each.tile, "api": each.api, "bytes": each.bytes},
            }
        )
    return {"displayTimeUnit": "ns", "otherData": dict(facts), "traceEvents": metadata + events}


def _named(what: str, core: int, row: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": core, "tid": row, "args": {"name": name}}
