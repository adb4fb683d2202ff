"""Hypothesis draws the same examples every time, and no test depends on the machine's speed."""

from __future__ import annotations

import os

from hypothesis import settings

# Where torch-npu is installed without CANN, importing torch fails unless it is told not to load it
os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
