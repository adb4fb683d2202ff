"""`fold`, `unfold`, `Fold` and `Unfold` as torch spells them, argument for argument.

The order of the arguments is torch's, which is not that of `ascend_col2im.col2im`. Beyond torch
they take any number of spatial axes, padding that differs between begin and end, and every dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .calls import dispatch_col2im, dispatch_im2col

if TYPE_CHECKING:
    from ..parameters import Size

# To torch.fx these are leaves, as torch's own functions are.
torch.fx.wrap("dispatch_col2im")
torch.fx.wrap("dispatch_im2col")


def fold(
    input: torch.Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> torch.Tensor:
    """Add columns of windows up into an image, in place of `torch.nn.functional.fold`.

    Parameters
    ----------
    input : tensor, ``(N, C*K, L)`` or ``(C*K, L)``
    output_size, kernel_size, dilation, padding, stride : as for `ascend_col2im.col2im`

    Returns
    -------
    ``(N, C, *output_size)`` or ``(C, *output_size)``

    Raises
    ------
    RuleError
        A `ValueError` with the broken rule's name as ``.rule``, where torch has a `RuntimeError`.
    BackendError
        If there is no kernel for the tensor's device.

    Examples
    --------
    >>> fold(torch.ones(1, 4, 4), output_size=3, kernel_size=2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    return dispatch_col2im(
        input, output_size, kernel_size, stride, padding, dilation, None, "auto"
    )


def unfold(
    input: torch.Tensor,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> torch.Tensor:
    """Copy the windows of an image into columns, in place of `torch.nn.functional.unfold`.

    Parameters
    ----------
    input : tensor, ``(N, C, *spatial)`` or ``(C, *spatial)``
    kernel_size, dilation, padding, stride : as for `ascend_col2im.im2col`

    Returns
    -------
    ``(N, C*K, L)`` or ``(C*K, L)``

    Raises
    ------
    RuleError
        A `ValueError` with the broken rule's name as ``.rule``, where torch has a `RuntimeError`.
    BackendError
        If there is no kernel for the tensor's device.

    Examples
    --------
    >>> unfold(torch.arange(6.0).reshape(1, 1, 2, 3), kernel_size=2)
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """
    return dispatch_im2col(input, kernel_size, stride, padding, dilation, None, "auto")


class Fold(torch.nn.Fold):
    """`fold` as a module, in place of `torch.nn.Fold`: same arguments, an instance of it."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Apply `fold`."""
        return fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )


class Unfold(torch.nn.Unfold):
    """`unfold` as a module, in place of `torch.nn.Unfold`: same arguments, an instance of it."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Apply `unfold`."""
        return unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
