"""Hypothesis draws the same examples every time, and no test depends on the machine's speed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
