"""Options of the commands, and groups of options shared by several commands.

The value of an option that is also a setting stays text here. `swapcli.quoting.config` parses it, so an option, an
environment variable and a line in the settings file mean the same.
"""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.model.block_tag import BLOCK_TAGS
from swapcli.core.model.live_and_check_modes import CHECK_MODES, CheckMode, LiveMode
from swapcli.core.records import NamedTuple, extend_record
from swapcli.faces.cli.command_app import ArgumentText, OptionalValue, OptionText
from swapcli.interface.quote_parameters import ANSWER, PARAMETERS, QUOTE_PARAMETERS, QuoteParameter
from swapcli.interface.quote_parameters import ROUTING as ROUTING
from swapcli.interface.value_types import TEXTS
from swapcli.quoting.config import TABLE
from swapcli.quoting.config.source_readers import RawValue, flag
from swapcli.quoting.price_policy import PriceUse

FORMAT = "--format"
MAX_IMPACT = "--max-impact"
MAX_SLIPPAGE = "--max-slippage"


def option_name(setting: str) -> str:
    """Return the option that overrides a setting."""
    return "--" + setting.replace("_", "-")


ALLOW_RECIPIENT = "--allow-recipient"
SOURCE, OUTPUT, SETTINGS = "Source", "Output", "Settings"


def option(
    name: str,
    text: str,
    panel: str,
    metavar: str | None = None,
    optional_value: OptionalValue | None = None,
    short: str | None = None,
) -> OptionText:
    """Declare an option with its help text and help page panel. A flag has no `metavar`."""
    return OptionText(name, text, panel, metavar, optional_value, short)


def parameter_option(parameter: QuoteParameter) -> OptionText:
    """Declare the option for a quote parameter."""
    return OptionText(parameter.flag, parameter.option, parameter.panel, parameter.metavar)


_Group = TypeVar("_Group", bound=type[Any])


def with_quote_options(*, only_limits: bool = False) -> Callable[[_Group], _Group]:
    """Return a decorator that adds the options for quote parameters after a group's own options.

    If code uses an option's value by name, the group also declares the option, which changes nothing else.
    """

    def extend(group: _Group) -> _Group:
        fields = {name: (kind, group._field_defaults[name]) for name, kind in group.__annotations__.items()}
        chosen = [each for each in QUOTE_PARAMETERS if each.option and (each.is_limit or not only_limits)]
        own = {name: field for name, field in fields.items() if name not in PARAMETERS}
        return extend_record(group, own | {each.name: _field(each) for each in chosen})

    return extend


def _field(parameter: QuoteParameter) -> tuple[Any, Any]:
    """Return the annotation and default of a quote parameter's option."""
    is_flag = parameter.metavar is None
    kind = bool if is_flag else list[str] | None if parameter.value_type is TEXTS else str | None
    return Annotated[kind, parameter_option(parameter)], False if is_flag else None


def format_text(formats: Sequence[str]) -> str:
    """Return the `--format` help text for a command that prints `formats`."""
    return f"{', '.join(formats[:-1])} or {formats[-1]}."


def argument(metavar: str, text: str) -> ArgumentText:
    """Declare a positional argument with its help text."""
    return ArgumentText(metavar, text)


NetworkName = Annotated[str, argument("NETWORK", "Network name (swapcli networks lists them).")]
NetworkNameOrDefault = Annotated[str | None, argument("[NETWORK]", "Network name.  [default: the `network` setting]")]
AllNetworks = Annotated[bool, option("--all", "Use all networks, not only yours.", SETTINGS)]
TokenIn = Annotated[str | None, argument("TOKEN_IN", "Token to sell: symbol or address.")]
TokenOut = Annotated[str | None, argument("TOKEN_OUT", "Token to buy: symbol or address.")]
Amount = Annotated[str | None, argument("AMOUNT", "Amount to sell: 1.5, 2k, $1000, 50% or all.")]

Slippage = Annotated[str | None, parameter_option(PARAMETERS["slippage"])]
RouterDialect = Annotated[str | None, parameter_option(PARAMETERS["router_dialect"])]
Destination = Annotated[str | None, parameter_option(PARAMETERS["destination"])]
Certify = Annotated[bool, parameter_option(PARAMETERS["certify"])]
ProofFile = Annotated[str | None, parameter_option(PARAMETERS["proof"])]

MarketFile = Annotated[
    str | None,
    option("--market", "Use the pools in this market file; - is stdin.", SOURCE, "FILE"),
]
SkipBadPools = Annotated[bool, option("--skip-bad-pools", "Skip malformed pools with a warning.", SOURCE)]
ApiUrl = Annotated[str | None, option("--api-url", "Use the service at this URL.", SOURCE, "URL")]
ApiKeyFile = Annotated[str | None, option("--api-key-file", "File with the API key.", SOURCE, "FILE")]
Timeout = Annotated[str | None, option("--timeout", "Timeout per request.  [default: 10]", SOURCE, "SECONDS")]
StoreDir = Annotated[
    str | None,
    option("--store", "Store directory.  [default: ~/.local/share/swapcli]", SOURCE, "DIR"),
]
RpcUrl = Annotated[
    str | None,
    option("--rpc-url", "Node URL; put a URL with a key in the settings file.", SOURCE, "URL"),
]
MaxAge = Annotated[
    str | None,
    option("--max-age", "Maximum age of state; older state is read again.", SOURCE, "SECONDS"),
]
Block = Annotated[
    str | None,
    option("--block", f"{', '.join(BLOCK_TAGS)}; for quotes: N or HASH.", SOURCE, "BLOCK"),
]
NoCache = Annotated[bool, option("--no-cache", "Do not cache data from past blocks.", SOURCE)]
_LIVE = (LiveMode.AUTO.value, LiveMode.REQUIRE.value)
"""The values of --live. The setting also accepts never, for which the command line has --offline."""
Live = Annotated[
    str | None,
    option(
        "--live",
        "`require` (or no value): fail if no node responds.  [default: auto]",
        SOURCE,
        f"[{'|'.join(_LIVE)}]",
        OptionalValue(LiveMode.REQUIRE.value, _LIVE.__contains__),
    ),
]
Offline = Annotated[bool, option("--offline", "Use no node, only stored or modelled prices.", SOURCE)]
Check = Annotated[
    str | None,
    option(
        "--check",
        "Simulate on your nodes; `always` adds public ones.  [default: auto]",
        ANSWER,
        f"[{'|'.join(CHECK_MODES)}]",
        OptionalValue(CheckMode.ALWAYS.value, CHECK_MODES.__contains__),
    ),
]

KeysFile = Annotated[
    str | None,
    option("--keys-file", "File with the API keys.  [default: keys.json next to the settings]", SETTINGS, "FILE"),
]
ConfigFile = Annotated[str | None, option("--config", "Settings file to use.", SETTINGS, "FILE")]
Verbose = Annotated[bool, option("--verbose", "Show exact amounts, whole addresses and sources.", OUTPUT, short="-v")]


@with_quote_options()
class OrderOptions(NamedTuple):
    """Options for how to route an order, and for the terms of its quote."""

    raw: Annotated[bool, option("--raw", "AMOUNT is an integer in base units (wei for ETH).", ROUTING)] = False
    proof: ProofFile = None
    destination: Destination = None


class SourceOptions(NamedTuple):
    """Options for where quotes come from: a market file, a store, a node or a service."""

    market: MarketFile = None
    store: StoreDir = None
    rpc_url: RpcUrl = None
    max_age: MaxAge = None
    block: Block = None
    live: Live = None
    offline: Offline = False
    api_url: ApiUrl = None
    api_key_file: ApiKeyFile = None
    timeout: Timeout = None


@with_quote_options(only_limits=True)
class LimitOptions(NamedTuple):
    """Options for how to route the orders of a command that quotes one order in several ways."""

    raw: Annotated[bool, option("--raw", "Amounts are integers in base units (wei for ETH).", ROUTING)] = False


class LocalSourceOptions(NamedTuple):
    """Options for where the pools for quotes in this process come from: a market file, a store or a node."""

    market: MarketFile = None
    store: StoreDir = None
    rpc_url: RpcUrl = None
    max_age: MaxAge = None
    block: Block = None
    live: Live = None
    offline: Offline = False
    timeout: Timeout = None


class PayloadOptions(NamedTuple):
    """Options for how a transaction is checked and printed."""

    with_approval: Annotated[
        bool, option("--with-approval", "Also show the approval (always in the JSON).", ANSWER)
    ] = False
    simulate: Annotated[bool, option("--simulate", "Simulate on a node and compare with the quote.", ANSWER)] = False
    sender: Annotated[
        str | None,
        option("--from", "Sender: checks the balance, adds nonce, gas and fees.", ANSWER, "ADDRESS"),
    ] = None
    deadline: Annotated[
        str | None,
        option("--deadline", "Deadline: 20m, 3d, +1200 or a Unix timestamp.", ANSWER, "TIME"),
    ] = None
    permit: Annotated[bool, option("--permit", "Print a permit to sign instead of an approval.", ANSWER)] = False
    max_impact: Annotated[
        str | None,
        option(MAX_IMPACT, "Fail above this price impact.  [default: 15]", ANSWER, "PERCENT"),
    ] = None
    max_slippage: Annotated[
        str | None,
        option(MAX_SLIPPAGE, "Fail above this slippage.  [default: 20]", ANSWER, "PERCENT"),
    ] = None
    allow_recipient: Annotated[
        str | None,
        option(ALLOW_RECIPIENT, "Allow this token, pool or router as recipient.", ANSWER, "ADDRESS"),
    ] = None
    allow_fees: Annotated[
        bool, option("--allow-fees", "Warn about unusual gas, fees or nonce instead of failing.", ANSWER)
    ] = False
    check: Check = None
    witness: Annotated[
        str | None, option("--witness", "Second node that must confirm the pool state.", SOURCE, "URL")
    ] = None
    verbose: Verbose = False

    @property
    def price_use(self) -> PriceUse:
        """How the quoted prices are used: only shown if the payload is simulated, because the simulation has the real
        output."""
        return PriceUse.SHOWN if self.simulate else PriceUse.PAYLOAD


class OutputOptions(NamedTuple):
    """Options for how a command prints its result, and which settings file it reads."""

    json: Annotated[bool, option("--json", "Print one JSON document; errors are JSON too.", OUTPUT)] = False
    format: Annotated[
        str | None,
        option(FORMAT, format_text(("json", "plain", "table")), OUTPUT, "FORMAT"),
    ] = None
    get: Annotated[
        list[str] | None,
        option("--get", "Print only this JSON field (repeatable).", OUTPUT, "FIELD"),
    ] = None
    output_file: Annotated[
        str | None,
        option(
            "--output",
            "Write to this file; its extension sets the format.",
            OUTPUT,
            "FILE",
            short="-o",
        ),
    ] = None
    color: Annotated[
        str | None,
        option("--color", "When to use colors; respects NO_COLOR.  [default: auto]", OUTPUT, "auto|always|never"),
    ] = None
    quiet: Annotated[bool, option("--quiet", "Print no notes, only warnings and errors.", OUTPUT, short="-q")] = False
    config: ConfigFile = None


_KEYS = {
    "store": "store_dir",
    "max_age": "max_age_s",
    "timeout": "timeout_s",
    "publish": "publish_url",
    "host": "service.host",
    "port": "service.port",
    "workers": "service.workers",
    "keys_file": "service.keys_file",
    "require_keys": "service.require_keys",
    "feed": "service.feed_url",
} | {each.name: each.key for each in QUOTE_PARAMETERS if each.key}
"""The settings' keys for options that have a different name."""


def settings_of(
    *groups: OrderOptions | SourceOptions | LimitOptions | LocalSourceOptions | PayloadOptions,
    **options: str | bool | None,
) -> dict[str, object]:
    """Return the settings given on a command line, by key: those in the option `groups`, and `options`."""
    given: dict[str, object] = {name: value for group in groups for name, value in group._asdict().items()}
    return {
        _KEYS.get(name, name): _flag(f"--{name.replace('_', '-')}", value)
        for name, value in (given | options).items()
        if _KEYS.get(name, name) in TABLE
    }


def _flag(name: str, value: object) -> RawValue | None:
    """Return the value of an option as the settings read it: repeated lists as one text, which errors can show."""
    if value in ([], False):
        return None
    return flag(name, ",".join(map(str, value)) if isinstance(value, list) else value)


def split_lists(values: Iterable[str]) -> list[str]:
    """Split the values of an option that takes comma-separated lists and may be repeated."""
    return [name.strip() for each in values for name in each.split(",") if name.strip()]


def split_names(name: str, values: Sequence[str] | None) -> list[str]:
    """Return the names in the values of the option `name`, or an empty list if it was not given. Raises `InvalidOption`
    for values without a name, such as an unset shell variable."""
    names = split_lists(values or ())
    if values and not names:
        raise InvalidOption(f'{name}: expected a list of names, not "{printable(values[0])}"')
    return names


RECENT = "Recent swaps"
"""The help page panel of the options that find mined swaps."""
MAX_RECENT_SWAPS, RECENT_REQUESTS, MAX_RECENT_REQUESTS = 50, 400, 100_000
RecentRequests = Annotated[
    str | None,
    option("--max-requests", f"Maximum number of HTTP requests.  [default: {RECENT_REQUESTS}]", RECENT, "N"),
]


def parse_number(name: str, text: str | None, largest: int) -> int | None:
    """Return the number of the option `name`, from 1 to `largest`, or None if it is missing. Raises `InvalidOption`."""
    if text is None:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(largest))
    if not is_number or not 1 <= int(text) <= largest:
        shown = printable(truncate(text, 40))
        raise InvalidOption(f'{name}: expected a whole number from 1 to {largest:,}, not "{shown}"')
    return int(text)


_MAX_WORKERS = 256  # a bound against mistakes; chosen


def parse_workers(text: str | None) -> int:
    """Return the number of processes; the default is 1. Raises `InvalidOption`."""
    if text is None:
        return 1
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= _MAX_WORKERS):
        raise InvalidOption(f'--workers: expected a whole number from 1 to {_MAX_WORKERS}, not "{printable(text)}"')
    return int(text)
