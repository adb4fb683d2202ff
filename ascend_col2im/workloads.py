"""The folds whose speed is measured: one list for every benchmark and every backend."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from .geometry import Geometry, Ints, geometry


class Fold(NamedTuple):
    """One fold to be measured or modelled, under a name."""

    name: str
    N: int
    C: int
    geometry: Geometry

    @property
    def col_shape(self) -> Ints:
        """``(N, C*K, L)``."""
        return (self.N, self.C * self.geometry.K, self.geometry.L)

    @property
    def image_shape(self) -> Ints:
        """``(N, C, *output_size)``."""
        return (self.N, self.C, *self.geometry.output_size)

    @property
    def elements(self) -> int:
        """Elements of the column matrix and of the image: what must be moved at least."""
        return math.prod(self.col_shape) + math.prod(self.image_shape)


class Workload(NamedTuple):
    """One fold from practice; sizes in pixels, one per spatial axis, padding on both sides."""

    name: str
    meaning: str
    N: int
    C: int
    output_size: Ints
    kernel_size: Ints
    stride: Ints
    padding: Ints
    dilation: Ints

    @property
    def geometry(self) -> Geometry:
        """Where its windows lie."""
        return geometry(
            self.output_size,
            self.kernel_size,
            self.stride,
            self.padding,
            self.padding,
            self.dilation,
        )

    @property
    def fold(self) -> Fold:
        """What is computed."""
        return Fold(self.name, self.N, self.C, self.geometry)


def _square(
    name: str, meaning: str, N: int, C: int, size: int | Ints, k: int, s: int, p: int, d: int = 1
) -> Workload:
    size = (size, size) if isinstance(size, int) else size
    return Workload(name, meaning, N, C, size, (k, k), (s, s), (p, p), (d, d))


WORKLOADS: Final = (
    _square("conv_grad", "input gradient of a 3x3 convolution", 8, 64, 56, 3, 1, 1),
    _square("conv_grad_s2", "the same, stride 2", 8, 64, 56, 3, 2, 1),
    _square("stem_grad", "ResNet stem, 7x7 stride 2", 8, 3, 224, 7, 2, 3),
    _square("upsample2", "non-overlapping 2x2 (transposed convolution)", 4, 64, 112, 2, 2, 0),
    _square("unpatch16", "ViT patches back to an image", 16, 3, 224, 16, 16, 0),
    _square("inpaint", "soft composition in video inpainting", 10, 128, (60, 108), 7, 3, 3),
    _square("attention4", "contextual attention, 4x4 stride 2", 2, 96, 128, 4, 2, 1),
    _square("small14", "late-stage feature maps", 8, 256, 14, 3, 1, 1),
    _square("small7", "last stage, tiny planes", 32, 192, 7, 3, 1, 1),
    _square("dilated", "atrous", 2, 64, 64, 3, 1, 2, 2),
    _square("denoise", "patch aggregation over one large image", 1, 1, 2048, 5, 1, 2),
    Workload(
        "overlap_add",
        "1-D overlap-add of audio frames",
        4,
        1,
        (262144,),
        (1024,),
        (256,),
        (0,),
        (1,),
    ),
    Workload(
        "video", "3-D tubelets", 2, 16, (16, 56, 56), (3, 3, 3), (1, 2, 2), (1, 1, 1), (1, 1, 1)
    ),
)
"""Every workload, the 2-D ones first: those torch's ``fold`` can do."""
