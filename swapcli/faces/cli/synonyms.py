"""Synonyms of options, commands and JSON fields, from curl, cast, jq, aggregators' tools and earlier versions.

`replace_synonyms` replaces words that mean exactly the same as a word of swapcli. `explain_synonym` returns the error
for a word that swapcli does not have, or uses with another meaning. Both are imported only for command lines that are
not plain. Synonyms of settings are in `swapcli.quoting.config`, which also reads the file and the environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import ArgumentText, CommandApp, OptionText, RegisteredCommand, load_app
from swapcli.faces.cli.help_topics import ORDER
from swapcli.faces.cli.overview import ALIASES, PROGRAM, command_module, command_names

MAX_USERS: Final = 5
"""Maximum number of commands to list for an option that many commands have."""
_NETWORK: Final = ("--network", "--networks")
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(("--recipient", "--receiver", "--to", "--dst-receiver"), ("--destination",)),
        **dict.fromkeys(("--sender", "--taker", "--from-address"), ("--from",)),
        **dict.fromkeys(("--rpc", "--node", "--provider"), ("--rpc-url",)),
        **dict.fromkeys(("-n", "--network", "--chain", "--chain-id", "--networks"), _NETWORK),
        "--silent": ("--quiet",),
        **dict.fromkeys(("--no-color", "--no-colour", "--monochrome-output", "-M"), ("--color=never",)),
        "--colour": ("--color",),
        **dict.fromkeys(("-j", "--as-json"), ("--json",)),
        **dict.fromkeys(("--out", "--outfile", "--output-file"), ("--output",)),
        **dict.fromkeys(("--block-number", "--at-block"), ("--block",)),
        **dict.fromkeys(("--exclude-dexes", "--exclude-sources", "--excluded-sources"), ("--exclude-protocols",)),
        **dict.fromkeys(("--include-dexes", "--include-sources", "--included-sources"), ("--only-protocols",)),
        **dict.fromkeys(("--exact-out", "--exact-output"), ("--reverse",)),
        "-w": ("--watch",),
        "-y": ("--yes",),
        "--hops": ("--max-hops",),
        "--configuration": ("--config",),
    }
)
"""Options by synonym. The first of the listed options that the command has is used, with the same value and meaning."""
NAMED_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            (*_NETWORK, "--chain", "-n"), "write the network before the tokens: swapcli route base ETH USDC 1"
        ),
        "--full": "write -v",
        "--state": "write --block TAG: latest, pending, safe or finalized",
        **dict.fromkeys(("--svg", "--svg-width"), "write -o FILE.svg, or --format svg"),
        "--mermaid": "write -o FILE.mmd, or --format mermaid",
        **{f"--{each}": f"write --format {each}" for each in ("plain", "table", "csv")},
        "--skip-bad-pools": "swapcli market import FILE --skip-bad-pools stores the pools that can be read",
        "--protocols": "--only-protocols NAMES uses no others; swapcli compare quotes each protocol alone",
        "--once": "write --max-requests 1",
        "--force": "write --replace",
        **dict.fromkeys(("--src", "--from-token", "--sell-token", "--token-in"), "write TOKEN_IN before TOKEN_OUT"),
        **dict.fromkeys(("--dst", "--to-token", "--buy-token", "--token-out"), "write TOKEN_OUT after TOKEN_IN"),
        **dict.fromkeys(
            ("-a", "--amount", "--amount-in", "--sell-amount"),
            "write AMOUNT after the tokens, in whole tokens, or in base units with --raw",
        ),
        **dict.fromkeys(
            ("--amount-out", "--buy-amount"), "write the AMOUNT to buy after the tokens, and add --reverse"
        ),
        **dict.fromkeys(
            ("--min-out", "--min-return", "--min-amount-out", "--min-received"),
            "--slippage PERCENT sets how far below the quote the output may be",
        ),
        **dict.fromkeys(("--slippage-bps", "--slippage-percentage"), "write --slippage 0.5 or --slippage 50bps"),
        **dict.fromkeys(("--raw-output", "-r"), "--get FIELD prints text without quotes; --rpc-url URL sets a node"),
        **dict.fromkeys(
            ("--private-key", "--mnemonic", "--keystore", "--ledger", "--trezor", "--account", "--password"),
            "swapcli never signs, so it takes no keys; --from ADDRESS names the sender",
        ),
        **dict.fromkeys(
            ("--broadcast", "--send", "--sign", "--dry-run", "--unlocked"),
            "swapcli never signs or sends; swapcli calldata --simulate simulates the swap",
        ),
        "--api-key": "write --api-key-file FILE, or set SWAPCLI_API_KEY: other users can read command lines",
    }
)
"""Options that a command does not have, with a hint on what to write instead."""
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(("version", "-v"), ("--version",)),
        **dict.fromkeys(("swap", "build", "tx", "transaction"), ("calldata",)),
        **dict.fromkeys(("find", "best"), ("route",)),
        **dict.fromkeys(("chains", "network", "chain"), ("networks",)),
        **dict.fromkeys(("pairs", "pool", "liquidity"), ("pools",)),
        **dict.fromkeys(("dexes", "dexs", "sources", "venues", "protocol"), ("protocols",)),
        **dict.fromkeys(("token", "token-list"), ("tokens",)),
        **dict.fromkeys(("balances", "portfolio"), ("balance",)),
        **dict.fromkeys(("prices", "spot"), ("price",)),
        **dict.fromkeys(("impact", "slippage"), ("depth",)),
        **dict.fromkeys(("settings", "configure"), ("config",)),
        **dict.fromkeys(("server", "service", "api"), ("serve",)),
        **dict.fromkeys(("status", "doctor", "ping"), ("health",)),
        **dict.fromkeys(("man", "docs", "topics"), ("help",)),
        **dict.fromkeys(("completions",), ("completion",)),
        **dict.fromkeys(("twap", "dca"), ("plan",)),
        **dict.fromkeys(("explain", "decode-calldata", "4byte-decode"), ("decode",)),
    }
)
"""Synonyms of commands, with the words that replace them."""
NAMED_COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("send", "sign", "broadcast", "submit", "publish"),
            "swapcli never signs or sends; swapcli calldata builds the transaction for your wallet",
        ),
        "approve": "swapcli calldata --with-approval also builds the approval; your wallet signs it",
        "permit": "swapcli calldata --permit prints the message to sign",
        **dict.fromkeys(("gas", "gas-price"), "swapcli route shows the gas cost, and --gas-price sets the gas price"),
        "simulate": "write swapcli calldata --simulate",
        **dict.fromkeys(("wallet", "account"), "swapcli has no wallet; swapcli balance NETWORK ADDRESS shows balances"),
        "init": "write swapcli config init",
        **dict.fromkeys(("update", "upgrade"), "to update swapcli, run pip install . in a newer checkout"),
        **dict.fromkeys(("import", "export"), "use swapcli market import or swapcli market export"),
    }
)
"""Commands that do not exist, each with an alternative."""
SUBCOMMANDS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        **{("config", each): ("show",) for each in ("list", "ls", "view", "dump")},
        **{("config", each): ("unset",) for each in ("remove", "delete", "rm")},
        **{("market", each): ("info",) for each in ("list", "ls", "show")},
        **{("market", each): ("remove",) for each in ("delete", "rm")},
        **{(group, each): () for group in ("networks", "tokens", "protocols", "pools") for each in ("list", "ls")},
        **{("networks", each): ("remove",) for each in ("delete", "rm")},
        ("keys", "ls"): ("list",),
        **{("keys", each): ("create",) for each in ("add", "new")},
        **{("keys", each): ("revoke",) for each in ("remove", "delete", "rm")},
    }
)
"""Synonyms of a group's commands. Synonyms of the command that lists things are removed."""
NAMED_SUBCOMMANDS: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {("config", "edit"): "edit the file that swapcli config path prints"}
)
FIELDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "outputNetOfGas": ("outputAfterGas",),
        "netOfGasBound": ("afterGasBound",),
        "netOfGasGapBps": ("afterGasGapBps",),
        "netDifferenceBps": ("afterGasDifferenceBps",),
        "bestSinglePath": ("singlePath",),
        "singlePathAmount": ("singlePathOutputAmount",),
        "singlePathNetOfGas": ("singlePathAfterGas",),
        "bestAmount": ("bestOutputAmount",),
        "bestNetOfGas": ("bestAfterGas",),
        "bestVenues": ("bestProtocols",),
        "swapsPerVenue": ("swapsPerProtocol",),
        "venue": ("protocol", "name"),
        "venues": ("protocols",),
        "amm_name": ("protocol",),
        "tokenIn": ("inputToken",),
        "tokenOut": ("outputToken",),
        "amountIn": ("inputAmount",),
        "amountOut": ("outputAmount",),
        "amount": ("outputAmount",),
        "amount_received": ("received",),
        "freshAmountOut": ("freshOutputAmount",),
        "minimumBelowFresh": ("belowFreshPercent",),
        "level": ("impactPercent",),
        "value": ("slippagePercent",),
        "seconds": ("timeS",),
        "raw": ("baseUnits",),
        "leftOut": ("skipped", "skippedReason"),
        "withoutSamples": ("skippedSampledPools",),
        "hostsAsked": ("hostsContacted",),
    }
)
"""Names of JSON fields before version 0.1.0, with their new names. `closest_names` finds the renamed fields not listed
here."""


class Explanation(NamedTuple):
    """The message of an error, and its hint."""

    message: str
    hint: str


def replace_synonyms(arguments: Sequence[str]) -> list[str]:
    """Return a command line with synonyms replaced by swapcli's words."""
    if not arguments:
        return []
    words = [*COMMANDS.get(arguments[0], arguments[:1]), *arguments[1:]]
    if len(words) > 1 and (found := SUBCOMMANDS.get((words[0], words[1]))) is not None:
        words[1:2] = found
    depth, command = _command(words)
    return words if command is None else [*words[:depth], *_replace_options(command, words[depth:])]


def explain_synonym(arguments: Sequence[str]) -> Explanation | None:
    """Return the error for the first word that belongs to another tool or means something else here, or None."""
    words = replace_synonyms(arguments)
    if not words:
        return None
    if words[0] in NAMED_COMMANDS:
        return Explanation(f'no command "{words[0]}"', NAMED_COMMANDS[words[0]])
    if words[0] in ORDER and words[0] not in command_names():
        return Explanation(f'no command "{words[0]}"', f"it is a help topic: {PROGRAM} help {words[0]}")
    if len(words) > 1 and (hint := NAMED_SUBCOMMANDS.get((words[0], words[1]))):
        return Explanation(f'no command "{words[1]}"', hint)
    depth, command = _command(words)
    own = _options(command) if command else {}
    for word in words[depth:]:
        name = word.partition("=")[0]
        if command is None or name in own or word == "--":
            continue
        if "--rpc-url" in OPTIONS.get(name, (name,)) and command.command_name == "serve":
            return Explanation(f'no option "{name}"', _service_node_hint(words))
        if hint := NAMED_OPTIONS.get(name):
            return Explanation(f'no option "{name}"', hint)
        if name.startswith("--") and (users := commands_with(name)):
            others = len(users) - MAX_USERS
            shown = f"{', '.join(users[:MAX_USERS])} and {others} other commands" if others > 1 else ", ".join(users)
            return Explanation(f'no option "{name}"', f"it is an option of {shown}")
    return None


def _service_node_hint(words: Sequence[str]) -> str:
    """Return how to set a service's node: `serve` has one for each network, so no option names it."""
    from swapcli.quoting.live_choice import node_variable

    served = [value for option, value in pairwise(words) if option == "--networks"]
    served += [word.partition("=")[2] for word in words if word.startswith("--networks=")]
    name = served[0] if len(served) == 1 and re.fullmatch(r"[\w-]{1,32}", served[0]) else "NETWORK"
    return f"set {node_variable(name)}, or run {PROGRAM} config set networks.{name}.rpc_url URL"


def commands_with(option: str) -> list[str]:
    """Return the commands that have the given option."""
    apps = {name: load_app(command_module(name)) for name in command_names()}
    return [
        name if app.summary is None else f"{name} {command.command_name}"
        for name, app in apps.items()
        for command in app.commands
        if option in _options(command)
    ]


def _command(words: Sequence[str]) -> tuple[int, RegisteredCommand | None]:
    """Return the number of words that name a command, and the command, if they name one."""
    name = ALIASES.get(words[0], words[0])
    if name not in command_names():
        return 0, None
    app: CommandApp = load_app(command_module(name))
    if not app.names_command(words[1:]):
        return 1, app.only_command
    return 2, next(each for each in app.commands if each.command_name == words[1])


def _options(command: RegisteredCommand) -> dict[str, OptionText]:
    notes = [each.annotation.__metadata__[0] for each in command.parameters()]
    options = [each for each in notes if isinstance(each, OptionText)]
    return {name: each for each in options for name in (each.name, each.short) if name is not None}


def _replace_options(command: RegisteredCommand, words: Sequence[str]) -> list[str]:
    """Return the words after a command with our options; a network given as an option becomes the first word."""
    own = _options(command)
    arguments = [each.annotation.__metadata__[0] for each in command.parameters()]
    takes_network = any(isinstance(each, ArgumentText) and "NETWORK" in each.metavar for each in arguments)
    replaced: list[str] = []
    networks: list[str] = []
    remaining = list(reversed(words))
    while remaining and remaining[-1] != "--":
        name, equals, value = remaining.pop().partition("=")
        if "_" in name and name.startswith("--") and name.replace("_", "-") in own:
            name = name.replace("_", "-")
        targets = () if name in own else OPTIONS.get(name, ())
        target = next((each for each in targets if each.partition("=")[0] in own), None)
        if target is None and targets == _NETWORK and takes_network and (equals or remaining):
            networks.append(value if equals else remaining.pop())
            continue
        name = target or name
        replaced.append(f"{name}{equals}{value}")
        note = own.get(name)
        if note and note.metavar and note.optional_value is None and not equals and remaining:
            replaced.append(remaining.pop())
    added = [each for each in networks if each not in replaced[:1]]
    return [*added, *replaced, *reversed(remaining)]
