"""The root of Typer's command tree, for command lines with help, mistakes or groups of commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

from swapcli import __version__
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.lazy_group import CommandEntry, LazyGroup, new_typer
from swapcli.faces.cli.overview import ALIASES, PANELS, PROGRAM, command_module, overview

if TYPE_CHECKING:
    from typer._click import Context


class Root(LazyGroup):
    """All commands, in the order of the overview."""

    entries = {  # noqa: RUF012 (the base class declares it)
        name: CommandEntry(command_module(name), panel, summary)
        for panel, commands in PANELS.items()
        for name, summary in commands.items()
    }

    aliases = ALIASES

    def get_help(self, ctx: Context) -> str:
        """Return the overview."""
        from swapcli.faces.cli.terminal import terminal_width

        return overview(ctx.terminal_width or terminal_width(sys.stdout))


app = new_typer(cls=Root)


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
    """Find the best route for a token swap and build its transaction. Nothing is signed or sent.

    \b
    Example: swapcli route base ETH USDC 1.5
    """
    del version, debug
    if context.invoked_subcommand is None:
        print(context.get_help())


def invoke(arguments: Sequence[str], context_settings: Mapping[str, Any]) -> int:
    """Parse a command line with Typer, run it and return its exit status. All errors are raised."""
    command = get_command(app)
    try:
        # A separate list: Typer removes the words it parses.
        with command.make_context(PROGRAM, list(arguments), **context_settings) as context:
            status = command.invoke(context)
    except typer.Exit as error:
        return error.exit_code
    return status if isinstance(status, int) else exit_codes.OK
