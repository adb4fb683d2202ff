"""Launch a kernel on the simulated NPU: the Python side of ``sim/``.

The simulator library (``make -C sim``) holds the model of the hardware and the kernels compiled
into it, for one architecture. This module loads such a library and runs launches; it builds
nothing. Times are modelled, never measured: docs/design/simulated-npu.md says from what.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Assumption = Literal["opt", "pess"]
Pipe = Literal["S", "V", "MTE2", "MTE3"]

_ASSUMPTIONS: tuple[Assumption, ...] = ("opt", "pess")
_ROLE_IN, _ROLE_OUT, _ROLE_INOUT = 0, 1, 2
_CHECK, _RECORD = 1, 2
_GUARD_BYTES = 512  # before and after every output; device memory is 512-byte aligned
_GUARD = 0xA5
_POISON = 0xFF  # NaN in every float type


class SimulatorError(RuntimeError):
    """The simulator refused a launch, or a launch broke a rule of the hardware."""


@dataclass(frozen=True)
class PipeCount:
    """What one pipe did over all cores; its bytes are of global memory for MTE2 and MTE3."""

    instructions: int
    bytes: int


@dataclass(frozen=True)
class ArgumentCount:
    """One GM argument: its size, its bytes that were written, and those written again."""

    bytes: int
    written: int
    rewritten: int


@dataclass(frozen=True)
class Timing:
    """Modelled times under one assumption on bursts, without launch cost and scalar work.

    `floor_us` is the compulsory bytes at the chip's bandwidth or the compulsory additions on all
    its vector lanes, whichever takes longer.
    """

    time_us: float
    floor_us: float
    balance: float
    cycles_per_scalar_call: float
    share: Mapping[Pipe, float]
    core_us: tuple[float, ...]


@dataclass(frozen=True)
class LaunchReport:
    """Everything a launch left behind.

    Attributes
    ----------
    outputs
        The output arrays, in the order of the kernel's parameters.
    violations
        One sentence per rule broken, at most 64; `violation_count` counts all of them.
    moved_bytes, compulsory_bytes
        Global memory traffic, and the least any kernel would need.
    timing
        Present when the launch was recorded, one entry per assumption.
    trace
        Chrome trace events (JSON), when asked for.
    """

    kernel: str
    product: str
    cores: int
    outputs: tuple[Array, ...]
    violations: tuple[str, ...]
    violation_count: int
    moved_bytes: int
    compulsory_bytes: int
    scalar_calls: int
    pipes: Mapping[Pipe, PipeCount]
    arguments: tuple[ArgumentCount, ...]
    launch_us: float
    timing: Mapping[Assumption, Timing]
    trace: str | None

    @property
    def traffic(self) -> float:
        """Bytes moved over bytes compulsory."""
        return self.moved_bytes / self.compulsory_bytes if self.compulsory_bytes else float("nan")

    def check(self) -> LaunchReport:
        """Return self, or raise SimulatorError with the violations."""
        if self.violation_count:
            shown = "\n  ".join(self.violations)
            raise SimulatorError(f"{self.kernel}: {self.violation_count} violations\n  {shown}")
        return self


def _bind(library: ctypes.CDLL) -> None:
    """Give every function of sim/model/c_api.h its types."""
    text, handle, u32, u64 = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "sim_arch": (u32, []),
        "sim_kernels": (text, []),
        "sim_products": (text, []),
        "sim_last_error": (text, []),
        "sim_create": (handle, [text, text, u32, u32]),
        "sim_tiling": (None, [handle, u64, ctypes.c_char_p, u64]),
        "sim_argument": (None, [handle, ctypes.c_void_p, u64, ctypes.c_int]),
        "sim_run": (ctypes.c_int64, [handle]),
        "sim_report": (text, [handle, u64, u64]),
        "sim_trace": (text, [handle, ctypes.c_int]),
        "sim_destroy": (None, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


class _GuardedArray:
    """An array between two guard zones, poisoned until the kernel writes it."""

    def __init__(self, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        self._memory = np.full(size + 2 * _GUARD_BYTES, _GUARD, np.uint8)
        inner = self._memory[_GUARD_BYTES : _GUARD_BYTES + size]
        inner[...] = _POISON
        self.array: Array = inner.view(dtype).reshape(shape)

    @classmethod
    def holding(cls, values: Array) -> _GuardedArray:
        guarded = cls(values.shape, values.dtype)
        guarded.array[...] = values
        return guarded

    def intact(self) -> bool:
        zones = (self._memory[:_GUARD_BYTES], self._memory[-_GUARD_BYTES:])
        return all(bool((zone == _GUARD).all()) for zone in zones)


class Simulator:
    """A simulator library and the kernels in it.

    Parameters
    ----------
    library
        A shared library made by ``make -C sim KERNELS=...``.

    Raises
    ------
    SimulatorError
        If the library cannot be loaded or is not a simulator.
    """

    def __init__(self, library: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(library))
            _bind(self._library)
        except (OSError, AttributeError) as error:
            raise SimulatorError(f"{library}: not a simulator library: {error}") from error
        self.arch: int = self._library.sim_arch()
        self.kernels: tuple[str, ...] = tuple(self._library.sim_kernels().decode().split())
        self.products: tuple[str, ...] = tuple(self._library.sim_products().decode().split())

    def launch(
        self,
        kernel: str,
        product: str,
        cores: int,
        inputs: Sequence[Array],
        outputs: Sequence[tuple[Sequence[int], npt.DTypeLike] | Array],
        *,
        tiling: bytes = b"",
        tiling_key: int = 0,
        workspace_bytes: int = 0,
        compulsory_bytes: int | None = None,
        compulsory_additions: int = 0,
        check: bool = True,
        record: bool = False,
        trace: Assumption | None = None,
    ) -> LaunchReport:
        """Run one kernel once.

        The kernel gets the inputs, the outputs, the workspace and the tiling, in this order, as
        on the device.

        Parameters
        ----------
        kernel, product, cores
            A name of `kernels`, a name of `products`, and the number of blocks.
        inputs
            C-contiguous arrays; a kernel that writes to one breaks a rule.
        outputs
            Shape and dtype of each output; or an array, whose values the kernel then finds there.
        tiling, tiling_key
            The bytes GET_TILING_DATA reads and the key TILING_KEY_IS compares.
        compulsory_bytes
            What the traffic is compared with; by default each input and output byte once.
        compulsory_additions
            Float32 additions that any kernel would need, for the floor.
        check
            Check every access. Without it only what would crash the host is caught.
        record
            Compute the modelled timeline.
        trace
            Also give the Chrome trace under this assumption (implies `record`).

        Raises
        ------
        SimulatorError
            If the launch is impossible. Broken rules are in the report (`LaunchReport.check`).
        """
        for index, array in enumerate(inputs):
            if not array.flags.c_contiguous:
                raise SimulatorError(
                    f"{kernel}: inputs[{index}] is not C-contiguous; use numpy.ascontiguousarray"
                )
        guarded: list[tuple[_GuardedArray, int]] = [
            (_GuardedArray.holding(output), _ROLE_INOUT)
            if isinstance(output, np.ndarray)
            else (_GuardedArray(*output), _ROLE_OUT)
            for output in outputs
        ]
        workspace = np.full(workspace_bytes, _POISON, np.uint8)
        options = (_CHECK if check else 0) | (_RECORD if record or trace else 0)
        library = self._library
        handle = library.sim_create(kernel.encode(), product.encode(), cores, options)
        if not handle:
            raise SimulatorError(f"{kernel}: {library.sim_last_error().decode()}")
        try:
            library.sim_tiling(handle, tiling_key, tiling, len(tiling))
            arguments = [(array, _ROLE_IN) for array in inputs]
            arguments += [(output.array, role) for output, role in guarded]
            compulsory = sum(array.nbytes for array, _ in arguments)
            arguments.append((workspace, _ROLE_INOUT))
            for array, role in arguments:
                library.sim_argument(handle, array.ctypes.data, array.nbytes, role)
            if library.sim_run(handle) < 0:
                raise SimulatorError(f"{kernel}: {library.sim_last_error().decode()}")
            if compulsory_bytes is not None:
                compulsory = compulsory_bytes
            found = json.loads(library.sim_report(handle, compulsory, compulsory_additions))
            events = (
                library.sim_trace(handle, _ASSUMPTIONS.index(trace)).decode() if trace else None
            )
        finally:
            library.sim_destroy(handle)
        for index, (output, _) in enumerate(guarded):
            if not output.intact():
                found["violations"].append(
                    f"{product}: {kernel}: the guard bytes around output {index} were overwritten"
                )
                found["violation_count"] += 1
        return _report(found, tuple(output.array for output, _ in guarded), events)


def _report(found: dict[str, Any], outputs: tuple[Array, ...], events: str | None) -> LaunchReport:
    return LaunchReport(
        kernel=found["kernel"],
        product=found["product"],
        cores=found["cores"],
        outputs=outputs,
        violations=tuple(found["violations"]),
        violation_count=found["violation_count"],
        moved_bytes=found["moved_bytes"],
        compulsory_bytes=found["compulsory_bytes"],
        scalar_calls=found["scalar_calls"],
        pipes={pipe: PipeCount(**count) for pipe, count in found["pipes"].items()},
        arguments=tuple(ArgumentCount(**count) for count in found["arguments"]),
        launch_us=found.get("launch_us", 0.0),
        timing={
            assumption: Timing(**{**timing, "core_us": tuple(timing["core_us"])})
            for assumption, timing in found.get("timing", {}).items()
        },
        trace=events,
    )
