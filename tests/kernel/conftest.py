"""One simulated NPU with our kernels, built once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import Npu


@pytest.fixture(scope="session")
def build_directory(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return a directory that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "kernels"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture(scope="session")
def npu(build_directory: Path) -> Npu:
    return Npu(build_directory)
