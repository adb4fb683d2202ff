"""The doctor's NPU checks on simulated installations, each of them failing in turn."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from ascend_col2im import backends, npu_backend, opp
from ascend_col2im.commands import doctor, npu_checks
from ascend_col2im.commands.findings import Finding

from .runtime.installation import environment, installation, package, run
from .runtime.observer import failing

CHECKS = ("CANN toolkit", "NPU driver", "NPU product", "operator package", "operator functions")


def checks() -> dict[str, Finding]:
    """Return all findings about the NPU, which must be a line each."""
    computed = (doctor._backend(status) for status in backends.statuses() if status.name == "npu")
    found = [npu_checks.toolkit(), npu_checks.driver(), *npu_checks.examine(), *computed]
    assert [finding.check for finding in found] == [*CHECKS, "backend npu"]
    for finding in found:
        assert "\n" not in finding.found + finding.cure
        assert (finding.cure == "") == (finding.state == "ok")
    return {finding.check: finding for finding in found}


def states(found: dict[str, Finding]) -> str:
    """Return the states' first letters, in order: o(k), w(arn), f(ail), n(ot applicable)."""
    return "".join(finding.state[0] for finding in found.values())


def test_a_machine_with_everything() -> None:
    run(_everything, environment())


def _everything() -> None:
    found = checks()
    assert states(found) == "oooooo"
    assert found["CANN toolkit"].found == f"{installation()}, version unknown"
    assert found["NPU driver"].found == "CANN finds 1 device"
    assert found["NPU product"].found == "Ascend910B1: Atlas A2 training, ascend910b"
    assert found["operator package"].found == f"{package('full')}/op_api/lib/libcust_opapi.so"
    functions = "aclnnCol2Im, aclnnCol2ImNd, aclnnIm2ColNd of full"
    assert found["operator functions"].found == functions
    assert found["backend npu"].found.endswith("; folding ones to 3 x 3 is right")


def test_a_machine_with_nothing() -> None:
    without = environment(None, LD_LIBRARY_PATH="")
    del without["ASCEND_HOME_PATH"], without["ASCEND_OPP_PATH"]
    run(_nothing, without)


def _nothing() -> None:
    found = checks()
    assert states(found) == "nnnnnn"
    assert found["NPU driver"].found == "there is no /dev/davinci*, and no CANN"
    assert found["NPU product"].found == "cannot be looked at: NPU driver"


def test_a_toolkit_that_is_not_there_or_of_another_kind() -> None:
    run(_no_toolkit, environment(ASCEND_HOME_PATH="/gone"))


def _no_toolkit() -> None:
    toolkit = npu_checks.toolkit()
    assert toolkit.state == "warn"
    assert toolkit.found.startswith("ASCEND_HOME_PATH is '/gone': there is no such directory")
    assert toolkit.cure == "source set_env.sh of the CANN that is installed"
    os.environ["ASCEND_HOME_PATH"] = str(installation())
    os.environ["ASCEND_OPP_PATH"] = "/other/opp"
    assert npu_checks.toolkit().found.startswith("two CANN toolkits are mixed: ")


def test_a_library_that_does_not_load(tmp_path: Path) -> None:
    broken = environment(ASCEND_HOME_PATH=str(tmp_path), LD_LIBRARY_PATH="")
    run(_broken_library, broken)
    (tmp_path / "lib64").mkdir()
    machine = "libm.so.6"  # is a library, of something else
    for folder in ("/lib64", f"/lib/{platform.machine()}-linux-gnu", "/usr/lib64"):
        if (Path(folder) / machine).exists():
            (tmp_path / "lib64/libascendcl.so").symlink_to(Path(folder) / machine)
            break
    run(_foreign_library, broken)


def _broken_library() -> None:
    found = checks()
    assert states(found)[1:] == "wnnnw"
    assert "libascendcl.so of CANN cannot be loaded" in found["NPU driver"].found
    assert found["NPU driver"].cure.startswith("install CANN and source its set_env.sh")


def _foreign_library() -> None:
    assert "has no aclInit: this CANN is older than 8.0, or broken" in checks()["NPU driver"].found


def test_a_driver_that_fails_or_finds_no_device() -> None:
    run(_no_driver, environment())


def _no_driver() -> None:
    with failing("aclrtGetDeviceCount", "*", 507899, "no driver"):
        found = checks()
    assert states(found) == "ownnnw"
    assert (
        "there is no /dev/davinci*; aclrtGetDeviceCount failed with" in found["NPU driver"].found
    )
    assert "npu-smi info" in found["NPU driver"].cure
    assert states(checks()) == "oooooo"


def test_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opp, "runtime", lambda: None)
    monkeypatch.setattr(npu_backend, "device_count", lambda: 0)
    assert npu_checks.driver().found.endswith("; CANN finds no device")


def test_a_product_that_the_operators_are_not_for() -> None:
    run(_product, environment())


def _product() -> None:
    with failing("aclrtGetSocName", "*"):
        assert states(checks()) == "oownnw"
    opp.runtime().aclrtGetSocName = lambda: b"Ascend310P3"
    found = checks()
    assert states(found) == "oownnw"
    said = found["NPU product"].found
    assert said.startswith("this device is Ascend310P3; this package is for Ascend910B* (Atlas A2")
    assert found["NPU product"].cure == "use --backend auto or cpu"


def test_no_package_or_one_for_another_product() -> None:
    empty = str(installation() / "no_packages")
    run(_no_package, environment("only_310b", ASCEND_OPP_PATH=empty))


def _no_package() -> None:
    found = checks()
    assert states(found)[1:] == "oownw"
    line = found["operator package"]
    assert "only_310b/op_api/lib/libcust_opapi.so: is built for ascend310b, not for" in line.found
    assert "config.ini: No such file or directory" in line.found
    assert line.cure == "ascend-col2im build --soc ascend910b && ascend-col2im deploy"


def test_a_package_without_all_functions() -> None:
    run(_some_functions, environment("only_col2im", ASCEND_OPP_PATH=str(installation() / "opp2")))


def _some_functions() -> None:
    found = checks()
    assert states(found)[1:] == "ooowo"  # what it has serves
    line = found["operator functions"]
    assert "only_col2im/op_api/lib/libcust_opapi.so: has no aclnnCol2ImNd" in line.found
    assert line.cure.endswith("ascend-col2im deploy, with all operators in it")


def test_a_computation_that_fails() -> None:
    run(_no_computation, environment())


def _no_computation() -> None:
    with failing("aclnnCol2Im", "*", 561003, "no kernel"):
        found = checks()
    assert states(found) == "ooooof"
    assert found["backend npu"].exit_code == 4
    assert "aclnnCol2Im failed with 561003" in found["backend npu"].found
