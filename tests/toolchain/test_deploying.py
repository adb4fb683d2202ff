"""Deployments on stand-ins: every failure leaves things as they were; removal leaves nothing."""

from __future__ import annotations

import fcntl
import os
import platform
from pathlib import Path

import pytest

from ascend_col2im.errors import ToolchainError
from ascend_col2im.toolchain import cann, deploying
from ascend_col2im.toolchain.runner import run
from ascend_col2im.toolchain.steps import Plan

from . import stand_ins
from .simulated import ROOT, tree


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cann.Toolkit:
    """Make a stand-in toolkit, with a check that goes by what a library says of itself."""
    monkeypatch.setattr(deploying, "CHECK", "tests.toolchain.accepts")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return cann.toolkit(stand_ins.toolkit(tmp_path / "cann"))


def deploy(
    toolkit: cann.Toolkit, package: Path, install_path: Path | None = None
) -> deploying.Place:
    where = deploying.place(toolkit, "custom", install_path)
    run(deploying.plan(package, where, toolkit), package.parent / "log", lambda progress: None)
    return where


def library(where: deploying.Place) -> str:
    return (where.package / deploying.LIBRARY).read_text().strip()


def test_a_package_that_works_replaces_the_one_before(
    toolkit: cann.Toolkit, tmp_path: Path
) -> None:
    vendors = toolkit.opp / "vendors"
    (vendors / "first").mkdir()
    (vendors / "config.ini").write_text("load_priority=first\n")
    deploy(toolkit, stand_ins.package(tmp_path / "a.run", "good"))
    old = vendors / "custom/old"
    old.touch()
    where = deploy(toolkit, stand_ins.package(tmp_path / "b.run", "good"))
    assert library(where) == "good"
    assert sorted(path.name for path in vendors.iterdir()) == ["config.ini", "custom", "first"]
    assert where.config.read_text() == "load_priority=custom,first\n"


@pytest.mark.parametrize(
    ("content", "last", "step"),
    [
        ("bad", "", "verify it: "),
        ("good aside", "", "verify it in its place: "),
        ("good", "exit 7", "install the package aside: bash ended with 7"),
        ("good", 'case "$*" in *aside*|*.new*) ;; *) exit 7 ;; esac', "install the package: bash"),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_whatever_fails_what_was_there_is_as_it_was(
    toolkit: cann.Toolkit, tmp_path: Path, content: str, last: str, step: str, there: bool
) -> None:
    if there:
        deploy(toolkit, stand_ins.package(tmp_path / "a.run", "good"))
        (toolkit.opp / "vendors/custom/mine").write_text("kept")
    before = tree(toolkit.opp)
    package = stand_ins.package(tmp_path / "b.run", content, last)
    with pytest.raises(ToolchainError) as caught:
        deploy(toolkit, package)
    assert str(caught.value).startswith(step)
    assert tree(toolkit.opp) == before


KILLED = 10  # more than a deployment has steps


@pytest.mark.parametrize("steps", range(KILLED))
@pytest.mark.parametrize("there", [True, False])
def test_whenever_a_deployment_is_killed_the_next_finds_what_was_there(
    toolkit: cann.Toolkit, tmp_path: Path, steps: int, there: bool
) -> None:
    if there:
        deploy(toolkit, stand_ins.package(tmp_path / "a.run", "good"))
    before = tree(toolkit.opp)
    bad = stand_ins.package(tmp_path / "bad.run", "good aside")
    good = stand_ins.package(tmp_path / "good.run", "good")
    where = deploying.place(toolkit, "custom", None)
    plan = deploying.plan(good, where, toolkit)
    assert len(plan.steps) < KILLED
    killed = Plan("killed", plan.steps[:steps])  # nothing undone, nothing cleared away
    run(killed, tmp_path / "log", lambda progress: None)
    if steps < len(plan.steps):
        with pytest.raises(ToolchainError, match=r"^verify it in its place: "):
            deploy(toolkit, bad)
        assert tree(toolkit.opp) == before
    deploy(toolkit, good)
    assert sorted(path.name for path in where.vendors.iterdir()) == ["config.ini", "custom"]
    run(Plan("killed", plan.steps[:steps]), tmp_path / "log", lambda progress: None)
    run(deploying.removal(where, toolkit), tmp_path / "log", lambda progress: None)
    assert [path.name for path in where.vendors.iterdir()] == ["config.ini"]
    assert where.config.read_text() == "load_priority=first\n"


def test_one_deployment_at_a_time(toolkit: cann.Toolkit, tmp_path: Path) -> None:
    package = stand_ins.package(tmp_path / "a.run", "good")
    where = deploy(toolkit, package)
    before = tree(toolkit.opp)
    handle = os.open(toolkit.opp, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    for plan in (
        deploying.plan(package, where, toolkit),
        deploying.removal(where, toolkit),
    ):
        with pytest.raises(
            ToolchainError, match=r"another ascend-col2im is at work in .*/opp; wait"
        ):
            run(plan, tmp_path / "log", lambda progress: None)
    assert tree(toolkit.opp) == before
    os.close(handle)
    deploy(toolkit, package)


@pytest.mark.parametrize(
    "name", ["a b", "it's", 'a "b"', "$HOME `x`", "a*;&(b)", "a:b", "a\nb", "a\x1b[0m"]
)
def test_a_directory_that_the_packages_script_cannot_name_is_refused(
    toolkit: cann.Toolkit, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ToolchainError, match=r"set_env\.bash cannot name it; use a path without"):
        deploying.place(toolkit, "custom", tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_toolkit_without_its_opp_is_refused(tmp_path: Path) -> None:
    environment = stand_ins.toolkit(tmp_path / "cann")
    environment["ASCEND_OPP_PATH"] = str(tmp_path / "cann/missing")
    with pytest.raises(ToolchainError, match=r"missing is no directory: .* is no whole toolkit"):
        deploying.place(cann.toolkit(environment), "custom", None)


def test_a_directory_of_ones_own_leaves_the_toolkit_alone(
    toolkit: cann.Toolkit, tmp_path: Path
) -> None:
    before = tree(toolkit.opp)
    own = tmp_path / "größe"
    where = deploy(toolkit, stand_ins.package(tmp_path / "a.run", "good"), own)
    assert library(where) == "good"
    assert where.private
    assert tree(toolkit.opp) == before
    run(deploying.removal(where, toolkit), tmp_path / "log", lambda progress: None)
    assert not own.exists()
    with pytest.raises(ToolchainError):
        deploy(toolkit, stand_ins.package(tmp_path / "b.run", "bad"), own)
    assert not own.exists()


@pytest.mark.parametrize(
    ("order", "left"),
    [("custom", None), ("custom,first", "first"), ("a, custom ,b", "a,b"), ("a", "a")],
)
def test_removal_takes_the_vendor_out_of_the_order(
    toolkit: cann.Toolkit, tmp_path: Path, order: str, left: str | None
) -> None:
    where = deploy(toolkit, stand_ins.package(tmp_path / "a.run", "good"))
    where.config.write_text(f"load_priority={order}\n")
    run(deploying.removal(where, toolkit), tmp_path / "log", lambda progress: None)
    assert not where.package.exists()
    if left is None:
        assert list(where.vendors.iterdir()) == []
    else:
        assert where.config.read_text() == f"load_priority={left}\n"


def test_what_cannot_be_deployed_is_refused_with_the_cure(
    toolkit: cann.Toolkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(package: Path, vendor: str = "custom") -> str:
        with pytest.raises(ToolchainError) as caught:
            deploying.plan(package, deploying.place(toolkit, vendor, None), toolkit)
        return str(caught.value)

    assert "there is no package" in refused(tmp_path / "no.run")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    for name in ("cann-col2im-custom_linux-aarch64.run", "custom_opp_ubuntu_x86_64.run"):
        package = stand_ins.package(tmp_path / name, "good")
        assert "this machine is riscv64; build it here: ascend-col2im build" in refused(package)
    assert "the vendor's name '..' must begin" in refused(tmp_path / "no.run", "..")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is not writable; use --install-path" in refused(tmp_path / "no.run")


def test_the_newest_package_of_the_vendor_is_found(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"no package of vendor custom in .*build it"):
        deploying.find_package(tmp_path, "custom")
    for name, age in (("custom_linux-a", 1), ("custom_linux-b", 2), ("other_linux-c", 3)):
        path = tmp_path / f"cann-col2im-{name}.run"
        path.touch()
        os.utime(path, (age, age))
    assert deploying.find_package(tmp_path, "custom").name == "cann-col2im-custom_linux-b.run"


def test_a_vendor_left_in_the_order_alone_is_removed(
    toolkit: cann.Toolkit, tmp_path: Path
) -> None:
    config = toolkit.opp / "vendors/config.ini"
    config.write_text("# ours\nload_priority=first,custom\nother=1\n")
    where = deploying.place(toolkit, "custom", None)
    run(deploying.removal(where, toolkit), tmp_path / "log", lambda progress: None)
    assert config.read_text() == "# ours\nload_priority=first\nother=1\n"


def test_nothing_is_removed_where_there_is_nothing(toolkit: cann.Toolkit) -> None:
    where = deploying.place(toolkit, "custom", None)
    with pytest.raises(ToolchainError, match="there is no package of vendor custom in"):
        deploying.removal(where, toolkit)
