"""What the simulated platform logs, and where."""

from __future__ import annotations

import re
from pathlib import Path

from .acl import Acl
from .installation import environment, run

ENTRY = re.compile(
    r"\[ERROR\] ASCENDCL\(\d+,python[\d.]*\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} "
    r"aclmdlInitDump is not part of the simulated runtime\n"
)


def _fail() -> None:
    assert Acl().status("aclmdlInitDump") == 200006


def test_a_failing_call_is_logged_to_a_file_of_the_process(tmp_path: Path) -> None:
    assert run(_fail, environment(ASCEND_PROCESS_LOG_PATH=f"{tmp_path}/log")) == ""
    (file,) = (tmp_path / "log/debug/plog").iterdir()
    assert re.fullmatch(r"plog-\d+_\d{17}\.log", file.name)
    assert ENTRY.fullmatch(file.read_text())


def test_the_log_goes_to_standard_output_on_request(tmp_path: Path) -> None:
    for variable in ("ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_LOG_PRINT_TO_STDOUT"):
        asked = environment(ASCEND_PROCESS_LOG_PATH=f"{tmp_path}/log", **{variable: "1"})
        assert ENTRY.fullmatch(run(_fail, asked))
    assert not (tmp_path / "log").exists()


def test_nothing_is_logged_without_a_place_or_above_the_level(tmp_path: Path) -> None:
    assert run(_fail, environment(HOME=str(tmp_path))) == ""
    quiet = environment(ASCEND_PROCESS_LOG_PATH=f"{tmp_path}/log", ASCEND_GLOBAL_LOG_LEVEL="4")
    assert run(_fail, quiet) == ""
    assert list(tmp_path.iterdir()) == []
