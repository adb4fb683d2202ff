"""The table of signatures, the simulated headers, and the headers of the torch-npu wheel.

A small program prints how the compiler passes every argument; the table must say the same.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ascend_col2im import _abi

from .runtime.installation import ROOT

SIM_HEADERS = ROOT / "sim" / "runtime" / "include"
OPERATORS = '#include "aclnn_ops.h"\n'
FUNCTION = re.compile(r"ACL_FUNC_VISIBILITY [\w *]*?\b(acl\w+)\(")

PRINTER = """
#include <cstdio>
#include <type_traits>
template <class T> void one() {
    if (std::is_void<T>::value) std::printf(" void");
    else if (std::is_pointer<T>::value) std::printf(" pointer");
    else if (std::is_enum<T>::value) std::printf(" s%zu", sizeof(T));
    else std::printf(" %c%zu", std::is_signed<T>::value ? 's' : 'u', sizeof(T));
}
template <> void one<void>() { std::printf(" void"); }
template <class R, class... A> void show(const char *name, R (*)(A...)) {
    std::printf("%s:", name);
    one<R>();
    int unused[] = {0, (one<A>(), 0)...};
    (void)unused;
    std::puts("");
}
"""


def wheel_includes() -> Path:
    """Return the directory of the headers that the torch-npu wheel ships."""
    spec = importlib.util.find_spec("torch_npu")
    if spec is None or spec.origin is None:
        pytest.skip("torch-npu is not installed; its wheel ships the headers")
    return Path(spec.origin).parent / "include"


def compiled(source: str, includes: list[Path], folder: Path) -> list[str]:
    """Compile and run a program; return the lines it prints."""
    (folder / "program.cpp").write_text(PRINTER + source)
    flags = [f"-I{path}" for path in includes]
    command = ["c++", "-std=c++17", "-w", "-fpermissive", *flags, "program.cpp", "-o", "program"]
    # Addresses of functions are taken, not their code: what is not defined may stay so.
    command.append("-Wl,--unresolved-symbols=ignore-all")
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run(["./program"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def signatures(
    prologue: str, names: list[str], includes: list[Path], folder: Path
) -> dict[str, str]:
    """Return how each function's result and arguments are passed, as the compiler sees them."""
    shows = "\n".join(
        f'show("{name}", static_cast<decltype({name}) *>(nullptr));' for name in names
    )
    lines = compiled(f"{prologue}\nint main() {{\n{shows}\n}}\n", includes, folder)
    return {name: passed.strip() for name, _, passed in (line.partition(":") for line in lines)}


def table(symbol: _abi.Symbol) -> str:
    """Write a row of the table as the program writes a function."""
    return " ".join(_passed(kind) for kind in (symbol.restype, *symbol.argtypes))


def _passed(kind: Any) -> str:
    if kind in (ctypes.c_void_p, ctypes.c_char_p) or issubclass(kind, ctypes._Pointer):
        return "pointer"
    return f"{'s' if kind(-1).value < 0 else 'u'}{ctypes.sizeof(kind)}"


def declared(header: Path) -> list[str]:
    return FUNCTION.findall(re.sub(r"//.*", "", header.read_text()))


def nnopbase_typedefs(includes: Path) -> tuple[str, list[str]]:
    """Return op-plugin's declarations of nnopbase's functions, as functions, and their names."""
    text = (includes / "third_party/op-plugin/op_plugin/utils/op_api_common_base.h").read_text()
    structs = re.findall(r"typedef struct acl\w+ acl\w+;", text)
    functions = re.findall(r"typedef ([\w *]+?)\s*\(\*_(acl\w+)\)(\([^)]*\));", text)
    lines = [f'extern "C" {result} {name}{arguments};' for result, name, arguments in functions]
    prologue = "#include <acl/acl_base.h>\n" + "\n".join([*structs, *lines])
    return prologue, [name for _, name, _ in functions]


def test_every_row_of_cann_is_as_in_the_real_headers(tmp_path: Path) -> None:
    includes = wheel_includes()
    names = [row.name for row in _abi.SYMBOLS.values() if row.library == _abi.ACL]
    real = signatures("#include <acl/acl_rt.h>", names, [includes], tmp_path)
    assert {name: table(_abi.SYMBOLS[name]) for name in names} == real
    prologue, known = nnopbase_typedefs(includes)
    names = [row.name for row in _abi.SYMBOLS.values() if row.library == _abi.NNOPBASE]
    names = [name for name in names if name in known]
    assert {"aclCreateTensor", "aclDestroyTensor", "aclCreateIntArray"} < set(names)
    real = signatures(prologue, names, [includes], tmp_path)
    assert {name: table(_abi.SYMBOLS[name]) for name in names} == real


def test_every_row_is_as_in_the_simulated_headers(tmp_path: Path) -> None:
    names = list(_abi.SYMBOLS)
    includes = [SIM_HEADERS, ROOT / "tests" / "runtime"]
    assert signatures(OPERATORS, names, includes, tmp_path) == {
        name: table(row) for name, row in _abi.SYMBOLS.items()
    }


def test_the_simulated_headers_declare_what_the_real_ones_do(tmp_path: Path) -> None:
    includes = wheel_includes()
    names = declared(SIM_HEADERS / "acl/acl_rt.h") + declared(SIM_HEADERS / "acl/acl_base.h")
    names.remove("aclAppLog")  # variadic: no function type that the program could print
    assert len(names) > 50
    real = signatures("#include <acl/acl_rt.h>", names, [includes], tmp_path)
    assert signatures("#include <acl/acl.h>", names, [SIM_HEADERS], tmp_path) == real
    prologue, known = nnopbase_typedefs(includes)
    names = [name for name in declared(SIM_HEADERS / "aclnn/acl_meta.h") if name in known]
    assert len(names) > 10
    real = signatures(prologue, names, [includes], tmp_path)
    simulated = signatures("#include <aclnn/acl_meta.h>", names, [SIM_HEADERS], tmp_path)
    assert simulated == real


def test_codes_are_the_real_ones(tmp_path: Path) -> None:
    includes = wheel_includes()
    acl = {name: code for code, name in _abi.STATUS_NAMES.items() if name.startswith("ACL_")}
    expected = {
        **acl,
        "ACL_FLOAT": _abi.DTYPES["float32"],
        "ACL_FLOAT16": _abi.DTYPES["float16"],
        "ACL_BF16": _abi.DTYPES["bfloat16"],
        "ACL_FORMAT_ND": _abi.FORMAT_ND,
        "ACL_MEM_MALLOC_HUGE_FIRST": _abi.MALLOC_HUGE_FIRST,
        "ACL_MEMCPY_HOST_TO_DEVICE": _abi.HOST_TO_DEVICE,
        "ACL_MEMCPY_DEVICE_TO_HOST": _abi.DEVICE_TO_HOST,
        "ACL_ERROR_REPEAT_INITIALIZE": _abi.REPEAT_INITIALIZE,
        "ACL_ERROR_RT_CONTEXT_NULL": _abi.CONTEXT_NULL,
    }
    prints = "\n".join(f'std::printf("{name} %d\\n", (int){name});' for name in expected)
    headers = "#include <acl/acl_rt.h>\n#include <acl/error_codes/rt_error_codes.h>\n"
    lines = compiled(f"{headers}int main() {{\n{prints}\n}}\n", [includes], tmp_path)
    assert {name: int(code) for name, code in map(str.split, lines)} == expected


def enumerators(header: str) -> dict[str, int]:
    """Return the names that a simulated header gives numbers: enumerators, constants, macros."""
    text = re.sub(r"//.*", "", (SIM_HEADERS / header).read_text())
    explicit = re.findall(r"\b(ACL_\w+) ?=? (-?(?:0x)?[0-9A-F]+)U?\b", text)
    return {name: int(value, 0) for name, value in explicit}


def test_the_simulated_headers_number_things_as_the_real_ones(tmp_path: Path) -> None:
    includes = wheel_includes()
    expected = enumerators("acl/acl_base.h") | enumerators("acl/acl_rt.h")
    assert len(expected) > 50
    prints = "\n".join(f'std::printf("{name} %d\\n", (int){name});' for name in expected)
    headers = "#include <acl/acl_rt.h>\n#include <acl/error_codes/rt_error_codes.h>\n"
    lines = compiled(f"{headers}int main() {{\n{prints}\n}}\n", [includes], tmp_path)
    assert {name: int(code) for name, code in map(str.split, lines)} == expected
