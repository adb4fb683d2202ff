"""Plans that deploy a package, verify it and remove it.

A package is first installed aside and verified there: its library is loaded, its functions are
resolved and one is launched. Only then is it installed for good, and verified again in its place;
if that fails, the package that was there before is put back. A deployment that was killed leaves
what it kept; the next one puts that back first.

Source: the install.sh of CANN's packages (asc-devkit ``cmake/asc/fwk_modules/scripts``): the
target is ``--install-path``, else ``ASCEND_OPP_PATH``; ``vendors/config.ini`` has the order of
vendors, and ``--install-path`` leaves it alone.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import ToolchainError
from .cann import Toolkit, check_vendor
from .steps import MINUTE, Plan, Step, is_plain, make_directories, remove

CHECK: Final = "ascend_col2im.package_check"
"""The program that verifies a package, in a process of its own."""

LIBRARY: Final = Path("op_api/lib/libcust_opapi.so")

_CHECK_TIMEOUT: Final = 5 * MINUTE


@dataclass(frozen=True)
class Place:
    """Where a vendor's package is, or will be.

    Attributes
    ----------
    target : the directory that has ``vendors`` in it
    vendor : the package's vendor
    private : whether it was chosen with ``--install-path``: users source its ``set_env.bash``
    """

    target: Path
    vendor: str
    private: bool

    @property
    def vendors(self) -> Path:
        """The directory of all vendors."""
        return self.target / "vendors"

    @property
    def package(self) -> Path:
        """The package's directory."""
        return self.vendors / self.vendor

    @property
    def config(self) -> Path:
        """The file with the order in which vendors are looked at."""
        return self.vendors / "config.ini"

    @property
    def previous(self) -> Path:
        """Where an earlier package and its order are kept during a deployment, both or none."""
        return self.vendors / f".{self.vendor}.previous"

    @property
    def aside(self) -> Path:
        """Where a new package is verified before it is installed for good."""
        return self.vendors / f".{self.vendor}.new"

    @property
    def part(self) -> Path:
        """What becomes `previous` once it is whole."""
        return Path(f"{self.previous}.part")


def place(toolkit: Toolkit, vendor: str, install_path: Path | None) -> Place:
    """Return where a vendor's package goes.

    Raises
    ------
    ToolchainError
        If nothing can be written there, or the vendor's name is none.
    """
    check_vendor(vendor)
    if install_path is None:
        target = toolkit.opp
        if not target.is_dir():
            raise ToolchainError(
                f"{target} is no directory: {toolkit.home} is no whole toolkit; use --install-path"
            )
    else:
        target = install_path.absolute()
        if not is_plain(target):
            raise ToolchainError(
                f"--install-path is {str(target)!r}: the package's own set_env.bash cannot name "
                "it; use a path without spaces, quotes and other characters that mean something "
                "to a shell"
            )
    existing = next(
        path for path in (target / "vendors", target, *target.parents) if path.exists()
    )
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ToolchainError(
            f"packages cannot be installed in {target}: {existing} is not writable; use "
            "--install-path with a directory of your own, or run as the toolkit's owner"
        )
    return Place(target, vendor, install_path is not None)


def find_package(directory: Path, vendor: str) -> Path:
    """Return the vendor's package that was built last in a directory.

    Raises
    ------
    ToolchainError
        If there is none.
    """
    found = sorted(
        directory.glob(f"cann-col2im-{vendor}_linux-*.run"), key=lambda path: path.stat().st_mtime
    )
    if not found:
        raise ToolchainError(
            f"there is no package of vendor {vendor} in {directory}; build it: ascend-col2im build"
        )
    return found[-1]


def plan(package: Path, where: Place, toolkit: Toolkit) -> Plan:
    """Plan a deployment.

    Raises
    ------
    ToolchainError
        If the package is missing or for another architecture.
    """
    _check_package(package)
    aside, undo = where.aside, (_restored(where),)
    return Plan(
        "deploy",
        (
            *undo,
            remove("remove what an interrupted deployment left", aside),
            make_directories(aside),
            _install("install the package aside", package, aside, where),
            _verified("verify it", aside / "vendors" / where.vendor, alone=True),
            _kept(where),
            _install(
                "install the package", package, where.target if where.private else None, where
            ),
            _verified("verify it in its place", where.package, alone=where.private),
            remove("forget what was there before", where.previous),
        ),
        facts={**toolkit.facts, "package": str(package), "into": str(where.package)},
        undo=undo,
        finish=(
            remove("remove what is not needed any more", where.aside, where.part),
            *_emptied(path for path in (where.vendors, where.target) if not path.exists()),
        ),
        lock=where.target,
        result=where.package,
    )


def removal(where: Place, toolkit: Toolkit) -> Plan:
    """Plan the removal of a vendor's package.

    Raises
    ------
    ToolchainError
        If there is none.
    """
    names = _order(where)
    if not where.package.is_dir() and where.vendor not in names:
        raise ToolchainError(f"there is no package of vendor {where.vendor} in {where.vendors}")
    steps = []
    if where.vendor in names:
        steps.append(_reordered(where, [name for name in names if name != where.vendor]))
    leftovers = (where.aside, where.part, where.previous)
    steps.append(remove("remove the package", where.package, *leftovers))
    if where.private:
        steps += _emptied((where.vendors, where.target))
    return Plan(
        "undeploy",
        tuple(steps),
        facts={**toolkit.facts, "from": str(where.vendors)},
        lock=where.target,
    )


def _check_package(package: Path) -> None:
    if not package.is_file():
        raise ToolchainError(f"there is no package {package}; build it: ascend-col2im build")
    named = re.search(r"_(?:linux-)?(x86_64|aarch64)\.run$", package.name)
    if named and named[1] != platform.machine():
        raise ToolchainError(
            f"{package} is built for {named[1]}, this machine is {platform.machine()}; build it "
            "here: ascend-col2im build"
        )


def _install(title: str, package: Path, target: Path | None, where: Place) -> Step:
    """Return the step that runs the package; the default target is the environment's."""
    path = () if target is None else (f"--install-path={target}",)
    return Step(
        title,
        ("bash", str(package.absolute()), "--quiet", *path),
        environment={"ASCEND_CUSTOM_OPP_PATH": "", "ASCEND_OPP_PATH": str(where.target)},
        timeout=5 * MINUTE,
    )


def _verified(title: str, package: Path, *, alone: bool) -> Step:
    """Return the step that verifies a package, alone or among all that the user's calls reach."""
    return Step(
        title,
        (sys.executable, "-m", CHECK, str(package / LIBRARY)),
        environment={"ASCEND_CUSTOM_OPP_PATH": str(package)} if alone else {},
        timeout=_CHECK_TIMEOUT,
    )


def _kept(where: Place) -> Step:
    """Keep what is there now, or that it is not: aside first, so that all is kept or nothing."""
    script = (
        "kept=$1 part=$1.part; shift; "
        'rm -rf "$kept" "$part" && mkdir "$part" || exit; '
        "for path; do "
        'if [ -e "$path" ]; then cp -a "$path" "$part"; else touch "$part/${path##*/}.absent"; fi '
        "|| exit; "
        'done; mv "$part" "$kept"'
    )
    return _with_paths("keep what is there", script, where)


def _restored(where: Place) -> Step:
    """Put back what a deployment kept, also one that was killed, by renaming alone.

    Done again it changes nothing, and nothing is put back where nothing has been kept.
    """
    script = (
        "kept=$1; shift; "
        'if [ ! -d "$kept" ]; then exit; fi; '
        "for path; do name=${path##*/}; "
        'if [ -e "$kept/$name" ]; then rm -rf "$path" && mv "$kept/$name" "$path"; '
        'elif [ -e "$kept/$name.absent" ]; then rm -rf "$path"; fi '
        "|| exit; "
        'done; rm -rf "$kept"'
    )
    return _with_paths("put back what was there", script, where)


def _with_paths(title: str, script: str, where: Place) -> Step:
    paths = (where.previous, where.package, where.config)
    return Step(title, ("sh", "-c", script, "sh", *map(str, paths)))


def _order(where: Place) -> list[str]:
    """Return the vendors in the order in which they are looked at."""
    try:
        text = where.config.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = re.search(r"^load_priority=(.*)$", text, re.MULTILINE)
    names = found[1].split(",") if found else []
    return [name.strip() for name in names if name.strip()]


def _reordered(where: Place, others: list[str]) -> Step:
    """Return the step that leaves other vendors in the order."""
    if not others:
        return remove("remove the empty order of vendors", where.config)
    change = f"s/^load_priority=.*/load_priority={','.join(others)}/"
    return Step("take it out of the order of vendors", ("sed", "-i", change, str(where.config)))


def _emptied(directories: Iterable[Path]) -> tuple[Step, ...]:
    """Return the steps that remove directories, from the inside out, as far as they are empty."""
    command = 'rmdir "$1" 2>/dev/null || true'
    return tuple(
        Step(f"remove {path} if it is empty", ("sh", "-c", command, "sh", str(path)))
        for path in directories
    )
