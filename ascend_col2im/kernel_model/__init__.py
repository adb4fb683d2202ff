"""The kernels on the simulated NPU without an installation: launches, planned and modelled.

`products` says which devices there are; `building` plans how the sources in this package become a
library that holds the model, the kernels and the host's plan; `launching` plans and runs one fold
with it; `figures` puts the numbers of many into a table, `timeline` those of one into a trace.
Every time is modelled, never measured: docs/design/simulated-npu.md says from what.
"""

from __future__ import annotations

from .figures import Figure, PeerFigure, figure, means
from .launching import ASSUMPTIONS, Kernels, Op, Plan, schedules
from .products import PRODUCTS, Product
from .timeline import Instruction, chrome_trace, instructions

__all__ = [
    "ASSUMPTIONS",
    "PRODUCTS",
    "Figure",
    "Instruction",
    "Kernels",
    "Op",
    "PeerFigure",
    "Plan",
    "Product",
    "chrome_trace",
    "figure",
    "instructions",
    "means",
    "schedules",
]
