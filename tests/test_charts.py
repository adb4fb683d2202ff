"""The charts show what was found: checked on the figures, before they become files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Chart
from PIL import Image

from ascend_col2im import charts
from ascend_col2im.bench import Measurement, Run, geometric_means
from ascend_col2im.charts import style
from ascend_col2im.kernel_model import Figure, Instruction, PeerFigure
from ascend_col2im.simulator import Pipe
from ascend_col2im.workloads import WORKLOADS

from .command_line import COMMAND, invoke, python
from .kernel_cache import kernels

FOLDS = [workload.fold for workload in WORKLOADS]


def runs(names: tuple[str, ...] = ("cpu",), peers: bool = True) -> list[Run]:
    found = []
    for i, fold in enumerate(FOLDS):
        ours = [Measurement(name, "backend", "measured", (1e-3 * (i + 1),)) for name in names]
        others = [Measurement("copy", "copy", "measured", (5e-4,))]
        if peers:
            others.append(Measurement("onnxruntime", "peer", "measured", (2e-3,)))
            if len(fold.geometry.output_size) == 2:
                others.append(Measurement("torch", "peer", "measured", (4e-3,)))
        found.append(Run(fold, "float32", 4 * fold.elements, (*ours, *others), {}))
    return found


@pytest.fixture(autouse=True)
def quartiles_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Measurement, "quartiles", property(lambda each: (each.best, each.best)))


def figures(products: tuple[str, ...] = ("910B1",)) -> list[Figure]:
    return [
        Figure(
            product,
            dtype,
            "col2im",
            fold.name,
            "rows",
            48,
            4 * fold.elements,
            1.0,
            10.0,
            {"opt": 11.0, "pess": 15.0},
            0.9,
            {"V": 0.2, "MTE2": 0.9, "MTE3": 0.3},
            50.0,
            20.0,
            PeerFigure(5.0, {"opt": 200.0, "pess": 210.0}) if product.startswith("910") else None,
        )
        for product in products
        for dtype in ("float32", "float16")
        for fold in FOLDS
    ]


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def legend(axes: Any) -> list[str]:
    found = axes.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def test_measured_points_lie_where_the_numbers_say() -> None:
    found = runs()
    chart: Any = charts.measured(found, "subtitle")
    roof, ratio = chart.axes
    assert (roof.get_xscale(), roof.get_yscale()) == ("log", "log")
    assert roof.get_ylabel() == "bandwidth, GB/s"
    lines = {line.get_label(): line for line in roof.get_lines()}
    assert set(lines) == {"roof: a plain copy", "ours: cpu", "torch", "ONNX Runtime"}
    points = sorted(zip(*lines["ours: cpu"].get_data(), strict=True))
    expected = sorted((run.bytes / 1024**2, run.gb_per_s(run.measurements[0])) for run in found)
    assert [tuple(map(float, point)) for point in points] == [
        pytest.approx(point) for point in expected
    ]
    signs = " ".join(texts(roof)).split()
    assert sorted(signs) == list("abcdefghijklm"), "every workload is labelled once"
    rows = [label.get_text() for label in ratio.get_yticklabels()]
    assert rows[0] == "a  conv_grad"
    assert rows[-1] == "geometric mean"
    assert len(rows) == len(FOLDS) + 1


def test_bars_reach_from_one_to_the_ratio() -> None:
    found = runs()
    _, ratio = charts.measured(found, "subtitle").axes
    assert ratio.get_xscale() == "log"
    assert legend(ratio) == ["ONNX Runtime", "torch"]
    (onnx, torch) = ratio.containers[:2]
    ends = [bar.get_x() + bar.get_width() for bar in onnx]
    means = {mean.peer: mean.of_medians for mean in geometric_means(found)}
    ratios = [run.ratios(run.measurements[0])["onnxruntime"] for run in found]
    assert ends == pytest.approx([*ratios, means["onnxruntime"]])
    assert len(list(torch)) == 11 + 1
    assert f"{ratios[0]:.1f}" in texts(ratio)


def test_backends_side_by_side_and_none_to_compare_with() -> None:
    _, ratio = charts.measured(runs(("cpu", "numpy")), "subtitle").axes
    assert legend(ratio) == [
        "ONNX Runtime / cpu",
        "torch / cpu",
        "ONNX Runtime / numpy",
        "torch / numpy",
    ]
    _, ratio = charts.measured(runs(peers=False), "subtitle").axes
    assert "no peer was timed" in texts(ratio)


def test_modelled_bars_reach_from_opt_to_pess_and_the_title_says_modelled() -> None:
    chart: Any = charts.modelled(figures(("910B1", "310B1")))
    assert any("modelled" in text.get_text() for text in chart.texts)
    assert any("No time here was measured" in text.get_text() for text in chart.texts)
    roof, floor, edge_roof, edge_floor = chart.axes
    assert legend(roof)[0] == "roof: 1,600 GB/s"
    assert legend(edge_roof)[0] == "roof: 21 GB/s"
    best = {line.get_label(): line for line in roof.get_lines()}["float32"].get_ydata()
    assert best[0] == pytest.approx(4 * FOLDS[0].elements / 11.0 / 1e3)
    ours = {line.get_label(): line for line in floor.get_lines()}["float32"].get_xdata()
    assert list(ours) == pytest.approx([1.1] * len(FOLDS))
    (segment, *_), *_ = (each.get_segments() for each in floor.collections)
    assert segment[:, 0] == pytest.approx([1.1, 1.5])
    assert "aclnnIm2colBackward" in legend(floor)
    assert legend(edge_floor) == ["float32", "float16"]


def test_a_profile_shows_the_first_tiles_pipes_and_cores() -> None:
    pipes_in_order: tuple[Pipe, ...] = ("MTE2", "V", "MTE3")
    instructions = [
        Instruction(core, pipe, tile, "Add", 2.0 * tile + at, 0.5, 64)
        for core in (0, 1)
        for tile in range(6)
        for at, pipe in enumerate(pipes_in_order)
    ]
    chart: Any = charts.profile(figures()[0], instructions, (9.0, 11.0))
    tiles, pipes, cores = chart.axes
    assert tiles.get_title(loc="left") == "core 1: the first 4 of its 6 tiles"
    assert legend(tiles) == ["tile 0", "tile 1", "tile 2", "tile 3"]
    assert len(tiles.collections) == 4 * 3
    assert [label.get_text() for label in tiles.get_yticklabels()] == [
        "MTE2: loads",
        "V: vector",
        "MTE3: stores",
    ]
    assert [bar.get_width() for bar in pipes.patches] == pytest.approx([90, 20, 30])
    assert [bar.get_height() for bar in cores.patches] == [9.0, 11.0]
    assert cores.get_lines()[0].get_ydata()[0] == 10.0


def overlaps(chart: Any) -> list[tuple[str, str]]:
    """Return the titles, legends and labels that lie on each other once all is laid out."""
    canvas: Any = FigureCanvasAgg(chart)
    canvas.draw()
    found = []
    for axes in chart.axes:
        boxes: list[tuple[str, Any]] = [(axes.get_title(loc="left"), axes._left_title)]
        boxes += [(f"{text.get_text()} in {axes}", text) for text in axes.texts]
        if axes.get_legend() is not None:
            boxes.append(("legend", axes.get_legend()))
        extents = [(name, part.get_window_extent()) for name, part in boxes]
        for i, (name, box) in enumerate(extents):
            for other, second in extents[i + 1 :]:
                if box.shrunk(0.9, 0.7).overlaps(second.shrunk(0.9, 0.7)):
                    found.append((name, other))
            assert box.x1 <= chart.bbox.x1 + 1, f"{name} is cut off"
    return found


@pytest.mark.parametrize(
    "chart",
    [
        charts.modelled(figures(("910B1", "310B1"))),
        charts.profile(
            figures()[0],
            [Instruction(0, "V", tile, "Add", float(tile), 0.5, 64) for tile in range(6)],
            (11.0,),
        ),
    ],
)
def test_nothing_lies_on_a_title_or_is_cut_off(chart: Chart) -> None:
    assert overlaps(chart) == []


def test_measured_charts_have_no_overlaps() -> None:
    assert overlaps(charts.measured(runs(("cpu", "numpy")), "subtitle")) == []


def test_colours_differ_for_eyes_that_see_no_red_or_green() -> None:
    def luminance(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert set(style.PEERS.values()).isdisjoint(style.OURS)
    for peers in style.PEERS.values():
        assert abs(luminance(peers) - luminance(style.BLUE)) > 0.05


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_chart_has_the_same_bytes(kind: str) -> None:
    written = []
    for _ in range(2):
        stream = io.BytesIO()
        charts.save(charts.measured(runs(), "subtitle"), stream, kind)
        written.append(stream.getvalue())
    assert written[0] == written[1]
    assert written[0].startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])


def test_the_commands_write_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    kernels(monkeypatch, "910B1")
    tiny = ("--shape", "2,3,6,5", "--kernel-size", "2", "--rounds", "7")
    for command in (("bench", *tiny), ("bench", "--modelled", "small7"), ("profile", "small7")):
        target = tmp_path / "chart.png"
        result = invoke(*command, "--plot", target)
        assert result.exit_code == 0, result.stderr
        with Image.open(target) as image:
            assert image.format == "PNG"
            assert image.width == 11 * style.DPI
        target.unlink()


def test_without_matplotlib_the_cure_is_named_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; sys.argv[1:1] = []\n" + COMMAND
    target = tmp_path / "b.png"
    done = python(code, "bench", "--plot", target)
    assert done.returncode == 6
    assert done.stderr == (
        "Error: charts need matplotlib, which is not installed; "
        "pip install 'ascend-col2im[plot]'\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_broken_matplotlib_is_named_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('libfoo.so: no such file')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + COMMAND
    done = python(code, "bench", "--plot", tmp_path / "b.png")
    assert done.returncode == 6
    assert "cannot be imported: libfoo.so: no such file; install it again" in done.stderr
