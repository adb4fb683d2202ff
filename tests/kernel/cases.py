"""Folds to run the kernels on: every small axis, random ones, hostile ones, the workloads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import numpy as np

from ascend_col2im.geometry import window_count

from .harness import Case

Axis = tuple[int, int, int, int, int, int]
"""output_size, kernel_size, stride, pad_begin, pad_end, dilation."""


def case(N: int, C: int, *axes: Axis) -> Case:
    """Put axes together to one fold."""
    sizes, kernels, strides, begins, ends, dilations = zip(*axes, strict=True)
    return Case(N, C, sizes, kernels, strides, begins, ends, dilations)


def fits(axis: Axis) -> bool:
    size, kernel, stride, begin, end, dilation = axis
    return window_count(size, kernel, stride, begin + end, dilation) >= 1 and (
        kernel <= size + begin + end
    )


def small_axes() -> Iterator[Axis]:
    """Yield every legal axis of up to 8 pixels, 4 taps, stride 4, padding 3 and dilation 3."""
    sizes, kernels, strides = range(1, 9), range(1, 5), range(1, 5)
    for axis in product(sizes, kernels, strides, range(4), range(4), range(1, 4)):
        if fits(axis):
            yield axis


def random_axis(random_: random.Random) -> Axis:
    """Draw a legal axis: small, medium or long; now and then "same" or with a large stride."""
    while True:
        size = random_.randint(1, random_.choice((8, 40, 300)))
        kernel = random_.randint(1, random_.choice((3, 5, 20)))
        stride = random_.choice((1, 1, 1, 2, 3, random_.randint(1, 70)))
        begin = random_.choice((0, 1, kernel // 2, random_.randint(0, 9)))
        end = random_.choice((begin, random_.randint(0, 9)))
        dilation = random_.choice((1, 1, 2, 3))
        if kernel % 2 and random_.random() < 0.4:
            begin = end = dilation * (kernel // 2)
            stride = random_.choice((1, 1, 2, 3))
        axis = (size, kernel, stride, begin, end, dilation)
        if fits(axis):
            return axis


def random_case(random_: random.Random, largest: int) -> Case:
    """Draw a fold whose arrays have at most ``largest`` elements each."""
    while True:
        axes = [random_axis(random_) for _ in range(random_.choice((1, 2, 2, 3)))]
        drawn = case(random_.choice((1, 1, 2, 3)), random_.choice((1, 2, 5, 16, 17, 40)), *axes)
        if max(np.prod(shape) for shape in drawn.shapes) <= largest:
            return drawn


HOSTILE = {
    "kernel 1x1024": case(1, 2, (2, 1, 1, 0, 0, 1), (1100, 1024, 1, 0, 0, 1)),
    "kernel 64x64": case(1, 1, (70, 64, 1, 0, 0, 1), (66, 64, 1, 0, 0, 1)),
    "kernel 65x1": case(1, 3, (80, 65, 1, 3, 0, 1), (9, 1, 1, 0, 0, 1)),
    "kernel 16x16x16": case(1, 1, *[(18, 16, 1, 0, 0, 1)] * 3),
    "rows of 1": case(2, 3, (40, 3, 1, 1, 1, 1), (1, 1, 1, 0, 0, 1)),
    "one pixel": case(1, 1, (1, 1, 1, 0, 0, 1)),
    "rows of a million": case(1, 1, (1_000_000, 3, 1, 1, 1, 1)),
    "rows of a million, stride 3": case(1, 1, (1_000_001, 3, 3, 1, 1, 1)),
    "rows of a million, one window": case(1, 1, (1_000_000, 2, 999_999, 0, 0, 1)),
    "4096 channels": case(1, 4096, (3, 2, 1, 0, 0, 1), (3, 2, 1, 0, 0, 1)),
    "stride beyond the kernel": case(2, 2, (23, 2, 5, 0, 0, 1), (37, 3, 9, 0, 0, 1)),
    "stride beyond the image": case(1, 2, (5, 3, 50, 0, 0, 1), (7, 2, 100, 0, 0, 1)),
    "stride of 2**40": case(1, 2, (5, 3, 2**40, 0, 0, 1), (7, 2, 2**40, 2, 0, 1)),
    "padding beyond the kernel": case(1, 2, (4, 2, 1, 9, 9, 1), (5, 3, 2, 7, 8, 1)),
    "only padding is covered": case(1, 1, (3, 1, 40, 20, 5, 1)),
    "padding of 2**62": case(1, 1, (3, 2, 2**61, 2**62, 2**62, 2**61)),
    "shift beyond 64 bits": case(1, 1, (10, 3, 3, 0, 2**63 - 1, 2**62)),
    "dilation beyond the image": case(1, 2, (6, 2, 1, 30, 30, 41), (6, 3, 1, 20, 20, 19)),
    "row of 33 bytes' elements": case(3, 5, (9, 3, 1, 1, 1, 1), (17, 3, 1, 1, 1, 1)),
    "wide seams": case(1, 2, (6, 3, 1, 150, 150, 150), (301, 3, 1, 150, 150, 150)),
    "stride 33": case(1, 1, (4, 2, 1, 0, 0, 1), (500, 40, 33, 0, 0, 1)),
}
"""Legal folds at the edges of what a tile, a move or an instruction can hold."""

WORKLOADS = {
    "conv_grad": case(8, 64, *[(56, 3, 1, 1, 1, 1)] * 2),
    "conv_grad_s2": case(8, 64, *[(56, 3, 2, 1, 1, 1)] * 2),
    "stem_grad": case(8, 3, *[(224, 7, 2, 3, 3, 1)] * 2),
    "upsample2": case(4, 64, *[(112, 2, 2, 0, 0, 1)] * 2),
    "unpatch16": case(16, 3, *[(224, 16, 16, 0, 0, 1)] * 2),
    "inpaint": case(10, 128, (60, 7, 3, 3, 3, 1), (108, 7, 3, 3, 3, 1)),
    "attention4": case(2, 96, *[(128, 4, 2, 1, 1, 1)] * 2),
    "small14": case(8, 256, *[(14, 3, 1, 1, 1, 1)] * 2),
    "small7": case(32, 192, *[(7, 3, 1, 1, 1, 1)] * 2),
    "dilated": case(2, 64, *[(64, 3, 1, 2, 2, 2)] * 2),
    "denoise": case(1, 1, *[(2048, 5, 1, 2, 2, 1)] * 2),
    "overlap_add": case(4, 1, (262144, 1024, 256, 0, 0, 1)),
    "video": case(2, 16, (16, 3, 1, 1, 1, 1), *[(56, 3, 2, 1, 1, 1)] * 2),
}
"""The canonical workloads of the benchmarks."""


def scaled(name: str) -> Case:
    """Return a workload with fewer planes, and shorter axes where one plane is large."""
    full = WORKLOADS[name]
    shorter = {"denoise": (200, 2048), "overlap_add": (16384,)}
    sizes = shorter.get(name, full.output_size)
    planes = min(full.N * full.C, 20 if name.startswith("small") else 3)
    return Case(1, planes, sizes, *full.parameters[1:])
