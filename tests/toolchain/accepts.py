"""A stand-in for ``ascend_col2im.package_check``: accepts a library whose text says so.

``good`` is accepted everywhere, ``good aside`` only before it is installed for good.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(library: Path) -> int:
    """Return the exit code for a library."""
    text = library.read_text(encoding="utf-8").strip()
    print(f"found {text}")
    aside = ".new" in str(library)
    return 0 if text == "good" or (aside and text == "good aside") else 4


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
