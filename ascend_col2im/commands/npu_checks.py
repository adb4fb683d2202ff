"""The doctor's checks of what an NPU needs, each of which needs those before it.

Toolkit, driver, product, operator package and its functions; the computation is the doctor's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .. import aclnn, npu_backend, opp
from ..errors import BackendError, ToolchainError
from ..messages import one_line
from ..toolchain import cann
from .findings import Finding, State
from .printing import quantity

DRIVER: Final = "NPU driver"
PRODUCT: Final = "NPU product"
PACKAGE: Final = "operator package"
FUNCTIONS: Final = "operator functions"

OPERATORS: Final = tuple(
    dict.fromkeys(n for names in npu_backend.OPERATORS.values() for n in names)
)


def toolkit() -> Finding:
    """Look at the toolkit whose ``set_env.sh`` was sourced."""
    check, cure = "CANN toolkit", "source set_env.sh of the CANN that is installed"
    if not os.environ.get("ASCEND_HOME_PATH"):
        return Finding(check, "not applicable", "ASCEND_HOME_PATH is not set", cure)
    try:
        found = cann.toolkit()
    except ToolchainError as error:
        return Finding(check, "warn", one_line(str(error)), cure)
    return Finding(check, "ok", f"{found.home}, version {found.version}")


def driver() -> Finding:
    """Ask CANN's runtime, or else the directory of devices, for devices."""
    nodes = sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))
    seen = f"/dev has {', '.join(nodes)}" if nodes else "there is no /dev/davinci*"
    cure = (
        "install the NPU's driver, until npu-smi info shows the device; "
        "in a container: pass the devices and the driver in"
    )
    try:
        opp.runtime()
    except BackendError as error:
        if nodes or os.environ.get("ASCEND_HOME_PATH"):
            return Finding(DRIVER, "warn", f"{seen}; {_sentence(error)}", opp.INSTALL_CANN)
        return Finding(DRIVER, "not applicable", f"{seen}, and no CANN", f"with an NPU: {cure}")
    try:
        count = npu_backend.device_count()
    except BackendError as error:
        return Finding(DRIVER, "warn", f"{seen}; {one_line(str(error))}", cure)
    if count == 0:
        return Finding(DRIVER, "warn", f"{seen}; CANN finds no device", cure)
    return Finding(DRIVER, "ok", f"CANN finds {quantity(count, 'device')}")


def examine() -> Iterator[Finding]:
    """Yield product, package and functions, or what keeps them from being looked at."""
    waiting = [PRODUCT, PACKAGE, FUNCTIONS]
    before = driver()
    for look in (_product, _package, _functions):
        if before.state != "ok":
            break
        before = look()
        yield before
        waiting.remove(before.check)
    state: State = "not applicable"
    for check in waiting:
        yield Finding(check, state, f"cannot be looked at: {before.check}", "see there")


def _product() -> Finding:
    try:
        target = aclnn.target()
    except BackendError as error:
        return Finding(PRODUCT, "warn", one_line(str(error)), "use --backend auto or cpu")
    soc = opp.runtime().aclrtGetSocName().decode(errors="replace")
    return Finding(PRODUCT, "ok", f"{soc}: {target.product}, {target.name}")


def _package() -> Finding:
    target = aclnn.target().name
    tried = []
    for place in opp.places():
        problem = opp.unfit(place, target)
        if problem is None:
            return Finding(PACKAGE, "ok", str(place.path))
        tried.append(f"{place.path}: {problem}")
    found = "; ".join(tried) or f"none of {', '.join(opp.VARIABLES)} is set"
    return Finding(PACKAGE, "warn", found, opp.INSTALL_PACKAGE.format(target=target))


def _functions() -> Finding:
    target = aclnn.target().name
    found, problems = {}, []
    for name in OPERATORS:
        try:
            found[name] = opp.operator((name,), target).path
        except BackendError as error:
            problems.append(one_line(str(error)))
    if problems:
        cure = f"{opp.INSTALL_PACKAGE.format(target=target)}, with all operators in it"
        return Finding(FUNCTIONS, "warn", problems[0], cure)
    packages = ", ".join(sorted({path.parents[2].name for path in found.values()}))
    return Finding(FUNCTIONS, "ok", f"{', '.join(found)} of {packages}")


def _sentence(error: BackendError) -> str:
    """Return what an error says before it lists what was tried."""
    return str(error).partition("; ")[0]
