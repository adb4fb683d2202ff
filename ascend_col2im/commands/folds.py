"""Which folds `bench` and `profile` are asked for: workloads by name, or one of your own."""

from __future__ import annotations

from typing import Final

import click
from click.core import ParameterSource

from .. import parameters, rules
from ..geometry import Ints
from ..messages import refuse, shown
from ..workloads import WORKLOADS, Fold
from . import options
from .options import Command, Padding, Sizes

NAMES: Final = tuple(workload.name for workload in WORKLOADS)
OWN: Final = "own"
"""The name of a fold that was given by its shape."""


def _shape(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Ints | None:
    if text is None:
        return None
    try:
        sizes = options.parse_sizes(text)
    except ValueError:
        sizes = 0
    if isinstance(sizes, int) or len(sizes) < 3:
        raise click.BadParameter(f"{shown(text)} is not N,C and the image's sizes, as 8,64,56,56")
    return sizes


def fold_options(command: Command) -> Command:
    """Add ``--shape`` and the parameters that go with it."""
    command = options.window_parameters(command)
    return click.option(
        "--shape",
        callback=_shape,
        metavar="N,C,SIZES",
        help="A fold of your own instead: batch, channels and the image's size. "
        "Needs --kernel-size.",
    )(command)


def chosen(
    ctx: click.Context,
    names: tuple[str, ...],
    shape: Ints | None,
    kernel_size: Sizes | None,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    target: str,
) -> list[Fold]:
    """Return the folds asked for; every workload where none was named.

    Raises
    ------
    click.UsageError
        If a name is unknown, or options contradict each other.
    RuleError
        If the fold of one's own breaks a rule of ``target``.
    """
    what = str(ctx.info_name)
    for name in names:
        if name not in NAMES:
            raise click.UsageError(
                f"there is no workload {shown(name)}; must be one of {', '.join(NAMES)}"
            )
    if shape is None:
        for name in ("kernel_size", "stride", "padding", "dilation"):
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --shape")
        wanted = names or NAMES
        return [workload.fold for workload in WORKLOADS if workload.name in wanted]
    if names:
        raise click.UsageError(f"--shape takes the place of {', '.join(names)}; give one of them")
    if kernel_size is None:
        raise click.UsageError("--shape needs --kernel-size")
    given = parameters.col2im_parameters(
        what, target, shape[2:], kernel_size, stride, padding, dilation
    )
    plan = rules.im2col_plan(what, shape, given, target)
    if plan.N == 0:
        refuse(what, "positive", f"--shape has N = 0, {shown(shape)}; must be >= 1, to take time")
    rules.check_addressable(what, plan, 16)  # of the widest dtype
    return [Fold(OWN, plan.N, plan.C, plan.geometry)]
