"""The command line ``ascend-col2im``: its commands, and the border where errors become messages.

Inside, errors are exceptions. Here each becomes one message on standard error, or with ``--json``
one object on standard output, and the exit code that `ascend_col2im.errors` gives it.
"""

from __future__ import annotations

import errno
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, NoReturn

import click

from . import __version__
from .commands.bench import bench
from .commands.build import build
from .commands.deploy import deploy
from .commands.doctor import doctor
from .commands.printing import printable, show_json
from .commands.profile import profile
from .commands.run import run
from .commands.sim import sim
from .commands.undeploy import undeploy
from .errors import Col2ImError, FileError, RuleError

EPILOG: Final = """\b
Completion of commands and options by the shell:
  bash: eval "$(_ASCEND_COL2IM_COMPLETE=bash_source ascend-col2im)"
  zsh:  eval "$(_ASCEND_COL2IM_COMPLETE=zsh_source ascend-col2im)"
  fish: _ASCEND_COL2IM_COMPLETE=fish_source ascend-col2im | source
"""

_AS_JSON: Final = f"{__name__}.as_json"


class Program(click.Group):
    """A group of commands whose errors, in parsing and in work, become messages and exit codes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the command's name."""
        ctx.meta[_AS_JSON] = "--json" in args
        with _errors_shown(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse and run the command."""
        with _errors_shown(ctx), _ended_by_signals():
            return super().invoke(ctx)


@contextmanager
def _errors_shown(ctx: click.Context) -> Iterator[None]:
    """Show an error as it was asked for, and end the command with its code."""
    try:
        yield
    except click.UsageError as error:
        if not ctx.meta[_AS_JSON]:
            raise
        _fail(ctx, "UsageError", error.format_message(), error.exit_code)
    except Col2ImError as error:
        rule = error.rule if isinstance(error, RuleError) else None
        _fail(ctx, type(error).__name__, str(error), error.exit_code, rule)
    except OSError as error:  # what no room foresaw, such as a name that is too long
        if error.errno == errno.EPIPE:
            raise
        subject = "" if error.filename is None else f"{error.filename}: "
        message = f"{subject}{error.strerror or error}"
        _fail(ctx, FileError.__name__, message, FileError.exit_code)
    except MemoryError:
        message = "there is not enough free memory for this; give smaller arrays or free some"
        _fail(ctx, "MemoryError", message, Col2ImError.exit_code)
    except KeyboardInterrupt:
        _fail(ctx, "Interrupted", "interrupted", 130)


def _fail(
    ctx: click.Context, error: str, message: str, exit_code: int, rule: str | None = None
) -> NoReturn:
    if ctx.meta[_AS_JSON]:
        with suppress(FileError):  # where standard output takes nothing, the code says it alone
            show_json({"error": error, "rule": rule, "message": message, "exit_code": exit_code})
    else:
        items = map(printable, message.split("\n  "))  # what was tried is listed below
        click.echo("Error: " + "\n  ".join(items), err=True)
    ctx.exit(exit_code)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the command as Ctrl-C does, with nothing left over."""
    replaced = []
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup, for one, ignores SIGHUP
                signal.signal(number, _interrupt)
                replaced.append(number)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@click.group(cls=Program, epilog=EPILOG)
@click.version_option(__version__, prog_name="ascend-col2im")
def main() -> None:
    """Col2Im (torch's fold, ONNX Col2Im) for Ascend NPUs and for any CPU.

    \b
    A first look, and whether everything works here:
      ascend-col2im run
      ascend-col2im doctor
    """  # noqa: D301


for _command in (bench, build, deploy, doctor, profile, run, sim, undeploy):
    main.add_command(_command)


if __name__ == "__main__":
    main(prog_name="ascend-col2im")
