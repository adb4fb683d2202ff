"""The command that measures: what it times, what it leaves out, and what it writes."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_col2im import backends, bench, onnx_peer, opp
from ascend_col2im.bench import candidates, timing
from ascend_col2im.bench.results import CSV_COLUMNS, Measurement, Run
from ascend_col2im.errors import MissingExtraError, RuleError
from ascend_col2im.geometry import geometry
from ascend_col2im.torch_op import peer as torch_peer
from ascend_col2im.workloads import WORKLOADS, Fold

from .command_line import ROOT, fails, invoke
from .oracles import Case, scatter

TINY = ("--shape", "2,3,6,5", "--kernel-size", "3,2", "--padding", "1", "--rounds", "7")
PLANE = Fold("own", 2, 3, geometry((6, 5), (3, 2), (2, 1), (1, 1), (1, 1), (1, 1)))
LINE = Fold("own", 1, 2, geometry((9,), (3,), (1,), (0,), (0,), (2,)))

Prepare = Callable[..., tuple[Callable[[], Any], Callable[[Any], Any]]]


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take back what the command tells numba by an environment variable."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")


def measured(*args: object) -> dict[str, Any]:
    result = invoke("bench", *args, "--json")
    assert result.exit_code == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


def named(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in run["measurements"]}


def test_every_installed_peer_and_backend_is_timed() -> None:
    found = measured(*TINY, "--backend", "cpu", "--backend", "numpy", "--threads", "2")
    (run,) = found["runs"]
    assert (run["N"], run["C"], run["output_size"]) == (2, 3, [6, 5])
    assert run["left_out"] == {}
    kinds = {each["name"]: each["kind"] for each in run["measurements"]}
    assert kinds == {
        "cpu": "backend",
        "numpy": "backend",
        "torch": "peer",
        "onnxruntime": "peer",
        "copy": "copy",
    }
    for each in run["measurements"]:
        assert 0 < each["best_s"] <= each["quartiles_s"][0] <= each["median_s"]
        assert each["median_s"] <= each["quartiles_s"][1]
        assert each["clock"] == "measured"
        assert each["gb_per_s"] == pytest.approx(run["bytes"] / each["median_s"] / 1e9)
    cpu, torch = named(run)["cpu"], named(run)["torch"]
    assert cpu["peer_ratios"]["torch"] == pytest.approx(torch["median_s"] / cpu["median_s"])
    assert found["threads"] == 2
    assert found["versions"]["torch"]


@pytest.mark.parametrize(
    ("prepare", "dtype"),
    [
        *((torch_peer.prepare, dtype) for dtype in ("float32", "float16", "bfloat16", "float64")),
        *((onnx_peer.prepare, dtype) for dtype in ("float32", "float16")),
    ],
)
def test_peers_compute_what_the_oracle_does(prepare: Prepare, dtype: str) -> None:
    col = bench.input_of(PLANE, dtype)
    run, read = prepare(PLANE, col, 1)
    image = read(run())
    assert image.dtype == col.dtype
    case = Case((6, 5), (3, 2), (2, 1), (1, 1), (1, 1), (1, 1))
    assert np.array_equal(image.astype(np.float64), scatter(col.astype(np.float64), case))


def test_a_peer_is_left_out_where_it_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = onnx_peer.prepare

    def one_pixel_off(*args: Any) -> Any:
        run, read = prepare(*args)

        def spoilt(result: Any) -> Any:
            image = read(result).copy()
            image.flat[7] += 1
            return image

        return run, spoilt

    monkeypatch.setattr(onnx_peer, "prepare", one_pixel_off)
    (run,) = measured(*TINY)["runs"]
    assert run["left_out"] == {"onnxruntime": "gives wrong values: 1 of 180 elements"}
    assert "onnxruntime" not in named(run)
    shown = invoke("bench", *TINY).stdout
    assert "ONNX Runtime gives wrong values: 1 of 180 elements" in shown


def test_onnx_runtime_is_left_out_where_it_is_known_to_be_wrong() -> None:
    run = timing.measured(LINE, "float32", ("cpu",), ("onnxruntime",), threads=1, rounds=2)
    assert run.left_out["onnxruntime"].startswith("gives wrong values")


def test_a_peer_that_lacks_a_dtype_is_left_out_in_its_own_words() -> None:
    run = timing.measured(PLANE, "float64", ("cpu",), ("onnxruntime",), threads=1, rounds=2)
    assert "Could not find an implementation for Col2Im" in run.left_out["onnxruntime"]


def test_torch_is_left_out_where_it_has_no_words() -> None:
    run = timing.measured(LINE, "float32", ("cpu",), ("torch",), threads=1, rounds=2)
    assert run.left_out == {"torch": "refuses it: torch folds 2 axes only, not 1"}
    uneven = PLANE._replace(geometry=geometry((6, 5), (3, 2), (1, 1), (1, 0), (0, 0), (1, 1)))
    run = timing.measured(uneven, "float32", ("cpu",), ("torch",), threads=1, rounds=2)
    assert run.left_out == {"torch": "refuses it: torch takes one padding per axis"}


def test_a_missing_peer_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise MissingExtraError(f"{name} is not installed; pip install {name}")

    monkeypatch.setattr(candidates, "_peer", absent)
    found = measured(*TINY)
    assert found["peers_missing"]["torch"] == "torch is not installed; pip install torch"
    assert found["geometric_means"] == []
    assert "peer missing" in invoke("bench", *TINY).stdout


def test_a_broken_peer_is_named_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libfoo.so: no such file')\n", "utf-8")
    code = "from ascend_col2im import bench; print(bench.missing_peers()['torch'])"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    words = "torch is installed, but cannot be imported: libfoo.so: no such file; install it again"
    assert run.stdout == f"{words}\n"


def test_a_wrong_backend_of_ours_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(col: Any, geometry: Any, image: Any) -> None:
        image[...] = 0

    broken = {"numpy": backends.CPU_ENGINE._replace(col2im=wrong)}
    monkeypatch.setattr(backends, "CPU_ENGINES", broken)
    message = fails(7, "bench", *TINY, "--backend", "numpy")
    assert re.search(r"backend numpy: own: \d+ of 180 elements differ", message)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "bool", "complex64"])
def test_columns_sum_exactly_in_every_dtype(dtype: str) -> None:
    many = Fold("own", 1, 1, geometry((40, 40), (20, 20), (1, 1), (9, 9), (9, 9), (1, 1)))
    col = bench.input_of(many, dtype)
    assert col.dtype == (ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype))
    assert col.any()
    if dtype == "float16":
        exact = col.astype(np.float64).reshape(1, 400, -1)
        assert abs(exact).max() * 400 <= 2048


def test_a_fold_larger_than_the_memory_is_refused() -> None:
    huge = Fold("own", 1, 1, geometry((10**7, 10**7), (2, 2), (1, 1), (0, 0), (0, 0), (1, 1)))
    with pytest.raises(RuleError, match=r"^bench: size: the column matrix of shape .* takes"):
        candidates.input_of(huge, "float32")


def test_medians_quartiles_means_and_shares() -> None:
    ours = Measurement("cpu", "backend", "measured", (4e-3, 1e-3, 2e-3, 3e-3, 5e-3))
    assert (ours.median, ours.quartiles, ours.best) == (3e-3, (2e-3, 4e-3), 1e-3)
    peer = Measurement("torch", "peer", "measured", (12e-3,) * 5)
    copy = Measurement("copy", "copy", "measured", (1.5e-3,) * 5)
    first = Run(PLANE, "float32", 6_000_000, (ours, peer, copy), {})
    assert first.gb_per_s(ours) == pytest.approx(2)
    assert first.of_copy(ours) == pytest.approx(0.5)
    assert first.ratios(ours) == {"torch": pytest.approx(4)}
    second = Run(
        PLANE, "float32", 1, (ours, Measurement("torch", "peer", "measured", (3e-3,))), {}
    )
    (mean,) = bench.geometric_means([first, second])
    assert mean.workloads == 2
    assert (mean.of_medians, mean.least) == pytest.approx((2, 1))
    assert mean.of_best == pytest.approx(6)


def test_candidates_are_interleaved_and_the_first_round_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    def timed(candidate: candidates.Candidate) -> float:
        seen.append(candidate.name)
        return float(len(seen))

    monkeypatch.setattr(timing, "_timed", timed)
    run = timing.measured(PLANE, "float32", ("cpu",), ("torch",), threads=1, rounds=3)
    rounds = [seen[i : i + 3] for i in range(0, 12, 3)]
    assert all(sorted(each) == ["copy", "cpu", "torch"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1
    assert all(min(each.seconds) > 3 for each in run.measurements)
    assert all(len(each.seconds) == 3 for each in run.measurements)


def test_the_csv_has_a_line_per_measurement(tmp_path: Path) -> None:
    target = tmp_path / "bench.csv"
    found = measured(*TINY, "--csv", target)
    with target.open() as lines:
        rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == CSV_COLUMNS
    (run,) = found["runs"]
    assert [row["name"] for row in rows] == [each["name"] for each in run["measurements"]]
    for row, each in zip(rows, run["measurements"], strict=True):
        assert float(row["median_s"]) == each["median_s"]
        assert float(row["best_s"]) == each["best_s"]
        assert row["workload"] == "own"


def test_an_interrupt_shows_what_is_there_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = timing.measured, 0

    def interrupted(*args: Any, **more: Any) -> Run:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(bench, "measured", interrupted)
    args = (*TINY, "--dtype", "float32", "--dtype", "float16", "--csv", tmp_path / "b.csv")
    result = invoke("bench", *args)
    assert result.exit_code == 130
    assert "own       float32" in result.stdout
    assert result.stderr.endswith("interrupted after 1 of 2; no file was written\n")
    assert list(tmp_path.iterdir()) == []
    calls = 0
    result = invoke("bench", *args, "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["interrupted"] is True
    assert len(json.loads(result.stdout)["runs"]) == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nope",), "there is no workload 'nope'; must be one of conv_grad, conv_grad_s2"),
        (("--shape", "1,2"), "'1,2' is not N,C and the image's sizes, as 8,64,56,56"),
        (("--shape", "a"), "'a' is not N,C and the image's sizes"),
        (("--shape", "1,2,3"), "--shape needs --kernel-size"),
        (("--stride", "2"), "--stride needs --shape"),
        (("small7", "--shape", "1,2,3"), "--shape takes the place of small7"),
        (("--rounds", "6"), "6 is not in the range x>=7"),
        (("--op", "im2col"), "only bench --modelled takes --op"),
        (("--modelled", "--threads", "2"), "bench --modelled takes no --threads"),
    ],
)
def test_usage_errors(args: tuple[str, ...], message: str) -> None:
    assert message in fails(2, "bench", *args)


def test_errors_come_before_any_measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "measured", None)
    assert "kernel_size[0] is 9" in fails(3, "bench", "--shape", "1,2,3,3", "--kernel-size", "9")
    assert "x has C = 0" in fails(3, "bench", "--shape", "1,0,3,3", "--kernel-size", "2")
    assert "--shape has N = 0" in fails(3, "bench", "--shape", "0,1,3,3", "--kernel-size", "2")
    assert "there is no directory" in fails(5, "bench", *TINY, "--csv", tmp_path / "no/b.csv")
    same = ("--csv", tmp_path / "b.png", "--plot", tmp_path / "b.png")
    assert "b.png: is named for two files" in fails(5, "bench", *TINY, *same)
    assert "must end with one of .png" in fails(5, "bench", *TINY, "--plot", tmp_path / "b.jpg")
    for variable in opp.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    assert "libascendcl.so" in fails(4, "bench", *TINY, "--backend", "npu")


def test_a_fold_of_ones_own_has_all_its_parameters() -> None:
    args = ("--shape", "1,2,9,", "--kernel-size", "3,", "--stride", "2", "--dilation", "2,")
    (run,) = measured(*args, "--padding", "1:0,", "--rounds", "7")["runs"]
    keys = ("output_size", "kernel_size", "stride", "pad_begin", "pad_end", "dilation")
    assert [run[key] for key in keys] == [[9], [3], [2], [1], [0], [2]]


def test_every_field_is_documented() -> None:
    text = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
    found = measured(*TINY)
    fields = {*found, *found["runs"][0], *found["runs"][0]["measurements"][0]}
    fields |= {*found["geometric_means"][0], *CSV_COLUMNS}
    assert [field for field in sorted(fields) if f"`{field}`" not in text] == []


def test_workload_names_are_unique_and_each_is_one_argument() -> None:
    names = [workload.name for workload in WORKLOADS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"\w+", name) for name in names)
