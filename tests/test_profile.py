"""The command that shows one launch: its numbers, its trace, its errors."""

from __future__ import annotations

import json
import re
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from ascend_col2im import kernel_model
from ascend_col2im.kernel_model.timeline import ROWS
from ascend_col2im.simulator import LaunchReport
from ascend_col2im.workloads import WORKLOADS, Fold

from .command_line import ROOT, fails, invoke
from .kernel_cache import kernels

DILATED = next(each.fold for each in WORKLOADS if each.name == "dilated")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> kernel_model.Kernels:
    return kernels(monkeypatch, "910B1")


def profiled(*args: object) -> dict[str, Any]:
    result = invoke("profile", *args, "--json")
    assert result.exit_code == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


def launched(cache: kernel_model.Kernels, fold: Fold = DILATED) -> LaunchReport:
    return cache.launch(fold, "float32", trace="opt")


def test_numbers_are_those_of_the_simulators_report(cache: kernel_model.Kernels) -> None:
    found, report = profiled("dilated"), launched(cache)
    opt = report.timing["opt"]
    assert found["moved_bytes"] == report.moved_bytes
    assert found["pipes"]["MTE2"]["bytes"] + found["pipes"]["MTE3"]["bytes"] == report.moved_bytes
    for pipe in ROWS:
        assert found["pipes"][pipe]["instructions"] == report.pipes[pipe].instructions
        assert found["pipes"][pipe]["bytes"] == report.pipes[pipe].bytes
        assert found["pipes"][pipe]["share"] == opt.share[pipe]
    assert found["core_us"] == list(opt.core_us)
    assert max(found["core_us"]) == pytest.approx(found["time_us"]["opt"])
    assert found["N"] * found["C"] == 128


def test_busy_times_are_the_sums_of_the_trace(cache: kernel_model.Kernels) -> None:
    found = profiled("dilated")
    instructions = kernel_model.instructions(launched(cache).trace or "")
    for pipe in ROWS:
        busy = sum(each.duration_us for each in instructions if each.pipe == pipe)
        assert found["pipes"][pipe]["busy_us"] == pytest.approx(busy / found["cores"], rel=1e-5)
        assert found["pipes"][pipe]["instructions"] == sum(
            each.pipe == pipe for each in instructions
        )


def test_the_table_says_that_it_is_modelled() -> None:
    shown = invoke("profile", "dilated").stdout
    assert "nothing here was measured on a device" in shown
    for words in ("MTE2: loads", "V: vector", "MTE3: stores", "balance", "floor", "time, pess"):
        assert words in shown


def test_the_trace_has_a_row_per_core_and_pipe_and_names_tiles(
    tmp_path: Path, cache: kernel_model.Kernels
) -> None:
    target = tmp_path / "trace.json"
    found = profiled("dilated", "--trace", target)
    trace = json.loads(target.read_text(encoding="utf-8"))
    assert trace["otherData"]["kind"] == "modelled"
    events = trace["traceEvents"]
    named = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    assert named == {
        (core, row): name
        for core in range(found["cores"])
        for row, name in enumerate(ROWS.values())
    }
    groups = [event for event in events if event["name"] == "process_name"]
    assert [event["args"]["name"] for event in groups] == [
        f"core {core}" for core in range(found["cores"])
    ]
    work = [event for event in events if event["ph"] == "X"]
    assert len(work) + len(named) + len(groups) == len(events)
    rows = []
    for key, of_row in groupby(work, key=lambda event: (event["pid"], event["tid"])):
        rows.append(key)
        for event, following in pairwise(of_row):
            assert 0 <= event["ts"] <= event["ts"] + event["dur"] <= following["ts"] + 1e-6
            assert event["args"]["tile"] <= following["args"]["tile"]
    assert all(
        event["name"] == f"tile {event['args']['tile']}: {event['args']['api']}" for event in work
    )
    assert rows == sorted(named)
    assert max(event["ts"] + event["dur"] for event in work) == pytest.approx(
        found["time_us"]["opt"], rel=1e-5
    )
    moved = sum(event["args"]["bytes"] for event in work if event["cat"] != "V")
    assert moved == found["moved_bytes"]


def offset_of_units() -> int:
    """Return where the tiling tells the kernel how many tiles there are."""
    header = (ROOT / "op_kernel/fold_tiling.h").read_text(encoding="utf-8")
    axis = re.search(r"sizeof\(AxisTiling\) == (\d+)", header)
    before = re.search(r"struct FoldTiling \{(.*?)int64_t units;", header, re.DOTALL)
    assert axis
    assert before
    fields = re.sub(r"//.*", "", before[1]).split(";")[:-1]
    assert all(field.strip().startswith("int64_t ") for field in fields[1:]), "after the axes"
    return 3 * int(axis[1]) + 8 * len(fields[1:])


def test_every_tile_loads_adds_and_ends_with_its_stores(cache: kernel_model.Kernels) -> None:
    instructions = kernel_model.instructions(launched(cache).trace or "")
    tiles = 0
    for _, of_tile in groupby(instructions, key=lambda each: (each.core, each.tile)):
        tiles += 1
        pipes = [each.pipe for each in of_tile]
        assert {"MTE2", "V", "MTE3"} == set(pipes)
        assert (
            "".join("s" if pipe == "MTE3" else "." for pipe in pipes).strip(".").strip("s") == ""
        )
    plan = cache.plan(DILATED, "float32")
    at = offset_of_units()
    assert tiles == int.from_bytes(plan.tiling[at : at + 8], "little")


def test_a_fold_of_ones_own_on_another_product(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels(monkeypatch, "310B1")
    args = ("--shape", "1,3,32,32", "--kernel-size", "16", "--stride", "16")
    found = profiled(*args, "--product", "310B1", "--dtype", "float16")
    assert (found["workload"], found["product"], found["cores"]) == ("own", "310B1", 1)
    assert found["peer"] is None
    assert found["launch_us"] == 0
    shown = invoke("profile", *args, "--product", "310B1").stdout
    assert " on 1 core of 310B1\n" in shown
    assert "launch       not in the times above, and not published for 310B1\n" in shown


@pytest.mark.parametrize(
    ("code", "args", "message"),
    [
        (2, (), "profile needs a WORKLOAD, such as conv_grad, or --shape"),
        (2, ("nope",), "there is no workload 'nope'; must be one of conv_grad"),
        (2, ("small7", "small14"), "unexpected extra argument"),
        (4, ("small7", "--product", "310B1", "--dtype", "bfloat16"), "no kernel for bfloat16"),
        (3, ("--shape", "1,1,2,2", "--kernel-size", "3"), "kernel_size[0] is 3"),
        (5, ("small7", "--plot", "profile.gif"), "must end with one of .png, .svg, .pdf"),
        (5, ("small7", "--trace", "/no/such/place.json"), "there is no directory"),
        (5, ("small7", "--trace", "a.png", "--plot", "./a.png"), "a.png: is named for two files"),
    ],
)
def test_errors(code: int, args: tuple[str, ...], message: str) -> None:
    assert message in fails(code, "profile", *args)


def test_an_error_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernel_model.Kernels, "launch", interrupted)
    target = tmp_path / "trace.json"
    target.write_text("before", encoding="utf-8")
    assert fails(130, "profile", "small7", "--trace", target) == "interrupted"
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]
    assert target.read_text(encoding="utf-8") == "before"


def test_every_field_is_documented() -> None:
    text = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
    found = profiled("dilated")
    fields = {*found, *found["pipes"]["V"]}
    assert [field for field in sorted(fields) if f"`{field}`" not in text] == []
