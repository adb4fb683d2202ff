"""A refusal of a deployed op: Python's words, from CANN's functions and in its log."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from ..host.test_rules import Call, python_verdict
from .on_refusals import CALLS, Refused
from .simulated import COMMAND, ROOT, copied, succeeds

SOC = "ascend910_93"
UNSUPPORTED = {
    "bfloat16": "Col2Im: the op's definition for ascend910_93 has no col (DT_BF16, ND), "
    "x (DT_BF16, ND); it has col (DT_FLOAT, ND), x (DT_FLOAT, ND); "
    "col (DT_FLOAT16, ND), x (DT_FLOAT16, ND)",
    "float64": "Col2ImNd: the op's definition for ascend910_93 has no col (DT_DOUBLE, ND), "
    "image_shape (DT_INT64, ND), block_shape (DT_INT64, ND), x (DT_DOUBLE, ND); it has",
    "mixed": "Col2Im: the op's definition for ascend910_93 has no col (DT_FLOAT, ND), "
    "x (DT_FLOAT16, ND); it has",
}
"""What the framework refuses before the op's own code is asked."""


def test_they_say_what_python_says_and_name_the_product(tmp_path: Path) -> None:
    answers, log = answered(tmp_path)
    assert answers.pop("target") == SOC
    assert answers["axes"].endswith("output_size has 4 axes; ascend910_93 takes 1 to 3")
    for refused in CALLS:
        check(refused, answers[refused.what], log)


def answered(directory: Path) -> tuple[dict[str, str], str]:
    """Build and deploy both folds, make every call, and return the answers and the log."""
    home = copied(directory)
    names = "CMakeLists.txt build.sh op_host op_kernel framework"
    succeeds(home, f"cp -r $(printf '{ROOT}/%s ' {names}) .", directory)
    build = f"bash build.sh --ops=col2_im,col2_im_nd --soc={SOC} --pkg && ./build_out/*.run"
    succeeds(home, build, directory)
    device = {
        "ASCEND_SIM_SOC": "Ascend910_9391",
        "ASCEND_PROCESS_LOG_PATH": str(directory / "log"),
    }
    program = shlex.join([COMMAND[0], "-m", "tests.toolchain.on_refusals"])
    found: dict[str, str] = json.loads(succeeds(home, program, directory, **device))
    (log,) = (directory / "log/debug/plog").iterdir()
    return found, log.read_text()


def check(refused: Refused, answer: str, log: str) -> None:
    name = "Col2ImNd" if refused.nd else "Col2Im"
    function = f"aclnn{name}GetWorkspaceSize"
    if refused.what in UNSUPPORTED:
        text = f"{function} failed with 161002 (ACLNN_ERR_PARAM_INVALID): EZ1009: "
        assert answer.startswith(text + UNSUPPORTED[refused.what])
        return
    rule, sentence = python_verdict(
        Call(
            False,
            SOC,
            refused.dtype,
            refused.out_dtype or refused.dtype,
            refused.shape,
            refused.out_shape,
            refused.output_size,
            refused.kernel_size,
            refused.strides,
            refused.pads,
            refused.dilations,
        )
    )
    said = f"{name}: {rule}: {sentence}"
    status = "561002 (ACLNN_ERR_INNER_TILING_ERROR)"
    assert answer == f"{function} failed with {status}: E89999: {said}"
    entry = rf"^\[ERROR\] OP\(\d+,python[\d.]*\):[-:.\d]+ {re.escape(said)}$"
    assert re.search(entry, log, re.MULTILINE)
