"""The commands on top of the plans: what they print, and how they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascend_col2im.commands import plans
from ascend_col2im.toolchain import cann
from ascend_col2im.toolchain.simulation import MARK
from ascend_col2im.toolchain.steps import Plan, Step

from ..command_line import fails, invoke
from . import stand_ins


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start every command in an empty directory, with no CANN in sight."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cann, "USUAL_PLACES", ())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sourced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in stand_ins.toolkit(tmp_path / "cann", functions=True).items():
        monkeypatch.setenv(name, value)
    return tmp_path / "cann"


@pytest.mark.parametrize("command", ["build", "deploy", "undeploy"])
def test_without_a_toolkit_each_says_how_to_get_one(command: str) -> None:
    assert fails(8, command) == (
        "no CANN toolkit is in use: ASCEND_HOME_PATH is not set; install CANN, or make a "
        "simulated one: ascend-col2im sim DIR && source DIR/set_env.sh"
    )


def test_a_dry_run_prints_commands_and_does_nothing(sourced: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    shown = invoke("build", "--soc", "ascend910b", "--dry-run").stdout
    assert "\nbuild.sh" not in shown
    assert "bash build.sh --pkg --experimental --soc=ascend910b --vendor_name=custom" in shown
    package = tmp_path / "a.run"
    package.touch()
    deployed = invoke("deploy", "a.run", "--dry-run").stdout
    assert f"-m ascend_col2im.package_check {sourced}/opp/vendors/custom/" in deployed
    assert "# if a step fails:\n" in deployed
    made = invoke("sim", "new", "--dry-run").stdout
    assert f"OUT={tmp_path}/new/lib64" in made
    package.unlink()
    assert sorted(tmp_path.rglob("*")) == before


def test_several_products_and_options_reach_the_plan(sourced: Path, tmp_path: Path) -> None:
    shown = invoke(
        *("build", "--soc", "ASCEND910B", "--soc", "ascend310b", "--vendor", "mine"),
        *("--output", "here", "-j", 7, "--dry-run"),
    ).stdout
    assert "--soc=ascend910b,ascend310b --vendor_name=mine -j7" in shown
    assert f"{tmp_path}/here/cann-col2im-mine_linux-" in shown


def test_deploying_what_was_not_built_says_how(sourced: Path) -> None:
    assert fails(8, "deploy") == (
        "there is no package of vendor custom in build_out; build it: ascend-col2im build"
    )
    assert "there is no package of vendor custom in" in fails(8, "undeploy")
    assert "the operators are not written for ascend950" in fails(8, "build", "--soc", "ascend950")


def test_a_directory_in_use_does_not_become_an_installation(tmp_path: Path) -> None:
    (tmp_path / "used/file").parent.mkdir()
    (tmp_path / "used/file").touch()
    assert "is there already and is no simulated installation" in fails(8, "sim", "used")
    (tmp_path / "used" / MARK).touch()
    assert invoke("sim", "used", "--dry-run").exit_code == 0


def test_in_a_pipe_each_step_is_a_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    steps = (Step("first", ("echo", "note")), Step("second", ("true",)))
    plan = Plan("test", steps, facts={"toolkit": "here"})
    assert plans.carry_out(plan, dry_run=False, log=None)
    assert capfd.readouterr().err == "toolkit: here\n[0/2] first\n[1/2] second\n[2/2] done\n"
    assert (tmp_path / "state/ascend-col2im/test.log").read_text() == (
        "# first\n$ echo note\nnote\n# second\n$ true\n"
    )


def test_on_a_terminal_a_bar_shows_the_step_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plans, "people_look_at", lambda stream: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    plan = Plan("test", (Step("work", ("sh", "-c", "echo '[ 50%] Building'; sleep 0.5")),))
    assert plans.carry_out(plan, dry_run=False, log=tmp_path / "log")
    shown = capfd.readouterr().err
    assert "work: [ 50%] Building" in shown
    assert "50%" in shown
