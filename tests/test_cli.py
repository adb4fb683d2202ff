"""The command line as a whole: help, errors as text and JSON, terminals and pipes, signals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ascend_col2im import __version__, cli, errors
from ascend_col2im.commands import run_example

from .command_line import COMMAND, ROOT, fails, invoke, python, sparse_columns

PLANE = (256, 2401)
"""2.4 MB of columns for an image of 64 x 64 with a kernel of 16 x 16."""

FOLD = ("--output-size", "64", "--kernel-size", "16")


def test_version_is_the_packages() -> None:
    assert invoke("--version").stdout == f"ascend-col2im, version {__version__}\n"


@pytest.mark.parametrize("name", cli.main.commands)
def test_every_command_shows_an_example(name: str) -> None:
    lines = invoke(name, "--help").stdout.splitlines()
    assert any(f"{line} ".startswith(f"    ascend-col2im {name} ") for line in lines)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_works_as_the_help_says(shell: str) -> None:
    assert f"_ASCEND_COL2IM_COMPLETE={shell}_source ascend-col2im" in invoke("--help").stdout
    script = python(COMMAND, _ASCEND_COL2IM_COMPLETE=f"{shell}_source")
    assert "_ASCEND_COL2IM_COMPLETE" in script.stdout
    assert script.stderr == ""
    words = {"COMP_WORDS": "ascend-col2im run --kern", "COMP_CWORD": "2"}
    if shell == "fish":
        words["COMP_CWORD"] = "--kern"
    completed = python(COMMAND, _ASCEND_COL2IM_COMPLETE=f"{shell}_complete", **words)
    assert "--kernel-size" in completed.stdout


def test_the_example_shows_every_pixel_and_says_where_it_ran() -> None:
    lines = invoke("run").stdout.splitlines()
    assert lines[:5] == [
        "row  channel 0    channel 1    channel 2",
        "0     0 10  2  1   6 12 14  7   2  4  6  3",
        "1    11 22 16 13  13 16 20  5   5 20 14  7",
        "2     7 14 18  9   9 18 22 11  11 22 16 13",
        "3     4  8 10  5   0 10  2  1   6 12 14  7",
    ]
    assert "check    every pixel equals the independent loop's" in lines
    assert "backend  cpu (auto: the arrays are in host memory; NumPy" in lines[-1]


def test_the_example_as_json() -> None:
    facts = json.loads(invoke("run", "--json").stdout)
    assert facts["backend"]["name"] == "cpu"
    image = np.array(facts["image"]["values"])
    assert image.shape == tuple(facts["image"]["shape"]) == (1, 3, 4, 4)
    assert image.sum() == sum(index % 10 for index in range(108))


def test_a_wrong_pixel_ends_the_example_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: object, **options: object) -> object:
        image = np.array([run_example.folded_by_loop([i % 10 for i in range(108)])], np.float32)
        image[0, 2, 1, 3] += 1
        return image

    monkeypatch.setattr(run_example, "col2im", wrong)
    message = fails(errors.MismatchError.exit_code, "run")
    assert "image[0, 2, 1, 3] is 8 on cpu; the independent loop gives 7" in message


ERRORS = {
    "backend": (("run", "--backend", "npu"), "BackendError", None, 4),
    "file": (
        ("run", "no.npy", "--output-size", "1", "--kernel-size", "1", "-o", "x.npy"),
        "FileError",
        None,
        5,
    ),
    "option of another job": (("run", "--stride", "2"), "UsageError", None, 2),
    "option of no command": (("run", "--strife", "2"), "UsageError", None, 2),
    "command": (("walk",), "UsageError", None, 2),
    "option before the command": (("--strife", "run"), "UsageError", None, 2),
}


@pytest.mark.parametrize(("args", "error", "rule", "code"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_one_message_or_one_object(
    args: tuple[str, ...], error: str, rule: str | None, code: int
) -> None:
    message = fails(code, *args)
    result = invoke(*args, "--json")
    assert result.exit_code == code
    assert result.stderr == ""
    facts = json.loads(result.stdout)
    assert facts == {
        "error": error,
        "rule": rule,
        "message": facts["message"],
        "exit_code": code,
    }
    assert message.endswith(facts["message"])


def test_a_broken_rule_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "col.npy", np.ones((1, 4, 5)))
    target = tmp_path / "image.npy"
    args = ("run", tmp_path / "col.npy", "--output-size", 3, "--kernel-size", 2, "-o", target)
    facts = json.loads(invoke(*args, "--json").stdout)
    assert (facts["error"], facts["rule"], facts["exit_code"]) == ("RuleError", "length", 3)
    assert facts["message"] == fails(3, *args)


def test_too_little_memory_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(*args: object, **options: object) -> object:
        raise MemoryError

    monkeypatch.setattr(run_example, "col2im", hungry)
    assert "not enough free memory" in fails(1, "run")


def test_nothing_optional_is_imported() -> None:
    code = """
import sys
from ascend_col2im.cli import main
main(["run"], standalone_mode=False)
optional = {"torch", "onnx", "PIL", "numba", "ml_dtypes", "matplotlib", "rich"}
print(sorted(optional & set(sys.modules)))
"""
    result = python(code)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


def on_terminal(args: list[str], **environment: str) -> str:
    """Return what a person sees on a terminal of 100 columns."""
    controller, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *args],
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
            stdout=terminal,
            stderr=terminal,
        )
    finally:
        os.close(terminal)
    seen = b""
    try:
        while chunk := os.read(controller, 65536):
            seen += chunk
    except OSError:  # Linux says so when the other end has closed
        pass
    finally:
        os.close(controller)
    assert process.wait(60) == 0
    return seen.decode()


def test_people_get_a_drawn_table_and_pipes_do_not() -> None:
    environment = {"NO_COLOR": "", "PYTHONIOENCODING": "utf-8"}
    assert "┏━━━━━┳" in on_terminal(["run"], **environment)
    plain = invoke("run").stdout
    assert plain.isascii()
    narrow = {"NO_COLOR": "", "COLUMNS": "20"}
    for reason in ({"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}, narrow):
        assert on_terminal(["run"], **reason).replace("\r\n", "\n") == plain


def test_long_work_shows_progress_to_people_only(tmp_path: Path) -> None:
    sparse_columns(tmp_path / "col.npy", (120, *PLANE))
    args = ["run", str(tmp_path / "col.npy"), *FOLD, "-o", str(tmp_path / "image.npy")]
    assert "folding" in on_terminal(args)
    result = python(COMMAND, *args)
    assert (result.returncode, result.stderr) == (0, "")
    assert "folding" not in result.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_an_interrupt_leaves_what_was_there(
    tmp_path: Path, number: signal.Signals, suffix: str
) -> None:
    sparse_columns(tmp_path / "col.npy", (4096, *PLANE))
    target = tmp_path / f"image{suffix}"
    target.write_bytes(b"precious")
    # Where the tests run in the background, or under nohup, signals are ignored: hear them here.
    handler = "default_int_handler" if number == signal.SIGINT else "SIG_DFL"
    code = f"import signal; signal.signal({number:d}, signal.{handler}); {COMMAND}"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", tmp_path / "col.npy", *FOLD, "-o", target],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(tmp_path.glob(".*.part")):
        assert process.poll() is None, "ended before it could be interrupted"
        time.sleep(0.001)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert (stdout, stderr) == ("", "Error: interrupted\n")
    assert target.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["col.npy", target.name]


@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("form", ["", "--json"])
def test_standard_output_that_takes_nothing_gives_no_traceback(
    redirection: str, form: str
) -> None:
    result = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" run {form} {redirection}', sys.executable, COMMAND],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    if redirection == ">&-":
        assert (result.returncode, result.stderr) == (0, "")
        return
    message = "Error: standard output: cannot be written: No space left on device\n"
    assert result.returncode == errors.FileError.exit_code
    assert result.stderr == ("" if form else message)


def test_exit_codes_in_use_are_in_the_table() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in [
            ROOT / "ascend_col2im" / "cli.py",
            *(ROOT / "ascend_col2im" / "commands").glob("*.py"),
        ]
    )
    literals = {int(code) for code in re.findall(r"exit_code=(\d+)", source)}
    classes = {getattr(errors, name) for name in re.findall(r"(\w+Error)\.exit_code", source)}
    assert literals | {error.exit_code for error in classes} <= set(errors.EXIT_CODES)


USAGE = {
    "no output": (("run", "col.npy", *FOLD), "a result needs a file; name it with -o"),
    "no kernel": (("run", "col.npy", "--output-size", "3"), "run COLUMNS needs --kernel-size"),
    "no size": (("run", "col.npy", "--kernel-size", "3"), "run COLUMNS needs --output-size"),
    "two files": (("run", "a.npy", "b.npy"), "run takes one file of columns, not 2"),
    "file and image": (("run", "a.npy", "--image", "b.png"), "run --image takes no other files"),
    "size of a picture": (
        ("run", "--image", "b.png", "--output-size", "3", "--kernel-size", "3"),
        "run --image takes no --output-size",
    ),
    "sizes of a model": (("run", "m.onnx", *FOLD), "run MODEL.onnx takes no --output-size"),
    "fraction": (("run", "--stride", "1.5"), "'1.5' is not an integer or a list of them"),
    "nothing": (("run", "--stride", ""), "'' is not an integer or a list of them"),
    "no name": (("run", ""), "the name is empty"),
    "no picture": (("run", "--image", ""), "the name is empty"),
    "no target": (("run", "-o", ""), "the name is empty"),
    "gap": (("run", "--stride", "1,,2"), "'1,,2' is not an integer or a list of them"),
    "long": (
        ("run", "--stride", "9" * 5000),
        "...9999999999999999999999999999' is not an integer",
    ),
    "word": (("run", "--padding", "1:x"), "'1:x' is not an integer, a list such as 1,2, or pairs"),
    "backend": (("run", "--backend", "gpu"), "'gpu' is not one of 'auto', 'cpu', 'npu'"),
}


@pytest.mark.parametrize(("args", "message"), USAGE.values(), ids=USAGE)
def test_a_command_line_that_cannot_be_meant(args: tuple[str, ...], message: str) -> None:
    assert message in fails(2, *args)
