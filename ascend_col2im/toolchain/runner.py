"""Carry a plan out: one command after the other, everything they print in a log."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import ToolchainError
from .steps import Plan, Step, search_path

LAST_LINES: Final = 20
"""How much of a failed command's output its error shows."""

_PERCENT = re.compile(r"^\[ *(\d+)%\]")


class Progress(NamedTuple):
    """How far a plan is: ``done`` of ``total`` steps, the step at work, and its last line."""

    done: float
    total: int
    title: str
    line: str


Watch = Callable[[Progress], None]


def run(plan: Plan, log: Path, watch: Watch) -> None:
    """Run a plan's steps, and on a failure or an interrupt what undoes them.

    Raises
    ------
    ToolchainError
        With the command, its last lines and the log's path.
    """
    with _locked(plan.lock), closing(Log(log)) as stream:
        try:
            for index, step in enumerate(plan.steps):
                _run(step, stream, _progress(watch, plan, index, step))
        except BaseException:
            _settle(plan.undo, stream)
            raise
        finally:
            _settle(plan.finish, stream)
    watch(Progress(len(plan.steps), len(plan.steps), "done", ""))


class Log:
    """The file that takes everything commands print; what a full disk does not take is lost."""

    def __init__(self, path: Path) -> None:
        self.name = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = path.open("w", encoding="utf-8", errors="surrogateescape", buffering=1)
        except OSError as error:
            raise ToolchainError(f"the log {path} cannot be written: {error.strerror}") from error

    def write(self, text: str) -> None:
        """Add a text, as far as there is room."""
        with suppress(OSError):
            self._stream.write(text)

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            self._stream.close()


@contextmanager
def _locked(directory: Path | None) -> Iterator[None]:
    """Keep other plans out of a directory, which is made if it is missing."""
    if directory is None:
        yield
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ToolchainError(f"{directory} cannot be made: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ToolchainError(
            f"another ascend-col2im is at work in {directory}; wait until it is done"
        ) from error
    finally:
        os.close(handle)


def _progress(watch: Watch, plan: Plan, index: int, step: Step) -> Callable[[str], None]:
    """Return what takes a step's lines; those of make carry a percentage."""
    total = len(plan.steps)
    done = float(index)
    watch(Progress(done, total, step.title, ""))

    def take(line: str) -> None:
        nonlocal done
        if found := _PERCENT.match(line):
            done = index + int(found[1]) / 100
        watch(Progress(done, total, step.title, line))

    return take


def _settle(steps: Iterable[Step], log: Log) -> None:
    """Run steps that put things right; neither a failing one nor a signal stops the next."""
    with _undisturbed():
        for step in steps:
            with suppress(ToolchainError):
                _run(step, log, lambda line: None)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore a second Ctrl-C, and being told to end, while things are put right."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _run(step: Step, log: Log, take: Callable[[str], None]) -> None:
    log.write(f"# {step.title}\n$ {step}\n")
    started = time.time()
    last: deque[str] = deque(maxlen=LAST_LINES)
    expired = threading.Event()
    with _started(step) as process:

        def expire() -> None:
            expired.set()
            _end(process)

        timer = threading.Timer(step.timeout, expire)
        timer.start()
        try:
            for line in process.stdout or ():
                log.write(line)
                last.append(line.rstrip())
                take(line.rstrip())
            process.wait()
        except BaseException:
            _end(process)
            raise
        finally:
            timer.cancel()
    if expired.is_set():
        fact: str | None = f"took longer than {step.timeout:g} s"
    elif process.returncode:
        fact = f"ended with {process.returncode}"
    else:
        fact = _missing(step, started)
    if fact is not None:
        raise ToolchainError(_failure(step, fact, last, log))


def _started(step: Step) -> subprocess.Popen[str]:
    """Start a step's command, in a group of its own so that all of it can be ended."""
    try:
        return subprocess.Popen(
            step.command,
            cwd=step.directory,
            env={**os.environ, "PATH": search_path(), **step.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ToolchainError(f"{step.title}: {step.command[0]}: {error.strerror}") from error


def _end(process: subprocess.Popen[str]) -> None:
    """End a command and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _missing(step: Step, started: float) -> str | None:
    """Return what is wrong with the files that a step should have made."""
    for path in step.makes:
        if not path.exists():
            return f"made no {path}"
        status = path.stat()
        if status.st_size == 0:
            return f"left {path} empty"
        if status.st_mtime < started - 1:  # file systems keep whole seconds
            return f"left an older {path} as it was"
    return None


def _failure(step: Step, fact: str, last: Iterable[str], log: Log) -> str:
    shown = "".join(f"\n  {line}" for line in last)
    tail = f"; its last lines:{shown}" if shown else ", without a word"
    return f"{step.title}: {step.command[0]} {fact}{tail}\n  the whole log: {log.name}"
