"""Plans of builds: which way, with which toolkit, and what each way gives a foreign project."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from ascend_col2im.errors import ToolchainError
from ascend_col2im.kernel_model import building as kernel_building
from ascend_col2im.toolchain import building, cann, simulation, sources, steps
from ascend_col2im.toolchain.building import Request, plan
from ascend_col2im.toolchain.runner import run
from ascend_col2im.toolchain.steps import Plan

from . import stand_ins
from .simulated import ROOT

OPS = ("col2_im", "col2_im_nd", "im2_col_nd")
HOST_HEADERS = sorted(path.name for path in (ROOT / "op_host").glob("*.h"))
KERNEL_HEADERS = sorted(path.name for path in (ROOT / "op_kernel").glob("*.h"))


def request(tmp_path: Path, **changes: object) -> Request:
    values: dict[str, object] = {
        "socs": ("ascend910b",),
        "vendor": "custom",
        "output": tmp_path / "out",
        "jobs": 3,
    }
    return Request(**{**values, **changes})  # type: ignore[arg-type]


def toolkit(home: Path, *, functions: bool = False, template: bool = False) -> cann.Toolkit:
    return cann.toolkit(stand_ins.toolkit(home, functions=functions, template=template))


def refused(request: Request, toolkit: cann.Toolkit) -> str:
    with pytest.raises(ToolchainError) as caught:
        plan(request, toolkit)
    return str(caught.value)


def carried_out(made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a plan on a stand-in; return the notes that its build.sh took."""
    monkeypatch.setenv("NOTES_FILE", str(tmp_path / "notes"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("ASCEND_HOME_PATH", "/the/toolkit")
    run(made, tmp_path / "log", lambda progress: None)
    assert made.result is not None
    assert made.result.read_text() == "a package\n"
    assert [path.name for path in made.result.parent.iterdir()] == [made.result.name]
    return (tmp_path / "notes").read_text().splitlines()


def test_the_cmake_way_is_the_projects_own_build(tmp_path: Path) -> None:
    made = plan(
        request(tmp_path, socs=("ascend910b", "ascend310b"), vendor="mine"),
        toolkit(tmp_path / "cann", functions=True),
    )
    build = made.steps[3]
    assert build.command == (
        *("bash", "build.sh", "--pkg", "--experimental"),
        *("--soc=ascend910b,ascend310b", "--vendor_name=mine", "-j3"),
    )
    name = f"cann-col2im-mine_linux-{platform.machine()}.run"
    work = tmp_path / "out/work"
    assert build.directory == work
    assert build.makes == (work / "build_out" / name,)
    assert made.result == tmp_path / "out" / name
    assert made.facts["way"] == "cmake"
    assert made.facts["toolkit"] == f"{tmp_path / 'cann'}, version 8.1.RC1"


def test_the_template_gets_every_source_and_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "cann"
    made = plan(
        request(tmp_path, socs=("ascend910b", "ascend310b"), vendor="mine"),
        toolkit(home, template=True),
    )
    notes = carried_out(made, tmp_path, monkeypatch)
    assert notes[0] == "build.sh "
    assert notes[-1] == "ASCEND_HOME_PATH=/the/toolkit jobs=3"
    parts = [f"{op}_{part}.cpp" for op in OPS for part in ("def", "infershape", "tiling")]
    onnx = ("CMakeLists.txt", "col2im_onnx_plugin.cpp", "node_attributes.h")
    assert notes[1:-1] == sorted(
        [
            "./CMakePresets.json",
            "./build.sh",
            *(f"./{folder}/CMakeLists.txt" for folder in ("framework", "op_host", "op_kernel")),
            *(f"./framework/onnx_plugin/{name}" for name in onnx),
            *(f"./op_host/{name}" for name in [*HOST_HEADERS, *parts]),
            *(f"./op_kernel/{name}" for name in [*KERNEL_HEADERS, *(f"{op}.cpp" for op in OPS)]),
        ]
    )
    tree = tmp_path / "notes.tree"
    for name in ("framework", "op_host", "op_kernel"):
        kept = (tree / name / "CMakeLists.txt").read_text()
        assert kept == f"# {name} of the template\n"
    for path in [*(ROOT / "op_host").glob("*.[ch]*"), *(ROOT / "op_kernel").glob("*.[ch]*")]:
        assert (tree / path.parent.name / path.name).read_bytes() == path.read_bytes()
    presets = json.loads((tree / "CMakePresets.json").read_text())
    variables = presets["configurePresets"][0]["cacheVariables"]
    assert {name: row["value"] for name, row in variables.items()} == {
        "ASCEND_COMPUTE_UNIT": "ascend910b;ascend310b",
        "vendor_name": "mine",
        "ASCEND_CANN_PACKAGE_PATH": str(home),
        "ENABLE_BINARY_PACKAGE": "True",
    }


def test_ops_math_gets_every_operator_and_a_row_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = stand_ins.ops_math(tmp_path / "ops-math")
    before = sorted(path for path in checkout.rglob("*"))
    made = plan(request(tmp_path, ops_math=checkout), toolkit(tmp_path / "cann", functions=True))
    notes = carried_out(made, tmp_path, monkeypatch)
    assert notes[0] == (
        "build.sh --pkg --experimental --soc=ascend910b --ops=col2_im,col2_im_nd,im2_col_nd "
        "--vendor_name=custom -j3"
    )
    expected = ["./build.sh", "./scripts/kernel/binary_config/ascendc_config.json"]
    expected.append("./experimental/conversion/other/op_kernel/other.cpp")
    for op in OPS:
        files = [f"op_host/{op}_{part}.cpp" for part in ("def", "infershape", "tiling")]
        files += [f"op_host/{name}" for name in HOST_HEADERS]
        files += [f"op_kernel/{name}" for name in [*KERNEL_HEADERS, f"{op}.cpp"]]
        files += ["CMakeLists.txt", "op_host/CMakeLists.txt"]
        expected += [f"./experimental/conversion/{op}/{name}" for name in files]
    assert notes[1:-1] == sorted(expected)
    tree = tmp_path / "notes.tree"
    op_lists = tree / "experimental/conversion/im2_col_nd"
    assert (
        "add_all_modules_sources(OPTYPE im2_col_nd ACLNNTYPE aclnn)"
        in (op_lists / "CMakeLists.txt").read_text()
    )
    assert (op_lists / "op_host/CMakeLists.txt").read_text() == (
        "add_modules_sources(OPTYPE im2_col_nd ACLNNTYPE aclnn)\n"
    )
    table = json.loads((tree / "scripts/kernel/binary_config/ascendc_config.json").read_text())
    assert [row["name"] for row in table] == ["Other", "Col2Im", "Col2ImNd", "Im2ColNd"]
    assert all(row["compute_units"] == ["ascend910b"] and row["auto_sync"] for row in table[1:])
    assert sorted(path for path in checkout.rglob("*")) == before


ODD = ["a b", "it's", 'a "b"', "$HOME `x`", "a\nb", "a*;&(b)", "a=b:c"]


@pytest.mark.parametrize("name", [*ODD, "größe"])
def test_a_package_may_go_into_a_directory_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made = plan(
        request(tmp_path, output=tmp_path / name), toolkit(tmp_path / "cann", template=True)
    )
    carried_out(made, tmp_path, monkeypatch)
    works = [step.directory for step in made.steps if step.directory]
    assert all(steps.is_plain(path) and not path.exists() for path in works)


@pytest.mark.parametrize("name", ODD)
def test_toolkits_and_simulations_whose_path_make_cannot_take_are_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ToolchainError, match=r"a path that make cannot work with; source"):
        toolkit(tmp_path / name)
    with pytest.raises(
        ToolchainError, match=r"make cannot work with the path .*; use one without"
    ):
        simulation.plan(tmp_path / "new" / name, 1)


def test_a_build_that_fails_leaves_the_package_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan(request(tmp_path), toolkit(tmp_path / "cann", template=True))
    assert made.result is not None
    made.result.parent.mkdir()
    made.result.write_text("the package before")
    monkeypatch.setenv("NOTES_FILE", "/no/such/place")  # where its build.sh fails
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with pytest.raises(ToolchainError, match=r"^build the package: bash ended with 1"):
        run(made, tmp_path / "log", lambda progress: None)
    assert made.result.read_text() == "the package before"
    assert [path.name for path in made.result.parent.iterdir()] == [made.result.name]


def test_without_a_compiler_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    both = toolkit(tmp_path / "both", functions=True)
    assert refused(request(tmp_path), both) == (
        "no-such-compiler is not installed; install g++ 9 or newer, or set CXX"
    )
    with pytest.raises(ToolchainError, match="no-such-compiler is not installed"):
        simulation.plan(tmp_path / "new", 1)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (None, ("c++",)),
        ("", ("c++",)),
        ("nice c++ -pipe", ("nice", "c++", "-pipe")),
        ("nice '-n' 1 c++", ("nice", "-n", "1", "c++")),
    ],
)
def test_the_compiler_is_what_cxx_says_with_its_arguments(
    named: str | None, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    if named is not None:
        monkeypatch.setenv("CXX", named)
    assert steps.compiler() == words
    model = kernel_building.plan(2201, 1)
    assert model is not None
    # make's own default would be g++, which need not be there where c++ is
    made = [*simulation.plan(tmp_path / "new", 1).steps, *model.steps]
    compilers = {step.environment["CXX"] for step in made if step.command[0] == "make"}
    assert compilers == {" ".join(words)}
    host = next(step for step in made if step.title == "compile the host's plan")
    assert host.command[: len(words)] == words


def test_a_compiler_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", '"g++ -O2')
    with pytest.raises(ToolchainError) as caught:
        steps.compiler()
    assert str(caught.value) == (
        "CXX is '\"g++ -O2', which a shell cannot read (No closing quotation); "
        "close what is quoted"
    )


def test_the_first_way_that_is_there_is_taken_and_a_flag_decides(tmp_path: Path) -> None:
    both = toolkit(tmp_path / "both", functions=True, template=True)
    checkout = stand_ins.ops_math(tmp_path / "ops-math")
    cases: list[tuple[dict[str, object], str]] = [
        ({}, "cmake"),
        ({"way": "template"}, "template"),
        ({"ops_math": checkout}, "ops-math"),
        ({"ops_math": checkout, "way": "cmake"}, "cmake"),
    ]
    for changes, way in cases:
        assert plan(request(tmp_path, **changes), both).facts["way"] == way
    old = toolkit(tmp_path / "old", template=True)
    assert plan(request(tmp_path), old).facts["way"] == "template"


def test_what_cannot_be_built_is_refused_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = toolkit(tmp_path / "both", functions=True, template=True)
    bare = toolkit(tmp_path / "bare")
    socs = "ascend910b, ascend910_93, ascend310b"
    assert refused(request(tmp_path, socs=("ascend310p",)), both) == (
        f"the operators are not written for ascend310p; --soc takes {socs}"
    )
    for vendor in ("", "a b", "../x", "1st", "a,b"):
        assert f"the vendor's name {vendor!r} must begin" in refused(
            request(tmp_path, vendor=vendor), both
        )
    assert "has neither lib64/cmake/asc-config.cmake (CANN 9) nor tools/" in refused(
        request(tmp_path), bare
    )
    assert refused(request(tmp_path, way="cmake"), bare) == (
        f"--way cmake needs lib64/cmake/asc-config.cmake in {tmp_path / 'bare'} (CANN 9)"
    )
    assert "needs --ops-math=DIR" in refused(request(tmp_path, way="ops-math"), both)
    assert "is no checkout of ops-math: it needs build.sh, experimental, scripts/" in refused(
        request(tmp_path, ops_math=tmp_path), both
    )
    checkout = stand_ins.ops_math(tmp_path / "ops-math")
    two = request(tmp_path, socs=("ascend910b", "ascend310b"), ops_math=checkout)
    assert "ops-math builds for one product at a time" in refused(two, both)
    (tmp_path / "file").touch()
    assert refused(request(tmp_path, output=tmp_path / "file/out"), both) == (
        f"{tmp_path / 'file/out'} cannot be written to; give another with --output"
    )
    monkeypatch.setattr(building, "check_program", _nothing_is_installed)
    assert refused(request(tmp_path), both) == "cmake is not installed; pip install cmake"


def _nothing_is_installed(name: str, cure: str) -> None:
    raise ToolchainError(f"{name} is not installed; {cure}")


def test_a_directory_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith(str(tmp_path)))
    both = toolkit(tmp_path / "both", functions=True)
    assert "cannot be written to; give another with --output" in refused(request(tmp_path), both)


def test_the_toolkit_in_use_is_the_sourced_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tmp_path / "usual"
    stand_ins.toolkit(usual)
    monkeypatch.setattr(cann, "USUAL_PLACES", (str(usual), "/nonexistent"))
    found = toolkit(tmp_path / "sourced")
    assert found.home == tmp_path / "sourced"
    assert found.facts == {
        "toolkit": f"{found.home}, version 8.1.RC1",
        "also installed, not used": str(usual),
    }
    with pytest.raises(
        ToolchainError, match=r"ASCEND_HOME_PATH is not set; source .*/usual/set_env"
    ):
        cann.toolkit({})


def test_a_toolkit_that_cannot_be_used_is_refused_with_the_cure(tmp_path: Path) -> None:
    here = stand_ins.toolkit(tmp_path / "here")
    there = stand_ins.toolkit(tmp_path / "there")
    with pytest.raises(ToolchainError, match=r"two CANN toolkits are mixed: .*start a new shell"):
        cann.toolkit({**here, "ASCEND_OPP_PATH": there["ASCEND_OPP_PATH"]})
    for home in (str(tmp_path / "gone"), "/dev/null", "\udcff"):
        with pytest.raises(ToolchainError, match="there is no such directory; source"):
            cann.toolkit({"ASCEND_HOME_PATH": home})
    with pytest.raises(ToolchainError, match=r"ASCEND_HOME_PATH is '\.': a relative path; source"):
        cann.toolkit({"ASCEND_HOME_PATH": "."})
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    (tmp_path / "here" / f"{other}-linux").mkdir()
    with pytest.raises(ToolchainError, match=f"is for {other}, this machine is"):
        cann.toolkit(here)
    (tmp_path / "here" / f"{platform.machine()}-linux").mkdir()
    assert cann.toolkit(here).home == tmp_path / "here"


def test_sources_without_which_nothing_can_be_built_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sources.root() == ROOT
    assert sources.operators() == OPS
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in (*sources.OPERATOR, sources.SIMULATOR):  # what a wheel takes along
        assert f'"{name}" = "ascend_col2im/cann_sources/{name}"' in project
    monkeypatch.setattr(sources, "PACKAGE", tmp_path / "site-packages/ascend_col2im")
    with pytest.raises(ToolchainError, match="install the package again: pip install"):
        sources.root()
