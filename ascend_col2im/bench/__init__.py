"""Speed, measured: candidates that give the same values, in turn, on the same threads.

`candidates` makes them ready and leaves out those whose values are not ours, `timing` runs them
round after round, `results` says what follows, `machine` on what.
"""

from __future__ import annotations

from .candidates import PEERS, backend_names, input_of, missing_peers
from .machine import limit_threads, usable_cores
from .results import Measurement, Run, csv_lines, facts_of, geometric_means
from .timing import measured

__all__ = [
    "PEERS",
    "Measurement",
    "Run",
    "backend_names",
    "csv_lines",
    "facts_of",
    "geometric_means",
    "input_of",
    "limit_threads",
    "measured",
    "missing_peers",
    "usable_cores",
]
