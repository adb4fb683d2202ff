"""torch: operators with autograd, `col2im` and `im2col` of tensors, and drop-ins for torch's own.

The only room that imports torch. ``from ascend_col2im.torch_op import fold, unfold, Fold, Unfold``
takes the place of the functions of `torch.nn.functional` and the modules of `torch.nn`.
"""

from __future__ import annotations

from ..errors import MissingExtraError

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtraError(
        "ascend_col2im.torch_op needs torch >= 2.4, which is not installed; "
        "pip install 'ascend-col2im[torch]'"
    ) from error

if not hasattr(torch.library, "register_autograd"):
    raise MissingExtraError(
        f"ascend_col2im.torch_op needs torch >= 2.4; torch {torch.__version__} is installed; "
        "pip install --upgrade 'ascend-col2im[torch]'"
    )

from . import npu as npu
from .calls import dispatch_col2im, dispatch_im2col
from .drop_in import Fold, Unfold, fold, unfold

__all__ = ["Fold", "Unfold", "dispatch_col2im", "dispatch_im2col", "fold", "unfold"]
