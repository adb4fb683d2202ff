"""Threads that help a caller: the caller does whatever they have not begun.

Compiled code runs without the interpreter's lock, so plain threads do. Unlike those of OpenMP they
may be asked by several callers at once, and a process that has used them may fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def share(pieces: int, threads: int, work: Callable[[Iterator[int]], None]) -> None:
    """Have up to ``threads`` threads, this one included, do every piece once.

    ``work`` is called once per thread, with an iterator over the pieces that fall to it.
    """
    counter = iter(range(pieces))
    counting = threading.Lock()

    def taken() -> Iterator[int]:
        while True:
            with counting:
                piece = next(counter, None)
            if piece is None:
                return
            yield piece

    helpers = []
    for _ in range(min(threads, pieces) - 1):
        try:
            helpers.append(_workers().submit(work, taken()))
        except RuntimeError:  # the interpreter is shutting down
            break
    try:
        work(taken())
    finally:
        _finish(helpers)


def _finish(helpers: list[Future[None]]) -> None:
    """Wait for those that have begun, which write to the caller's memory, interrupted or not."""
    begun = [helper for helper in helpers if not helper.cancel()]
    interrupted: KeyboardInterrupt | None = None
    while not all(helper.done() for helper in begun):
        try:
            wait(begun)
        except KeyboardInterrupt as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted
    for helper in begun:
        helper.result()


def _workers() -> ThreadPoolExecutor:
    global _pool  # noqa: PLW0603
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="ascend_col2im")
        return _pool


def _forget_pool() -> None:
    """Start anew after a fork, which leaves the threads behind and may take a held lock along."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_pool)
