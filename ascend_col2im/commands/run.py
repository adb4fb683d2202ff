"""``ascend-col2im run``: which of its jobs the arguments ask for, and with which options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import click
from click.core import ParameterSource

from .. import backends
from . import options, run_columns, run_example, run_model, run_picture
from .options import Padding, Request, Sizes
from .printing import Report, show


class Job(NamedTuple):
    """One use of the command: its work, and the options it needs and takes besides those."""

    words: str
    work: Callable[[Request], Report]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


EXAMPLE: Final = Job("run without files", run_example.run)
COLUMNS: Final = Job(
    "run COLUMNS",
    run_columns.run,
    ("output_size", "kernel_size"),
    ("output", "stride", "padding", "dilation", "array"),
)
MODEL: Final = Job("run MODEL.onnx", run_model.run, takes=("output", "array"))
PICTURE: Final = Job(
    "run --image",
    run_picture.run,
    ("kernel_size",),
    ("image", "output", "stride", "padding", "dilation"),
)
EVERY_JOB_TAKES: Final = ("files", "backend", "as_json")


@click.command(no_args_is_help=False)
@click.argument("files", nargs=-1, type=options.file_name, metavar="[FILES]...")
@click.option(
    "--image",
    type=options.file_name,
    metavar="PICTURE",
    help="Cut this picture into patches, put them back, divide by the overlap, and compare.",
)
@options.fold_parameters
@options.array_name
@options.output_file
@options.backend_name
@options.json_output
@click.pass_context
def run(
    ctx: click.Context,
    files: tuple[Path, ...],
    image: Path | None,
    output_size: Sizes | None,
    kernel_size: Sizes | None,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    array: str | None,
    output: Path | None,
    backend: backends.Name,
    as_json: bool,
) -> None:
    """Fold columns into an image: an example, file, model or picture.

    SIZES is one number for every axis, or one per axis: 8 or 4,5. For an image with a single
    axis, end it with a comma: 5,

    \b
    The operator's example, checked against a loop of its own:
      ascend-col2im run
    Columns (N, C*K, L) or (C*K, L) in an .npy or .npz file, however large:
      ascend-col2im run col.npy --output-size 5,5 --kernel-size 2,2 -o image.npy
    A model that contains Col2Im, with its inputs in the model's order:
      ascend-col2im run model.onnx col.npy -o image.npy
    A picture cut into overlapping patches and put together again:
      ascend-col2im run --image photo.png --kernel-size 8 --stride 4 -o out.png
    """  # noqa: D301
    job = _job(files, image)
    _check_options(ctx, job)
    request = Request(
        files if image is None else (image,),
        array,
        output,
        output_size,
        kernel_size,
        stride,
        padding,
        dilation,
        backend,
    )
    show(job.work(request), as_json)


def _job(files: tuple[Path, ...], image: Path | None) -> Job:
    if image is not None:
        if files:
            raise click.UsageError("run --image takes no other files")
        return PICTURE
    if not files:
        return EXAMPLE
    if files[0].suffix.lower() == ".onnx":
        return MODEL
    if len(files) > 1:
        raise click.UsageError(
            f"run takes one file of columns, not {len(files)}; "
            "or a model ending in .onnx first, and its inputs"
        )
    return COLUMNS


def _check_options(ctx: click.Context, job: Job) -> None:
    """Refuse options that the job would ignore, then a lack of those it needs."""
    given = {
        parameter.name: parameter.opts[-1]
        for parameter in ctx.command.params
        if parameter.name
        and ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }
    for name, spelling in given.items():
        if name not in (*job.needs, *job.takes, *EVERY_JOB_TAKES):
            raise click.UsageError(f"{job.words} takes no {spelling}")
    for parameter in ctx.command.params:
        if parameter.name in job.needs and parameter.name not in given:
            raise click.UsageError(f"{job.words} needs {parameter.opts[-1]}")
