"""Carrying plans out: order, log, progress, time-outs, artefacts, and what follows a failure."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from ascend_col2im.errors import ToolchainError
from ascend_col2im.toolchain.runner import LAST_LINES, Progress, run
from ascend_col2im.toolchain.steps import Plan, Step, check_program, copy, lines


def step(
    script: str, title: str = "work", timeout: float = 60, makes: tuple[Path, ...] = ()
) -> Step:
    return Step(title, ("sh", "-c", script), timeout=timeout, makes=makes)


def ignore(progress: Progress) -> None:
    pass


def failure(tmp_path: Path, *steps: Step) -> str:
    with pytest.raises(ToolchainError) as caught:
        run(Plan("test", steps), tmp_path / "log", ignore)
    return str(caught.value)


def test_steps_run_in_order_and_everything_is_logged(tmp_path: Path) -> None:
    steps = (
        step("echo one; echo two >&2"),
        Step("more", ("sh", "-c", "pwd; echo $A"), tmp_path, {"A": "b c"}),
    )
    run(Plan("test", steps), tmp_path / "new/log", ignore)
    assert (tmp_path / "new/log").read_text() == (
        "# work\n$ sh -c 'echo one; echo two >&2'\none\ntwo\n"
        f"# more\n$ (cd {tmp_path} && A='b c' sh -c 'pwd; echo $A')\n{tmp_path}\nb c\n"
    )


def test_progress_follows_the_percentages_of_make(tmp_path: Path) -> None:
    seen: list[Progress] = []
    steps = (step("echo '[ 25%] Building'; echo note; echo '[100%] Built'"), step("true", "last"))
    run(Plan("test", steps), tmp_path / "log", seen.append)
    assert [(at.done, at.title, at.line) for at in seen] == [
        (0, "work", ""),
        (0.25, "work", "[ 25%] Building"),
        (0.25, "work", "note"),
        (1, "work", "[100%] Built"),
        (1, "last", ""),
        (2, "done", ""),
    ]


def test_a_failure_shows_the_last_lines_and_stops_the_rest(tmp_path: Path) -> None:
    message = failure(tmp_path, step("seq 100; exit 3"), step(f"touch {tmp_path}/more"))
    shown = "".join(f"\n  {n}" for n in range(101 - LAST_LINES, 101))
    assert message == (
        f"work: sh ended with 3; its last lines:{shown}\n  the whole log: {tmp_path / 'log'}"
    )
    assert "\n1\n" in (tmp_path / "log").read_text()
    assert not (tmp_path / "more").exists()


def test_a_silent_failure_and_a_missing_program_are_told_too(tmp_path: Path) -> None:
    assert failure(tmp_path, step("false")).startswith(
        "work: sh ended with 1, without a word\n  the whole log: "
    )
    missing = Step("work", ("no-such-program",))
    assert failure(tmp_path, missing) == "work: no-such-program: No such file or directory"


def test_a_time_out_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    script = f"echo begun; sleep 60 & echo $! > {tmp_path}/child; wait"
    started = time.monotonic()
    message = failure(tmp_path, step(script, timeout=0.5))
    assert message.startswith("work: sh took longer than 0.5 s; its last lines:\n  begun\n")
    assert time.monotonic() - started < 30
    child = int((tmp_path / "child").read_text())
    ended = time.monotonic() + 30  # a signal takes its time on a busy machine
    while _is_running(child) and time.monotonic() < ended:
        time.sleep(0.01)
    assert not _is_running(child)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_artefacts_must_be_there_filled_and_new(tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert f"sh made no {made}" in failure(tmp_path, step("true", makes=(made,)))
    assert f"sh left {made} empty" in failure(tmp_path, step(f": > {made}", makes=(made,)))
    made.write_text("old")
    os.utime(made, (1, 1))
    assert f"left an older {made} as it was" in failure(tmp_path, step("true", makes=(made,)))
    run(Plan("test", (step(f"echo new > {made}", makes=(made,)),)), tmp_path / "log", ignore)


def test_a_failure_is_undone_and_the_end_comes_in_any_case(tmp_path: Path) -> None:
    def marking(name: str) -> tuple[Step, ...]:
        return (step("false"), step(f"touch {tmp_path}/{name}"))

    for script, marks in (("false", ["finished", "undone"]), ("true", ["finished"])):
        plan = Plan("test", (step(script),), undo=marking("undone"), finish=marking("finished"))
        if script == "false":
            with pytest.raises(ToolchainError, match="work: sh ended with 1"):
                run(plan, tmp_path / "log", ignore)
        else:
            run(plan, tmp_path / "log", ignore)
        found = sorted(path for path in os.listdir(tmp_path) if path != "log")
        assert found == marks
        for name in marks:
            (tmp_path / name).unlink()


def test_an_interrupt_is_undone_too(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.line:
            raise KeyboardInterrupt

    plan = Plan("test", (step("echo line; sleep 60"),), undo=(step(f"touch {tmp_path}/undone"),))
    with pytest.raises(KeyboardInterrupt):
        run(plan, tmp_path / "log", interrupt)
    assert (tmp_path / "undone").exists()


def test_a_second_interrupt_does_not_stop_what_undoes_the_first(tmp_path: Path) -> None:
    for number in ("INT", "TERM", "HUP"):
        undo = (
            step(f"kill -{number} {os.getpid()}; sleep 0.1"),
            step(f"touch {tmp_path}/{number}"),
        )
        with pytest.raises(ToolchainError, match="work: sh ended with 1"):
            run(Plan("test", (step("false"),), undo=undo, finish=undo), tmp_path / "log", ignore)
        assert (tmp_path / number).exists()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_log_on_a_full_disk_stops_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    plan = Plan("test", (step(f"seq 20000; touch {made}"),), finish=(step(f"touch {made}.too"),))
    run(plan, Path("/dev/full"), ignore)
    assert made.exists()
    assert Path(f"{made}.too").exists()


def test_plans_of_one_directory_keep_apart(tmp_path: Path) -> None:
    place = tmp_path / "new/place"
    within = Plan("test", (step("true"),), lock=place)

    def nested(progress: Progress) -> None:
        if progress.title == "done":
            return
        with pytest.raises(ToolchainError, match=f"another ascend-col2im is at work in {place}"):
            run(within, tmp_path / "log2", ignore)

    run(within, tmp_path / "log", nested)
    run(within, tmp_path / "log", ignore)
    with pytest.raises(ToolchainError, match="/log/x cannot be made: Not a directory"):
        run(Plan("test", (), lock=tmp_path / "log/x"), tmp_path / "log2", ignore)


def test_a_log_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    plan = Plan("test", (step(f"touch {tmp_path}/work"),))
    with pytest.raises(ToolchainError, match=r"the log .*/file/log cannot be written: "):
        run(plan, tmp_path / "file/log", ignore)
    assert not (tmp_path / "work").exists()


def test_a_printed_plan_is_a_script_that_does_the_same(tmp_path: Path) -> None:
    plan = Plan(
        "test",
        (
            step(f"echo 'a  b' > '{tmp_path}/odd name'"),
            Step("copy", ("cp", "odd name", "copied"), tmp_path),
            copy("copy again", [tmp_path / "copied"], tmp_path / "again"),
        ),
        facts={"toolkit": "somewhere"},
        undo=(step("true", "put it back"),),
    )
    script = list(lines(plan))
    assert script[0] == "# toolkit: somewhere"
    assert script[-3:] == ["# if a step fails:", "# put it back", "sh -c true"]
    assert os.system("\n".join(script)) == 0
    assert (tmp_path / "again").read_text() == "a  b\n"


def test_programs_beside_python_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    check_program(Path(sys.executable).name, "")
    with pytest.raises(ToolchainError, match=r"^tar is not installed; install tar$"):
        check_program("tar", "install tar")
