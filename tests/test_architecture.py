"""The house rules: what imports what, how large files and functions are, what must not be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ascend_col2im

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ascend_col2im"

ROOMS = (
    ("facts",),
    ("errors",),
    ("messages", "geometry"),
    ("parameters",),
    ("rules",),
    ("outputs", "overlap", "workloads", "toolchain", "simulator", "peer_model", "_abi"),
    ("kernel_model", "onnx_peer"),
    ("cpu_blocks",),
    ("cpu_fallback", "cpu_fast", "opp"),
    ("aclnn",),
    ("npu_backend",),
    ("package_check",),
    ("backends",),
    ("torch_op",),
    ("api",),
    ("bench",),
    ("charts",),
    ("onnx_model", "onnx_checker", "onnx_op", "onnx_backend"),
    ("commands",),
    ("cli",),
)
"""From the bottom up: a room imports rooms that stand before it, or beside it in its row."""

OPTIONAL = {
    "torch": {"torch_op"},
    "onnx": {"onnx_op", "onnx_backend", "onnx_checker", "onnx_model", "onnx_peer"},
    "onnxruntime": {"onnx_peer"},
    "matplotlib": {"charts"},
    "numba": {"cpu_fast"},
    "llvmlite": {"cpu_fast"},
    "click": {"cli", "commands"},
    "rich": {"cli", "commands"},
    "PIL": {"commands"},
    "ml_dtypes": {"torch_op", "bench", "commands", "onnx_backend", "onnx_model"},
}
"""Every library besides NumPy, and the one room, or its files, that imports it."""

MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = [
    path
    for folder in (
        *("ascend_col2im", "benchmarks", "tests", "tools"),
        *("op_host", "op_kernel", "framework", "examples", "sim"),
    )
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".cpp", ".h", ".sh", ".cmake", ".toml", ".txt"}
    and "__pycache__" not in path.parts
]
each_source = pytest.mark.parametrize(
    "path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES]
)
each_module = pytest.mark.parametrize(
    "path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES]
)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node but those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from statements(child)


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of everything a module imports, wherever in it."""
    package = ("ascend_col2im", *path.relative_to(PACKAGE).parts[:-1])
    for node in statements(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_importing_the_package_imports_numpy_and_nothing_else() -> None:
    names = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, numpy; before = set(sys.modules)\n"
            "import ascend_col2im; print(*set(sys.modules) - before)",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    foreign = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert "ascend_col2im" in foreign
    assert foreign <= {"ascend_col2im", "numpy"}


def test_a_call_imports_nothing_more() -> None:
    names = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, numpy as np, ascend_col2im; before = set(sys.modules)\n"
            "ascend_col2im.col2im(np.ones((1, 4, 4)), 3, 2, out=np.ones((1, 1, 3, 3)))\n"
            "ascend_col2im.im2col(np.ones((1, 3, 3)), 2); ascend_col2im.overlap_count(3, 2)\n"
            "print(*set(sys.modules) - before)",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    assert names == []


def test_every_room_has_its_place() -> None:
    placed = {room for row in ROOMS for room in row}
    found = {room_of(path) for path in MODULES} - {"__init__", "__main__"}
    assert found <= placed, f"give {found - placed} a row in ROOMS"


@each_module
def test_imports_point_downwards(path: Path) -> None:
    row = {room: height for height, rooms in enumerate(ROOMS) for room in rooms}
    here = room_of(path)
    if here == "__init__":
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "ascend_col2im" and parts[1] in row:
            assert row[parts[1]] <= row[here], f"{here} must not import {name}"


@each_module
def test_optional_libraries_are_imported_by_their_room_alone(path: Path) -> None:
    allowed = {"numpy", "ascend_col2im", *sys.stdlib_module_names}
    allowed |= {library for library, rooms in OPTIONAL.items() if room_of(path) in rooms}
    foreign = {name.partition(".")[0] for name in imports(path)} - allowed
    assert not foreign


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def code_lines(function: ast.FunctionDef) -> int:
    """Return a function's lines without its docstring."""
    assert function.end_lineno is not None
    first = function.body[0]
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


@each_source
def test_no_file_and_no_function_is_too_long_to_read_at_once(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= (500 if "tests" in path.parts else 400)
    if path.suffix == ".py":
        for function in functions(tree_of(path)):
            assert code_lines(function) <= 60, function.name


@each_source
def test_nothing_is_left_to_do(path: Path) -> None:
    marks = re.findall(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b", path.read_text("utf-8"))
    assert not marks


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = re.compile(r"utils?|common|helpers?|misc")
    assert not [path for path in SOURCES if vague.fullmatch(path.stem.lower())]


def test_the_version_stands_in_one_place() -> None:
    quoted = re.compile(rf"[\"'= v]{re.escape(ascend_col2im.__version__)}(?![.\d])")
    files = [*SOURCES, ROOT / "pyproject.toml"]
    places = [path for path in files if quoted.search(path.read_text(encoding="utf-8"))]
    assert places == [PACKAGE / "__init__.py"]
    assert 'path = "ascend_col2im/__init__.py"' in (ROOT / "pyproject.toml").read_text()


def test_every_public_name_is_documented_with_its_errors() -> None:
    for name in ("col2im", "im2col", "overlap_count"):
        text = getattr(ascend_col2im, name).__doc__
        for section in ("Parameters", "Returns", "Raises", "Examples"):
            assert f"    {section}\n    ----" in text, (name, section)
        assert ">>>" in text
