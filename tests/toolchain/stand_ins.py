"""Stand-ins for toolkits: directories with what plans look at, and programs that take notes."""

from __future__ import annotations

import json
from pathlib import Path

TEMPLATE = "tools/op_project_templates/ascendc/customize"

NOTES = """#!/bin/bash
set -e
{ echo "$0 $*"; find . -type f ! -name notes | LC_ALL=C sort; } > notes
echo "ASCEND_HOME_PATH=$ASCEND_HOME_PATH jobs=$CMAKE_BUILD_PARALLEL_LEVEL" >> notes
cp notes "$NOTES_FILE"
cp -r . "$NOTES_FILE.tree"
mkdir -p build_out
"""
"""A project's build.sh that keeps its arguments and its whole tree for the test to look at."""


def toolkit(home: Path, *, functions: bool = False, template: bool = False) -> dict[str, str]:
    """Make a toolkit; return the environment of a shell that has sourced it."""
    (home / "compiler").mkdir(parents=True)
    (home / "opp/vendors").mkdir(parents=True)
    (home / "compiler/version.info").write_text("Version=8.1.RC1\n")
    if functions:
        (home / "lib64/cmake").mkdir(parents=True)
        (home / "lib64/cmake/asc-config.cmake").touch()
    if template:
        project = home / TEMPLATE
        for name in ("op_host", "op_kernel", "framework"):
            (project / name).mkdir(parents=True)
            (project / name / "CMakeLists.txt").write_text(f"# {name} of the template\n")
        variables = {
            "ASCEND_COMPUTE_UNIT": {"type": "STRING", "value": "__ASCNED_COMPUTE_UNIT__"},
            "vendor_name": {"type": "STRING", "value": "customize"},
            "ASCEND_CANN_PACKAGE_PATH": {"type": "PATH", "value": "/usr/local/Ascend/latest"},
            "ENABLE_BINARY_PACKAGE": {"type": "BOOL", "value": "True"},
        }
        presets = {"version": 1, "configurePresets": [{"cacheVariables": variables}]}
        (project / "CMakePresets.json").write_text(json.dumps(presets))
        made = "echo a package > build_out/custom_opp_linux_x86_64.run\n"
        (project / "build.sh").write_text(NOTES + made)
        for path in project.rglob("*"):
            path.chmod(0o444 if path.is_file() else 0o555)  # as an installed toolkit is
        project.chmod(0o555)
    return {"ASCEND_HOME_PATH": str(home), "ASCEND_OPP_PATH": str(home / "opp")}


def ops_math(checkout: Path) -> Path:
    """Make a checkout of ops-math with an operator of the same name, and one more, in it."""
    table = checkout / "scripts/kernel/binary_config/ascendc_config.json"
    table.parent.mkdir(parents=True)
    table.write_text(
        '[{"name": "Other", "compute_units": ["ascend910b"]}, {"name": "Col2Im", "old": true}]'
    )
    for name in ("col2_im/op_kernel/old.h", "other/op_kernel/other.cpp"):
        path = checkout / "experimental/conversion" / name
        path.parent.mkdir(parents=True)
        path.touch()
    made = "echo a package > build_out/cann-ops-math-custom_linux-x86_64.run\n"
    (checkout / "build.sh").write_text(NOTES + made)
    return checkout


PACKAGE = """#!/bin/sh
# A package whose library is the text given to it, installed as CANN's packages are.
set -e
target=$ASCEND_OPP_PATH
for argument; do
    case $argument in --install-path=*) target=${{argument#*=}} ;; esac
done
mkdir -p "$target/vendors/custom/op_api/lib"
echo '{content}' > "$target/vendors/custom/op_api/lib/libcust_opapi.so"
case "$*" in
    *--install-path=*) ;;
    *) echo load_priority=custom,first > "$target/vendors/config.ini" ;;
esac
{last}
"""


def package(path: Path, content: str, last: str = "") -> Path:
    """Make a package that installs ``content`` and ends with a command."""
    path.write_text(PACKAGE.format(content=content, last=last))
    return path
