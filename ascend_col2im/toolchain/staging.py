"""Edit a foreign project's files in place: a program that plans call, one job per argument list.

    python -m ascend_col2im.toolchain.staging presets CMakePresets.json NAME=VALUE...
    python -m ascend_col2im.toolchain.staging ops-math CHECKOUT SOURCES SOC...

Sources: CANN 8.1's ``tools/op_project_templates/ascendc/customize/CMakePresets.json``; ops-math's
``experimental/*/*/CMakeLists.txt`` (``add_all_modules_sources``, earlier
``add_modules_sources``) and ``scripts/kernel/binary_config/ascendc_config.json``.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Final

LISTS: Final = {
    "CMakeLists.txt": """\
if(COMMAND add_all_modules_sources)
  add_all_modules_sources(OPTYPE {op} ACLNNTYPE aclnn)
else()
  add_subdirectory(op_host)
endif()
""",
    "op_host/CMakeLists.txt": "add_modules_sources(OPTYPE {op} ACLNNTYPE aclnn)\n",
}
"""An operator's lists of sources, for checkouts with either function."""


def presets(file: Path, settings: list[str]) -> None:
    """Set cache variables of the first configure preset; each must be there already."""
    project = json.loads(file.read_text(encoding="utf-8"))
    variables = project["configurePresets"][0]["cacheVariables"]
    for setting in settings:
        name, _, value = setting.partition("=")
        variables[name]["value"] = value
    file.write_text(json.dumps(project, indent=4) + "\n", encoding="utf-8")


def ops_math(checkout: Path, sources: Path, socs: list[str]) -> None:
    """Put every operator into ``experimental/conversion`` and into the table of kernels.

    An operator's directory must hold all that it includes: each gets every header.
    """
    operators = sorted(
        path.name.removesuffix("_def.cpp") for path in (sources / "op_host").glob("*_def.cpp")
    )
    for op in operators:
        target = checkout / "experimental" / "conversion" / op
        shutil.rmtree(target, ignore_errors=True)
        for folder in ("op_host", "op_kernel"):
            (target / folder).mkdir(parents=True)
            for path in (sources / folder).glob("*.h"):
                shutil.copy(path, target / folder)
        for part in ("def", "infershape", "tiling"):
            shutil.copy(sources / "op_host" / f"{op}_{part}.cpp", target / "op_host")
        shutil.copy(sources / "op_kernel" / f"{op}.cpp", target / "op_kernel")
        for place, text in LISTS.items():
            (target / place).write_text(text.format(op=op), encoding="utf-8")
    table = checkout / "scripts" / "kernel" / "binary_config" / "ascendc_config.json"
    rows = json.loads(table.read_text(encoding="utf-8"))
    names = {_op_type(op): op for op in operators}
    kept = [row for row in rows if row["name"] not in names]
    made = [
        {"name": name, "compute_units": socs, "auto_sync": True, "impl_mode": ""} for name in names
    ]
    table.write_text(json.dumps([*kept, *made], indent=2) + "\n", encoding="utf-8")


def _op_type(op: str) -> str:
    """Return an operator's type from its file's name: ``col2_im_nd`` -> ``Col2ImNd``."""
    return "".join(word.capitalize() for word in op.split("_"))


def main(arguments: list[str]) -> None:
    """Do the job that the arguments name."""
    job, place, *rest = arguments
    if job == "presets":
        presets(Path(place), rest)
    else:
        ops_math(Path(place), Path(rest[0]), rest[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
