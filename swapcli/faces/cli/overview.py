"""The commands with their summaries, and the page of `swapcli --help`, which needs neither Typer nor a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

PROGRAM = "swapcli"

PANELS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Quote": {
            "route": "Find the best route for a swap.",
            "compare": "Compare routes, services and aggregators for an order.",
            "depth": "Show the price impact of increasingly large trades.",
            "plan": "Sell a large order in parts over time.",
        },
        "Build": {
            "calldata": "Find the best route and build its transaction.",
            "execute": "Build the transaction for a route.",
            "decode": "Check a payload before you sign it.",
            "router": "Deploy your own router contract.",
        },
        "Data": {
            "sync": "Sync a network's pools from a node into the local store.",
            "market": "Import, export, show and remove stored pools.",
        },
        "Run": {
            "serve": "Serve routes and transactions over HTTP.",
            "mcp": "Serve the commands to AI agents over MCP (Model Context Protocol).",
            "health": "Check that every network can be quoted.",
            "keys": "Manage API keys for swapcli serve.",
        },
        "Inspect": {
            "networks": "List, show, add, check and remove networks.",
            "tokens": "List a network's tokens; those in the most pools come first.",
            "protocols": "List a network's protocols.",
            "pools": "List a network's pools with liquidity and price, deepest first.",
            "verify": "Compare mined swaps with their quotes.",
            "record": "Record mined swaps with the state of their pools.",
            "prove": "Check quotes, swaps and proofs on your machine, and write a report.",
            "hindsight": "Compare mined swaps with the best routes at their blocks.",
            "backtest": "Quote many orders at past blocks.",
            "price": "Show token prices in USD and in the native token.",
            "balance": "Show an account's balances.",
            "allowance": "Show how much of a token a router may spend.",
            "schema": "Print the JSON schema of a command's output.",
        },
        "Configure": {
            "config": "Show and change settings.",
            "help": "Explain a topic, such as amounts or exit codes.",
            "completion": "Print a shell completion script.",
        },
    }
)
"""The summaries of the commands by purpose, in overview order."""
ALIASES: Mapping[str, str] = MappingProxyType({"quote": "route"})
"""Aliases of commands."""
ROUTE_COMMAND = "swapcli route NETWORK TOKEN_IN TOKEN_OUT AMOUNT --json"
ROUTE_TO_EXECUTE = f"{ROUTE_COMMAND} | swapcli execute - --destination ADDRESS"
"""A hint on how to pass a route to execute."""
OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "-V, --version": "Print the version.",
        "--debug": "Print a traceback for internal errors.",
        "-h, --help": "Show this message and exit.",
    }
)
"""The options that come before a command."""

_USAGE = "Usage: swapcli [OPTIONS] COMMAND [ARGS]..."
PURPOSE = "Find the best route for a token swap and build its transaction. Nothing is signed or sent."
_EXAMPLE = "  Example: swapcli route base ETH USDC 1.5"
_MAX_WIDTH, _MIN_WIDTH = 80, 50  # as in Typer


def overview(terminal_width: int) -> str:
    """Return the page of `swapcli --help`, without a line break at its end."""
    from swapcli.faces.cli.render.columns import wrap_words  # commands do not need it

    width = max(min(terminal_width, _MAX_WIDTH), _MIN_WIDTH)
    blocks = [[_USAGE], [f"  {line}" for line in wrap_words(PURPOSE, width - 2)], [_EXAMPLE]]
    blocks.append(["Options:", *_rows(OPTIONS.items(), width)])
    for title, commands in PANELS.items():
        rows = ((", ".join([name, *aliases_of(name)]), summary) for name, summary in commands.items())
        blocks.append([f"{title}:", *_rows(rows, width)])
    return "\n\n".join("\n".join(block) for block in blocks)


def command_names() -> tuple[str, ...]:
    """Return the names of all commands, in the order of the overview."""
    return tuple(name for commands in PANELS.values() for name in commands)


def command_module(name: str) -> str:
    """Return the module of a command."""
    return f"swapcli.faces.cli.commands.{name}"


def aliases_of(name: str) -> tuple[str, ...]:
    """Return a command's aliases."""
    return tuple(alias for alias, command in ALIASES.items() if command == name)


def _rows(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    from swapcli.faces.cli.render.columns import lay_out

    for line in lay_out(list(rows), width - 2, gap=2):
        yield "  " + "".join(" " * cell.blanks + cell.text for cell in line.cells)
