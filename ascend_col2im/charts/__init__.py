"""Charts of what `bench` and `profile` find: the only room that imports matplotlib.

Figures are made without pyplot, so that no display, window or global state is involved.
"""

from __future__ import annotations

from ..errors import MissingExtraError

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    absent = isinstance(error, ModuleNotFoundError) and error.name == "matplotlib"
    raise MissingExtraError(
        "charts need matplotlib, which is not installed; pip install 'ascend-col2im[plot]'"
        if absent
        else f"charts need matplotlib, which cannot be imported: {error}; install it again"
    ) from error

from .measured import measured
from .modelled import modelled
from .profile import profile
from .style import save

__all__ = ["measured", "modelled", "profile", "save"]
