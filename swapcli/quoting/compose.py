"""Decide what answers orders: a market file, a store, the embedded market, a node, or a remote service.

This is the one place that decides it, for commands, for the HTTP service and for the library. Nothing is printed here:
warnings go to a callback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.encoding.byte_order_mark import to_plain_utf8
from swapcli.core.encoding.url import is_http_url
from swapcli.core.errors import (
    ConfigError,
    InvalidAddress,
    InvalidInput,
    InvalidOption,
    InvalidPoolState,
    MarketError,
    UnknownNetwork,
    UpstreamError,
)
from swapcli.core.model.live_mode import CheckMode
from swapcli.core.model.network import Network, PublicNode
from swapcli.core.records import NamedTuple
from swapcli.payload.dialects import has_readings
from swapcli.quoting.config import Secret, Settings, network_names_from, networks_from, node_url
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN
from swapcli.quoting.config.source_readers import FLAG_ORIGIN
from swapcli.quoting.live_choice import (
    ETH_RPC_URL,
    NamedHosts,
    NodeChoice,
    NodeOrigin,
    NodeRules,
    check_modelled_is_meant,
    missing_node_hint,
)
from swapcli.quoting.sources.freshness import check_fresh
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState, ParsedMarket
    from swapcli.core.model.router_findings import RouterFindings
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.networks.name_services import NameService
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.quoting.followers.feed_follower import AnyFollowed
    from swapcli.quoting.sources.live import LiveSource
    from swapcli.quoting.sources.pool_source import PoolSource
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.state.names import ResolvedName
    from swapcli.state.router_findings_file import RouterFindingsFile
    from swapcli.state.rpc.head_source import HeadSource, SubscribedHeads
    from swapcli.state.rpc.node_checks import NodeReport
    from swapcli.state.rpc.public_nodes import AnyPublicNode, PublicRpcNode
    from swapcli.state.rpc.rpc_node import RpcEndpoint, RpcNode
    from swapcli.state.rpc.starknet_node import StarknetNode
    from swapcli.state.rpc.subscribed_connection import LiveConnection
    from swapcli.state.store import Store

    AnyNode = RpcNode | StarknetNode
    """A node that pools can be read from."""

REMOTE_RETRIES = 2
STDIN = "-"
"""The name of a market file that is read from the standard input."""

_LIMITS_FILE = "node-limits.json"
_FINDINGS_FILE = "router-readings.json"
_NAMED_HOSTS_FILE = "named-hosts.json"
_CHECK_REQUESTS = 3
"""Requests of a check to a public node: what it prepares, the rehearsal, and one more for tokens that keep balances
unusually."""
_QUOTE_REQUESTS = 30
"""Requests of a quote, which need not wait for a rate that was learned under load."""

Warn = Callable[[str], object]


def read_file(name: str) -> bytes:
    """Return the contents of a file. Raises `InvalidInput` if it cannot be read."""
    try:
        return to_plain_utf8(Path(name).read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"cannot read {name}: {reason}", details={"file": name}) from error


class LastingNode(NamedTuple):
    """A node for a command that lasts, and what wakes a follower of it. Closing the heads closes their connection."""

    node: AnyNode
    heads: HeadSource


class QuoteSources:
    """Opens sources of quotes, markets, stores and nodes as the settings say.

    `data_dir` holds the stores unless the settings name another folder. `rpc_url` replaces the nodes of the settings;
    `is_offline` forbids all connections. `warn` receives warnings as sentences. `read` returns the contents of a file
    by its name, and `environ` names the HTTP proxies and perhaps a node. Two attributes may be set: with
    `reuses_searches`, sources that are opened later start searches from those of similar orders before, which a service
    decides itself; without `reads_public_nodes`, they read only nodes that the user has named.
    """

    def __init__(
        self,
        settings: Settings,
        data_dir: Path,
        *,
        warn: Warn,
        read: Callable[[str], bytes] = read_file,
        environ: Mapping[str, str] | None = None,
        rpc_url: Secret | None = None,
        is_offline: bool = False,
    ) -> None:
        self.settings = settings
        self.data_dir = data_dir
        self.rpc_url = rpc_url
        self.is_offline = is_offline
        self._warn = warn
        self._read = read
        self._environ = environ or {}
        self._named_hosts = NamedHosts(data_dir / _NAMED_HOSTS_FILE, SYSTEM_CLOCK.now_s)
        self.reuses_searches = False
        self.reads_public_nodes = True
        self._public_node: AnyPublicNode | None = None

    @property
    def node_rules(self) -> NodeRules:
        """What decides which nodes are read."""
        return NodeRules(self.settings, self.rpc_url, self.is_offline, self._environ, self.reads_public_nodes)

    def check_modelled_is_meant(self, state: StateSource, network: Network) -> None:
        """Raise `ModelledState` for a payload on modelled prices, unless the user has excluded all nodes."""
        check_modelled_is_meant(state, network, is_meant=self.node_rules.excludes_nodes)

    def api_key(self) -> Secret | None:
        """Return the API key from the settings or from the file that they name. Raises `InvalidInput`."""
        if self.settings.api_key is not None or self.settings.api_key_file is None:
            return self.settings.api_key
        key = self._read(str(self.settings.api_key_file)).decode(errors="replace").strip()
        return Secret(key) if key else None

    def network(self, name: str) -> Network:
        """Return the network called `name`. Raises `UnknownNetwork`."""
        return self.find_network(name)

    @property
    def find_network(self) -> Callable[[str], Network]:
        """Look a network up by name or chain id. The function raises `UnknownNetwork`."""
        find = networks_from(self.settings)
        return lambda name: self._with_reading(find(name))

    def _with_reading(self, network: Network) -> Network:
        """Return the network with the reading of its router that simulations have shown."""
        if not self._may_have_findings(network):
            return network
        findings = self._load_findings(network)
        if not findings.protocols:
            return network
        return network._replace(router_reading=findings.reading(), router_code_hash=findings.code_hash)

    def router_findings(self, network: Network) -> RouterFindings:
        """Return what is remembered of how the router reads its calls; nothing if its code has changed."""
        from swapcli.core.model.router_findings import NO_FINDINGS

        return self._load_findings(network) if network.router_code_hash else NO_FINDINGS

    def _load_findings(self, network: Network) -> RouterFindings:
        from swapcli.core.model.router_findings import NO_FINDINGS

        if network.router is None or not self._may_have_findings(network):
            return NO_FINDINGS
        return self.router_findings_file().load(network.chain_id, network.router)

    def _may_have_findings(self, network: Network) -> bool:
        return network.router is not None and has_readings(network) and _may_exist(self._findings_path)

    def router_findings_file(self) -> RouterFindingsFile:
        """Return the file that remembers how routers read their calls, in the folder of the stores."""
        from swapcli.state.router_findings_file import RouterFindingsFile

        return RouterFindingsFile(self._findings_path)

    @property
    def _findings_path(self) -> Path:
        return self.stores_folder / _FINDINGS_FILE

    def chain_id(self, name: str) -> int | None:
        """Return the chain id of the network called `name`, None for an unknown network."""
        try:
            return self.network(name).chain_id
        except UnknownNetwork:
            return None

    @property
    def service_url(self) -> str | None:
        """The remote service that answers, None if this process answers.

        If both a service and a market file are set, the one from the command line wins. Raises `InvalidOption` if both
        come from the command line, or both do not.
        """
        settings = self.settings
        if self.is_offline:
            if settings.origin("api_url") == FLAG_ORIGIN:
                raise InvalidOption(
                    "a service is reached over the network, so --offline does not fit --api-url",
                    hint="give one of them",
                )
            return None
        if settings.api_url is None or settings.market is None:
            return settings.api_url
        by_flag = [settings.origin(key) == FLAG_ORIGIN for key in ("api_url", "market")]
        if by_flag[0] == by_flag[1]:
            raise InvalidOption(
                "a service quotes on its own market, so --api-url and --market do not fit together",
                hint="give one of them",
            )
        return settings.api_url if by_flag[0] else None

    def open(self, name: str, *, skip_bad_pools: bool = False, retries: int = REMOTE_RETRIES) -> QuoteSource:
        """Return the source that answers orders on the network called `name`.

        That is the service if one is set; otherwise the market file, the store or the embedded market, in this order,
        with the pools of an order read from nodes: those that are set, else public ones. Raises `InvalidInput`,
        `UnknownNetwork`.
        """
        if self.service_url is None:
            return self.open_local(name, skip_bad_pools=skip_bad_pools)
        if skip_bad_pools:
            raise InvalidOption("a service quotes on its own market, so --skip-bad-pools does not fit --api-url")
        if self.rpc_url is not None:
            raise InvalidOption("--rpc-url has no effect with --api-url: the service uses its own node")
        if self.settings.origin("state") == FLAG_ORIGIN:
            raise InvalidOption("--state has no effect with --api-url: the service uses its own node")
        return self.open_service(name, retries=retries)

    def open_service(
        self, name: str, url: str | None = None, *, retries: int = REMOTE_RETRIES, sends_key: bool = True
    ) -> QuoteSource:
        """Return the source of the remote service at `url`, by default that of the settings.

        The API key of the settings goes with its requests if it `sends_key`. Raises as `open`, and without a service.
        """
        from swapcli.quoting.sources.remote import RemoteSource

        url = url or self.settings.api_url
        if url is None:
            raise InvalidOption("no service is set", hint="give --api-url URL")
        key, timeout_s = self.api_key() if sends_key else None, self.settings.timeout_s
        network = self.network(name)
        return RemoteSource(url, network, SYSTEM_CLOCK, api_key=key, timeout_s=timeout_s, retries=retries)

    def open_live(self, name: str) -> QuoteSource:
        """Return the source that reads the pools of the store, else of the embedded market, from nodes.

        Its quotes raise `UpstreamError` if none answers. Raises as `node`, and `InvalidOption` without a node.
        """
        pool_source = self._open_pool_source(name)
        live = self._live_source(pool_source, may_fall_back=False)
        if live is None:
            network = pool_source.network
            raise InvalidOption(f"no node of {network.name} is set", hint=missing_node_hint(network, "rpc_url"))
        return live

    def open_local(self, name: str, *, skip_bad_pools: bool = False) -> QuoteSource:
        """Return the source that quotes in this process, also if a service is set. Raises as `open`."""
        settings = self.settings
        if settings.market is not None:
            if self.rpc_url is not None:
                raise InvalidOption(
                    "a market file is quoted as it is, so --rpc-url does not fit --market", hint="give one of them"
                )
            pool_source = self._market_source(self.market(name, skip_bad_pools=skip_bad_pools))
            live = None
        else:
            pool_source = self._open_pool_source(name)
            live = self._live_source(pool_source)
        if live is not None:
            return live
        if settings.origin("state") == FLAG_ORIGIN:
            raise self._state_needs_node(pool_source.network)
        return self._fresh(pool_source)

    def _fresh(self, pool_source: PoolSource) -> PoolSource:
        """Return the source. Raises `MarketUnavailable` if its state is older than the settings allow."""
        if self.settings.max_age_s is not None:
            check_fresh(pool_source.state_source, pool_source.network, self.settings.max_age_s)
        return pool_source

    def _live_source(self, pool_source: PoolSource, *, may_fall_back: bool = True) -> QuoteSource | None:
        """Return the source that reads the pools from nodes; None if there are none to read. Raises as `node`.

        Where the user has named none, it quotes on the pool source's own state if the others fail and it
        `may_fall_back`; `live` and a block tag of the command line exclude that.
        """
        network, rules = pool_source.network, self.node_rules
        choices = list(rules.quoted_nodes(network))
        if not choices:
            if rules.requires_node:
                raise InvalidOption(f"no node of {network.name} is known", hint=missing_node_hint(network))
            return None
        if choices[0].origin in (NodeOrigin.OPTION, NodeOrigin.SETTINGS):
            return self._live_on(pool_source, self._connect_choice(choices[0], network))
        from swapcli.quoting.sources.public import PublicSource

        can_fall_back = may_fall_back and not rules.requires_node and self.settings.origin("state") != FLAG_ORIGIN

        return PublicSource(
            pool_source,
            lambda: self._live_on(pool_source, self._open_first(choices, network)),
            may_fall_back=lambda: can_fall_back and self._public_node is not None,
            explain=lambda error: self._explain_fall_back(pool_source, error),
            answered=lambda: self._name_host(network),
            max_age_s=self.settings.max_age_s,
        )

    def _live_on(self, pool_source: PoolSource, node: AnyNode) -> LiveSource:
        from swapcli.quoting.sources.live import LiveSource

        return LiveSource(
            pool_source,
            node,
            SYSTEM_CLOCK,
            max_age_s=self.settings.max_age_s,
            route_ttl_s=self.settings.route_ttl_s,
            tag=self.settings.state,
            close_node=node.close,
        )

    def report_fall_back(self, sentence: str) -> None:
        """Take note that quotes are not live from now on; each of them has this sentence among its warnings."""

    def _explain_fall_back(self, pool_source: PoolSource, error: UpstreamError) -> str:
        """Return what a quote warns of that could read no node: why, which state it is on, and what to do."""
        network, state = pool_source.network, pool_source.state_source
        ways = missing_node_hint(network)
        sentence = f"no live prices of {network.name}, so the state is {state.provenance}: {error.message}; {ways}"
        self.report_fall_back(sentence)
        return sentence

    def _connect_choice(self, choice: NodeChoice, network: Network) -> AnyNode:
        urls = _http_only(choice.urls, network)
        return self._connect_any(urls, network, choice.headers)

    def _open_first(self, choices: Iterable[NodeChoice], network: Network) -> AnyNode:
        """Return the node of the first of the choices that is of this network. Raises `UpstreamError`."""
        for choice in choices:
            if choice.origin is NodeOrigin.CATALOGUE:
                self._public_node = self._connect_public(network)
                return self._public_node
            node = self._open_variable(choice, network)
            if node is not None:
                return node
        raise UpstreamError(f"no node of {network.name} is known", hint=missing_node_hint(network))

    def _connect_public(self, network: Network) -> AnyPublicNode:
        from swapcli.state.rpc.http_proxy import find_proxy
        from swapcli.state.rpc.node_limits_file import NodeLimitsFile
        from swapcli.state.rpc.node_records import NodeRecords
        from swapcli.state.rpc.public_nodes import PublicEndpoint, open_public_node

        place = f"networks.{network.name}.public_rpc_urls"
        path = self.data_dir / _LIMITS_FILE
        return open_public_node(
            [
                PublicEndpoint(node, node_url(place, node.url).redacted, find_proxy(node.url, self._environ))
                for node in network.public_nodes
            ],
            kind=network.kind,
            chain_id=network.chain_id,
            block_time_s=network.block_time_s,
            live_timeout_s=self.settings.live_timeout_s,
            is_required=self.node_rules.requires_node,
            report=self._warn,
            records=NodeRecords(path),
            limits_file=NodeLimitsFile(path),
            burst=_QUOTE_REQUESTS,
        )

    def _open_variable(self, choice: NodeChoice, network: Network) -> AnyNode | None:
        """Return the node of `ETH_RPC_URL`; None if it is of another network or does not answer."""
        node = self._connect_choice(choice, network)
        try:
            node.read_head()
        except UpstreamError as error:
            node.close()
            if "found" not in error.details:
                self._warn(f"{ETH_RPC_URL} is left out: {error.message}")
            return None
        self._warn(f"reading the node of {ETH_RPC_URL}, {node.redacted_url}")
        return node

    def _name_host(self, network: Network) -> None:
        """Say once a day that a public node has been read."""
        if self._public_node is not None and self._named_hosts.is_new(host := self._public_node.host):
            self._warn(
                f"prices are read from {host}, a public node of {network.name} that sees tokens and amounts;"
                " --offline reads none"
            )

    def _state_needs_node(self, network: Network) -> InvalidOption:
        """Return the error for a block tag without a node that could read it."""
        if self.settings.market is not None:
            return InvalidOption("a market file is quoted as it is, so --state does not fit --market")
        return InvalidOption(
            f"--state is read from a node of {network.name}, but {self.node_rules.why_none()}",
            hint=missing_node_hint(network),
        )

    def _open_pool_source(self, name: str) -> PoolSource:
        """Return the store if there is one, else the embedded market."""
        store = self.stored(name)
        return self._store_source(store) if store is not None else self.open_embedded(name)

    def open_known_pools(self, name: str) -> PoolSource:
        """Return the source over the store of the network called `name`, else over its embedded market."""
        return self._open_pool_source(name)

    def open_embedded(self, name: str) -> PoolSource:
        """Return the source over the embedded market of the network called `name`. Raises as `market`."""
        from swapcli.quoting.open_market import open_market

        return self._market_source(open_market(name, self.find_network).market)

    def open_without_pools(self, name: str) -> PoolSource:
        """Return a source that knows the tokens and contracts of the network called `name`, and no pool."""
        return self._market_source(self.without_pools(name))

    def without_pools(self, name: str) -> MarketState:
        """Return a market of the network called `name` with the tokens of the catalogue and the settings alone."""
        from swapcli.core.model.market import MarketState, Provenance

        network = self.find_network(name)
        tokens = {token.address: token for token in network.tokens}
        return MarketState(network, tokens, {}, Provenance.RECORDED, "the settings", network.gas_price_wei)

    def open_file(self, *, skip_bad_pools: bool = False) -> PoolSource:
        """Return the source over the market file of the settings, of any network. Raises as `market`."""
        market = self.file_market(skip_bad_pools=skip_bad_pools)
        if market is None:
            raise InvalidOption("no market file is set", hint="name one")
        return self._fresh(self._market_source(market))

    def open_stored(self, name: str) -> PoolSource:
        """Return the source over the store of the network called `name`. Raises as `open_store`."""
        return self._fresh(self._store_source(self.open_store(name)))

    def _store_source(self, store: Store) -> PoolSource:
        from swapcli.quoting.sources.stored import StoreSource

        return StoreSource(store, SYSTEM_CLOCK, route_ttl_s=self.settings.route_ttl_s, memory=self._new_memory())

    def _market_source(self, market: MarketState) -> PoolSource:
        from swapcli.quoting.sources.in_memory import InMemorySource

        return InMemorySource(market, SYSTEM_CLOCK, route_ttl_s=self.settings.route_ttl_s, memory=self._new_memory())

    def _new_memory(self) -> SearchMemory | None:
        if not self.reuses_searches:
            return None
        from swapcli.core.routing.search_memory import SearchMemory

        return SearchMemory()

    def service_networks(self, retries: int = REMOTE_RETRIES) -> tuple[str, ...] | None:
        """Return the names of the service's networks that are known here; None if there is no service, or it does not
        list its networks.

        Raises `UpstreamError` for an invalid response, `UnknownNetwork` if none of its networks is known.
        """
        url = self.service_url
        if url is None:
            return None
        from swapcli.quoting.sources.remote import served_networks

        names = served_networks(url, api_key=self.api_key(), timeout_s=self.settings.timeout_s, retries=retries)
        known = None if names is None else tuple(name for name in names if self.chain_id(name) is not None)
        if names and not known:
            raise UnknownNetwork(f"the service serves {', '.join(names)}, but none of them is known here")
        return known

    @property
    def stores_folder(self) -> Path:
        """The folder of the stores, one file a network."""
        return self.settings.store_dir or self.data_dir

    def store_file(self, name: str) -> Path:
        """Return the path of the store of the network called `name`."""
        try:
            stem = self.network(name).name
        except UnknownNetwork:
            # Only a store may know the network, and its name may be no file name.
            from urllib.parse import quote

            stem = quote(name.lower(), safe="")
        return self.stores_folder / f"{stem}.sqlite"

    def store_files(self) -> list[Path]:
        """Return the paths of all stores in alphabetical order. Raises `ConfigError` as `stored`."""
        self._check_named_folder()
        return sorted(self.stores_folder.glob("*.sqlite"))

    def stored(self, name: str) -> Store | None:
        """Open the store of the network called `name`; return None if there is none, or it has no pools.

        Raises `ConfigError` if it cannot be opened or belongs to another network, or the user has named a folder that
        does not exist; `MarketError` if it is damaged.
        """
        self._check_named_folder()
        file = self.store_file(name)
        if not _may_exist(file):
            return None
        from swapcli.state.store import open_store

        store = open_store(str(file), self.network, name)
        if store.inventory.has_pools():
            return store
        store.close()
        return None

    def _check_named_folder(self) -> None:
        """Raise `ConfigError` if the call at hand names a folder of stores that does not exist: it is mistyped.

        A folder of the settings may be one that the first sync makes.
        """
        folder = self.settings.store_dir
        is_named = self.settings.origin("store_dir") in (FLAG_ORIGIN, ARGUMENT_ORIGIN)
        if folder is not None and is_named and not folder.is_dir():
            raise ConfigError(
                f"there is no folder {folder}",
                hint=f"swapcli sync NETWORK --store {folder} makes it",
                details={"folder": str(folder)},
            )

    def open_store(self, name: str) -> Store:
        """Open the store of the network called `name`. Raises as `stored`, and `ConfigError` if there is none."""
        store = self.stored(name)
        if store is not None:
            return store
        from swapcli.state.store import open_store

        # An unknown network raises its own error.
        return open_store(str(self.store_file(self.network(name).name)), self.network, name)

    def create_store(self, network: Network) -> Store:
        """Open the store of a network; create it and its folder if necessary.

        Raises `ConfigError` if that fails or the store belongs to another network, `MarketError` if it is damaged.
        """
        from swapcli.state.store import create_store

        file = self.store_file(network.name)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                f"cannot make the folder {file.parent}: {reason}",
                hint="name one that can be written to with --store",
                details={"folder": str(file.parent)},
            ) from None
        return create_store(str(file), network, self.find_network)

    def node(self, network: Network, warn: Warn | None = None) -> RpcNode | None:
        """Return the node of an EVM network that quotes read; None if there is none to read.

        If there are several, each replaces the one before it when that fails, and `warn` says why. Raises
        `ConfigError` for an invalid URL or if none is of http, `InvalidOption` for a network whose nodes have no EVM
        interface, and `UpstreamError`.
        """
        choices = list(self.node_rules.quoted_nodes(network))
        if not choices:
            return None
        check_has_eth_nodes(network)
        if choices[0].origin in (NodeOrigin.OPTION, NodeOrigin.SETTINGS):
            urls = _http_only(choices[0].urls, network)
            return self._connect(urls, network.chain_id, choices[0].headers, warn)
        return cast("RpcNode", self._open_first(choices, network))

    def second_node(self, network: Network) -> RpcNode | None:
        """Return a node that can deny what the one of `node` says: the next one of the settings, None without one.

        Raises `ConfigError` for an invalid URL.
        """
        first = self.node_rules.named_nodes(network)
        named = self.node_rules.named_nodes(network, uses_option=False)
        if first is None or named is None:
            return None
        used = next((url for url in first.urls if is_http_url(url.reveal())), None)
        others = [url for url in named.urls if is_http_url(url.reveal()) and url != used]
        return self._connect(others[:1], network.chain_id, named.headers) if others else None

    def checks_swaps(self, network: Network) -> bool:
        """Return whether a node rehearses swaps before they are signed.

        Raises `InvalidOption` if that is asked for and impossible.
        """
        mode, rules = self.settings.check, self.node_rules
        if mode is CheckMode.NEVER:
            return False
        is_possible = network.kind.traits.has_eth_nodes
        if not is_possible or rules.excludes_nodes:
            if mode is CheckMode.ALWAYS and self.settings.origin("check") == FLAG_ORIGIN:
                why = f"but {rules.why_none()}" if is_possible else f"not on {network.name}"
                raise InvalidOption(f"--check asks a node of an EVM network, {why}", hint="leave out --check")
            return False
        return mode is CheckMode.ALWAYS or rules.named_nodes(network) is not None

    @contextmanager
    def checking_node(self, network: Network) -> Iterator[RpcNode | None]:
        """Yield the node that rehearses swaps before they are signed, as the setting `check` says; None without one.

        A public node takes `_CHECK_REQUESTS`. Raises as `checks_swaps`, and `UpstreamError` if no public node answers.
        """
        if not self.checks_swaps(network):
            yield None
            return
        named = self.node_rules.named_nodes(network)
        if named is not None:
            with closing(self._connect(_http_only(named.urls, network), network.chain_id, named.headers)) as node:
                yield node
            return
        if self.node_rules.public_nodes(network) is None:
            raise InvalidOption(f"no node of {network.name} is known", hint=missing_node_hint(network))
        public = cast("PublicRpcNode", self._public_node or self._connect_public(network))
        try:
            public.prepare_check(_CHECK_REQUESTS)
            yield public
        finally:
            if public is not self._public_node:
                public.close()

    def require_node(self, network: Network) -> RpcNode:
        """Return the node of an EVM network that quotes read. Raises as `node`, and `InvalidOption` without one."""
        check_has_eth_nodes(network)
        node = self.node(network)
        if node is None:
            raise InvalidOption(
                f"this needs a node of {network.name}, but {self.node_rules.why_none()}",
                hint=missing_node_hint(network),
            )
        self._name_host(network)
        return node

    def check_named_nodes(self, network: Network) -> tuple[NodeReport, ...]:
        """Check each node of the command line or the settings. Raises `ConfigError` for an invalid URL."""
        urls, headers = self._http_urls(network)
        return self._check_each(urls, network, headers)

    def check_public_nodes(self, network: Network) -> tuple[NodeReport, ...]:
        """Check each public node of a network. Raises `ConfigError` for an invalid URL."""
        public = self.node_rules.public_nodes(network)
        return self._check_each(public.urls, network, {}) if public else ()

    def _check_each(
        self, urls: Sequence[Secret], network: Network, headers: Mapping[str, str]
    ) -> tuple[NodeReport, ...]:
        """Check nodes at the same time, in the order of their URLs."""
        from concurrent.futures import ThreadPoolExecutor
        from contextlib import closing

        from swapcli.state.rpc.node_checks import check_node

        def check(url: Secret) -> NodeReport:
            with closing(self._connect_any([url], network, headers)) as node:
                return check_node(node, network)

        with ThreadPoolExecutor(max(len(urls), 1)) as pool:
            return tuple(pool.map(check, urls))

    def _http_urls(self, network: Network) -> tuple[list[Secret], Mapping[str, str]]:
        """Return the http nodes of a network as `_node_urls`. Raises `ConfigError` if there are only others."""
        urls, headers = self._node_urls(network)
        return _http_only(urls, network), headers

    def resolve_name(self, name: str, network: Network) -> ResolvedName:
        """Return the address on `network` of an ENS name or Basename, read from a node.

        Raises `InvalidAddress` for a name without an address or that could deceive, `InvalidOption` and `ConfigError`
        without a node that knows it, and `UpstreamError`.
        """
        if not network.kind.traits.has_eth_nodes:
            raise InvalidAddress(f"{name} is not an address, and names of {network.name} are not resolved")
        if self.is_offline:
            raise InvalidOption(f"{name} is resolved by a node, which --offline excludes", hint="give the address")
        from swapcli.core.networks.name_services import find_name_service

        service = find_name_service(name)
        setting = "names_rpc_url" if service.network is None else f"networks.{service.network}.rpc_url"
        urls, headers = self._name_nodes(service, network)
        if not urls:
            where = service.network or "Ethereum"
            raise InvalidOption(
                f"{name} is a name of {service.title}, which a node of {where} resolves, but none is set",
                hint=f"set {setting} in the settings, or give the address",
                details={"name": name, "setting": setting},
            )
        http_urls = [url for url in urls if is_http_url(url.reveal())]
        if not http_urls:
            raise ConfigError(
                f"{urls[0].redacted} is not an http node: names are resolved over http",
                hint=f"set an http or https address as {setting}",
                details={"key": setting},
            )
        from contextlib import closing

        from swapcli.state.names import resolve_name

        with closing(self._connect(http_urls, service.chain_id, headers)) as node:
            return resolve_name(node, service, name, network.chain_id)

    def _name_nodes(self, service: NameService, network: Network) -> tuple[Sequence[Secret], Mapping[str, str]]:
        """Return the nodes that resolve the names of a service, and the headers of requests to them."""
        if service.network is None:
            return [url for url in [self.settings.names_rpc_url] if url], {}
        # --rpc-url is a node of the order's network.
        return self._node_urls(self.network(service.network), uses_option=network.name == service.network)

    def lasting_node(
        self, network: Network, warn: Warn | None = None, *, is_followed: bool = True, shares_load: bool = False
    ) -> LastingNode | None:
        """Return the node of a network for a command that lasts; None if none is set, or offline.

        Besides those of `node` it uses WebSocket and IPC nodes: the first of these announces new blocks unless nothing
        `is_followed`, and all replace http nodes that fail, or are read if there are none. With `shares_load`, all
        nodes share large reads, each within its limits. Raises as `node`.
        """
        urls, headers = self._node_urls(network)
        if not urls:
            return None
        return self._connect_lasting(urls, network, headers, warn, is_followed=is_followed, shares_load=shares_load)

    def service_node(self, network: Network, warn: Warn | None = None) -> LastingNode | None:
        """Return the lasting node that a service follows: that of the settings, and a public one only if the setting
        `live` requires one. None if there is none, or if no node may be read. Raises as `node`."""
        if self.node_rules.excludes_nodes:
            return None
        lasting = self.lasting_node(network, warn)
        if lasting is None and self.node_rules.requires_node:
            return self.any_lasting_node(network)
        return lasting

    def any_lasting_node(self, network: Network) -> LastingNode:
        """Return the lasting node of a network, else the public nodes of the catalogue, with a warning.

        Its nodes share large reads. Raises as `node`, and `InvalidOption` if there is no node at all.
        """
        lasting = self.lasting_node(network, shares_load=True)
        if lasting is not None:
            return lasting
        public = self.node_rules.public_nodes(network)
        if public is None:
            raise InvalidOption(f"no node of {network.name} is known", hint=missing_node_hint(network))
        lasting = self._connect_lasting(public.urls, network, {}, shares_load=True)
        shown = lasting.node.redacted_url
        self._warn(f"{network.name} has no node in the settings; using a public one, which may limit requests: {shown}")
        return lasting

    def _node_urls(self, network: Network, *, uses_option: bool = True) -> tuple[Sequence[Secret], Mapping[str, str]]:
        """Return the nodes that the user has named, and the headers of requests to them; no nodes if offline.

        With `uses_option`, the node of the command line replaces those of the settings.
        """
        named = self.node_rules.named_nodes(network, uses_option=uses_option)
        return (named.urls, named.headers) if named else ((), {})

    def _connect_lasting(
        self,
        urls: Sequence[Secret],
        network: Network,
        headers: Mapping[str, str],
        warn: Warn | None = None,
        *,
        is_followed: bool = True,
        shares_load: bool = False,
    ) -> LastingNode:
        from swapcli.state.rpc.head_source import POLLING_HINT, PollingHeads, SubscribedHeads, poll_interval_s
        from swapcli.state.rpc.nodes_by_kind import nodes_of_kind

        of_kind = nodes_of_kind(network.kind)
        if not of_kind.announce_blocks:
            urls = _http_only(urls, network)
        poll_s = poll_interval_s(network.block_time_s)
        has_live = any(not is_http_url(url.reveal()) for url in urls)
        heads = SubscribedHeads(poll_s) if has_live and is_followed else None
        in_order = sorted(urls, key=lambda url: not is_http_url(url.reveal()))
        node = self._connect_any(in_order, network, headers, warn, heads, shares_load=shares_load)
        hint = POLLING_HINT if of_kind.announce_blocks else None
        return LastingNode(node, heads or PollingHeads(poll_s, hint=hint))

    def _connect_any(
        self,
        urls: Sequence[Secret],
        network: Network,
        headers: Mapping[str, str],
        warn: Warn | None = None,
        heads: SubscribedHeads | None = None,
        *,
        shares_load: bool = False,
    ) -> AnyNode:
        """Return a node of a network of any kind."""
        from swapcli.state.rpc.nodes_by_kind import node_class, nodes_of_kind

        shares_load = shares_load and nodes_of_kind(network.kind).share_load
        documented = network.public_nodes
        return node_class(network.kind)(
            **self._node_arguments(
                urls, network.chain_id, headers, warn, heads, shares_load=shares_load, documented=documented
            )
        )

    def _connect(
        self,
        urls: Sequence[Secret],
        chain_id: int,
        headers: Mapping[str, str],
        warn: Warn | None = None,
        heads: SubscribedHeads | None = None,
        *,
        shares_load: bool = False,
        documented: Sequence[PublicNode] = (),
    ) -> RpcNode:
        from swapcli.state.rpc.rpc_node import RpcNode

        return RpcNode(
            **self._node_arguments(urls, chain_id, headers, warn, heads, shares_load=shares_load, documented=documented)
        )

    def _node_arguments(
        self,
        urls: Sequence[Secret],
        chain_id: int,
        headers: Mapping[str, str],
        warn: Warn | None,
        heads: SubscribedHeads | None = None,
        *,
        shares_load: bool = False,
        documented: Sequence[PublicNode] = (),
    ) -> dict[str, Any]:
        """Return the arguments of a node with these URLs: the first, and the others as its spares.

        Nodes that are `documented` public nodes keep to the limits that they publish.
        """
        from swapcli.state.rpc.http_proxy import find_proxy
        from swapcli.state.rpc.node_limits_file import NodeLimitsFile
        from swapcli.state.rpc.rpc_node import RpcEndpoint

        shown = dict(zip(urls, _number_duplicates([url.redacted for url in urls]), strict=True))
        endpoints = []
        for url, name in shown.items():
            proxy = find_proxy(url.reveal(), self._environ)
            endpoint = RpcEndpoint(url.reveal(), name, headers, proxy)
            if not is_http_url(endpoint.url):
                endpoint = endpoint._replace(connection=self._open_live(endpoint, chain_id, heads))
                heads = None
            endpoints.append(endpoint)
        first, *spares = endpoints
        return {
            "url": first.url,
            "redacted_url": first.redacted_url,
            "chain_id": chain_id,
            "timeout_s": self.settings.timeout_s,
            "headers": first.headers,
            "proxy": first.proxy,
            "connection": first.connection,
            "spares": spares,
            "documented": documented,
            "report": warn or self._warn,
            "limits_file": NodeLimitsFile(self.data_dir / _LIMITS_FILE),
            "burst": 0 if shares_load else _QUOTE_REQUESTS,
            "shares_load": shares_load,
        }

    def _open_live(self, endpoint: RpcEndpoint, chain_id: int, heads: SubscribedHeads | None) -> LiveConnection:
        from swapcli.state.rpc.subscribed_connection import LiveConnection

        return LiveConnection(
            endpoint.url,
            endpoint.redacted_url,
            chain_id=chain_id,
            timeout_s=self.settings.timeout_s,
            headers=endpoint.headers,
            proxy=endpoint.proxy,
            heads=heads,
        )

    def market(self, name: str, *, skip_bad_pools: bool = False) -> MarketState:
        """Return the market of the network called `name`: the market file of the settings, else the embedded market.

        Warns of skipped pools. Raises `InvalidInput` for an invalid file.
        """
        from swapcli.quoting.open_market import open_market

        file, networks = self.settings.market, self.find_network
        if file is not None:
            return self._read_market(
                lambda document: open_market(name, networks, document=document, skip_bad_pools=skip_bad_pools)
            )
        return open_market(name, networks).market

    def file_market(self, *, skip_bad_pools: bool = False) -> MarketState | None:
        """Return the market of the market file, of any network; None if no file is set."""
        from swapcli.state.markets.format import parse_market

        networks = self.find_network
        if self.settings.market is None:
            return None
        return self._read_market(
            lambda document: parse_market(document, networks=networks, skip_bad_pools=skip_bad_pools)
        )

    def _read_market(self, parse: Callable[[bytes], ParsedMarket]) -> MarketState:
        file = str(self.settings.market)
        try:
            parsed = parse(self._read(file))
        except MarketError as error:
            error.place = "stdin" if file == STDIN else file
            if isinstance(error, InvalidPoolState):
                error.hint = "--skip-bad-pools goes on without it"
            raise
        for bad in parsed.skipped:
            self._warn(f"skipped {bad.message}")
        return parsed.market


class ServicePools(NamedTuple):
    """Where the pools of each network of an HTTP service come from.

    `networks` have paths; `openers` by network return markets that do not change; `followed` follow the newest block;
    `check_nodes` by network are for balance checks alone, since a node belongs to one thread.
    """

    networks: list[Network]
    openers: dict[str, Callable[[], MarketState]]
    followed: list[AnyFollowed]
    check_nodes: dict[str, RpcNode]


def choose_service_pools(
    sources: QuoteSources,
    names: Sequence[str],
    *,
    skip_bad_pools: bool,
    warn_of_node: Callable[[str, str], object],
) -> ServicePools:
    """Choose the pools of a service: those of the market file, for its network alone; else, of each of the networks
    called `names`, those of the feed, else those of its store, else those of the embedded market. No names mean all
    networks.

    `warn_of_node` receives the network and the reason when another node replaces one that fails. Raises
    `InvalidOption`, `InvalidInput`, `UnknownNetwork`.
    """
    if sources.settings.service.feed_url is not None:
        return _choose_feeds(sources, sources.settings.service.feed_url, names, warn_of_node)
    market = sources.file_market(skip_bad_pools=skip_bad_pools)
    if market is None:
        return _choose_by_network(sources, names or network_names_from(sources.settings), warn_of_node)
    network = market.network
    if any(name.lower() not in (network.name.lower(), str(network.chain_id)) for name in names):
        raise InvalidOption(f"the market file is of {network.name} alone", hint="leave --networks out")
    return ServicePools([network], {network.name: lambda: market}, [], {})


def _choose_feeds(
    sources: QuoteSources, url: Secret, names: Iterable[str], warn_of_node: Callable[[str, str], object]
) -> ServicePools:
    from swapcli.core.encoding.redis_url import RedisUrl
    from swapcli.quoting.followers.feed_follower import FollowedFeed
    from swapcli.state.feed.feed_stream import FeedReader
    from swapcli.state.feed.redis_client import require_redis

    require_redis()
    for problem, is_set in (("--offline", sources.is_offline), ("a market file", sources.settings.market is not None)):
        if is_set:
            raise InvalidOption(
                f"a feed does not fit {problem}: its pools come from a Redis server", hint="leave one out"
            )
    server, timeout_s = RedisUrl.parse(url.reveal()), sources.settings.timeout_s
    networks = [sources.network(name) for name in names or network_names_from(sources.settings)]
    feeds: list[AnyFollowed] = [
        FollowedFeed(network, FeedReader(server, network.name, timeout_s)) for network in networks
    ]
    check_nodes = {network.name: _check_node(sources, network, warn_of_node) for network in networks}
    return ServicePools(networks, {}, feeds, {name: node for name, node in check_nodes.items() if node is not None})


def _check_node(sources: QuoteSources, network: Network, warn_of_node: Callable[[str, str], object]) -> RpcNode | None:
    """Return the node for balance checks on a network, None if there is none."""
    from functools import partial

    if not network.kind.traits.has_eth_nodes:
        return None
    if sources.node_rules.excludes_nodes:
        return None
    lasting = sources.lasting_node(network, partial(warn_of_node, network.name), is_followed=False)
    return lasting and cast("RpcNode", lasting.node)


def _choose_by_network(
    sources: QuoteSources, names: Iterable[str], warn_of_node: Callable[[str, str], object]
) -> ServicePools:
    from functools import partial

    from swapcli.quoting.followers.market_follower import FollowedMarket, FollowedStore
    from swapcli.state.markets.embedded import embedded_names

    pools_of_service = ServicePools([], {}, [], {})
    for name in names:
        network, store_file = _network_and_store(sources, name)
        pools_of_service.networks.append(network)
        market = partial(sources.market, network.name) if network.name in embedded_names() else None
        warn = partial(warn_of_node, network.name)
        pools, lasting = store_file or market, sources.service_node(network, warn)
        if pools is None:
            continue  # the service lists its tokens and protocols, and refuses orders
        if not isinstance(pools, Path) and lasting is None:
            pools_of_service.openers[network.name] = pools
            continue
        if isinstance(pools, Path):
            node, heads = lasting or (None, None)
            pools_of_service.followed.append(FollowedStore(network, sources.network, pools, node, heads))
        elif lasting is not None:
            pools_of_service.followed.append(FollowedMarket(network, sources.network, pools, *lasting))
        check_node = _check_node(sources, network, warn_of_node)
        if check_node is not None:
            pools_of_service.check_nodes[network.name] = check_node
    return pools_of_service


def _network_and_store(sources: QuoteSources, name: str) -> tuple[Network, Path | None]:
    """Return a network and the path of its store, if any. A network that only its store knows comes from there."""
    store = sources.stored(name)
    if store is None:
        return sources.network(name), None
    with store:
        return store.network, Path(store.path)


def check_has_eth_nodes(network: Network) -> None:
    """Raise `InvalidOption` for a network whose nodes have no EVM interface."""
    if not network.kind.traits.has_eth_nodes:
        raise InvalidOption(f"{network.name} is not an EVM network: its nodes use a different protocol")


def _http_only(urls: Sequence[Secret], network: Network) -> list[Secret]:
    """Return the http nodes. Raises `ConfigError` if there are only others."""
    http_urls = [url for url in urls if is_http_url(url.reveal())]
    if urls and not http_urls:
        raise _only_lasting_nodes(urls[0], network)
    return http_urls


def _only_lasting_nodes(url: Secret, network: Network) -> ConfigError:
    setting = f"networks.{network.name}.rpc_url"
    return ConfigError(
        f"{url.redacted} is not an http node: only swapcli sync and swapcli serve use WebSocket and IPC nodes",
        hint=f"set an http or https address as well, as {setting} or in {setting}s",
        details={"key": setting},
    )


def _number_duplicates(names: Sequence[str]) -> list[str]:
    """Return the names, with a number behind those that occur several times."""
    numbered = [f"{name} ({names[:at].count(name) + 1})" for at, name in enumerate(names)]
    return [whole if names.count(name) > 1 else name for name, whole in zip(names, numbered, strict=True)]


def _may_exist(file: Path) -> bool:
    """Return whether a file exists; True also if its folder may not be read, so that opening it raises the error."""
    try:
        file.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True
