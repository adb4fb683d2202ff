"""op_build of the simulated toolkit: the interface that CANN's generator is documented to make."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from ascend_col2im._abi import OPAPI, SYMBOLS

from ..test_aclnn_abi import signatures, table
from .simulated import ROOT, original, unsourced

HOST = sorted((ROOT / "op_host").glob("*.cpp"))
C_TYPES = {
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
}

CPP = ("c++", "-std=c++11", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=0", "-fvisibility=hidden")


def compiled(definitions: list[Path], directory: Path) -> Path:
    home = original()
    library = directory / "libascend_all_ops.so"
    subprocess.run(
        [
            *(*CPP, "-shared", f"-I{home / 'include'}", *map(str, definitions)),
            *("-o", str(library), f"-L{home / 'lib64'}", "-lregister", "-lascendcl"),
        ],
        check=True,
    )
    return library


def op_build(library: Path, directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    home = original()
    return subprocess.run(
        [str(home / "tools/opbuild/op_build"), str(library), str(directory), *options],
        env={**unsourced(), "LD_LIBRARY_PATH": str(home / "lib64")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("autogen")
    library = compiled(sorted((ROOT / "op_host").glob("*_def.cpp")), directory)
    done = op_build(library, directory)
    assert done.returncode == 0, done.stderr
    return directory


def declarations(header: str) -> dict[str, list[str]]:
    """Return every function of a header with its parameters as they are written."""
    found = re.findall(r"aclnnStatus (\w+)\((.*?)\);", header, re.DOTALL)
    return {name: [part.strip() for part in text.split(",")] for name, text in found}


def test_the_files_are_those_of_cann(generated: Path) -> None:
    ops = ("col2_im", "col2_im_nd", "im2_col_nd")
    socs = ("ascend310b", "ascend910_93", "ascend910b")
    assert {path.name for path in generated.iterdir()} == {
        "libascend_all_ops.so",
        *(f"aclnn_{op}.{kind}" for op in ops for kind in ("h", "cpp")),
        *("op_proto.h", "op_proto.cc"),
        *(f"aic-{soc}-ops-info.{kind}" for soc in socs for kind in ("ini", "json")),
        *(f"kernels-{soc}.txt" for soc in socs),
    }
    guards = {"col2_im": "COL2IM", "col2_im_nd": "COL2IM_ND", "im2_col_nd": "IM2COL_ND"}
    for op, guard in guards.items():
        assert f"#ifndef ACLNN_{guard}_H_\n" in (generated / f"aclnn_{op}.h").read_text()


def test_col2im_has_its_seven_attributes_in_order(generated: Path) -> None:
    found = declarations((generated / "aclnn_col2_im.h").read_text())
    assert found["aclnnCol2ImGetWorkspaceSize"] == [
        "const aclTensor *col",
        *(f"int64_t {name}" for name in ("outputH", "outputW", "kernelH", "kernelW")),
        *(f"int64_t {name}" for name in ("strideVal", "paddingVal", "dilationVal")),
        *("const aclTensor *out", "uint64_t *workspaceSize", "aclOpExecutor **executor"),
    ]


def test_sizes_are_arrays_or_tensors_and_lists_are_optional(generated: Path) -> None:
    found = declarations((generated / "aclnn_col2_im_nd.h").read_text())
    lists = [f"const aclIntArray *{name}Optional" for name in ("dilations", "pads", "strides")]
    last = ["const aclTensor *out", "uint64_t *workspaceSize", "aclOpExecutor **executor"]
    for variant, kind in (("", "aclIntArray"), ("Tensor", "aclTensor")):
        assert found[f"aclnnCol2ImNd{variant}GetWorkspaceSize"] == [
            "const aclTensor *col",
            *(f"const {kind} *{name}" for name in ("imageShape", "blockShape")),
            *(*lists, *last),
        ]
    assert found["aclnnCol2ImNd"] == [
        *("void *workspace", "uint64_t workspaceSize", "aclOpExecutor *executor"),
        "aclrtStream stream",
    ]


def test_the_generated_functions_are_those_of_the_binding(generated: Path) -> None:
    headers = "".join(path.read_text() for path in generated.glob("aclnn_*.h"))
    found = declarations(headers)
    for symbol in SYMBOLS.values():
        if symbol.library == OPAPI:
            kinds = [
                ctypes.c_void_p
                if "*" in text or "aclrtStream" in text
                else C_TYPES[text.split()[0]]
                for text in found[symbol.name]
            ]
            sizes = [ctypes.sizeof(kind) for kind in symbol.argtypes]
            assert [ctypes.sizeof(kind) for kind in kinds] == sizes, symbol.name
            integers = [kind for kind in kinds if kind is not ctypes.c_void_p]
            wanted = [kind for kind in symbol.argtypes if kind in C_TYPES.values()]
            assert integers == wanted, symbol.name


def test_a_program_in_c_passes_every_argument_as_the_binding_does(
    generated: Path, tmp_path: Path
) -> None:
    """The generated headers, compiled: what the compiler says of each argument is the table's."""
    headers = "".join(f'#include "{path.name}"\n' for path in sorted(generated.glob("aclnn_*.h")))
    names = [row.name for row in SYMBOLS.values() if row.library == OPAPI]
    assert len(names) == 6
    found = signatures(headers, names, [generated, original() / "include"], tmp_path)
    assert found == {name: table(SYMBOLS[name]) for name in names}


def test_the_headers_of_the_stand_in_package_are_the_generated_ones(
    generated: Path, tmp_path: Path
) -> None:
    names = [row.name for row in SYMBOLS.values() if row.library == OPAPI]
    own = "".join(path.read_text() for path in generated.glob("aclnn_*.h"))
    stand_in = (ROOT / "tests/runtime/aclnn_ops.h").read_text()
    for name in names:
        assert declarations(own)[name] == declarations(stand_in)[name]


def test_each_product_has_its_dtypes(generated: Path) -> None:
    dtypes = {}
    for path in generated.glob("kernels-*.txt"):
        rows = [line.split() for line in path.read_text().splitlines()]
        soc = path.stem.removeprefix("kernels-")
        dtypes[soc] = sorted((op, macros.split(";")[0].split("=")[1]) for op, _, _, macros in rows)
        assert len({name for _, _, name, _ in rows}) == len(rows)
    narrow = [
        (op, dtype) for op in ("Col2Im", "Col2ImNd", "Im2ColNd") for dtype in ("float", "half")
    ]
    wide = sorted([*narrow, ("Col2ImNd", "bfloat16_t"), ("Im2ColNd", "bfloat16_t")])
    assert dtypes == {"ascend310b": narrow, "ascend910b": wide, "ascend910_93": wide}
    ini = (generated / "aic-ascend310b-ops-info.ini").read_text()
    assert "[Col2ImNd]\ninput0.name=col\n" in ini
    assert "input1.valueDepend=required\n" in ini
    assert ini.count("dynamicShapeSupport.flag=true\n") == 3
    assert (
        "IMPL_OP(Col2ImNd).InputsDataDependency({1, 2});"
        in (generated / "op_proto.cc").read_text()
    )


DEFINITION = """
#include "register/op_def_registry.h"
namespace ops {{
class Bad : public OpDef {{
public:
    explicit Bad(const char *name) : OpDef(name)
    {{
        const std::vector<ge::Format> two = {{ge::FORMAT_ND, ge::FORMAT_ND}};
        this->Input("a").DataType({{ge::DT_FLOAT, ge::DT_FLOAT16}}).Format(two);
        this->Output("b").DataType({{{dtypes}}}).Format(two);
        this->Attr("list").AttrType(OPTIONAL).ListInt({{{default}}});
        this->AICore().AddConfig("ascend910b", OpAICoreConfig());
    }}
}};
OP_ADD(Bad);
}}
"""


@pytest.mark.parametrize(
    ("dtypes", "default", "why"),
    [
        ("ge::DT_FLOAT", "1", "Bad: b has 1 data types and 2 formats; must have 2 of each"),
        ("ge::DT_FLOAT, ge::DT_INT8", "1", "data type 2 is none that kernels are built for"),
        ("ge::DT_FLOAT, ge::DT_FLOAT16", "", "the default of list is an empty list"),
        ("ge::DT_FLOAT, ge::DT_FLOAT16", "1", ""),
    ],
)
def test_definitions_that_cann_gets_wrong_are_refused(
    tmp_path: Path, dtypes: str, default: str, why: str
) -> None:
    source = tmp_path / "bad_def.cpp"
    source.write_text(DEFINITION.format(dtypes=dtypes, default=default))
    done = op_build(compiled([source], tmp_path), tmp_path)
    assert (done.returncode == 0) == (why == "")
    assert why in done.stderr
    if not why:
        unknown = op_build(
            tmp_path / "libascend_all_ops.so", tmp_path, "--compute_unit=ascend310b"
        )
        assert unknown.returncode == 1
        assert "no op has a configuration for ascend310b" in unknown.stderr


@pytest.mark.parametrize("define", ["-DPLAIN", "-DOP_TILING_LIB", "-DOP_PROTO_LIB"])
def test_every_host_source_compiles_as_each_of_the_packages_libraries(define: str) -> None:
    """The project template of CANN 8 compiles all of them for each, as C++11."""
    strict = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only")
    command = [*CPP, *strict, define, f"-I{original() / 'include'}", *map(str, HOST)]
    subprocess.run(command, check=True)
