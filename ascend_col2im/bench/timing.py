"""Interleaved rounds: all candidates once, so that a noisy moment hits each of them alike.

Their order is drawn anew for every round: whoever ran before leaves its data in the caches, and
decides where the allocator finds the next result's memory.
"""

from __future__ import annotations

import random
import time

from ..workloads import Fold
from . import candidates
from .candidates import Candidate
from .results import Measurement, Run


def measured(
    fold: Fold,
    dtype: str,
    names: tuple[str, ...],
    peers: tuple[str, ...],
    *,
    threads: int,
    rounds: int,
) -> Run:
    """Time one fold by our backends ``names`` and by ``peers``, after checking their values.

    Raises
    ------
    Col2ImError
        As `candidates.ready` and `candidates.input_of` do.
    """
    col = candidates.input_of(fold, dtype)
    with candidates.ready(fold, col, names, peers, threads) as (ready, left_out):
        seconds: dict[str, list[float]] = {each.name: [] for each in ready}
        orders = random.Random(0)
        for _ in range(rounds + 1):
            for each in orders.sample(ready, len(ready)):
                seconds[each.name].append(_timed(each))
    measurements = tuple(
        Measurement(each.name, each.kind, each.clock, tuple(seconds[each.name][1:]))
        for each in ready
    )
    return Run(fold, dtype, fold.elements * col.itemsize, measurements, left_out)


def _timed(candidate: Candidate) -> float:
    if candidate.own_clock:
        return float(candidate.run())
    begin = time.perf_counter()
    candidate.run()
    return time.perf_counter() - begin
