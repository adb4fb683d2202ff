"""A kernel with one mistake in it fails the normal tests: what they are worth."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from . import cases
from .harness import ROOT, Npu
from .test_col2im import check

MISTAKES = {
    "tap off by one": ("axis.h", "q_ += axis_.stepQ;", "q_ += axis_.stepQ + 1;"),
    "pad ignored": ("axis.h", "q_(axis.firstQ)", "q_(axis.firstQ < 0 ? 0 : axis.firstQ)"),
    "last row dropped": (
        "row_tile.h",
        "rows = intersect({row, row + tiling_.rows}, {0, last});",
        "rows = intersect({row, row + tiling_.rows}, {0, last - (last > 1 ? 1 : 0)});",
    ),
    "tail overrun": (
        "transfer.h",
        "params(static_cast<uint16_t>(runs), static_cast<uint32_t>(length * sizeof(M)),\n"
        "                                            gapBlocks, gapBytes, 0);",
        "params(static_cast<uint16_t>(runs), "
        "static_cast<uint32_t>(alignUp(length, kPerBlock) * sizeof(M)), gapBlocks, gapBytes, 0);",
    ),
    "float16 sums": (
        "element.h",
        "AscendC::Axpy(sum, source, static_cast<half>(1.0f), count);",
        "auto low = sum.template ReinterpretCast<half>();\n"
        "        AscendC::Cast(low, sum, AscendC::RoundMode::CAST_RINT, count);\n"
        "        AscendC::Add(low, low, source, count);\n"
        "        AscendC::Cast(sum, low, AscendC::RoundMode::CAST_NONE, count);",
    ),
    "wrong core split": (
        "axis.h",
        "return {begin, (index + 1) * each + (index + 1) * more / parts};",
        "return {begin, begin + each};",
    ),
    "seams kept": ("flat.h", "if (columns > 0) {", "if (columns > 1) {"),
    "residue not carried": (
        "unfold_once.h",
        "if (residue >= height_.stride) {",
        "if (residue > height_.stride) {",
    ),
    "wait forgotten": (
        "unfold.h",
        "input_.EnQue(input);\n        input = input_.template DeQue<M>();",
        "",
    ),
}
"""Name: the file, the text that is right, and the mistake in its place."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_caught(build_directory: Path, name: str) -> None:
    file, right, wrong = MISTAKES[name]
    tree = build_directory / name.replace(" ", "-")
    kernels = tree / "op_kernel"
    if not kernels.exists():
        shutil.copytree(ROOT / "op_kernel", kernels)
    text = (ROOT / "op_kernel" / file).read_text()
    assert text.count(right) == 1, f"{file} no longer says {right!r}"
    (kernels / file).write_text(text.replace(right, wrong))
    broken = Npu(build_directory, kernels)
    with pytest.raises(AssertionError):
        _run_everything(broken)


def _run_everything(npu: Npu) -> None:
    from .test_im2col import check as check_im2col

    for name in ("conv_grad", "conv_grad_s2", "small7", "video"):
        check(npu, cases.scaled(name), "float16", "910B1")
        check_im2col(npu, cases.scaled(name), "float16", "910B1")
    for axis in list(cases.small_axes())[::40]:
        check(npu, cases.case(1, 3, axis), "float16", "910B1")
