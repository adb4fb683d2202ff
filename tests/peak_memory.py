"""How much memory a process has held at most, for use in a process of its own."""

from __future__ import annotations

import re
from pathlib import Path


def peak_mib() -> int:
    """Return this program's largest resident size in MiB.

    Not `resource.getrusage`: its figure starts at that of the process which started this one.
    """
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found
    return int(found[1]) // 1024
