"""What the cpu backend runs on: chosen by itself, kept on disk, safe among threads and forks."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
import torch

from ascend_col2im import backends, col2im, cpu_fallback, cpu_fast
from ascend_col2im.cpu_fast import native, workers
from tests.cases import CASES
from tests.oracles import Array, Case
from tests.test_cpu_fallback import geometry_of

pytestmark = pytest.mark.usefixtures("compiled_code")

LARGE = Case((64, 64), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))
FEW_WINDOWS = Case((100, 100), (99, 99), (1, 1), (0, 0), (0, 0), (1, 1))
SMALL = CASES["five different sizes"]


def ones(case: Case, dtype: Any = np.float32) -> Array:
    return np.ones((2, 3 * case.taps, case.length), dtype)


def run(code: str, **environment: str) -> str:
    """Run Python code in a process of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that names what each later fold runs on, and on how many threads."""
    names: list[str] = []
    fast, numpy = cpu_fast.col2im, cpu_fallback.col2im

    def by_fast(col: Array, geometry: Any, image: Array, threads: int | None = None) -> bool:
        done = fast(col, geometry, image, threads)
        if done:
            names.append(f"compiled, {threads}")
        return done

    def by_numpy(col: Array, geometry: Any, image: Array) -> None:
        names.append("NumPy")
        numpy(col, geometry, image)

    monkeypatch.setattr(cpu_fast, "col2im", by_fast)
    monkeypatch.setattr(cpu_fallback, "col2im", by_numpy)
    return names


def test_large_folds_are_compiled_and_small_ones_are_not(used: list[str]) -> None:
    col2im(ones(LARGE), **LARGE.kwargs)
    col2im(ones(SMALL), **SMALL.kwargs)
    col2im(ones(LARGE).astype(">f4"), **LARGE.kwargs)
    col2im(ones(FEW_WINDOWS), **FEW_WINDOWS.kwargs)
    assert used == ["compiled, None", "NumPy", "NumPy", "NumPy"]


def test_tensors_use_as_many_threads_as_torch(used: list[str]) -> None:
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for dtype in (torch.float32, torch.bfloat16):
                tensor = torch.ones((2, 3 * LARGE.taps, LARGE.length), dtype=dtype)
                image = col2im(tensor, 64, 3, padding=1)
                assert image[0, 0, :2, :2].tolist() == [[4, 6], [6, 9]]
    finally:
        torch.set_num_threads(before)
    assert used == ["compiled, 1"] * 2 + ["compiled, 2"] * 2


def folded(size: int = 64, before: str = "", **environment: str) -> tuple[bool, bool]:
    """Fold in a process of its own: whether that imports a compiler, and whether one loads."""
    code = f"""
import sys
{before}
import numpy as np
from ascend_col2im import backends, col2im
image = col2im(np.ones((1, 9, {size} ** 2), np.float32), {size}, 3, padding=1)
assert image[0, 0, :2, :2].tolist() == [[4, 6], [6, 9]]
print("llvmlite" in sys.modules, backends.compiled() is not None)
"""
    imported, loads = run(code, **environment).split()
    return imported == "True", loads == "True"


def test_small_folds_do_not_import_numba() -> None:
    assert folded(size=16) == (False, True)
    assert folded(size=64) == (True, True)


def test_without_numba_numpy_folds(tmp_path: Path) -> None:
    assert folded(before="sys.modules['numba'] = None") == (False, False)
    assert folded(NUMBA_DISABLE_JIT="1") == (False, False)
    old = "from importlib import metadata; metadata.version = lambda name: '0.59.1'"
    assert folded(before=old) == (False, False)
    (tmp_path / "numba.py").write_text("raise SystemError('built for another NumPy')")
    assert folded(before=f"sys.path.insert(0, {str(tmp_path)!r})") == (False, False)


def test_the_status_names_the_numba_that_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    with_numba = f"NumPy {np.__version__} and numba {numba.__version__}, any dtype"
    assert backends.statuses()[0].reason == with_numba
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert backends.statuses()[0].reason == f"NumPy {np.__version__}, any dtype"


PREPARE = """
import logging
from ascend_col2im import cpu_fast
told = []
logging.getLogger("ascend_col2im").addFilter(lambda record: told.append(record.args))
first, second = cpu_fast.prepare("int16"), cpu_fast.prepare("uint16")
print(first.compiled, second.compiled, second.seconds < first.seconds, len(told))
"""


def test_code_is_compiled_once_and_then_loaded_from_disk(tmp_path: Path) -> None:
    for compiled in (True, False):
        found = run(PREPARE, NUMBA_CACHE_DIR=str(tmp_path))
        assert found == f"{compiled} False True {int(compiled)}"
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in kept) == [".nbc", ".nbi"]
    assert all(f"int16_{native._digest()}" in path.name for path in kept)


def test_what_is_kept_is_named_after_every_file_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(Path(native.__file__).parent, tmp_path / "copy")
    monkeypatch.setattr(native, "__file__", str(folder / "native.py"))
    digests = {native._digest()}
    files = list(folder.glob("*.py"))
    for path in files:
        path.write_text(path.read_text() + "\n")
        digests.add(native._digest())
    assert len(digests) == 1 + len(files) > 5


def test_no_shape_or_layout_compiles_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu_fast.prepare("float32")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("compiles")

    monkeypatch.setattr(native, "cfunc", refuse)
    for case in CASES.values():
        for col in (
            ones(case),
            ones(case)[:, :, ::-1],
            np.broadcast_to(np.float32(1), (1, case.taps, case.length)),
        ):
            image = np.empty((len(col), col.shape[1] // case.taps, *case.output_size), np.float32)
            cpu_fast.col2im(col, geometry_of(case), image)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("cannot cache function: no locator available"),
        OSError("no space left on device"),
        pickle.UnpicklingError("a file that is cut short"),
    ],
    ids=repr,
)
def test_what_cannot_be_kept_or_loaded_is_compiled_in_every_process(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []

    def no_folder(signature: Any, cache: bool = False) -> Any:
        kept.append(cache)
        if cache:
            raise error
        return lambda function: SimpleNamespace(address=0, cache_hits=0)

    monkeypatch.setattr(native, "cfunc", no_folder)
    monkeypatch.setattr(native, "_ready", {})
    preparation = cpu_fast.prepare("float32")
    assert (preparation.compiled, preparation.folder) == (True, None)
    assert kept == [True, False]


def test_where_numba_fails_numpy_folds_and_one_line_says_so(
    used: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise SystemError("LLVM is of another version")

    monkeypatch.setattr(native, "cfunc", fail)
    monkeypatch.setattr(native, "_ready", {})
    monkeypatch.setattr(native, "_failed", set())
    for _ in range(2):
        assert col2im(ones(LARGE), **LARGE.kwargs)[0, 0, :2, :2].tolist() == [[4, 6], [6, 9]]
    assert used == ["NumPy", "NumPy"]
    (line,) = caplog.messages
    assert line.endswith("NumPy folds float32: LLVM is of another version")


def test_an_interrupted_fold_stops_its_helpers_and_the_next_one_is_right() -> None:
    code = """
import _thread, threading, time
import numpy as np
from ascend_col2im import col2im, cpu_fast
cpu_fast.layout.THREAD_BYTES = 1
col = np.ones((4, 9 * 64, 56 * 56), np.float32)
image = np.empty((4, 64, 56, 56), np.float32)
col2im(col, 56, 3, padding=1)  # while it loads code, llvmlite drops interrupts
for _ in range(5):
    threading.Timer(0.03, _thread.interrupt_main).start()
    try:
        while True:
            col2im(col, 56, 3, padding=1, out=image)
    except KeyboardInterrupt:
        image[:] = -1
        time.sleep(0.02)
    assert (image == -1).all()
    assert col2im(col, 56, 3, padding=1)[0, 0, 0, :2].tolist() == [4, 6]
print("right")
"""
    assert run(code, NUMBA_NUM_THREADS="3") == "right"


def test_a_caller_does_what_its_helpers_have_not_begun() -> None:
    release = threading.Event()
    pool = workers._workers()
    busy = [pool.submit(release.wait, 60) for _ in range(os.cpu_count() or 1)]
    try:
        done: list[int] = []
        workers.share(7, 3, done.extend)
        assert done == list(range(7))
    finally:
        release.set()
    assert all(future.result() for future in busy)


def test_every_piece_is_done_once() -> None:
    for threads in (1, 2, 5):
        done: list[int] = []
        workers.share(1000, threads, done.extend)
        assert sorted(done) == list(range(1000))


def test_an_error_of_a_helper_reaches_the_caller() -> None:
    caller, helped = threading.get_ident(), threading.Event()

    def work(pieces: Iterator[int]) -> None:
        if threading.get_ident() == caller:
            assert helped.wait(60)
        else:
            helped.set()
            raise ValueError("from a helper")

    with pytest.raises(ValueError, match="from a helper"):
        workers.share(2, 2, work)


def test_a_forked_process_folds_on_threads_of_its_own() -> None:
    code = """
import os, threading
import numpy as np
from ascend_col2im import col2im, cpu_fast
cpu_fast.layout.THREAD_BYTES = 1
def fold():
    image = col2im(np.ones((4, 9 * 64, 28 * 28), np.float32), 28, 3, padding=1)
    return image[0, 0, 0, :2].tolist() == [4, 6] and threading.active_count() > 1
assert fold()
child = os.fork()
if child == 0:
    os._exit(0 if fold() else 1)
print(os.waitpid(child, 0)[1], fold())
"""
    assert run(code, NUMBA_NUM_THREADS="3", PYTHONWARNINGS="ignore") == "0 True"


def test_a_process_may_fold_while_it_ends() -> None:
    code = """
import atexit
import numpy as np
from ascend_col2im import col2im, cpu_fast
cpu_fast.layout.THREAD_BYTES = 1
col = np.ones((4, 9 * 64, 28 * 28), np.float32)
def fold():
    print(col2im(col, 28, 3, padding=1)[0, 0, 0, :2].tolist())
atexit.register(fold)
fold()
"""
    assert run(code, NUMBA_NUM_THREADS="3").splitlines() == ["[4.0, 6.0]"] * 2
