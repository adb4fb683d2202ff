"""A stand-in for ``ascend_col2im.package_check``: accepts a library whose text says so.

``good`` is accepted everywhere, ``good aside`` only before it is installed for good.
"""

from __future__ import annotations

import sys
from pathlib import Path

library = Path(sys.argv[1])
text = library.read_text(encoding="utf-8").strip()
aside = ".new" in str(library)
print(f"found {text}")
sys.exit(0 if text == "good" or (aside and text == "good aside") else 4)
