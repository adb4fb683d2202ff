"""The speed that the documents show is what the commands say today, or is marked as of a run."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from ascend_col2im import kernel_model
from ascend_col2im.commands import bench_modelled
from ascend_col2im.kernel_model import Op
from ascend_col2im.workloads import WORKLOADS
from tools import performance

from .command_line import ROOT
from .kernel_cache import kernels

FIGURES = {
    "col2im": performance.data_of(performance.MODELLED)["figures"],
    "im2col": performance.data_of(performance.MODELLED_IM2COL)["figures"],
}
NAMES = [workload.name for workload in WORKLOADS]


@pytest.mark.parametrize("op", FIGURES)
@pytest.mark.parametrize("product", ["910B1", "310B1"])
def test_the_modelled_figures_are_those_of_todays_kernels(
    product: str, op: Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kernels(monkeypatch, product)
    folds = {workload.name: workload.fold for workload in WORKLOADS}
    shown = [facts for facts in FIGURES[op] if facts["product"] == product]
    assert len(shown) == len(NAMES) * len(made.product.dtypes)
    stale = []
    for facts in shown:
        figure = kernel_model.figure(made, folds[facts["workload"]], facts["dtype"], op)
        (fresh,) = bench_modelled.facts_of([figure])["figures"]
        if not same(facts, fresh):
            stale.append(f"{facts['dtype']} {facts['workload']}")
    assert stale == [], "run python -m tools.performance --modelled"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_col2im_is_modelled_near_the_floor(dtype: str) -> None:
    """Modelled time is the same on every machine: a bar for it is no race against a clock."""
    shown = [
        facts
        for facts in FIGURES["col2im"]
        if (facts["product"], facts["dtype"]) == ("910B1", dtype)
    ]
    assert all(facts["traffic"] <= 1.02 for facts in shown)
    assert all(facts["balance"] >= 0.9 for facts in shown)
    for end, mean, worst in (("opt", 1.12, 1.25), ("pess", 1.4, 1.75)):
        ratios = [facts["over_floor"][end] for facts in shown]
        assert max(ratios) <= worst
        assert math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) <= mean


def same(shown: Any, fresh: Any) -> bool:
    """Compare two trees; numbers to a millionth, since another machine's log2 may round apart."""
    if isinstance(shown, dict):
        return shown.keys() == fresh.keys() and all(same(shown[key], fresh[key]) for key in shown)
    if isinstance(shown, float):
        return bool(fresh == pytest.approx(shown, rel=1e-6))
    return bool(shown == fresh)


def test_a_changed_figure_would_be_seen() -> None:
    (facts, *_) = FIGURES["col2im"]
    assert same(facts, dict(facts))
    times = dict(facts["time_us"], opt=facts["time_us"]["opt"] * 1.001)
    assert not same(facts, {**facts, "time_us": times})
    assert not same(facts, {**facts, "schedule": "other"})


@pytest.mark.parametrize("source", performance.MEASURED, ids=lambda source: source.file)
def test_the_measured_data_are_of_the_command_that_the_page_names(
    source: performance.Source,
) -> None:
    data = performance.data_of(source)
    threads = re.search(r"--threads (\d+)", source.command)
    rounds = re.search(r"--rounds (\d+)", source.command)
    assert threads
    assert rounds
    assert (data["threads"], data["rounds"]) == (int(threads[1]), int(rounds[1]))
    assert data["interrupted"] is False
    assert data["peers_missing"] == {}
    dtypes = re.findall(r"--dtype (\w+)", source.command)
    jobs = [(run["workload"], run["dtype"]) for run in data["runs"]]
    assert jobs == [(name, dtype) for dtype in dtypes for name in NAMES]
    backends = re.findall(r"--backend (\w+)", source.command)
    for run in data["runs"]:
        kinds = [each["name"] for each in run["measurements"] if each["kind"] == "backend"]
        assert kinds == backends
        assert all(each["clock"] == "measured" for each in run["measurements"])


def test_the_page_shows_every_workload_of_every_table() -> None:
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    for name in NAMES:
        # Once among the workloads, in four measured tables, in five places of each modelled one.
        assert len(re.findall(rf"^\| `?{name}`? \|", page, re.MULTILINE)) == 5
        assert page.count(f"| {name} |") == 4 + 2 * 5
    for part in ("No time in this section was measured", "Measured on a CPU"):
        assert part in page


@pytest.mark.parametrize("chart", performance.CHARTS.values())
def test_the_pages_show_every_chart(chart: str) -> None:
    assert (ROOT / "docs/images" / chart).stat().st_size > 10_000
    pages = [path.read_text(encoding="utf-8") for path in ROOT.glob("docs/*.md")]
    assert any(f"](images/{chart})" in page for page in pages)
    assert f"`{chart}`" in (ROOT / "docs/images/README.md").read_text(encoding="utf-8")
