"""The CANN toolkit in use: the one whose ``set_env.sh`` was sourced, and what it can build with.

Source: the tree of an installed toolkit, CANN 8.1 and 9 (asc-devkit's install map):
``compiler/version.info``, ``lib64/cmake/asc-config.cmake``, ``tools/op_project_templates``.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import ToolchainError
from ..facts import TARGETS
from .steps import is_plain

USUAL_PLACES: Final = (
    "/usr/local/Ascend/ascend-toolkit/latest",
    "/usr/local/Ascend/cann",
    "/usr/local/Ascend/latest",
    "~/Ascend/ascend-toolkit/latest",
    "~/Ascend/cann",
)
"""Where CANN's installer puts toolkits; looked at only to tell users about them."""

SOCS: Final = tuple(name for name in TARGETS if name != "cpu")
"""The products that the operators are written for, by CANN's build names."""

TEMPLATE: Final = Path("tools/op_project_templates/ascendc/customize")
"""The project template of CANN 8, within a toolkit."""


@dataclass(frozen=True)
class Toolkit:
    """One installed toolkit.

    Attributes
    ----------
    home : its root, ``ASCEND_HOME_PATH``
    opp : where packages are deployed, ``ASCEND_OPP_PATH``
    version : as ``compiler/version.info`` says, or "unknown"
    others : toolkits seen in the usual places, which are not used
    """

    home: Path
    opp: Path
    version: str
    others: tuple[Path, ...]

    @property
    def has_cmake_functions(self) -> bool:
        """Whether ``find_package(ASC)`` works (CANN 8.5 and newer)."""
        return (self.home / "lib64/cmake/asc-config.cmake").is_file()

    @property
    def has_template(self) -> bool:
        """Whether the project template of CANN 8 is there."""
        return (self.home / TEMPLATE / "build.sh").is_file()

    @property
    def facts(self) -> dict[str, str]:
        """What to tell whoever builds with it."""
        found = {"toolkit": f"{self.home}, version {self.version}"}
        if self.others:
            found["also installed, not used"] = ", ".join(map(str, self.others))
        return found


def toolkit(environment: Mapping[str, str] = os.environ) -> Toolkit:
    """Return the toolkit whose ``set_env.sh`` was sourced.

    Raises
    ------
    ToolchainError
        If none was, if it is not there, is for another architecture, or if two were mixed.
    """
    named = environment.get("ASCEND_HOME_PATH")
    others = [
        place for place in (Path(text).expanduser() for text in USUAL_PLACES) if place.is_dir()
    ]
    if not named:
        places = [*(f"source {place / 'set_env.sh'}" for place in others), "install CANN"]
        raise ToolchainError(
            "no CANN toolkit is in use: ASCEND_HOME_PATH is not set; "
            f"{' or '.join(places)}, or make a simulated one: ascend-col2im sim DIR && source "
            "DIR/set_env.sh"
        )
    home = Path(named)
    for fault, found in (
        ("there is no such directory", not home.is_dir()),
        ("a relative path", not home.is_absolute()),
        ("a path that make cannot work with", not is_plain(home)),
    ):
        if found:
            raise ToolchainError(
                f"ASCEND_HOME_PATH is {str(home)!r}: {fault}; source the set_env.sh of the "
                "toolkit to use"
            )
    _check_architecture(home)
    opp = Path(environment.get("ASCEND_OPP_PATH") or home / "opp")
    if home.resolve() not in opp.resolve().parents:
        raise ToolchainError(
            f"two CANN toolkits are mixed: ASCEND_HOME_PATH is {home}, ASCEND_OPP_PATH is {opp}; "
            "start a new shell and source the set_env.sh of one"
        )
    unused = tuple(place for place in others if place.resolve() != home.resolve())
    return Toolkit(home, opp, _version(home), unused)


def check_socs(socs: tuple[str, ...]) -> None:
    """Refuse products that the operators are not written for.

    Raises
    ------
    ToolchainError
        Naming those there are.
    """
    for soc in socs:
        if soc not in SOCS:
            raise ToolchainError(
                f"the operators are not written for {soc}; --soc takes {', '.join(SOCS)}"
            )


def check_vendor(vendor: str) -> None:
    """Refuse a vendor's name that cannot name a directory and stand in a list.

    Raises
    ------
    ToolchainError
        With the rule.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", vendor):
        raise ToolchainError(
            f"the vendor's name {vendor!r} must begin with a letter and go on with letters, "
            "digits and underscores"
        )


def _version(home: Path) -> str:
    try:
        text = (home / "compiler/version.info").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "unknown"
    found = re.search(r"^Version=(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else "unknown"


def _check_architecture(home: Path) -> None:
    """Refuse a toolkit that has directories for other architectures and none for this one."""
    built_for = sorted(path.name.removesuffix("-linux") for path in home.glob("*-linux"))
    if built_for and platform.machine() not in built_for:
        raise ToolchainError(
            f"the toolkit {home} is for {', '.join(built_for)}, this machine is "
            f"{platform.machine()}; install the toolkit for {platform.machine()}"
        )
