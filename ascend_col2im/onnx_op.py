"""ONNX's ``Col2Im``: the function on arrays, and the door to what runs and checks models.

`onnx_col2im` needs no onnx. The other names are taken from their rooms when first used, so that
this module can be imported where onnx is not installed:

| name | what it is |
|---|---|
| ``Col2Im`` | the operator for onnx's ``ReferenceEvaluator(model, new_ops=[Col2Im])`` |
| ``Col2ImBackend`` | an ``onnx.backend.base.Backend`` that runs whole models |
| ``check_model`` | refuses a model whose Col2Im breaks a rule, before it runs |
| ``run_model`` | runs a model file and returns its outputs by name |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy.typing as npt

from .api import col2im
from .errors import MissingExtraError
from .parameters import OnnxPads

if TYPE_CHECKING:
    from .onnx_backend import Col2Im, Col2ImBackend, run_model
    from .onnx_checker import check_model

__all__ = ["Col2Im", "Col2ImBackend", "check_model", "onnx_col2im", "run_model"]

ROOMS: Final = {
    "Col2Im": "onnx_backend",
    "Col2ImBackend": "onnx_backend",
    "check_model": "onnx_checker",
    "run_model": "onnx_backend",
}
"""The names that need onnx, and the module of each."""


def onnx_col2im(
    input: npt.ArrayLike,
    image_shape: npt.ArrayLike,
    block_shape: npt.ArrayLike,
    dilations: npt.ArrayLike | None = None,
    pads: npt.ArrayLike | None = None,
    strides: npt.ArrayLike | None = None,
) -> npt.NDArray[Any]:
    """Compute ONNX's ``Col2Im`` with ONNX's names and order of arguments.

    Takes whatever `ascend_col2im.col2im` takes: more than ONNX, which has neither unbatched
    columns nor one number for every axis.

    Parameters
    ----------
    input : array ``(N, C*K, L)``, or unbatched ``(C*K, L)``
        Of any dtype of ONNX's Col2Im but string; bfloat16 as ml_dtypes has it.
    image_shape : D ints, in pixels
    block_shape : D ints, in pixels
        Their product is K.
    dilations, strides : D ints or one for every axis, in pixels; 1 if None
    pads : 2*D ints, all begins and then all ends, or one for every side, in pixels; 0 if None

    Returns
    -------
    ``(N, C, *image_shape)`` or ``(C, *image_shape)``, of ``input``'s dtype.

    Raises
    ------
    RuleError
        A `ValueError` with the broken rule's name as ``.rule`` (`DtypeError` for dtypes), in the
        words of `ascend_col2im.col2im`: there image_shape is output_size, block_shape kernel_size.

    Examples
    --------
    >>> import numpy as np
    >>> onnx_col2im(np.ones((1, 2, 3)), [3], [2], pads=[1, 0])
    array([[[2., 2., 1.]]])

    Source: the ONNX operator ``Col2Im``, since opset 18.
    """
    padding: Any = OnnxPads(0 if pads is None else pads)
    image: npt.NDArray[Any] = col2im(
        input,
        image_shape,
        block_shape,
        stride=1 if strides is None else strides,
        padding=padding,
        dilation=1 if dilations is None else dilations,
    )
    return image


def __getattr__(name: str) -> Any:
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        room = importlib.import_module(f".{ROOMS[name]}", __package__)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{__name__}.{name} needs {error.name}, which is not installed; "
            "pip install 'ascend-col2im[onnx]'"
        ) from error
    return getattr(room, name)
