"""Who is timed: this package's backends, the peers that are installed, and a plain copy.

A peer whose values differ from ours is not timed; a backend of ours whose values differ from the
NumPy reference is an error.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .. import backends, cpu_fallback, npu_backend, opp, rules
from ..api import col2im
from ..errors import Col2ImError, MismatchError, MissingExtraError
from ..facts import ACCUMULATORS
from ..messages import one_line
from ..overlap import axis_overlap
from ..workloads import Fold
from .results import Clock, Kind

Array = npt.NDArray[Any]

PEERS: Final = {"torch": "torch_op.peer", "onnxruntime": "onnx_peer"}
"""Each peer's package, and the module of this one that calls it."""

_EXACT: Final = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24}
"""Up to here every integer of a dtype is exact, and with it every sum in any order."""

_LARGEST: Final = 8


@dataclass(frozen=True)
class Candidate:
    """One that is timed: ``run`` folds once, and returns seconds if it has its own clock."""

    name: str
    kind: Kind
    run: Callable[[], Any]
    clock: Clock = "measured"
    own_clock: bool = False


def backend_names() -> tuple[str, ...]:
    """Return what can be asked for: backends, and the engines of the cpu backend one by one."""
    return ("cpu", *backends.CPU_ENGINES, "npu")


def missing_peers() -> dict[str, str]:
    """Return the peers that cannot run here, with the reason and cure."""
    missing = {}
    for name in PEERS:
        try:
            _peer(name)
        except MissingExtraError as error:
            missing[name] = str(error)
        except Exception as error:  # an installation is broken in its own words and classes
            why = one_line(str(error)) or type(error).__name__
            missing[name] = f"{name} is installed, but cannot be imported: {why}; install it again"
    return missing


def input_of(fold: Fold, dtype: str) -> Array:
    """Return columns of small integers: any order and width of accumulation sums them exactly.

    Raises
    ------
    MissingExtraError
        If the dtype needs a package that is not installed.
    RuleError
        If columns or image are larger than the memory of this machine.
    """
    element = _dtype(dtype)
    for name, shape in (("the column matrix", fold.col_shape), ("the image", fold.image_shape)):
        rules.check_memory("bench", name, shape, element.itemsize)
    geometry = fold.geometry
    overlap = math.prod(int(axis_overlap(geometry, axis).max()) for axis in range(geometry.axes))
    most = _EXACT.get(dtype, 2**24) // max(1, overlap)
    largest = max(1, min(_LARGEST, most))
    signed = not dtype.startswith(("u", "b")) or dtype == "bfloat16"
    random = np.random.default_rng(0)
    drawn = random.integers(-largest if signed else 0, largest + 1, fold.col_shape, np.int8)
    return drawn.astype(element)


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "bench: bfloat16 needs ml_dtypes; pip install 'ascend-col2im[torch]'"
            ) from error
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    assert name in ACCUMULATORS
    return np.dtype(name)


@contextmanager
def ready(
    fold: Fold, col: Array, names: tuple[str, ...], peers: tuple[str, ...], threads: int
) -> Iterator[tuple[list[Candidate], dict[str, str]]]:
    """Yield the candidates, each checked, and who is left out with the reason.

    Raises
    ------
    MismatchError
        If a backend of ours gives other values than the NumPy reference.
    BackendError
        If a backend cannot run here.
    """
    expected = np.empty(fold.image_shape, col.dtype)
    cpu_fallback.col2im(col, fold.geometry, expected)
    left_out: dict[str, str] = {}
    with ExitStack() as held:
        candidates = [held.enter_context(_backend(name, fold, col, expected)) for name in names]
        for name in peers:
            found = _checked_peer(name, fold, col, expected, threads)
            if isinstance(found, str):
                left_out[name] = found
            else:
                candidates.append(found)
        candidates.append(held.enter_context(_copy(fold, col.itemsize, threads)))
        yield candidates, left_out


@contextmanager
def _backend(name: str, fold: Fold, col: Array, expected: Array) -> Iterator[Candidate]:
    if name == "npu":
        image = np.empty(fold.image_shape, col.dtype)
        npu_backend.col2im(col, fold.geometry, image)
        _hold(name, fold, image, expected)
        with npu_backend.timer(col, fold.geometry, image.shape) as run:
            yield Candidate(name, "backend", run, _npu_clock(), own_clock=True)
        return
    fold_once = _through_api(fold, col) if name == "cpu" else _by_engine(name, fold, col)
    _hold(name, fold, fold_once(), expected)
    yield Candidate(name, "backend", fold_once)


def _npu_clock() -> Clock:
    """Return what the times of the device's events are, as its installation declares."""
    modelled = opp.declarations().get("event_times") == "modelled"
    return "modelled" if modelled else "measured"


def _through_api(fold: Fold, col: Array) -> Callable[[], Array]:
    geometry = fold.geometry
    pads = tuple(zip(geometry.pad_begin, geometry.pad_end, strict=True))

    def run() -> Array:
        return col2im(
            col,
            geometry.output_size,
            geometry.kernel_size,
            stride=geometry.stride,
            padding=pads,
            dilation=geometry.dilation,
            backend="cpu",
        )

    return run


def _by_engine(name: str, fold: Fold, col: Array) -> Callable[[], Array]:
    engine, geometry = backends.CPU_ENGINES[name], fold.geometry

    def run() -> Array:
        image = np.empty(fold.image_shape, col.dtype)
        engine.col2im(col, geometry, image)
        return image

    return run


def _hold(name: str, fold: Fold, image: Array, expected: Array) -> None:
    wrong = int((image != expected).sum())
    if wrong:
        raise MismatchError(
            f"bench: backend {name}: {fold.name}: {wrong} of {expected.size} elements differ from "
            "the NumPy reference; report this with the output of ascend-col2im doctor --json"
        )


def _checked_peer(
    name: str, fold: Fold, col: Array, expected: Array, threads: int
) -> Candidate | str:
    """Return a peer that gives our values, or why it is left out."""
    try:
        run, read = _peer(name).prepare(fold, col, threads)
        image = read(run())
    except Col2ImError:
        raise
    except Exception as error:  # a peer refuses a fold in its own words and classes
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return f"refuses it: {lines[0][:160]}"
    if image.shape != expected.shape:
        return f"gives shape {image.shape}, not {expected.shape}"
    wrong = int((image != expected).sum())
    if wrong:
        return f"gives wrong values: {wrong} of {expected.size} elements"
    return Candidate(name, "peer", run)


def _peer(name: str) -> Any:
    return importlib.import_module(f"..{PEERS[name]}", __package__)


@contextmanager
def _copy(fold: Fold, itemsize: int, threads: int) -> Iterator[Candidate]:
    """Yield a copy that moves the fold's bytes: half of them read, half of them written."""
    size = max(1, fold.elements * itemsize // 2)
    source, target = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    cuts = [size * part // threads for part in range(threads + 1)]
    parts = [(target[a:b], source[a:b]) for a, b in pairwise(cuts)]
    if threads == 1:
        yield Candidate("copy", "copy", lambda: np.copyto(target, source))
        return
    with ThreadPoolExecutor(threads - 1) as pool:

        def run() -> None:
            helpers = [pool.submit(np.copyto, *part) for part in parts[1:]]
            np.copyto(*parts[0])
            for helper in helpers:
                helper.result()

        yield Candidate("copy", "copy", run)
