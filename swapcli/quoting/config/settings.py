"""The table of settings. Each setting is one field here. The loader, `config show`, the example file and the
environment variable names are derived from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from swapcli.core.encoding.secret import Secret
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.block_tag import BLOCK_TAGS, BlockTag
from swapcli.core.model.live_and_check_modes import CHECK_MODES, LIVE_MODES, CheckMode, LiveMode
from swapcli.core.model.network import AUTO, DIALECTS, OWN, is_dialect
from swapcli.core.model.quote_request import SharePrecision
from swapcli.core.model.swap_terms import (
    DEFAULT_IMPACT_WARNING_PPM,
    DEFAULT_MAX_FEE_USD,
    DEFAULT_MAX_IMPACT_PPM,
    DEFAULT_MAX_PRICE_LOSS_PPM,
    DEFAULT_MAX_SLIPPAGE_PPM,
    DEFAULT_PRICE_GUARD_PPM,
    DEFAULT_ROUTE_TTL_S,
    DEFAULT_SLIPPAGE_WARNING_PPM,
)
from swapcli.core.model.units import DAY_S
from swapcli.core.records import NamedTuple
from swapcli.interface import value_types
from swapcli.interface.quote_parameters import PARAMETERS
from swapcli.interface.value_types import ValueType
from swapcli.quoting.config.network_folder import NetworkFolder

if TYPE_CHECKING:
    from pathlib import Path

Color = Literal["auto", "always", "never"]
Output = Literal["auto", "table", "plain", "json"]

ENVIRONMENT_PREFIX: Final = "SWAPCLI_"
DEFAULT_ORIGIN: Final = "default"
NETWORKS: Final = "networks"
AGGREGATORS: Final = "aggregators"

_API_VERSIONS = [each.value for each in ApiVersion]
_SHARES = [each.value for each in SharePrecision]
_SECRET_TYPES = (
    value_types.KEY,
    value_types.NODE_URL,
    value_types.NODE_URLS,
    value_types.PUBLIC_URLS,
    value_types.REDIS_URL,
    value_types.HEADERS,
)
_MANY_REQUESTS = 1_000_000  # a bound against mistakes; chosen
_MAX_WORKERS = 256  # a bound against mistakes; chosen
_MAX_USD = 1_000_000  # a bound against mistakes; chosen


class Setting(NamedTuple):
    """One row of the table. `key` is the setting's dotted name in files, and `example` a value to show if it has no
    default.

    The value of a `secret` setting is never shown. If it is on the command line, other users of the machine can see it.
    """

    key: str
    value_type: ValueType[Any]
    default: object
    help: str
    example: str
    on_command_line: bool

    @property
    def secret(self) -> bool:
        """Whether the setting's value must never be shown."""
        return any(self.value_type is each for each in _SECRET_TYPES)

    @property
    def variable(self) -> str:
        """The name of the setting's environment variable."""
        return variable_of(self.key)

    @property
    def flag(self) -> str:
        """The setting's option on the command line."""
        return "--" + self.key.replace(".", "-").replace("_", "-")


def variable_of(key: str) -> str:
    """Return the environment variable of a setting: `SWAPCLI_A_B_C` for `a.b_c`."""
    return ENVIRONMENT_PREFIX + key.upper().replace(".", "_").replace("-", "_")


def setting(
    default: object,
    value_type: ValueType[Any],
    text: str,
    *,
    key: str = "",
    example: str = "",
    on_command_line: bool = True,
) -> Any:
    """Return the field of a setting. `key` is the setting's name in files, if it lacks the field's unit."""
    return Setting(key, value_type, default, text, example, on_command_line)


def quote_setting(name: str) -> Any:
    """Return the field of a setting that is also a quote parameter. `name` is its name in the table of quote
    parameters."""
    row = PARAMETERS[name]
    key = (row.key or row.name).rpartition(".")[2]
    return Setting(key, row.value_type, row.default, row.setting, row.example, on_command_line=True)


_Class = TypeVar("_Class", bound=type[Any])

_ROWS: dict[type[Any], dict[str, Setting]] = {}


def in_table(prefix: str = "") -> Callable[[_Class], _Class]:
    """Return the decorator that adds a record's settings to the table, with keys that start with `prefix`.

    The fields of the record have table rows (`Setting`) as defaults, made by `setting`. The decorator replaces each row
    with the default of its setting. Records are used because dataclasses would add 2.7 ms to each start.
    """

    def enter(holder: _Class) -> _Class:
        defaults: dict[str, Any] = holder._field_defaults
        rows = {name: row for name, row in defaults.items() if isinstance(row, Setting)}
        _ROWS[holder] = {name: row._replace(key=prefix + (row.key or name)) for name, row in rows.items()}
        defaults |= {name: row.default for name, row in rows.items()}
        holder.__new__.__defaults__ = tuple(defaults.values())
        return holder

    return enter


@in_table("integrator.")
class IntegratorSettings(NamedTuple):
    """The integrator that earns a fee on a swap. A fee of zero counts as not set."""

    address: str | None = quote_setting("integrator_address")
    fee_bps: int = quote_setting("integrator_fee_bps")
    surplus_bps: int = quote_setting("integrator_surplus_bps")


@in_table("service.")
class ServiceSettings(NamedTuple):
    """Settings of `swapcli serve`."""

    host: str = setting("127.0.0.1", value_types.TEXT, "Address to listen on.")
    port: int = setting(8000, value_types.whole_number(0, 65_535), "Port to listen on; 0 takes a free one.")
    metrics_port: int | None = setting(
        None,
        value_types.whole_number(0, 65_535),
        "Separate port for /metrics; 0 takes a free one.",
        example="9090",
    )
    workers: int = setting(
        1,
        value_types.whole_number(1, _MAX_WORKERS),
        "Worker processes; use one per core.",
    )
    keys_file: Path | None = setting(
        None,
        value_types.PATH,
        "File of accepted API keys; it has only their digests.",
        example="keys.json",
    )
    require_keys: bool = setting(False, value_types.FLAG, "Whether requests without a valid API key are rejected.")
    cors_origins: tuple[str, ...] = setting(
        (), value_types.TEXTS, "Websites whose scripts may call the service; * allows all."
    )
    requests_per_minute: int = setting(
        200, value_types.whole_number(1, _MANY_REQUESTS), "Requests per minute of one client without a key."
    )
    requests_per_minute_with_key: int = setting(
        1_000, value_types.whole_number(1, _MANY_REQUESTS), "Requests per minute of one key."
    )
    health_requests_per_minute: int = setting(
        1_000, value_types.whole_number(1, _MANY_REQUESTS), "Health checks per minute of one client."
    )
    streams: int = setting(20, value_types.whole_number(0, 100_000), "Open streams of one client without a key.")
    streams_with_key: int = setting(1_000, value_types.whole_number(0, 100_000), "Open streams of one key.")
    limit_loopback: bool = setting(False, value_types.FLAG, "Whether the limits apply to clients on this machine, too.")
    solve_time_s: float = setting(
        0.5,
        value_types.seconds(DAY_S, allow_zero=True),
        "Seconds to search for a route, like solve_time_s above; 0 sets no limit.",
    )
    reuse_searches: bool = setting(
        True,
        value_types.FLAG,
        "Whether searches start from similar orders; amounts vary by up to 0.01 bps.",
    )
    max_queue: int = setting(
        1_024,
        value_types.whole_number(1, 10_000),
        "Orders that may wait for a search; clients share the places fairly.",
    )
    max_connections: int = setting(
        1_024,
        value_types.whole_number(1, 100_000),
        "Maximum number of open connections; idle ones make room for new ones.",
    )
    keep_alive_s: float = setting(
        75.0,
        value_types.seconds(DAY_S),
        "Seconds that an idle connection stays open; longer than in a proxy in front.",
    )
    state_url: Secret | None = setting(
        None,
        value_types.REDIS_URL,
        "Redis server for shared rate limits and issued routes; its password is never shown.",
        example="redis://:password@redis.example:6379/0",
        on_command_line=False,
    )
    feed_url: Secret | None = setting(
        None,
        value_types.REDIS_URL,
        "Redis server with the feed to follow; its password is never shown.",
        example="redis://:password@redis.example:6379/0",
    )
    allowed_recipients: tuple[str, ...] = setting(
        (),
        value_types.ADDRESSES,
        "Tokens, pools and routers that are allowed as recipients.",
        example='["0x' + "34" * 20 + '"]',
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        value_types.ADDRESS_RANGES,
        "Proxies whose X-Forwarded-For and Forwarded are trusted.",
        example="[127.0.0.1, 10.0.0.0/8]",
    )


@in_table()
class NetworkSettings(NamedTuple):
    """A user's additions to a network, or a new network that the user defines.

    `additions` is everything that is not a setting, in the form of catalogue definitions. `rpc_urls` comes after
    `public_rpc_urls`, because the variables of both end in its name.
    """

    rpc_url: Secret | None = setting(
        None,
        value_types.NODE_URL,
        "Node to use; its path and credentials are never shown.",
        example="https://node.example/v1/key",
    )
    rpc_headers: Mapping[str, Secret] | None = setting(
        None,
        value_types.HEADERS,
        "HTTP headers for rpc_url and rpc_urls, never shown.",
        example="{Authorization: Bearer a-key}",
    )
    public_rpc_urls: tuple[Secret, ...] | None = setting(
        None,
        value_types.PUBLIC_URLS,
        "Nodes to use if rpc_url is not set, instead of the built-in ones.",
        example="[https://node.example, https://other.example]",
    )
    rpc_urls: tuple[Secret, ...] | None = setting(
        None,
        value_types.NODE_URLS,
        "Further nodes of yours, used if the first fails.",
        example="[https://spare.example/v1/key]",
    )
    router: str | None = setting(None, value_types.ADDRESS, "Router contract of payloads.", example="0x" + "34" * 20)
    router_dialect: str | None = setting(
        None,
        value_types.choice((AUTO, *DIALECTS), is_further=is_dialect),
        f"Dialect of the router: {AUTO}, {', '.join(DIALECTS)}.",
        example=OWN,
    )
    additions: Mapping[str, object] = MappingProxyType({})


@in_table()
class AggregatorSettings(NamedTuple):
    """The key for an aggregator, and the user's adapter or changes to the packaged one, in the form of definitions."""

    api_key: Secret | None = setting(
        None,
        value_types.KEY,
        "API key; never shown, and sent only to this aggregator.",
        example="a-key",
        on_command_line=False,
    )
    definition: Mapping[str, object] = MappingProxyType({})


@in_table()
class Settings(NamedTuple):
    """All settings, typed. `network_folder` has the network files next to the settings file.

    `origins` tells, by key, where each value came from: `flag`, `environment SWAPCLI_X`, `file PATH` or `default`.
    """

    network: str | None = setting(None, value_types.TEXT, "Network for commands that do not name one.", example="base")
    api_version: ApiVersion | None = quote_setting("api_version")
    slippage_ppm: int = quote_setting("slippage")
    impact_warning_ppm: int = setting(
        DEFAULT_IMPACT_WARNING_PPM,
        value_types.PERCENTAGE,
        "Price impact in percent above which a quote warns.",
        key="impact_warning",
    )
    max_impact_ppm: int = setting(
        DEFAULT_MAX_IMPACT_PPM,
        value_types.PERCENTAGE,
        "Price impact in percent above which no transaction is built (serve only warns).",
        key="max_impact",
    )
    slippage_warning_ppm: int = setting(
        DEFAULT_SLIPPAGE_WARNING_PPM,
        value_types.PERCENTAGE,
        "Slippage in percent above which a quote warns.",
        key="slippage_warning",
    )
    max_slippage_ppm: int = setting(
        DEFAULT_MAX_SLIPPAGE_PPM,
        value_types.PERCENTAGE,
        "Slippage in percent above which no transaction is built (serve warns up to 100, V2 to 49).",
        key="max_slippage",
    )
    max_fee_usd: float = setting(
        DEFAULT_MAX_FEE_USD,
        value_types.amount(_MAX_USD),
        "Gas cost in dollars above which a transaction is rejected.",
    )
    price_guard_ppm: int = setting(
        DEFAULT_PRICE_GUARD_PPM,
        value_types.PERCENTAGE,
        "Percent by which a quote may be below other prices before its verdict warns.",
        key="price_guard",
    )
    max_price_loss_ppm: int = setting(
        DEFAULT_MAX_PRICE_LOSS_PPM,
        value_types.PERCENTAGE,
        "Percent by which a quote may be below other prices before its verdict blocks.",
        key="max_price_loss",
    )
    max_hops: int = quote_setting("max_hops")
    shares: SharePrecision | None = quote_setting("shares")
    solve_time_s: float = quote_setting("solve_time_s")
    exclude_protocols: tuple[str, ...] = quote_setting("exclude_protocols")
    only_protocols: tuple[str, ...] = quote_setting("only_protocols")
    extended_protocols: bool = quote_setting("extended_protocols")
    gas_price_wei: int | None = quote_setting("gas_price")
    router_dialect: str = quote_setting("router_dialect")
    market: Path | None = setting(
        None, value_types.PATH, "Market file to use instead of the embedded market.", example="market.json"
    )
    store_dir: Path | None = setting(
        None,
        value_types.PATH,
        "Folder of the stores; by default swapcli in your data folder.",
        example="stores",
    )
    live: LiveMode = setting(
        LiveMode.AUTO,
        value_types.choice(LIVE_MODES, LiveMode),
        "Nodes for quotes: auto uses public nodes if none is set, require fails without a node, never uses none.",
    )
    live_timeout_s: float = setting(
        3.0, value_types.seconds(DAY_S), "Seconds to wait for a network's public nodes before quoting without them."
    )
    check: CheckMode = setting(
        CheckMode.AUTO,
        value_types.choice(CHECK_MODES, CheckMode),
        "Nodes that simulate a swap before you sign: auto uses yours, always adds public ones, never none.",
    )
    max_age_s: int | None = setting(
        None,
        value_types.whole_seconds(0, DAY_S),
        "Maximum age of pool state in seconds; older state is read again, otherwise rejected.",
        example="30",
    )
    block: BlockTag = setting(
        BlockTag.LATEST,
        value_types.choice(BLOCK_TAGS, BlockTag),
        "Block of a node to quote on: latest, pending, safe or finalized; sync and serve follow the latest.",
    )
    route_ttl_s: int = setting(
        DEFAULT_ROUTE_TTL_S,
        value_types.whole_seconds(1, DAY_S),
        "Seconds after which a route, or the state behind it, is stale.",
    )
    color: Color = setting("auto", value_types.choice(get_args(Color)), "When to use colors: auto, always or never.")
    output: Output = setting(
        "auto",
        value_types.choice(get_args(Output)),
        "Format of results: table, plain, json, or auto (a table on a terminal).",
    )
    integrator: IntegratorSettings = IntegratorSettings()
    api_url: str | None = setting(
        None,
        value_types.SERVICE_URL,
        "Service that quotes instead of this machine.",
        example="https://quotes.example",
    )
    api_key_file: Path | None = setting(None, value_types.PATH, "File that holds the API key.", example="api-key")
    api_key: Secret | None = setting(
        None, value_types.KEY, "API key; prefer api_key_file.", example="a-key", on_command_line=False
    )
    names_rpc_url: Secret | None = setting(
        None,
        value_types.NODE_URL,
        "Ethereum node that resolves ENS names; its path and credentials are never shown.",
        example="https://node.example/v1/key",
        on_command_line=False,
    )
    witness: Secret | None = setting(
        None,
        value_types.NODE_URL,
        "Node that must confirm the state of each transaction; its path and credentials are never shown.",
        example="https://node.example/v1/key",
    )
    timeout_s: float = setting(10.0, value_types.seconds(DAY_S), "Seconds to wait for a node or a service.")
    publish_url: Secret | None = setting(
        None,
        value_types.REDIS_URL,
        "Redis server that sync --watch publishes to; its password is never shown.",
        example="redis://:password@redis.example:6379/0",
    )
    mcp_tools: tuple[str, ...] = setting(
        (), value_types.TEXTS, "The only tools that swapcli mcp offers. Default: all.", example="[quote, price]"
    )
    service: ServiceSettings = ServiceSettings()
    networks: Mapping[str, NetworkSettings] = MappingProxyType({})
    aggregators: Mapping[str, AggregatorSettings] = MappingProxyType({})
    network_folder: NetworkFolder = NetworkFolder()
    origins: Mapping[str, str] = MappingProxyType({})

    def origin(self, key: str) -> str:
        """Return where the value of the setting called `key` came from."""
        return self.origins.get(key, DEFAULT_ORIGIN)


FIELDS: Final[Mapping[str, Mapping[str, Setting]]] = {
    "": _ROWS[Settings],
    "integrator": _ROWS[IntegratorSettings],
    "service": _ROWS[ServiceSettings],
}
"""The table rows by group in `Settings` (empty for `Settings` itself) and by field."""

TABLE: Final[Mapping[str, Setting]] = {row.key: row for group in FIELDS.values() for row in group.values()}
"""Every setting that does not belong to a network, by key."""

NETWORK_TABLE: Final[Mapping[str, Setting]] = _ROWS[NetworkSettings]
"""The settings of one network, by the last part of the key."""

AGGREGATOR_TABLE: Final[Mapping[str, Setting]] = _ROWS[AggregatorSettings]
"""The settings of one aggregator, by the last part of the key."""

NAMED_TABLES: Final[Mapping[str, Mapping[str, Setting]]] = {NETWORKS: NETWORK_TABLE, AGGREGATORS: AGGREGATOR_TABLE}
"""The settings of each group whose members have names chosen by the user."""
