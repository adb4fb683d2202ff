"""Carry a plan out: one command after the other, everything they print in a log."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TextIO

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
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        stream = log.open("w", encoding="utf-8")
    except OSError as error:
        raise ToolchainError(f"the log {log} cannot be written: {error.strerror}") from error
    with stream:
        try:
            for index, step in enumerate(plan.steps):
                _run(step, stream, _progress(watch, plan, index, step))
        except BaseException:
            _settle(plan.undo, stream)
            raise
        finally:
            _settle(plan.finish, stream)
    watch(Progress(len(plan.steps), len(plan.steps), "done", ""))


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


def _settle(steps: Iterable[Step], log: TextIO) -> None:
    """Run steps that put things right; one that fails does not stop the next."""
    for step in steps:
        with suppress(ToolchainError):
            _run(step, log, lambda line: None)


def _run(step: Step, log: TextIO, take: Callable[[str], None]) -> None:
    log.write(f"# {step.title}\n$ {step}\n")
    log.flush()
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
            log.flush()
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


def _failure(step: Step, fact: str, last: Iterable[str], log: TextIO) -> str:
    shown = "".join(f"\n  {line}" for line in last)
    tail = f"; its last lines:{shown}" if shown else ", without a word"
    return f"{step.title}: {step.command[0]} {fact}{tail}\nthe whole log: {log.name}"
