"""``doctor``: its states, its cures, its exit code, and the packages it knows."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from ascend_col2im import backends, errors
from ascend_col2im.commands import doctor
from ascend_col2im.commands.doctor import Package
from ascend_col2im.commands.findings import Finding, State

from .command_line import COMMAND, ROOT, invoke, python
from .oracles import Array


def findings(monkeypatch: pytest.MonkeyPatch, *found: Finding) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter(found))


def test_this_machine_is_examined_down_to_a_computation_on_each_backend() -> None:
    done = python(COMMAND, "doctor", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["exit_code"] == 0
    checks = {check["check"]: check for check in facts["checks"]}
    assert len(checks) == len(facts["checks"])
    assert checks["numpy"]["found"].startswith(np.__version__)
    names = [f"backend {status.name}" for status in backends.statuses()]
    npu = ["CANN toolkit", "NPU driver", "NPU product", "operator package", "operator functions"]
    assert [name for name in checks if name in (*npu, *names)] == [
        *npu[:2],
        names[0],
        *npu[2:],
        names[1],
    ]
    for status in backends.statuses():
        check = checks[f"backend {status.name}"]
        assert " ".join(status.reason.split()) in check["found"]
        assert check["state"] == ("ok" if status.runs else "not applicable")
    assert "folding ones to 3 x 3 is right" in checks["backend cpu"]["found"]
    for check in checks.values():
        assert check["state"] in get_args(State)
        assert (check["cure"] == "") == (check["state"] == "ok")


def test_people_read_the_same_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    findings(monkeypatch, Finding("oil", "warn", "low", "add oil"), Finding("tyres", "ok", "4"))
    assert invoke("doctor").stdout.splitlines() == [
        "check  state  found  cure",
        "oil    warn   low    add oil",
        "tyres  ok     4",
    ]


def test_the_exit_code_is_that_of_the_worst_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    good = (Finding("a", "ok", ""), Finding("b", "warn", ""), Finding("c", "not applicable", ""))
    findings(monkeypatch, *good)
    assert invoke("doctor").exit_code == 0
    findings(monkeypatch, Finding("d", "fail", "", "", 4), *good, Finding("e", "fail", "", "", 7))
    assert invoke("doctor").exit_code == 7
    assert json.loads(invoke("doctor", "--json").stdout)["exit_code"] == 7


def package(
    distribution: str = "numpy",
    module: str = "numpy",
    oldest: str = "1.26",
    extra: str | None = None,
) -> Finding:
    return doctor._package(Package(distribution, module, oldest, "tests", extra))


def test_a_needed_package_fails_where_an_optional_one_warns() -> None:
    assert package().state == "ok"
    cases = ({"oldest": "999"}, {"module": "no_such_module"}, {"distribution": "no-such-package"})
    for case in cases:
        finding = package(**case)
        assert finding.state == "fail"
        assert finding.exit_code == errors.MissingExtraError.exit_code
    assert [package(**case, extra="fast").state for case in cases] == [
        "warn",
        "warn",
        "not applicable",
    ]


def test_what_is_wrong_with_a_package_is_said_with_the_cure() -> None:
    old = package(oldest="999")
    assert old.found == f"{np.__version__} is too old for tests; needs >=999"
    assert old.cure == "pip install --upgrade 'numpy>=999'"
    broken = package(module="no_such_module")
    assert broken.found == f"{np.__version__} does not load: No module named 'no_such_module'"
    absent = package(distribution="no-such-package", extra="fast")
    assert absent.found == "not installed"
    assert absent.cure == "for tests: pip install 'ascend-col2im[fast]'"


def test_versions_are_compared_as_numbers() -> None:
    assert backends.release("2.13.0+cpu") == (2, 13, 0)
    assert backends.release("2.4") < backends.release("2.13.0.dev1")


BROKEN = {
    "raises": (
        "raise OSError('libascendcl.so: cannot open shared object file\\nmore')",
        "9.9 does not load: libascendcl.so: cannot open shared object file",
    ),
    "exits": ("raise SystemExit", "9.9 does not load: SystemExit"),
    "ends the process": (
        "import os, sys; print('x', flush=True); sys.stderr.write('FATAL'); os._exit(2)",
        "9.9 does not load: FATAL",
    ),
    "crashes": (
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "9.9 does not load: its process ends with code -11",
    ),
    "prints": ("print('{')", "9.9, for torch tensors on an NPU"),
}

NEEDED_AND_NPU = (
    "from ascend_col2im.commands import doctor\n"
    "doctor.PACKAGES = [p for p in doctor.PACKAGES if p.extra in (None, 'npu')]\n"
)
"""Code that keeps the doctor from loading what the test is not about, which takes seconds."""


@pytest.mark.parametrize(("code", "found"), BROKEN.values(), ids=BROKEN)
def test_a_broken_optional_package_does_not_break_the_rest(
    tmp_path: Path, code: str, found: str
) -> None:
    (tmp_path / "torch_npu.py").write_text(code)
    information = tmp_path / "torch_npu-9.9.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-npu\nVersion: 9.9\n")
    done = python(NEEDED_AND_NPU + COMMAND, "doctor", "--json", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    checks = {check["check"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["torch-npu"]["found"] == found
    assert checks["torch-npu"]["state"] == ("ok" if code == "print('{')" else "warn")


@pytest.mark.parametrize("version", [None, KeyError("Version")], ids=["none", "no field"])
def test_a_package_without_metadata_is_to_be_installed_again(
    version: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> object:
        if isinstance(version, KeyError):
            raise version
        return version

    monkeypatch.setattr("ascend_col2im.commands.doctor.metadata.version", found)
    finding = package(extra="fast")
    assert (finding.state, finding.found) == ("warn", "installed without its metadata")
    assert finding.cure.endswith("--force-reinstall")


def test_a_package_that_never_loads_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sleepy.py").write_text("import time; time.sleep(60)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "LOAD_SECONDS", 0.5)
    assert package(module="sleepy").found.endswith("does not load: it is not done after 0.5 s")


def test_a_backend_that_computes_wrongly_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    status = backends.Status("cpu", True, "a reason")
    assert doctor._backend(status).state == "ok"
    monkeypatch.setattr(doctor, "col2im", lambda *args, **options: np.ones((1, 3, 3)))
    finding = doctor._backend(status)
    assert (finding.state, finding.exit_code) == ("fail", errors.MismatchError.exit_code)
    assert "must be [[1, 2, 1], [2, 4, 2], [1, 2, 1]]" in finding.found


def compiled_code(monkeypatch: pytest.MonkeyPatch, fast: object) -> Finding:
    monkeypatch.setattr(backends, "has_compiler", lambda: True)
    monkeypatch.setattr(backends, "compiled", lambda: fast)
    return doctor._compiled_code()


@pytest.mark.parametrize(
    ("compiled", "folder", "state", "found"),
    [
        (True, "/a", "ok", "compiled in 5.2 s, which the first large fold would have taken; kept"),
        (
            False,
            "/a",
            "ok",
            "loaded in 5.25 s, which the first large fold of a process takes; kept",
        ),
        (True, None, "warn", "compiled in 5.2 s, in every process: no folder to keep it in"),
    ],
)
def test_compiled_code_tells_what_a_first_fold_costs(
    compiled: bool, folder: str | None, state: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fold(col: Array, geometry: object, image: Array) -> None:
        image[...] = doctor.ONES

    fast = SimpleNamespace(prepare=lambda dtype: (5.25, compiled, folder), col2im=fold)
    finding = compiled_code(monkeypatch, fast)
    assert finding.state == state
    assert f"float32 {found}" in finding.found
    fast.col2im = lambda col, geometry, image: image.fill(7)
    wrong = compiled_code(monkeypatch, fast)
    assert (wrong.state, wrong.exit_code) == ("fail", errors.MismatchError.exit_code)


def test_a_numba_that_is_missing_broken_or_fails_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(dtype: str) -> None:
        raise SystemError("LLVM is of\nanother version")

    assert compiled_code(monkeypatch, None).found == "numba does not load, so NumPy folds"
    failing = compiled_code(monkeypatch, SimpleNamespace(prepare=fail))
    assert failing.state == "warn"
    assert failing.found == "numba fails, so NumPy folds: LLVM is of another version"
    monkeypatch.setattr(backends, "has_compiler", lambda: False)
    assert doctor._compiled_code().state == "not applicable"


def test_a_backend_that_refuses_fails() -> None:
    finding = doctor._backend(backends.Status("npu", True, "a wrong claim"))
    assert (finding.state, finding.exit_code) == ("fail", errors.BackendError.exit_code)


@pytest.mark.parametrize(
    ("versions", "state", "cure"),
    [
        (("2.13.0+cpu", "2.13.0"), "ok", ""),
        (("2.13.0", "2.13.0.post2"), "ok", ""),
        (("2.12.1", "2.13.0"), "warn", "pip install 'torch-npu==2.12.*'"),
        (("2.13.0", None), "not applicable", "pip install torch-npu"),
    ],
)
def test_torch_and_torch_npu_must_be_of_one_version(
    versions: tuple[str | None, ...], state: str, cure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        found = dict(zip(("torch", "torch-npu"), versions, strict=True))[name]
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)
    finding = doctor._torch_pair()
    assert (finding.check, finding.state, finding.cure) == ("torch-npu with torch", state, cure)


def test_packages_are_those_of_the_project() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = re.search(r"^dependencies = (.*)$", text, re.MULTILINE)
    extras = re.search(r"^\[project.optional-dependencies\]\n(.*?)^test = ", text, re.M | re.S)
    assert needed
    assert extras
    listed: set[tuple[str, str, str | None]]
    listed = {(*requirement, None) for requirement in _requirements(needed[1])}
    for line in extras[1].splitlines():
        listed |= {(*requirement, line.split()[0]) for requirement in _requirements(line)}
    known = {(package.distribution, package.oldest, package.extra) for package in doctor.PACKAGES}
    assert known <= listed
    assert {(name, oldest) for name, oldest, _ in known} == {
        (name, oldest) for name, oldest, _ in listed
    }


def _requirements(text: str) -> list[tuple[str, str]]:
    return re.findall(r'"([\w-]+)>=([\d.]+)"', text)
