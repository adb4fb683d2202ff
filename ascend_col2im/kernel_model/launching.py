"""Plan one fold as the operator's host code does, and launch its kernel on the simulated NPU."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np

from ..errors import BackendError
from ..simulator import Assumption, LaunchReport, Simulator, SimulatorError
from ..toolchain import sources
from ..workloads import Fold
from . import building
from .products import Product

Op = Literal["col2im", "im2col"]

ASSUMPTIONS: Final = get_args(Assumption)
_KERNELS: Final[dict[Op, tuple[str, int]]] = {
    "col2im": ("col2_im", 0),
    "im2col": ("im2_col_nd", 1),
}
"""Each operation's kernel, and how many arrays of sizes it takes after its input."""

_ITEM_BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2}
_TILING_BYTES: Final = 1024  # more than the largest tiling


class _Launch(ctypes.Structure):
    _fields_ = (("key", ctypes.c_uint64), ("cores", ctypes.c_int64), ("cost", ctypes.c_double))


@dataclass(frozen=True)
class Plan:
    """The host's decision for one fold: the schedule by name, cores, and what the kernel gets."""

    schedule: str
    cores: int
    key: int
    tiling: bytes


class Kernels:
    """The kernels of one product.

    Parameters
    ----------
    product
        The device.
    directory
        The libraries of its architecture, as `building.plan` makes them.
    """

    def __init__(self, product: Product, directory: Path) -> None:
        self.product = product
        self._directory = directory
        self._host = ctypes.CDLL(str(directory / building.PLANNER))
        self._host.plan.restype = ctypes.c_size_t

    def plan(self, fold: Fold, dtype: str, op: Op = "col2im") -> Plan:
        """Plan one fold.

        Raises
        ------
        BackendError
            If the product has no kernel for the dtype, or the operator's rules refuse the fold.
        """
        product, geometry = self.product, fold.geometry
        if dtype not in product.dtypes:
            raise BackendError(
                f"{product.name} has no kernel for {dtype}; "
                f"must be one of {', '.join(product.dtypes)}"
            )
        pads = geometry.pad_begin + geometry.pad_end
        lists = [geometry.kernel_size, geometry.stride, pads, geometry.dilation]
        if op == "col2im":
            lists = [fold.col_shape, geometry.output_size, *lists]
        else:
            lists = [fold.image_shape, *lists]
        flat = [value for values in lists for value in values]
        tiling = ctypes.create_string_buffer(_TILING_BYTES)
        launch = _Launch()
        size = self._host.plan(
            int(op == "im2col"),
            dtype.encode(),
            (ctypes.c_int64 * len(flat))(*flat),
            (ctypes.c_int64 * len(lists))(*map(len, lists)),
            ctypes.c_int64(product.cores),
            ctypes.c_int64(product.ub_bytes),
            -1,
            tiling,
            ctypes.byref(launch),
        )
        if not size:
            raise BackendError(f"{fold.name}: the operator on {product.name} refuses this fold")
        return Plan(schedules()[launch.key], launch.cores, launch.key, tiling.raw[:size])

    def launch(
        self, fold: Fold, dtype: str, op: Op = "col2im", trace: Assumption | None = None
    ) -> LaunchReport:
        """Run one fold of zeros, which takes as long as one of anything else, and record it.

        Raises
        ------
        BackendError
            As `plan` does; or if the launch breaks a rule of the hardware.
        """
        plan = self.plan(fold, dtype, op)
        source, target = fold.col_shape, fold.image_shape
        if op == "im2col":
            source, target = target, source
        kernel, sizes = _KERNELS[op]
        item = _ITEM_BYTES[dtype]
        bits = np.dtype(f"u{item}")
        simulator = _simulator(building.library(self._directory, self.product.arch, dtype))
        inputs: list[Any] = [np.zeros(source, bits), *[np.zeros(1, np.int64)] * sizes]
        try:
            return simulator.launch(
                kernel,
                self.product.name,
                plan.cores,
                inputs,
                [(target, bits)],
                tiling=plan.tiling,
                tiling_key=plan.key,
                compulsory_bytes=(math.prod(source) + math.prod(target)) * item,
                compulsory_additions=math.prod(source) if op == "col2im" else 0,
                check=False,
                record=True,
                trace=trace,
            ).check()
        except SimulatorError as error:
            raise BackendError(
                f"{fold.name} on the simulated {self.product.name}: {error}"
            ) from error


@cache
def schedules() -> Mapping[int, str]:
    """Return the tiling keys, by which the kernel picks its code, with their names in words."""
    header = (sources.root() / "op_host/schedule.h").read_text(encoding="utf-8")
    found = re.search(r"enum Schedule \{([^}]*)\}", header)
    names = re.findall(r"k(\w+) = (\d+)", found[1]) if found else []
    return {int(key): re.sub(r"(?<=.)(?=[A-Z])", " ", name).lower() for name, key in names}


@cache
def _simulator(library: Path) -> Simulator:
    return Simulator(library)
