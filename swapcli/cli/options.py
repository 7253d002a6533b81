"""Options: how one is declared, and the groups of them that several commands share.

Values that are settings stay text here: the settings read them, so that a flag, a variable and a file mean the same.
"""

# Annotations are values here: they are what Typer reads.

from collections.abc import Callable, Iterable, Iterator
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from swapcli.config.sources import flag
from swapcli.model.order import DEFAULT_MAX_HOPS
from swapcli.model.swap_terms import MAX_FEE_BPS, MAX_SURPLUS_BPS

T = TypeVar("T")

ROUTING, ANSWER, INTEGRATOR = "Routing", "Answer", "Integrator (v2 only, needs an API key)"
SOURCE, OUTPUT, SETTINGS = "Source", "Output", "Settings"


def option(name: str, text: str, panel: str, metavar: str | None = None) -> Any:
    """An option with its help, in a group of the help page; `metavar` where it takes a value."""
    return typer.Option(name, help=text, rich_help_panel=panel, metavar=metavar, show_default=False)


def argument(metavar: str, text: str) -> Any:
    """A positional argument with its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


NetworkName = Annotated[str, argument("NETWORK", "Where to swap; see swapcli networks.")]
NetworkNameOrDefault = Annotated[str | None, argument("[NETWORK]", "See swapcli networks; or set one in the settings.")]
TokenIn = Annotated[str | None, argument("TOKEN_IN", "Token to sell: symbol or address.")]
TokenOut = Annotated[str | None, argument("TOKEN_OUT", "Token to buy: symbol or address.")]
Amount = Annotated[str | None, argument("AMOUNT", "In whole tokens, as in 1.5.")]

Slippage = Annotated[str | None, option("--slippage", "As in 0.5, 0.5% or 50bps.  [default: 0.5]", ANSWER, "PERCENT")]
Destination = Annotated[str | None, option("--destination", "Who receives the output.", ANSWER, "ADDRESS")]

MarketFile = Annotated[
    str | None,
    option("--market", "Market file to quote on, - for stdin, instead of the embedded market.", SOURCE, "FILE"),
]
SkipBadPools = Annotated[
    bool, option("--skip-bad-pools", "Report malformed pools of a market file and go on without them.", SOURCE)
]
ApiUrl = Annotated[str | None, option("--api-url", "Service to ask instead of quoting here.", SOURCE, "URL")]
ApiKeyFile = Annotated[str | None, option("--api-key-file", "File that holds the API key.", SOURCE, "FILE")]
Timeout = Annotated[
    str | None, option("--timeout", "How long to wait for a node or a service.  [default: 10]", SOURCE, "SECONDS")
]
StoreDir = Annotated[
    str | None,
    option("--store", "Folder of the stores.  [default: ~/.local/share/swapcli]", SOURCE, "DIR"),
]
RpcUrl = Annotated[
    str | None,
    option("--rpc-url", "Node to ask; in the settings nobody else on this machine sees it.", SOURCE, "URL"),
]
MaxAge = Annotated[
    str | None,
    option("--max-age", "How old pool state may be: older is read anew, or refused.", SOURCE, "SECONDS"),
]
Offline = Annotated[bool, option("--offline", "Ask no node: quote on the store, or the embedded market.", SOURCE)]

KeysFile = Annotated[
    str | None,
    option("--keys-file", "File of the keys.  [default: keys.json beside the settings file]", SETTINGS, "FILE"),
]
ConfigFile = Annotated[str | None, option("--config", "Settings file to use.", SETTINGS, "FILE")]


class OrderOptions(NamedTuple):
    """How to route an order, and in which terms to answer."""

    raw: Annotated[bool, option("--raw", "AMOUNT is in the token's smallest units.", ROUTING)] = False
    reverse: Annotated[bool, option("--reverse", "AMOUNT is what you want to receive.", ROUTING)] = False
    direct: Annotated[bool, option("--direct", "Only pools that hold both tokens.", ROUTING)] = False
    max_hops: Annotated[
        str | None, option("--max-hops", f"Most pools in a row.  [default: {DEFAULT_MAX_HOPS}]", ROUTING, "N")
    ] = None
    exclude_protocols: Annotated[
        list[str] | None,
        option("--exclude-protocols", "Ids or names, with commas; see swapcli protocols.", ROUTING, "LIST"),
    ] = None
    gas_price: Annotated[
        str | None,
        option(
            "--gas-price",
            "In wei, or as in 0.01gwei; 0 ranks routes by output alone.  [default: the market's]",
            ROUTING,
            "PRICE",
        ),
    ] = None
    certify: Annotated[bool, option("--certify", "Prove how far the best possible route could still be.", ROUTING)] = (
        False
    )
    slippage: Slippage = None
    destination: Destination = None
    api_version: Annotated[
        str | None,
        option("--api-version", "ApiVersion of the JSON.  [default: v2 where the network has it]", ANSWER, "v1|v2"),
    ] = None
    integrator_address: Annotated[
        str | None, option("--integrator-address", "Wallet that earns.", INTEGRATOR, "ADDRESS")
    ] = None
    integrator_fee_bps: Annotated[
        str | None, option("--integrator-fee-bps", f"Fee on the output, 0 to {MAX_FEE_BPS}.", INTEGRATOR, "BPS")
    ] = None
    integrator_surplus_bps: Annotated[
        str | None,
        option("--integrator-surplus-bps", f"Share of the surplus, 0 to {MAX_SURPLUS_BPS}.", INTEGRATOR, "BPS"),
    ] = None

    @property
    def flags(self) -> dict[str, object]:
        """Those that are settings, by key."""
        return {
            "max_hops": self.max_hops,
            "exclude_protocols": self.exclude_protocols or None,
            "gas_price": self.gas_price,
            "slippage": self.slippage,
            "api_version": self.api_version,
            "integrator.address": self.integrator_address,
            "integrator.fee_bps": self.integrator_fee_bps,
            "integrator.surplus_bps": self.integrator_surplus_bps,
        }


class SourceOptions(NamedTuple):
    """What answers: a market in this process, kept or read from a node, or a service."""

    market: MarketFile = None
    skip_bad_pools: SkipBadPools = False
    store: StoreDir = None
    rpc_url: RpcUrl = None
    max_age: MaxAge = None
    offline: Offline = False
    api_url: ApiUrl = None
    api_key_file: ApiKeyFile = None
    timeout: Timeout = None

    @property
    def flags(self) -> dict[str, object]:
        """Those that are settings, by key."""
        return {
            "market": self.market,
            "store_dir": flag("--store", self.store),
            "max_age_s": flag("--max-age", self.max_age),
            "api_url": self.api_url,
            "api_key_file": self.api_key_file,
            "timeout_s": flag("--timeout", self.timeout),
        }


class PayloadOptions(NamedTuple):
    """What is checked of a payload, and what is told of it."""

    with_approval: Annotated[
        bool, option("--with-approval", "The transactions in order, the allowance first where one is needed.", ANSWER)
    ] = False
    simulate: Annotated[
        bool, option("--simulate", "Have a node execute it, and compare what arrives with the quote.", ANSWER)
    ] = False
    sender: Annotated[
        str | None, option("--from", "Who sends: check balance and allowance on a node.", ANSWER, "ADDRESS")
    ] = None
    max_impact: Annotated[
        str | None,
        option("--max-impact", "Highest price impact to build for.  [default: 15]", ANSWER, "PERCENT"),
    ] = None
    get: Annotated[
        str | None,
        option("--get", "One field of the JSON, raw, as in calldata or route.min_received.", OUTPUT, "FIELD"),
    ] = None
    full: Annotated[bool, option("--full", "Calldata whole, also on a terminal.", OUTPUT)] = False

    @property
    def flags(self) -> dict[str, object]:
        """Those that are settings, by key."""
        return {"max_impact": self.max_impact}


class OutputOptions(NamedTuple):
    """The options of every command that answers: how the answer is written, and which settings hold."""

    json: Annotated[bool, option("--json", "One JSON document; errors are JSON too.", OUTPUT)] = False
    plain: Annotated[bool, option("--plain", "Plain text; the default in a pipe.", OUTPUT)] = False
    table: Annotated[bool, option("--table", "A table; the default on a terminal.", OUTPUT)] = False
    color: Annotated[
        str | None,
        option("--color", "When to colour; NO_COLOR is respected.  [default: auto]", OUTPUT, "auto|always|never"),
    ] = None
    config: ConfigFile = None


def split_lists(values: Iterable[str]) -> list[str]:
    """The names in the values of an option that takes lists with commas and may be repeated."""
    return [name.strip() for each in values for name in each.split(",") if name.strip()]


def with_option_groups(command: Callable[..., T]) -> Callable[..., T]:
    """`command`, whose parameters of a group of options are parsed as the group's single options, in its place."""
    written = signature(command, eval_str=True)
    groups = {name: p.annotation for name, p in written.parameters.items() if _is_group(p.annotation)}

    def parsed(**values: Any) -> T:
        taken = {name: group(*map(values.pop, group._fields)) for name, group in groups.items()}
        return command(**taken, **values)

    single = [each for p in written.parameters.values() for each in (_group_parameters(p) if p.name in groups else [p])]
    seen_by_typer = written.replace(parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in single])
    update_wrapper(parsed, command).__signature__ = seen_by_typer  # type: ignore[attr-defined]
    return parsed


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, tuple)


def _group_parameters(group: Parameter) -> Iterator[Parameter]:
    for name, annotation in group.annotation.__annotations__.items():
        default = group.annotation._field_defaults[name]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
