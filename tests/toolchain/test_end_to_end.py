"""From nothing to a kernel's result on the simulated NPU, and back to nothing."""

from __future__ import annotations

import json
import platform
import shlex
from pathlib import Path

import numpy as np
import pytest

from ascend_col2im.facts import TARGETS
from ascend_col2im.geometry import geometry
from ascend_col2im.kernel_model import Kernels
from ascend_col2im.workloads import Fold

from ..kernel_cache import kernels
from .simulated import COMMAND, ROOT, copied, in_shell, succeeds, tree

ARCH = platform.machine()
PRODUCTS = {"ascend910b": "Ascend910B1", "ascend310b": "Ascend310B1"}
KERNELS = {"ascend910b": 8, "ascend310b": 6}  # one for each choice of dtypes

RUN = f"cann-col2im-custom_linux-{ARCH}.run"


def command(*arguments: object) -> str:
    return shlex.join([*COMMAND, *map(str, arguments)])


@pytest.mark.parametrize("soc", PRODUCTS)
def test_build_deploy_run_undeploy(
    soc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = copied(tmp_path)
    before = tree(home / "opp")
    device = {"ASCEND_SIM_SOC": PRODUCTS[soc]}

    succeeds(home, command("build", "--soc", soc, "-j2"), tmp_path, **device)
    assert [path.name for path in (tmp_path / "build_out").iterdir()] == [RUN]
    deployed = succeeds(home, command("deploy"), tmp_path, **device)
    assert "verified by a launch" in deployed
    check_layout(home / "opp/vendors", soc)

    compared = succeeds(
        home, shlex.join([COMMAND[0], "-m", "tests.toolchain.on_device", "40"]), tmp_path, **device
    )
    assert compared == f"{soc}: 40 folds, 5 official examples\n"
    check_run(home, tmp_path, device)
    product = PRODUCTS[soc].removeprefix("Ascend")
    check_times(home, tmp_path, device, kernels(monkeypatch, product))
    program = shlex.join([COMMAND[0], "-m", "tests.toolchain.on_torch"])
    compared = succeeds(home, program, tmp_path, **device)
    assert compared == f"{soc}: {', '.join(TARGETS[soc].dtypes)}\n"
    example = f"bash {ROOT}/build.sh --run_example col2_im eager cust --vendor_name=custom"
    copy = f"cp -r {ROOT}/build.sh {ROOT}/examples . && {example.replace(str(ROOT), '.')}"
    assert "all 60 pixels are right" in succeeds(home, copy, tmp_path, **device)

    again = succeeds(home, command("deploy"), tmp_path, **device)
    assert again == deployed
    succeeds(home, command("undeploy"), tmp_path, **device)
    assert tree(home / "opp") == before


def check_run(home: Path, directory: Path, device: dict[str, str]) -> None:
    """Hold ``run --backend npu`` to the CPU's bits, for the example and for a file."""
    shown = succeeds(home, command("run", "--backend", "npu", "--json"), directory, **device)
    assert json.loads(shown)["backend"]["name"] == "npu"
    col = np.random.default_rng(0).standard_normal((2, 18, 16)).astype(np.float16)
    np.save(directory / "col.npy", col)
    fold = ("run", "col.npy", "--output-size", "5,6", "--kernel-size", "2,3", "--backend")
    for backend in ("npu", "cpu"):
        succeeds(home, command(*fold, backend, "-o", f"{backend}.npy"), directory, **device)
    on_npu, on_cpu = ((directory / f"{name}.npy").read_bytes() for name in ("npu", "cpu"))
    assert on_npu == on_cpu


def check_times(home: Path, directory: Path, device: dict[str, str], known: Kernels) -> None:
    """Hold the events' times to the modelled ones, and the word for them to what they are."""
    fold = Fold("own", 2, 20, geometry((9, 8), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)))
    shape = ("--shape", "2,20,9,8", "--kernel-size", "3", "--padding", "1", "--dtype", "float16")
    asked = ("bench", *shape, "--backend", "npu", "--no-peers", "--json")
    found = json.loads(succeeds(home, command(*asked), directory, **device))
    (npu, _) = found["runs"][0]["measurements"]
    assert npu["clock"] == found["device"]["event_times"] == "modelled"
    assert found["device"]["soc"] == device["ASCEND_SIM_SOC"]
    modelled = known.launch(fold, "float16").timing["opt"].time_us
    assert npu["median_s"] * 1e6 == pytest.approx(modelled, rel=1e-4)
    shown = succeeds(home, command(*asked[:-1]), directory, **device)
    assert "npu, modelled" in shown


def check_layout(vendors: Path, soc: str) -> None:
    """Hold the installed package to where CANN puts things."""
    assert (vendors / "config.ini").read_text() == "load_priority=custom\n"
    assert sorted(path.name for path in vendors.iterdir()) == ["config.ini", "custom"]
    package = vendors / "custom"
    impl = package / "op_impl/ai_core/tbe"
    for name in (
        "op_api/lib/libcust_opapi.so",
        *(f"op_api/include/aclnn_{op}.h" for op in ("col2_im", "col2_im_nd", "im2_col_nd")),
        f"op_proto/lib/linux/{ARCH}/libcust_opsproto_rt2.0.so",
        "op_proto/inc/op_proto.h",
        f"op_impl/ai_core/tbe/op_tiling/lib/linux/{ARCH}/libcust_opmaster_rt2.0.so",
        "op_impl/ai_core/tbe/op_tiling/liboptiling.so",
        "op_impl/ai_core/tbe/custom_impl/dynamic/col2_im.cpp",
        f"op_impl/ai_core/tbe/config/{soc}/aic-{soc}-ops-info.json",
        "framework/onnx/libcust_onnx_parsers.so",
        "version.info",
        "scripts/uninstall.sh",
    ):
        assert (package / name).is_file(), name
    binaries = list((impl / "kernel" / soc).rglob("*.o"))
    assert len(binaries) == KERNELS[soc]
    assert all(path.with_suffix(".json").is_file() for path in binaries)
    assert [path.name for path in (impl / "config").iterdir()] == [soc]


def test_the_contributions_command_lines(tmp_path: Path) -> None:
    home = copied(tmp_path)
    compiler = {"CXX": "nice c++"}  # with an argument, as "ccache c++" is
    names = "CMakeLists.txt build.sh op_host op_kernel framework examples"
    succeeds(home, f"cp -r $(printf '{ROOT}/%s ' {names}) .", tmp_path)
    succeeds(
        home,
        "bash build.sh --experimental --ops=col2_im --soc=ascend910b --pkg",
        tmp_path,
        **compiler,
    )
    own = tmp_path / "own"
    succeeds(home, f"./build_out/{RUN} --quiet --install-path={own}", tmp_path)
    package = own / "vendors/custom"
    assert not (own / "vendors/config.ini").exists()
    headers = [path.name for path in (package / "op_api/include").iterdir()]
    assert headers == ["aclnn_col2_im.h"]
    example = "bash build.sh --run_example col2_im eager cust --vendor_name=custom"
    sourced = f"set +u; source {package}/bin/set_env.bash; {example}"
    assert "all 60 pixels are right" in succeeds(home, sourced, tmp_path, **compiler)

    # An earlier vendor stays, behind; a damaged archive installs nothing.
    vendors = home / "opp/vendors"
    (vendors / "config.ini").write_text("load_priority=first,second\n")
    succeeds(home, f"./build_out/{RUN}", tmp_path)
    assert (vendors / "config.ini").read_text() == "load_priority=custom,first,second\n"
    succeeds(home, f"{vendors}/custom/scripts/uninstall.sh", tmp_path)
    assert (vendors / "config.ini").read_text() == "load_priority=first,second\n"
    damaged = bytearray((tmp_path / "build_out" / RUN).read_bytes())
    damaged[-100] ^= 1
    (tmp_path / "damaged.run").write_bytes(damaged)
    refused = in_shell(home, "sh damaged.run", tmp_path)
    assert refused.returncode != 0
    assert "checksum differs" in refused.stderr
    assert not (vendors / "custom").exists()


def test_a_violation_of_the_device_reaches_the_caller(tmp_path: Path) -> None:
    """A kernel that reads beyond its input faults; the message names the fact."""
    home = copied(tmp_path)
    names = "CMakeLists.txt build.sh op_host op_kernel framework"
    succeeds(home, f"cp -r $(printf '{ROOT}/%s ' {names}) .", tmp_path)
    kernel = tmp_path / "op_kernel/col2_im.cpp"
    sources = kernel.read_text()
    broken = sources.replace("GET_TILING_DATA(tilingData, tiling);", BEYOND)
    assert broken != sources
    kernel.write_text(broken)
    succeeds(home, "bash build.sh --ops=col2_im --soc=ascend310b --pkg", tmp_path)
    device = {"ASCEND_SIM_SOC": "Ascend310B1"}
    refused = in_shell(home, command("deploy"), tmp_path, **device)
    assert refused.returncode == 8
    assert "aclrtSynchronizeStream failed with 507015" in refused.stderr
    assert "310B1 core 0" in refused.stderr
    assert list((home / "opp/vendors").iterdir()) == []


BEYOND = """GET_TILING_DATA(tilingData, tiling);
    tilingData.planes += 1;
    tilingData.units *= 2;"""
