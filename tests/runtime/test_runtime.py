"""The runtime libraries of the simulated NPU, through their C interface."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .acl import ON_DEVICE, TO_DEVICE, TO_HOST, Acl
from .installation import ROOT, environment, run
from .observer import live


def crashes(check: Callable[[], None]) -> bool:
    code = f"import {check.__module__} as m; m.{check.__name__}()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, check=False, timeout=300
    )
    return done.returncode == -signal.SIGSEGV


def test_the_host_cannot_touch_device_memory_by_accident() -> None:
    assert crashes(_host_reads)
    assert crashes(_host_writes)


def _host_reads() -> None:
    ctypes.string_at(Acl().upload(np.ones(64)), 8)


def _host_writes() -> None:
    ctypes.memset(Acl().upload(np.ones(64)), 0, 8)


def test_device_memory() -> None:
    run(_memory, environment(ASCEND_SIM_MEMORY_MIB="8"))


def _memory() -> None:
    acl = Acl()
    values = np.arange(1000, dtype=np.float32)
    address = acl.upload(values)
    assert live()["device_bytes"] == values.nbytes
    np.testing.assert_array_equal(acl.download(address, values), values)
    # a copy never leaves one allocation, and says where it went
    wide = np.zeros(1001, np.float32)
    host = wide.ctypes.data
    assert acl.status("aclrtMemcpy", address, wide.nbytes, host, wide.nbytes, TO_DEVICE) == 107000
    assert "4004 bytes is not inside one live device allocation" in acl.message()
    assert acl.message() == "", "reading the message clears it"
    # nor does it take host memory for device memory, or the other way round
    assert acl.status("aclrtMemcpy", address, 4000, host, 4000, TO_HOST) == 107000
    assert acl.status("aclrtMemcpy", host, 4000, address, 4000, 0) == 107000
    assert acl.status("aclrtMemcpy", address, 3999, host, 4000, TO_DEVICE) == 100000
    fresh = acl.made("aclrtMalloc", values.nbytes, 0)
    assert np.isnan(acl.download(fresh, values)).all(), "new memory holds NaN"
    acl("aclrtFree", address)
    assert acl.status("aclrtMemcpy", host, 4000, address, 4000, TO_HOST) == 107000
    assert acl.status("aclrtFree", address) == 207002
    assert live()["misuse"] == 1
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    acl("aclrtGetMemInfo", 1, ctypes.byref(free), ctypes.byref(total))
    assert total.value == 8 << 20
    assert 0 < total.value - free.value < 16384
    assert acl.status("aclrtMalloc", ctypes.byref(ctypes.c_void_p()), 8 << 20, 0) == 207001
    assert "device 0's 8388608 bytes are in use" in acl.message()
    acl("aclrtFree", fresh)
    acl("aclrtFree", acl.made("aclrtMalloc", 7 << 20, 0))
    assert live() == {"misuse": 1}


def test_streams_are_asynchronous_ordered_and_apart() -> None:
    run(_streams, environment(ASCEND_SIM_TASK_DELAY_US="30000"))


def _streams() -> None:
    acl = Acl()
    zeros, ones = np.zeros(256, np.float32), np.ones(256, np.float32)
    source, target = acl.upload(ones), acl.upload(zeros)
    first, second = acl.made("aclrtCreateStream"), acl.made("aclrtCreateStream")
    event = acl.made("aclrtCreateEvent")
    status = ctypes.c_int()

    def copy(to: int, origin: int, stream: int) -> None:
        acl("aclrtMemcpyAsync", to, ones.nbytes, origin, ones.nbytes, ON_DEVICE, stream)

    copy(target, source, first)
    assert (acl.download(target, ones) == 0).all(), "a synchronous copy does not wait for streams"
    acl("aclrtStreamQuery", first, ctypes.byref(status))
    assert status.value == 1, "not ready"
    assert acl.status("aclrtSynchronizeStreamWithTimeout", first, 1) == 107019
    acl("aclrtSynchronizeStream", first)
    assert (acl.download(target, ones) == 1).all()
    # a stream that waits for an event sees what came before its recording
    acl("aclrtMemset", target, ones.nbytes, 0, ones.nbytes)
    copied = acl.upload(zeros)
    for origin in (target, target, target, target, source):
        copy(target, origin, first)
    acl("aclrtRecordEvent", event, first)
    acl("aclrtQueryEventStatus", event, ctypes.byref(status))
    assert status.value == 0, "not reached"
    acl("aclrtStreamWaitEvent", second, event)
    copy(copied, target, second)
    acl("aclrtSynchronizeDevice")
    acl("aclrtQueryEventStatus", event, ctypes.byref(status))
    assert status.value == 1
    assert (acl.download(copied, ones) == 1).all()
    later = acl.made("aclrtCreateEvent")
    acl("aclrtRecordEvent", later, first)
    acl("aclrtSynchronizeEvent", later)
    ms = ctypes.c_float()
    acl("aclrtEventElapsedTime", ctypes.byref(ms), event, later)
    assert ms.value == 0, "only kernels take modelled time"
    untimed = acl.made("aclrtCreateEventWithFlag", 1)
    acl("aclrtRecordEvent", untimed, first)
    acl("aclrtSynchronizeEvent", untimed)
    assert acl.status("aclrtEventElapsedTime", ctypes.byref(ms), event, untimed) == 107006
    for handle in (event, later, untimed):
        acl("aclrtDestroyEvent", handle)
    copy(target, copied, first)
    started = time.monotonic()
    acl("aclrtDestroyStream", first)
    assert time.monotonic() - started > 0.02, "destroying a stream lets it finish"
    acl("aclrtDestroyStream", second)
    assert acl.status("aclrtSynchronizeStream", second) == 107017
    for address in (source, target, copied):
        acl("aclrtFree", address)
    assert live() == {}


def test_a_fault_on_a_stream_shows_at_the_next_synchronisation() -> None:
    run(_late_fault, environment(ASCEND_SIM_TASK_DELAY_US="20000"))


def _late_fault() -> None:
    acl = Acl()
    ones = np.ones(256, np.float32)
    address = acl.upload(ones)
    stream = acl.made("aclrtCreateStream")
    acl("aclrtMemsetAsync", address, ones.nbytes, 0, ones.nbytes, stream)
    acl("aclrtFree", address)  # too early
    assert acl.status("aclrtSynchronizeStream", stream) == 107000
    assert "not inside one live device allocation" in acl.message()
    acl("aclrtSynchronizeStream", stream)


def test_threads_are_bound_to_devices() -> None:
    run(_binding, environment(ASCEND_SIM_DEVICES="2"))


def _binding() -> None:
    acl = Acl(1)
    stream = acl.made("aclrtCreateStream")
    device = ctypes.c_int32()
    found: list[object] = []

    def fresh() -> None:
        found.append(acl.status("aclrtGetDevice", ctypes.byref(device)))
        found.append(acl.status("aclrtMalloc", ctypes.byref(ctypes.c_void_p()), 64, 0))
        found.append("call aclrtSetDevice first" in acl.message())
        acl("aclrtSetDevice", 0)
        found.append(acl.status("aclrtSynchronizeStream", stream))
        found.append(acl.message())

    thread = threading.Thread(target=fresh)
    thread.start()
    thread.join()
    wrong = "aclrtSynchronizeStream: the stream is of device 1, this thread of device 0"
    assert found == [107002, 107002, True, 107003, wrong]
    acl("aclrtGetDevice", ctypes.byref(device))
    assert device.value == 1
    assert acl.status("aclrtSetDevice", 2) == 107001
    acl("aclrtDestroyStream", stream)


@pytest.mark.parametrize(
    ("soc", "cores"),
    [("Ascend910B1", (24, 48)), ("Ascend910B3", (20, 40)), ("Ascend310B1", (1, 1))],
)
def test_the_product_is_chosen_at_run_time(soc: str, cores: tuple[int, int]) -> None:
    run(_product, environment(ASCEND_SIM_SOC=soc, CORES="{} {}".format(*cores)))


def _product() -> None:
    acl = Acl()
    acl.library.aclrtGetSocName.restype = ctypes.c_char_p
    assert acl.library.aclrtGetSocName().decode() == os.environ["ASCEND_SIM_SOC"]
    value = ctypes.c_int64()
    for kind, expected in enumerate(os.environ["CORES"].split()):
        acl("aclGetDeviceCapability", 0, kind, ctypes.byref(value))
        assert value.value == int(expected)


def test_an_unknown_product_is_refused_with_the_known_ones() -> None:
    run(_unknown_product, environment(ASCEND_SIM_SOC="Ascend999"))


def _unknown_product() -> None:
    acl = Acl()
    assert acl.status("aclInit", None) == 100000
    assert acl.message().startswith("ASCEND_SIM_SOC is 'Ascend999'; must be one of Ascend910B1, ")


def test_what_is_left_is_reported_when_the_process_ends(tmp_path: Path) -> None:
    report = tmp_path / "left.txt"
    run(_leaks, environment(ASCEND_SIM_LEAK_REPORT=str(report)))
    assert report.read_text() == "aclrtEvent 1\ndevice_bytes 4000\n"


def _leaks() -> None:
    acl = Acl()
    acl.upload(np.zeros(500))
    acl.made("aclrtCreateEvent")
    acl("aclrtDestroyStream", acl.made("aclrtCreateStream"))


def test_a_misspelt_fault_stops_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {__name__} as m; m.Acl()"],
        env=environment(ASCEND_SIM_FAIL="aclrtMalloc=1"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGABRT
    assert "'aclrtMalloc=1' is not name@n=status:message" in done.stderr


def test_functions_outside_the_model_say_so() -> None:
    run(_outside, environment())


def _outside() -> None:
    acl = Acl()
    assert acl.status("aclmdlInitDump") == 200006
    assert acl.message() == "aclmdlInitDump is not part of the simulated runtime"
