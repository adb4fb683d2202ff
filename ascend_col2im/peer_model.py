"""Model what ``torch.nn.functional.fold`` reaches on Atlas A2: the path of aclnnIm2colBackward.

The columns go from NCHW to NC1HWC0, sixteen channels to a block, the built-in Col2im folds blocks
of sixteen channels into float32 sums in global memory, and the image goes back to NCHW. Its data
movement is documented (opp/built-in/op_impl/ai_core/tbe/impl/dynamic/col2im.py of CANN 8.1.RC1
and aclnn_im2col_backward.cpp of ops-cv); its times are modelled, never measured.

Whatever is not published is decided in its favour, so the times are lower bounds, but for hits in
L2, which the simulated NPU does not model either:

* a move has no start-up latency beyond what back-to-back moves show, and waiting costs nothing;
* moves and vector instructions overlap wherever their buffers allow it;
* format conversions and zeroing run at the full bandwidth on all cores; the input is contiguous
  and the last copy into the caller's tensor is free;
* an atomic addition costs as much as a store; a burst touches as few lines as it can;
* launches (at least four), barriers, scalar code and limits of a move's fields cost nothing, and
  every kernel size fits UB.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from .geometry import Geometry, ceil_div, span
from .simulator import Assumption

# Copies of sim/model/costs.h and, for the products, sim/model/products.h, which name the sources.
MOVE_ISSUE_CYCLES = 20
VECTOR_ISSUE_CYCLES = 22
BURST_RATES = ((128, 1.29 / 1.6), (2048, 1.40 / 1.6), (16384, 1.0))
LINE_BYTES = 128


@dataclass(frozen=True)
class Product:
    """A row of the products: what one core alone and the whole chip can move (0: unpublished)."""

    cores: int
    mhz: int
    core_bytes_per_cycle: float
    chip_gb_per_s: float

    @property
    def chip_bytes_per_us(self) -> float:
        """Bandwidth of the whole chip."""
        return self.chip_gb_per_s * 1e3 or self.core_bytes_per_cycle * self.mhz * self.cores

    def share(self, cores: int) -> float:
        """Bytes per cycle that each of ``cores`` busy cores gets."""
        return min(self.core_bytes_per_cycle, self.chip_bytes_per_us / self.mhz / cores)


PRODUCTS: Mapping[str, Product] = {
    "910B1": Product(48, 1850, 32, 1600),
    "910B3": Product(40, 1800, 32, 1600),
    "910B4": Product(40, 1500, 32, 0),
}
ITEM_BYTES: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2}

_LANES = 16  # C0 of NC1HWC0
_SUM_BYTES = 4
_REPEAT_BYTES = 256  # a vector instruction takes one cycle for each


@dataclass(frozen=True)
class Peer:
    """What the peer needs for one fold.

    Attributes
    ----------
    moved_bytes, compulsory_bytes
        Global memory traffic, and the least any kernel would need.
    time_us
        Modelled time per assumption on bursts, without launch cost.
    floor_us
        The compulsory bytes at the full bandwidth.
    """

    moved_bytes: int
    compulsory_bytes: int
    time_us: Mapping[Assumption, float]
    floor_us: float

    @property
    def traffic(self) -> float:
        """Bytes moved over bytes compulsory."""
        return self.moved_bytes / self.compulsory_bytes


@dataclass(frozen=True)
class _Move:
    """``count`` bursts of ``bytes`` each, by ``instructions`` instructions."""

    count: int
    bytes: int
    instructions: int = 1

    def bandwidth(self, assumption: Assumption) -> float:
        """Bytes that the same time would have moved at the full rate.

        All bursts here start and end on 32 bytes, so no rule for unaligned rows is needed.
        """
        if assumption == "opt":
            return self.count * max(self.bytes, LINE_BYTES) / burst_share(self.bytes)
        return self.count * ceil_div(self.bytes, LINE_BYTES) * LINE_BYTES


def burst_share(size: float) -> float:
    """Return which share of the full bandwidth strided bursts of ``size`` bytes reach."""
    if size <= BURST_RATES[0][0]:
        return BURST_RATES[0][1]
    for (low, low_share), (high, high_share) in pairwise(BURST_RATES):
        if size < high:
            t = math.log2(size / low) / math.log2(high / low)
            return low_share + t * (high_share - low_share)
    return 1.0


def _bursts(count: int, size: int, adjacent: bool, instructions: int = 1) -> _Move:
    return _Move(1, count * size, instructions) if adjacent else _Move(count, size, instructions)


def _together(moves: tuple[_Move, ...], rate: float, assumption: Assumption) -> float:
    """Return the cycles of moves on different pipes that share one core's bandwidth."""
    issue = max(move.instructions for move in moves) * MOVE_ISSUE_CYCLES
    return max(issue, sum(move.bandwidth(assumption) for move in moves) / rate)


def _vector(size: int) -> float:
    return VECTOR_ISSUE_CYCLES + ceil_div(size, _REPEAT_BYTES)


def _bytes(*moves: _Move) -> int:
    return sum(move.count * move.bytes for move in moves)


@dataclass(frozen=True)
class _Plane:
    """Work on the sixteen channels of one batch element, all of it on one core."""

    moved_bytes: int
    cycles: Mapping[Assumption, float]


def _with_padding(geo: Geometry, item: int, rate: float) -> _Plane:
    """Model the sums read, added to and written per tap and window, sixteen channels at a time.

    The next columns are loaded beside the store; columns are cast beside the load of the sums.
    """
    hits = math.prod(
        sum(tap.window_end - tap.window_begin for tap in geo.axis_taps(axis, 0, size))
        for axis, size in enumerate(geo.output_size)
    )
    columns, sums = _Move(1, _LANES * item), _Move(1, _LANES * _SUM_BYTES)
    cast = 0.0 if item == _SUM_BYTES else _vector(_LANES * _SUM_BYTES)
    add = _vector(_LANES * _SUM_BYTES)
    cycles: dict[Assumption, float] = {
        assumption: hits
        * (
            _together((columns, sums), rate, assumption)
            + max(_together((sums,), rate, assumption), cast)
            + add
        )
        for assumption in ("opt", "pess")
    }
    return _Plane(hits * _bytes(columns, sums, sums), cycles)


def _without_padding(geo: Geometry, item: int, rate: float) -> _Plane:
    """Model one strided load and one atomic store of a whole kernel per window.

    Float32 columns are stored from the buffer they were loaded to, so no move overlaps another.
    """
    width = span(geo.kernel_size[1], geo.dilation[1])
    loads = geo.kernel_size[0] if max(geo.dilation) > 1 else 1
    columns = _bursts(geo.K, _LANES * item, geo.L == 1, loads)
    whole_rows = width == geo.output_size[1] and geo.dilation[0] == 1
    sums = _bursts(geo.kernel_size[0], width * _LANES * _SUM_BYTES, whole_rows)
    cast = _vector(_bytes(sums))

    def step(assumption: Assumption) -> float:
        if item == _SUM_BYTES:
            return _together((columns,), rate, assumption) + _together((sums,), rate, assumption)
        return _together((columns, sums), rate, assumption) + cast

    cycles: dict[Assumption, float] = {"opt": geo.L * step("opt"), "pess": geo.L * step("pess")}
    return _Plane(geo.L * _bytes(columns, sums), cycles)


def _cast_pass(geo: Geometry, item: int, rate: float) -> _Plane:
    """Model the pass that rounds the float32 sums, 256 bytes at a time."""
    sums = _Move(1, _REPEAT_BYTES)
    image = _Move(1, _REPEAT_BYTES // _SUM_BYTES * item)
    elements = math.prod(geo.output_size) * _LANES
    steps = ceil_div(elements * _SUM_BYTES, _REPEAT_BYTES)
    cycles: dict[Assumption, float] = {
        assumption: steps * (_together((sums, image), rate, assumption) + _vector(_REPEAT_BYTES))
        for assumption in ("opt", "pess")
    }
    return _Plane(elements * (_SUM_BYTES + item), cycles)


def peer(geo: Geometry, N: int, C: int, dtype: str, product: str) -> Peer | None:
    """Model aclnnIm2colBackward for one fold.

    Parameters
    ----------
    geo, N, C
        The fold; ``N, C >= 1``.
    dtype
        The columns' dtype by its NumPy name.
    product
        A name of the simulator's products.

    Returns
    -------
    Peer or None
        None where the operator does not exist: on other products than Atlas A2, for other dtypes
        than float32, float16 and bfloat16, unless there are two axes with one padding each.
    """
    machine, item = PRODUCTS.get(product), ITEM_BYTES.get(dtype)
    if machine is None or item is None or geo.axes != 2 or geo.pad_begin != geo.pad_end:
        return None
    planes = N * ceil_div(C, _LANES)  # the only split over cores
    cores = min(planes, machine.cores)
    rate = machine.share(cores)
    fold = _with_padding if any(geo.pad_begin) else _without_padding
    work = [fold(geo, item, rate)]
    if item != _SUM_BYTES:
        work.append(_cast_pass(geo, item, rate))

    column, image = geo.K * geo.L, math.prod(geo.output_size)
    compulsory = N * C * (column + image) * item
    converted = compulsory + planes * _LANES * (column + image) * item
    passes = converted + planes * _LANES * image * _SUM_BYTES  # the last: zeros into the sums
    time: dict[Assumption, float] = {
        assumption: passes / machine.chip_bytes_per_us
        + ceil_div(planes, cores) * sum(part.cycles[assumption] for part in work) / machine.mhz
        for assumption in ("opt", "pess")
    }
    return Peer(
        moved_bytes=passes + planes * sum(part.moved_bytes for part in work),
        compulsory_bytes=compulsory,
        time_us=time,
        floor_us=compulsory / machine.chip_bytes_per_us,
    )
