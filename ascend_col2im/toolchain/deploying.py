"""Plans that deploy a package, verify it and remove it.

A package is first installed aside and verified there: its library is loaded, its functions are
resolved and one is launched. Only then is it installed for good, and verified again in its place;
if that fails, the package that was there before is put back.

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
from .steps import MINUTE, Plan, Step, make_directories, remove

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
        """Where an earlier package and its order are kept during a deployment."""
        return self.vendors / f".{self.vendor}.previous"


def place(toolkit: Toolkit, vendor: str, install_path: Path | None) -> Place:
    """Return where a vendor's package goes.

    Raises
    ------
    ToolchainError
        If nothing can be written there, or the vendor's name is none.
    """
    check_vendor(vendor)
    target = toolkit.opp if install_path is None else install_path.absolute()
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
    aside = where.vendors / f".{where.vendor}.new"
    undo = _restored(where)
    return Plan(
        "deploy",
        (
            remove("remove what an interrupted deployment left", aside, where.previous),
            make_directories(aside, where.previous),
            _install("install the package aside", package, aside, where),
            _verified("verify it", aside / "vendors" / where.vendor, alone=True),
            *_kept(where),
            _install(
                "install the package", package, where.target if where.private else None, where
            ),
            _verified("verify it in its place", where.package, alone=where.private),
        ),
        facts={**toolkit.facts, "package": str(package), "into": str(where.package)},
        undo=undo,
        finish=(
            remove("remove what is not needed any more", aside, where.previous),
            *_emptied(path for path in (where.vendors, where.target) if not path.exists()),
        ),
        result=where.package,
    )


def removal(where: Place, toolkit: Toolkit) -> Plan:
    """Plan the removal of a vendor's package.

    Raises
    ------
    ToolchainError
        If there is none.
    """
    if not where.package.is_dir():
        raise ToolchainError(f"there is no package of vendor {where.vendor} in {where.vendors}")
    steps = [remove("remove the package", where.package)]
    if where.config.is_file():
        steps.append(_reordered(where))
    if where.private:
        steps += _emptied((where.vendors, where.target))
    return Plan("undeploy", tuple(steps), facts={**toolkit.facts, "from": str(where.vendors)})


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


def _kept(where: Place) -> Iterable[Step]:
    """Keep what is there now."""
    for path in (where.package, where.config):
        if path.exists():
            yield Step(
                f"keep the present {path.name}", ("cp", "-a", str(path), str(where.previous))
            )


def _restored(where: Place) -> tuple[Step, ...]:
    """Return the steps that put back what was kept, or remove what was not there before.

    They look at what is kept, since a deployment may fail before anything is.
    """
    steps = []
    for path in (where.package, where.config):
        kept = where.previous / path.name
        was_there = "yes" if path.exists() else "no"
        script = (
            'if [ -e "$1" ]; then rm -rf "$2" && mv "$1" "$2"; '
            'elif [ "$3" = no ]; then rm -rf "$2"; fi'
        )
        steps.append(
            Step(
                f"put {path.name} back as it was",
                ("sh", "-c", script, "sh", str(kept), str(path), was_there),
            )
        )
    return tuple(steps)


def _reordered(where: Place) -> Step:
    """Return the step that takes the vendor out of the order of vendors."""
    text = where.config.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^load_priority=(.*)$", text, re.MULTILINE)
    names = found[1].split(",") if found else []
    others = [name.strip() for name in names if name.strip() not in ("", where.vendor)]
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
