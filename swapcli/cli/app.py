"""`swapcli`: the root of the command tree, and the one place where errors become messages and exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated

import typer
from typer.main import get_command

from swapcli import __version__
from swapcli.cli import exit_codes
from swapcli.cli.lazy_group import CONTEXT_SETTINGS, CommandEntry, LazyGroup

PROGRAM = "swapcli"


class Root(LazyGroup):
    """All commands, in the order of the overview."""

    entries = {  # noqa: RUF012 (the base class declares it)
        "route": CommandEntry("swapcli.cli.commands.route", "Quote", "Find the best route for a swap."),
        "calldata": CommandEntry(
            "swapcli.cli.commands.calldata", "Build", "Find the best route and build its transaction."
        ),
        "execute": CommandEntry("swapcli.cli.commands.execute", "Build", "Build the transaction of a route."),
        "router": CommandEntry(
            "swapcli.cli.commands.router", "Build", "Deploy a router for what swapcli calldata makes."
        ),
        "sync": CommandEntry(
            "swapcli.cli.commands.sync", "Keep", "Fill a store with the pools of a network, read from a node."
        ),
        "market": CommandEntry(
            "swapcli.cli.commands.market", "Keep", "Import, export and describe what swapcli sync keeps."
        ),
        "serve": CommandEntry("swapcli.cli.commands.serve", "Run", "Serve routes and payloads over HTTP."),
        "health": CommandEntry("swapcli.cli.commands.health", "Run", "Check that every network is answered for."),
        "keys": CommandEntry(
            "swapcli.cli.commands.keys", "Run", "Make, list and revoke the API keys of swapcli serve."
        ),
        "networks": CommandEntry("swapcli.cli.commands.networks", "Look up", "List the networks."),
        "tokens": CommandEntry("swapcli.cli.commands.tokens", "Look up", "List the tokens of a network's market."),
        "protocols": CommandEntry("swapcli.cli.commands.protocols", "Look up", "List the protocols of a network."),
        "config": CommandEntry("swapcli.cli.commands.config", "Configure", "Show settings and where they come from."),
        "help": CommandEntry(
            "swapcli.cli.commands.help", "Configure", "Explain a topic, such as live prices or exit codes."
        ),
        "completion": CommandEntry(
            "swapcli.cli.commands.completion", "Configure", "Print the completion script of a shell."
        ),
    }


app = typer.Typer(
    cls=Root,
    context_settings=CONTEXT_SETTINGS,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where a defect arose.")] = False,
) -> None:
    """Finds the best way to swap one token for another over liquidity pools, exact to the unit.

    \b
    Example: swapcli route base ETH USDC 1.5
    """
    del version, debug
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Runs a command line (without the program's name) and returns its exit status.

    The result goes to stdout, everything else to stderr. Nothing is raised and nothing is left to flush.
    """
    _prepare_streams()
    try:
        status = _call(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _forget_stdout()
        return exit_codes.OK
    except (OSError, KeyboardInterrupt) as error:
        _forget_stdout()
        return _tell(error, arguments)


def _call(arguments: Sequence[str]) -> int:
    try:
        command = get_command(app)
        with command.make_context(PROGRAM, list(arguments)) as context:
            status = command.invoke(context)
        return status if isinstance(status, int) else exit_codes.OK
    except typer.Exit as error:
        return error.exit_code
    except OSError:
        raise
    except Exception as error:
        return _tell(error, arguments)


def _tell(error: BaseException, arguments: Sequence[str]) -> int:
    from swapcli.cli.errors import is_json_requested, print_error, report_of

    return print_error(report_of(error, debug="--debug" in arguments[:1]), as_json=is_json_requested(arguments))


def _prepare_streams() -> None:
    """A closed stream swallows, or gives nothing.

    Letters that a stream cannot write (tokens have names in any script) are escaped.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Nobody can take what is still buffered; it must not fail again when the interpreter ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
