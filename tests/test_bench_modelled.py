"""The command that models, and the room that builds and launches the kernels for it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ascend_col2im import kernel_model
from ascend_col2im.commands import bench_modelled
from ascend_col2im.errors import ToolchainError
from ascend_col2im.geometry import geometry
from ascend_col2im.kernel_model import PRODUCTS, building
from ascend_col2im.toolchain import sources
from ascend_col2im.workloads import WORKLOADS, Fold

from .command_line import ROOT, fails, invoke
from .kernel_cache import kernels, use

SMALL = ("--modelled", "small7", "overlap_add")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels(monkeypatch, "910B1")


def modelled(*args: object) -> dict[str, Any]:
    result = invoke("bench", *args, "--json")
    assert result.exit_code == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


def test_the_table_says_that_it_is_modelled_and_has_the_peer() -> None:
    shown = invoke("bench", *SMALL).stdout
    assert "nothing here was measured on a device" in shown
    row = r"^910B1 +float32 +{} +([a-z ]+) +48 +(.*)$"
    small7 = re.search(row.format("small7"), shown, re.MULTILINE)
    assert small7
    numbers = [float(number) for number in small7[2].split()]
    assert len(numbers) == len(bench_modelled.HEADERS) - 5
    overlap_add = re.search(row.format("overlap_add"), shown, re.MULTILINE)
    assert overlap_add
    assert len(overlap_add[2].split()) == len(numbers) - 3, "no peer in 1-D"
    assert "geometric mean (worst)" in shown


def test_figures_are_those_of_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    of_910 = kernels(monkeypatch, "910B1")
    fold = next(each.fold for each in WORKLOADS if each.name == "small7")
    report = of_910.launch(fold, "float16")
    (facts,) = modelled("--modelled", "small7", "--dtype", "float16")["figures"]
    assert facts["time_us"] == {name: timing.time_us for name, timing in report.timing.items()}
    assert facts["traffic"] == report.moved_bytes / report.compulsory_bytes
    assert facts["compulsory_bytes"] == 2 * 32 * 192 * (9 * 49 + 49)
    assert facts["balance"] == report.timing["opt"].balance
    assert facts["floor_us"] == pytest.approx(facts["compulsory_bytes"] / 1.6e6)
    assert facts["peer_over_ours"] == facts["peer"]["time_us"]["opt"] / facts["time_us"]["opt"]


def test_im2col_and_two_dtypes_are_modelled_side_by_side() -> None:
    ops = ("--op", "col2im", "--op", "im2col")
    dtypes = ("--dtype", "float32", "--dtype", "bfloat16")
    found = modelled("--modelled", "small7", *ops, *dtypes)
    assert [(each["op"], each["dtype"]) for each in found["figures"]] == [
        ("col2im", "float32"),
        ("col2im", "bfloat16"),
        ("im2col", "float32"),
        ("im2col", "bfloat16"),
    ]
    assert all(each["schedule"].startswith("unfold") for each in found["figures"][2:])
    assert len(found["means"]) == 4


def test_the_csv_has_a_line_per_figure(tmp_path: Path) -> None:
    target = tmp_path / "modelled.csv"
    found = modelled(*SMALL, "--csv", target)
    with target.open() as lines:
        rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == bench_modelled.CSV_COLUMNS
    for row, figure in zip(rows, found["figures"], strict=True):
        assert float(row["opt_us"]) == figure["time_us"]["opt"]
        assert float(row["mte2_share"]) == figure["share"]["MTE2"]
        peer = figure["peer"]
        assert row["peer_pess_us"] == (repr(peer["time_us"]["pess"]) if peer else "")
    text = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
    assert [column for column in bench_modelled.CSV_COLUMNS if f"`{column}`" not in text] == []


def test_means_are_geometric_and_the_worst_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = modelled(*SMALL)
    ratios = [each["over_floor"]["opt"] for each in found["figures"]]
    (mean,) = found["means"]
    assert mean["opt"]["geometric_mean"] == pytest.approx((ratios[0] * ratios[1]) ** 0.5)
    assert mean["opt"]["worst"] == max(ratios)


def test_a_dtype_without_kernels_is_refused() -> None:
    message = fails(4, "bench", "--modelled", "--product", "310B1", "--dtype", "bfloat16")
    assert message == "310B1: no kernel for bfloat16; must be one of float16, float32"


def test_a_fold_that_the_device_refuses_is_refused_in_its_words() -> None:
    shape = ("--shape", "1,1,4,4,4,4", "--kernel-size", "1,1,1,1")
    assert "has 4 axes; ascend910b takes 1 to 3" in fails(3, "bench", "--modelled", *shape)


def test_an_interrupt_shows_what_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real, calls = kernel_model.figure, 0

    def interrupted(*args: Any) -> kernel_model.Figure:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(kernel_model, "figure", interrupted)
    result = invoke("bench", *SMALL, "--plot", tmp_path / "m.png")
    assert result.exit_code == 130
    assert "small7" in result.stdout
    assert result.stderr.endswith("interrupted after 1 of 2; no file was written\n")
    assert list(tmp_path.iterdir()) == []


def test_products_are_those_of_the_simulator() -> None:
    text = (ROOT / "sim/model/products.h").read_text(encoding="utf-8")
    rows = re.findall(
        r'\{"(\w+)",\s*"(\w+)",\s*(\d+), (\d+),\s*(\d+),\s*(\w+),\s*(\d+),\s*(\d+)\}', text
    )
    assert len(rows) == len(PRODUCTS)
    for name, soc, arch, cores, mhz, _, per_cycle, chip in rows:
        product = PRODUCTS["910_93" if soc == "ascend910_93" else name]
        assert (product.target, product.arch) == (soc, int(arch))
        assert (product.cores, product.mhz) == (int(cores), int(mhz))
        alone = int(per_cycle) * int(mhz) * int(cores) / 1e3
        assert product.gb_per_s == pytest.approx(int(chip) or alone)


def test_plans_are_those_of_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    of_910 = kernels(monkeypatch, "910B1")
    tiny = Fold("own", 1, 1, geometry((3, 3), (2, 2), (1, 1), (0, 0), (0, 0), (1, 1)))
    plan = of_910.plan(tiny, "float32")
    assert plan.cores == 1
    assert plan.schedule == kernel_model.schedules()[plan.key]
    assert set(kernel_model.schedules().values()) >= {"unfold", "rows", "flat", "channels"}
    report = of_910.launch(tiny, "float32")
    assert report.violation_count == 0
    assert report.compulsory_bytes == 4 * (4 * 4 + 9)


def test_what_is_built_once_is_found_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(monkeypatch)
    assert building.plan(2201, 1) is None
    here = building.directory(2201)
    monkeypatch.setattr(building, "CPP_DTYPES", dict(building.CPP_DTYPES))
    changed = tmp_path / "plan.cpp"
    changed.write_text("// another plan\n", encoding="utf-8")
    files = building._files
    monkeypatch.setattr(building, "_files", lambda root: [*files(root), changed])
    assert building.directory(2201) != here
    plan = building.plan(2201, 1)
    assert plan is not None
    assert [step.title for step in plan.steps][1] == "compile the host's plan"


def test_kernels_are_kept_in_an_absolute_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of/someone")
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert building.directory(2201).parent == Path("/home/of/someone/.cache/ascend-col2im")
    monkeypatch.setenv("XDG_CACHE_HOME", "/a/cache")
    assert building.directory(2201).parent == Path("/a/cache/ascend-col2im")


def test_without_a_home_the_cure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ToolchainError, match="set HOME, or XDG_CACHE_HOME to an absolute path"):
        building.directory(2201)


def test_a_build_that_fails_says_why_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CXX", "false")
    message = fails_quietly(8, *SMALL)
    assert "compile the host's plan: false ended with 1" in message
    assert list((tmp_path / "ascend-col2im").iterdir()) == []
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "no-such-compiler is not installed; install g++ 9" in fails(8, "bench", *SMALL)


def fails_quietly(exit_code: int, *args: object) -> str:
    """Return all that a failing command said, progress included."""
    result = invoke("bench", *args)
    assert result.exit_code == exit_code, result.output
    assert result.stdout == ""
    return result.stderr


def test_the_sources_of_the_library_are_where_a_wheel_has_them() -> None:
    root = sources.root()
    assert {path.parent.name for path in building._files(root)} >= {
        *("op_host", "op_kernel", "ascendc", "model", "kernel_model"),
    }


def test_every_field_is_documented() -> None:
    text = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
    found = modelled("--modelled", "small7")
    fields = {*found, *found["figures"][0], *found["means"][0]}
    assert [field for field in sorted(fields) if f"`{field}`" not in text] == []
