"""A plan: commands in order, what they make, and what puts things right if one fails."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import ToolchainError

MINUTE = 60.0


@dataclass(frozen=True)
class Step:
    """One command.

    Attributes
    ----------
    title : what it does, in a few words for people who watch
    command : the program and its arguments
    directory : where it runs; None: where the caller is
    environment : variables set for it, beside those of the caller
    timeout : seconds after which it has failed
    makes : files that must be there afterwards, not empty and written by this step
    """

    title: str
    command: tuple[str, ...]
    directory: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = MINUTE
    makes: tuple[Path, ...] = ()

    def __str__(self) -> str:
        text = shlex.join(self.command)
        if self.environment:
            values = (f"{name}={shlex.quote(value)}" for name, value in self.environment.items())
            text = f"{' '.join(values)} {text}"
        return (
            text
            if self.directory is None
            else f"(cd {shlex.quote(str(self.directory))} && {text})"
        )


@dataclass(frozen=True)
class Plan:
    """Steps that lead to ``result``.

    Attributes
    ----------
    what : the job, as a verb phrase
    facts : what was found out while planning, by name
    steps : in order; each needs those before it
    undo : run in order if a step fails, so that what was there before works as before
    finish : run at the end, whether the steps failed or not
    lock : a directory that one plan at a time may work in; made if it is missing
    result : the file or directory that is there at the end; None where the job removes something
    """

    what: str
    steps: tuple[Step, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    undo: tuple[Step, ...] = ()
    finish: tuple[Step, ...] = ()
    lock: Path | None = None
    result: Path | None = None


def lines(plan: Plan) -> Iterator[str]:
    """Yield a plan as the commands of a shell, with its facts and titles as comments."""
    yield from (f"# {name}: {text}" for name, text in plan.facts.items())
    yield from _titled(plan.steps)
    if plan.undo:
        yield "# if a step fails:"
        yield from _titled(plan.undo)
    if plan.finish:
        yield "# in any case:"
        yield from _titled(plan.finish)


def _titled(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield f"# {step.title}"
        yield str(step)


def search_path() -> str:
    """Return where commands are looked for: PATH, then where pip puts programs beside Python."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])


def is_plain(path: Path) -> bool:
    """Whether make, shells and lists of paths take a path as it is."""
    return not re.search(r"[\s\x00-\x1f\"'`$#%&*?:;|<>()\[\]{}\\!=]", str(path))


def compiler() -> tuple[str, ...]:
    """Return the C++ compiler and the arguments it is always given: ``CXX``, as make reads it.

    Raises
    ------
    ToolchainError
        If it cannot be read.
    """
    named = os.environ.get("CXX", "")
    try:
        words = shlex.split(named) or ["c++"]
    except ValueError as error:
        raise ToolchainError(
            f"CXX is {named!r}, which a shell cannot read ({error}); close what is quoted"
        ) from error
    return tuple(words)


def check_compiler() -> None:
    """Refuse to plan without the C++ compiler.

    Raises
    ------
    ToolchainError
        With the cure.
    """
    check_program(compiler()[0], "install g++ 9 or newer, or set CXX")


def make(title: str, folder: Path, jobs: int, *arguments: str, makes: tuple[Path, ...]) -> Step:
    """Return the step that makes targets of the simulated NPU, compiled by `compiler`."""
    return Step(
        title,
        ("make", "-C", str(folder), f"-j{jobs}", *arguments),
        environment={"MAKEFLAGS": "", "CXX": shlex.join(compiler())},
        timeout=20 * MINUTE,
        makes=makes,
    )


def check_program(name: str, cure: str) -> None:
    """Refuse to plan with a program that is not installed.

    Raises
    ------
    ToolchainError
        With the cure.
    """
    if shutil.which(name, path=search_path()) is None:
        raise ToolchainError(f"{name} is not installed; {cure}")


def copy(title: str, sources: Iterable[Path], target: Path) -> Step:
    """Return a step that copies files and directories into a directory, or one file to a name."""
    return Step(title, ("cp", "-R", *map(str, sources), str(target)))


def copy_contents(title: str, source: Path, target: Path) -> Step:
    """Return a step that copies all that is in a directory, hidden files too, into another."""
    return Step(title, ("cp", "-R", f"{source}/.", str(target)))


def make_directories(*directories: Path) -> Step:
    """Return a step that makes directories where they are missing."""
    return Step("make directories", ("mkdir", "-p", *map(str, directories)))


def remove(title: str, *paths: Path) -> Step:
    """Return a step that removes files and directories if they are there."""
    return Step(title, ("rm", "-rf", *map(str, paths)))
