"""Kernels built for the simulated NPU, planned by the C++ host code and launched from Python."""

from __future__ import annotations

import ctypes
import dataclasses
import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ascend_col2im import cpu_fallback
from ascend_col2im.geometry import geometry
from ascend_col2im.kernel_model import PRODUCTS, Product
from ascend_col2im.simulator import Assumption, LaunchReport, Simulator
from tests import sanitizers

ROOT = Path(__file__).parents[2]
DTYPES: dict[str, tuple[str, Any]] = {
    "float32": ("float", np.dtype(np.float32)),
    "float16": ("half", np.dtype(np.float16)),
    "bfloat16": ("bfloat16_t", np.dtype(ml_dtypes.bfloat16)),
}
"""The kernels' dtypes: how C++ and NumPy call them."""

Array = NDArray[Any]
Ints = tuple[int, ...]


MACHINES = PRODUCTS
"""What the platform query answers on each product."""


@dataclass(frozen=True)
class Case:
    """One fold: N, C and one int per spatial axis."""

    N: int
    C: int
    output_size: Ints
    kernel_size: Ints
    stride: Ints
    pad_begin: Ints
    pad_end: Ints
    dilation: Ints

    @property
    def shapes(self) -> tuple[Ints, Ints]:
        """Shapes of the columns and of the image."""
        geo = geometry(*self.parameters)
        return (self.N, self.C * geo.K, geo.L), (self.N, self.C, *self.output_size)

    @property
    def parameters(self) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
        return (
            self.output_size,
            self.kernel_size,
            self.stride,
            self.pad_begin,
            self.pad_end,
            self.dilation,
        )


class _Launch(ctypes.Structure):
    _fields_ = (("key", ctypes.c_uint64), ("cores", ctypes.c_int64), ("cost", ctypes.c_double))


@dataclass(frozen=True)
class Plan:
    """The host's decision for one fold."""

    tiling: bytes
    key: int
    cores: int
    cost: float


def build_host(directory: Path) -> ctypes.CDLL:
    """Build the rules and the plan as C++11, which is what the toolkit's template compiles."""
    built = directory / f"host-{os.getpid()}.so"
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    source = ROOT / "tests/host/host_library.cpp"
    strict += sanitizers.FLAGS if sanitizers.sanitized() else ()
    command = [sanitizers.find_compiler(), *strict, str(source), "-o", str(built)]
    subprocess.run(command, check=True, env=sanitizers.build_environment())
    library = ctypes.CDLL(str(built))
    library.plan.restype = ctypes.c_size_t
    library.target_dtypes.restype = ctypes.c_char_p
    return library


def _make(out: Path, target: str, *settings: str) -> None:
    command = ["make", "-s", "-C", str(ROOT / "sim"), f"OUT={out}", f"{out}/{target}"]
    command += [*sanitizers.make_settings("-O2"), *settings]
    subprocess.run(command, check=True, env=sanitizers.build_environment())


def build_kernels(
    directory: Path, arch: int, dtype: str, kernel_source: Path = ROOT / "op_kernel"
) -> Path:
    """Build the simulator of one architecture with the kernels of one dtype in it.

    Processes may share ``directory``: the first one builds, the others wait and find it done.
    """
    library = f"libsim_{arch}.so"
    with (directory / f"{arch}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        model = directory / f"model-{arch}"
        if not (model / library).exists():
            _make(model, library)
        out = directory / f"{kernel_source.parent.name}-{dtype}-{arch}"
        if not (out / library).exists():
            shutil.copytree(model / str(arch), out / str(arch), dirs_exist_ok=True)
            name = DTYPES[dtype][0]
            flags = f"-DDTYPE_COL={name} -DDTYPE_X={name} -I{kernel_source}"
            entries = ROOT / "ascend_col2im/kernel_model/entries.cpp"
            _make(out, library, f"KERNELS={entries}", f"KERNEL_FLAGS={flags}")
    return out / library


class Npu:
    """The simulated NPU with our kernels, built on first use."""

    def __init__(self, directory: Path, kernel_source: Path = ROOT / "op_kernel") -> None:
        self._directory = directory
        self._kernel_source = kernel_source
        self._host = build_host(directory)
        self._simulators: dict[tuple[int, str], Simulator] = {}

    def simulator(self, arch: int, dtype: str) -> Simulator:
        """Return the simulator of one architecture with the kernels of one dtype."""
        if (arch, dtype) not in self._simulators:
            built = build_kernels(self._directory, arch, dtype, self._kernel_source)
            self._simulators[arch, dtype] = Simulator(built)
        return self._simulators[arch, dtype]

    def plans(self, case: Case, dtype: str, machine: Product) -> list[Plan]:
        """Return the plans of every schedule that can run the fold."""
        found = (self._plan(case, dtype, machine, False, choice) for choice in range(8))
        return [plan for plan in found if plan]

    def plan(self, case: Case, dtype: str, machine: Product, *, im2col: bool = False) -> Plan:
        """Plan one fold for one product."""
        plan = self._plan(case, dtype, machine, im2col, -1)
        assert plan, f"the rules refuse {case}"
        return plan

    def _plan(
        self, case: Case, dtype: str, machine: Product, im2col: bool, choice: int
    ) -> Plan | None:
        col_shape, image_shape = case.shapes
        lists: list[Sequence[int]] = [image_shape if im2col else col_shape]
        lists += [] if im2col else [case.output_size]
        lists += [case.kernel_size, case.stride, case.pad_begin + case.pad_end, case.dilation]
        flat = [value for values in lists for value in values]
        tiling = ctypes.create_string_buffer(1024)
        launch = _Launch()
        size = self._host.plan(
            int(im2col),
            dtype.encode(),
            (ctypes.c_int64 * len(flat))(*flat),
            (ctypes.c_int64 * len(lists))(*map(len, lists)),
            ctypes.c_int64(machine.cores),
            ctypes.c_int64(machine.ub_bytes),
            choice,
            tiling,
            ctypes.byref(launch),
        )
        return Plan(tiling.raw[:size], launch.key, launch.cores, launch.cost) if size else None

    def col2im(
        self,
        case: Case,
        col: Array,
        product: str,
        *,
        kernel: str = "col2_im",
        plan: Plan | None = None,
        cores: int | None = None,
        trace: Assumption | None = None,
        record: bool = False,
        check: bool = True,
    ) -> LaunchReport:
        """Fold ``col`` on one product, by the host's plan or another, on its cores or others."""
        plan = plan or self.plan(case, col.dtype.name, MACHINES[product])
        plan = dataclasses.replace(plan, cores=cores or plan.cores)
        shapes = 2 if kernel == "col2_im_nd" else 0
        return self._launch(
            case.shapes[1], col, product, kernel, shapes, plan, trace, record, check
        )

    def im2col(
        self,
        case: Case,
        image: Array,
        product: str,
        *,
        plan: Plan | None = None,
        record: bool = False,
        check: bool = True,
    ) -> LaunchReport:
        """Unfold ``image`` on one product, by the host's plan or another."""
        plan = plan or self.plan(case, image.dtype.name, MACHINES[product], im2col=True)
        return self._launch(
            case.shapes[0], image, product, "im2_col_nd", 1, plan, None, record, check
        )

    def unfold_plans(self, case: Case, dtype: str, machine: Product) -> list[Plan]:
        """Return the plans of every schedule that can unfold."""
        found = (self._plan(case, dtype, machine, True, choice) for choice in range(2))
        return [plan for plan in found if plan]

    def _launch(
        self,
        target: Ints,
        source: Array,
        product: str,
        kernel: str,
        shapes: int,
        plan: Plan,
        trace: Assumption | None,
        record: bool,
        check: bool,
    ) -> LaunchReport:
        machine = MACHINES[product]
        return self.simulator(machine.arch, source.dtype.name).launch(
            kernel,
            product,
            plan.cores,
            [source, *[np.zeros(1, np.int64)] * shapes],
            [(target, source.dtype)],
            tiling=plan.tiling,
            tiling_key=plan.key,
            compulsory_additions=0 if kernel == "im2_col_nd" else source.size,
            compulsory_bytes=source.nbytes + int(np.prod(target)) * source.itemsize,
            check=check,
            record=record,
            trace=trace,
        )


def random_array(random: np.random.Generator, shape: Ints, dtype: str) -> Array:
    """Draw numbers whose sums round, with some values that a wrong zero would change."""
    array = random.standard_normal(shape).astype(np.float32)
    special = random.random(shape) < 0.01
    array[special] = random.choice([np.inf, -np.inf, np.nan, -0.0, 65504.0], int(special.sum()))
    with np.errstate(over="ignore"):
        return array.astype(DTYPES[dtype][1])


def fallback_col2im(case: Case, col: Array) -> Array:
    """Fold with the NumPy backend."""
    image = np.empty(case.shapes[1], col.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        cpu_fallback.col2im(col, geometry(*case.parameters), image)
    return image


def fallback_im2col(case: Case, image: Array) -> Array:
    """Unfold with the NumPy backend."""
    col = np.empty(case.shapes[0], image.dtype)
    cpu_fallback.im2col(image, geometry(*case.parameters), col)
    return col


def assert_same_bits(
    actual: Array, expected: Array, what: object, *, nan_bits: bool = False
) -> None:
    """Compare bit by bit; every NaN counts as the same unless ``nan_bits``."""
    unsigned = np.dtype(f"u{actual.itemsize}")
    same = actual.view(unsigned) == expected.view(unsigned)
    if not nan_bits:
        same |= np.isnan(actual.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        raise AssertionError(
            f"{what}: {int((~same).sum())} of {same.size} elements differ, the first at {at}: "
            f"{actual[at]!r}, should be {expected[at]!r}"
        )
