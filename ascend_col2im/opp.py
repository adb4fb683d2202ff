"""CANN's libraries and the installed operator packages: where they are, and their functions.

Looked up when a call needs them and not before, as CANN does itself:

- ``libascendcl.so`` and ``libnnopbase.so`` by name, which follows ``LD_LIBRARY_PATH`` and what
  torch_npu has loaded, then in ``$ASCEND_HOME_PATH/lib64``;
- operator packages in ``ASCEND_CUSTOM_OPP_PATH``, left to right, then the vendors of
  ``load_priority`` in ``$ASCEND_OPP_PATH/vendors/config.ini``; the first that has a function wins.

What was found is kept for as long as those variables stay the same; what was not found is looked
for again at the next call.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from ._abi import ACL, NNOPBASE, OPAPI, SYMBOLS, Library
from .errors import BackendError

VARIABLES: Final = ("ASCEND_CUSTOM_OPP_PATH", "ASCEND_OPP_PATH", "ASCEND_HOME_PATH")

INSTALL_CANN: Final = (
    "install CANN and source its set_env.sh before starting Python, "
    "or make a simulated installation: ascend-col2im sim DIR"
)
INSTALL_PACKAGE: Final = "ascend-col2im build --soc {target} && ascend-col2im deploy"

_Environment = tuple[str | None, ...]


class Operator(NamedTuple):
    """The two stages of one operator, the library they are from, and `runtime` to go with them."""

    name: str
    prepare: Any
    execute: Any
    path: Path
    acl: Any


class Place(NamedTuple):
    """One library to look at, or why there is none to look at."""

    path: Path
    problem: str | None = None


def runtime() -> Any:
    """Return the functions of CANN's own libraries, as attributes named after them.

    Raises
    ------
    BackendError
        Listing every path tried.
    """
    found = _runtimes.get(_environment())
    if found is None:
        found = _runtimes[_environment()] = _load_runtime()
    return found


def declarations() -> dict[str, str]:
    """Return what the installation whose libraries are loaded says of itself.

    The lines ``name=value`` of its ``version.info``; nothing if it has none. A simulated
    installation declares ``event_times=modelled`` there.

    Raises
    ------
    BackendError
        If there is no CANN.
    """
    runtime()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    loaded = [line.split()[-1] for line in maps.splitlines() if line.endswith(f"/{ACL}")]
    for place in Path(loaded[0]).parents if loaded else ():
        file = place / "compiler" / "version.info"
        if file.is_file():
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            pairs = (line.partition("=") for line in lines if "=" in line)
            return {name.strip(): value.strip() for name, _, value in pairs}
    return {}


def operator(names: tuple[str, ...], target: str) -> Operator:
    """Return the first of some operators that an installed package has for a target.

    Raises
    ------
    BackendError
        Listing every library tried and what is wrong with it.
    """
    key = (names, target, _environment())
    found = _operators.get(key)
    if found is None:
        found = _operators[key] = _find_operator(names, target)
    return found


def places() -> list[Place]:
    """Return the packages' libraries in the order in which they are looked at."""
    listed = [
        Place(Path(entry) / "op_api" / "lib" / OPAPI)
        for entry in (os.environ.get("ASCEND_CUSTOM_OPP_PATH") or "").split(":")
        if entry
    ]
    opp = os.environ.get("ASCEND_OPP_PATH")
    home = os.environ.get("ASCEND_HOME_PATH")
    if not opp and not home:
        return listed
    vendors = (Path(opp) if opp else Path(str(home)) / "opp") / "vendors"
    config = vendors / "config.ini"
    try:
        lines = config.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        return [*listed, Place(config, getattr(error, "strerror", None) or "is not text")]
    values = [line.partition("=")[2] for line in lines if line.startswith("load_priority=")]
    names = [name.strip() for name in ",".join(values).split(",") if name.strip()]
    if not names:
        return [*listed, Place(config, "names no vendor in load_priority")]
    return [*listed, *(Place(vendors / name / "op_api" / "lib" / OPAPI) for name in names)]


def unfit(place: Place, target: str) -> str | None:
    """Return why there is no package for a target at a place, or None if there is one."""
    if place.problem:
        return place.problem
    if not place.path.exists():
        return "there is no such file"
    config = place.path.parents[2] / "op_impl" / "ai_core" / "tbe" / "config"
    if (config / target).is_dir():
        return None
    others = sorted(entry.name for entry in config.glob("*"))
    return f"is built for {', '.join(others) or 'no device'}, not for {target}"


_runtimes: dict[_Environment, SimpleNamespace] = {}
_operators: dict[tuple[tuple[str, ...], str, _Environment], Operator] = {}


def _environment() -> _Environment:
    return tuple(map(os.environ.get, VARIABLES))


def _load_runtime() -> SimpleNamespace:
    functions = SimpleNamespace()
    for library in (ACL, NNOPBASE):  # in this order: the second needs the first
        loaded = _load_cann(library)
        for symbol in SYMBOLS.values():
            if symbol.library == library:
                setattr(functions, symbol.name, _cann_function(loaded, symbol.name))
    return functions


def _load_cann(library: Library) -> ctypes.CDLL:
    home = os.environ.get("ASCEND_HOME_PATH")
    tried = []
    for path in (library, *([f"{home}/lib64/{library}"] if home else [])):
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path}: {error}")
    raise BackendError(f"{library} of CANN cannot be loaded; {INSTALL_CANN}" + _indented(tried))


def _find_operator(names: tuple[str, ...], target: str) -> Operator:
    runtime()  # packages link CANN's libraries, by name
    tried = []
    for place in places():
        found = unfit(place, target) or _operator_in(place.path, names)
        if isinstance(found, Operator):
            return found
        tried.append(f"{place.path}: {found}")
    if not tried:
        tried.append(f"nothing: none of {', '.join(VARIABLES)} is set; {INSTALL_CANN}")
    raise BackendError(
        f"no installed operator package has {' or '.join(names)} for {target}; "
        f"build and deploy it: {INSTALL_PACKAGE.format(target=target)}" + _indented(tried)
    )


def _operator_in(path: Path, names: tuple[str, ...]) -> Operator | str:
    """Return the first of some operators that a package has, or what is wrong with it."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        return str(error)
    for name in names:
        try:
            prepare = _function(library, f"{name}GetWorkspaceSize")
            return Operator(name, prepare, _function(library, name), path, runtime())
        except AttributeError:
            continue
    return f"has no {' or '.join(names)}"


def _cann_function(library: ctypes.CDLL, name: str) -> Any:
    try:
        return _function(library, name)
    except AttributeError as error:
        raise BackendError(
            f"{library._name} has no {name}: this CANN is older than 8.0, or broken; "
            f"{INSTALL_CANN}"
        ) from error


def _function(library: ctypes.CDLL, name: str) -> Any:
    function = library[name]
    _, _, function.restype, function.argtypes = SYMBOLS[name]
    return function


def _indented(tried: list[str]) -> str:
    return "; tried" + "".join(f"\n  {line}" for line in tried)
