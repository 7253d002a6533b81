"""One command line for each JSON document that commands print."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from swapcli.faces.cli.lazy_group import LazyGroup
from swapcli.faces.cli.typer_root import app
from swapcli.faces.service.key_plans import DAY_S
from swapcli.faces.service.key_usage import UsageCounts, UsageFile
from swapcli.faces.service.keys import KeyStore
from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import write_market_file

WALLET = "0x1111111111111111111111111111111111111111"
ORDER = ("base", "ETH", "USDC", "1")

ROUTER = "0x274602a953847d807231d2370072F5f4E4594B44"
APPROVAL = f"0x095ea7b3{ROUTER[2:]:0>64}{1:064x}"
"""The approval of one base unit for the public router of base."""

JSON_COMMANDS = {
    "calldata": ("calldata", *ORDER, "--destination", WALLET),
    "compare": ("compare", *ORDER),
    "config show": ("config", "show"),
    "config get": ("config", "get", "slippage"),
    "depth": ("depth", "citrea", "cBTC", "USDC.e", "--amounts", "1,5"),
    "decode": ("decode", APPROVAL, "--network", "base", "--to", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    "execute": ("execute", "ROUTE", "--destination", WALLET),
    "health": ("health", "base"),
    "keys create": ("keys", "create", "Acme", "--keys-file", "KEYS"),
    "keys change": ("keys", "change", "Acme", "--limit", "5k/min", "--keys-file", "KEYS"),
    "keys list": ("keys", "list", "--keys-file", "KEYS"),
    "keys revoke": ("keys", "revoke", "Acme", "--keys-file", "KEYS"),
    "keys usage": ("keys", "usage", "--keys-file", "KEYS"),
    "market export": ("market", "export", "base", "EXPORTED"),
    "market import": ("market", "import", "MARKET", "--store", "STORE"),
    "market info": ("market", "info", "testnet", "--store", "STORE"),
    "market remove": ("market", "remove", "testnet", "--yes", "--store", "STORE"),
    "networks": ("networks",),
    "networks add": ("networks", "add", "ethereum", "--replace", "--config", "CONFIG"),
    "networks remove": ("networks", "remove", "ethereum", "--yes", "--config", "CONFIG"),
    "networks show": ("networks", "show", "base"),
    "plan": ("plan", "citrea", "cBTC", "USDC.e", "5", "--over", "1h", "--parts", "2"),
    "pools": ("pools", "base", "ETH", "USDC"),
    "price": ("price", "base", "cbBTC"),
    "protocols": ("protocols", "base"),
    "route": ("route", *ORDER),
    "router deploy-payload": ("router", "deploy-payload", "base"),
    "schema": ("schema",),
    "tokens": ("tokens", "base"),
}
"""Command lines without `--json`, in an order in which they can run. Words in capitals are files of a test."""

LONG_RUNNING = {
    "allowance", "backtest", "balance", "hindsight", "networks check", "prove", "record", "serve", "sync", "verify",
}  # fmt: skip
"""Commands that need a node or do not end by themselves; their own tests check their JSON."""

ALIASES = {"quote"}
"""Second names of commands."""


def commands_with_json() -> set[str]:
    """Return the names of all commands that have the option --json."""
    return {name for name, options in _command_options(typer.main.get_command(app), ()) if "--json" in options}


def _command_options(command: object, path: tuple[str, ...]) -> Iterator[tuple[str, set[str]]]:
    if isinstance(command, LazyGroup) or hasattr(command, "commands"):
        context = typer.Context(command, info_name="swapcli")  # type: ignore[arg-type]
        for name in command.list_commands(context):  # type: ignore[attr-defined]
            yield from _command_options(command.get_command(context, name), (*path, name))  # type: ignore[attr-defined]
    else:
        parameters = getattr(command, "params", [])
        yield " ".join(path), {option for parameter in parameters for option in parameter.opts}


Run = Callable[..., CommandResult]


def json_command_runner(folder: Path) -> Run:
    """Return a function that runs one of `JSON_COMMANDS` by its name, with more options; its files are in `folder`."""
    route = folder / "route.json"
    route.write_text(run_swapcli(*JSON_COMMANDS["route"], "--json").stdout)
    files = {"ROUTE": str(route), "MARKET": write_market_file(folder)}
    files |= {name: str(folder / name.lower()) for name in ("KEYS", "STORE", "EXPORTED")}
    files["CONFIG"] = str(folder / "settings.yaml")
    Path(files["CONFIG"]).touch()

    def run(name: str, *more: str) -> CommandResult:
        if name == "market remove":
            run("market import")  # an earlier run has removed it
        if name == "networks remove":
            run("networks add")
        return run_swapcli(*(files.get(word, word) for word in JSON_COMMANDS[name]), *more)

    for prepared in ("keys create", "market import"):
        run(prepared)
    keys = Path(files["KEYS"])
    UsageFile(keys).add({(int(time.time() // DAY_S), KeyStore(keys).list().keys[0].id): UsageCounts(1)})
    return run
