"""`swapcli`: the root of the command tree. It turns errors into messages and exit statuses."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swapcli import __version__
from swapcli.cli import exit_codes
from swapcli.cli.lazy_group import CommandEntry, LazyGroup, new_app
from swapcli.cli.overview import ALIASES, PANELS, overview
from swapcli.cli.similar_characters import SIMILAR, replace_with_similar

if TYPE_CHECKING:
    from typer._click import Context

PROGRAM = "swapcli"


class Root(LazyGroup):
    """All commands, in the order of the overview.

    Results go to stdout, messages to stderr. Every error becomes a message and an exit status here, for the process and
    for `typer.testing.CliRunner` alike.
    """

    entries = {  # noqa: RUF012 (the base class declares it)
        name: CommandEntry(f"swapcli.cli.commands.{name}", panel, summary)
        for panel, commands in PANELS.items()
        for name, summary in commands.items()
    }

    aliases = ALIASES

    def get_help(self, ctx: Context) -> str:
        """Return the overview."""
        from swapcli.cli.terminal import terminal_width

        return overview(ctx.terminal_width or terminal_width(sys.stdout))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and exit with its status; without `standalone_mode`, return the status.

        Replaces Typer's own handling of errors, which knows neither JSON messages nor our exit statuses.
        """
        del prog_name, complete_var, windows_expand_args
        status = self._run(sys.argv[1:] if args is None else list(args), extra)
        if standalone_mode:
            sys.exit(status)
        return status

    def _run(self, arguments: list[str], extra: dict[str, Any]) -> int:
        """Return the exit status after everything was written; failures to write are errors too."""
        _prepare_streams()
        try:
            status = self._invoke(arguments, extra)
            sys.stdout.flush()
            return status
        except BrokenPipeError:  # the reader has seen enough, as in `swapcli tokens base | head`
            _discard_stdout()
            return exit_codes.OK
        except (OSError, KeyboardInterrupt) as error:
            _discard_stdout()
            return _report(error, arguments)

    def _invoke(self, arguments: list[str], extra: dict[str, Any]) -> int:
        try:
            # A copy: Typer removes what it parses, and `_report` looks at the options again.
            with self.make_context(PROGRAM, list(arguments), **extra) as context:
                status = self.invoke(context)
            return status if isinstance(status, int) else exit_codes.OK
        except typer.Exit as error:
            return error.exit_code
        except OSError:
            raise
        except Exception as error:
            return _report(error, arguments)


app = new_app(cls=Root)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print a traceback for internal errors.")] = False,
) -> None:
    """Find the best way to swap one token for another over liquidity pools, exact to the unit.

    \b
    Example: swapcli route base ETH USDC 1.5
    """
    del version, debug
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run a command line, without the name of the program, and return its exit status.

    Raises nothing, and leaves nothing to flush.
    """
    status: int = app(arguments, standalone_mode=False)
    return status


def _report(error: BaseException, arguments: Sequence[str]) -> int:
    # Imported here: a command that succeeds needs none of it.
    from swapcli.cli.errors import is_json_requested, print_error, report_of, requested_color

    report = report_of(error, debug="--debug" in arguments[:1])
    return print_error(report, as_json=is_json_requested(arguments), color=requested_color(arguments))


def _prepare_streams() -> None:
    """Replace closed standard streams with /dev/null, and characters that a stream cannot encode with similar ones.

    Tokens have names in any script, and a terminal may support ASCII only.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    codecs.register_error(SIMILAR, replace_with_similar)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=SIMILAR)


def _discard_stdout() -> None:
    """Drop buffered output that cannot be written: flushing it when the interpreter ends would fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
