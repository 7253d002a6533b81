"""Choose the source of quotes: a remote service, a market file, a store or the embedded market, with or without a node.

Both commands and the library use this module; no other code decides. It prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption, UnknownNetwork
from swapcli.quoting.config.source_readers import FLAG_ORIGIN
from swapcli.quoting.live_choice import NodeOrigin, missing_node_hint, no_known_node, own_node_hint
from swapcli.quoting.openers.markets import MarketOpener
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.openers.pool_sources import PoolSourceOpener
from swapcli.quoting.openers.router_memory import KnownNetworks, RouterMemory
from swapcli.quoting.openers.user_setup import UserSetup
from swapcli.quoting.price_policy import check_use
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.state_source import StateSource
    from swapcli.quoting.config import Settings
    from swapcli.quoting.sources.live import LiveSource
    from swapcli.quoting.sources.quote_source import PoolSource, QuoteSource
    from swapcli.state.rpc.connect_nodes import AnyNode

REMOTE_RETRIES = 2


OnFallBack = Callable[[str, str], object]
"""Called with the reason why quotes are no longer live, as a sentence, and a hint on how to change that."""


def _say_nothing(sentence: str, hint: str) -> None:
    del sentence, hint


def open_source_chooser(setup: UserSetup, *, on_fall_back: OnFallBack = _say_nothing) -> SourceChooser:
    """Return a chooser of sources for a setup, which opens networks, markets and nodes as needed."""
    networks = KnownNetworks(setup.settings, RouterMemory(setup.stores_folder))
    return SourceChooser(MarketOpener(setup, networks), NodeOpener(setup), on_fall_back=on_fall_back)


class SourceChooser:
    """The chooser of the source of quotes for a network, among those that `markets` and `nodes` can open.

    `on_fall_back` is called once with the reason for a fallback, which is also among the warnings of each quote.
    """

    def __init__(self, markets: MarketOpener, nodes: NodeOpener, *, on_fall_back: OnFallBack) -> None:
        self.markets = markets
        self.nodes = nodes
        self.networks = markets.networks
        self.pools = PoolSourceOpener(markets)
        self._setup = markets.setup
        self._settings = markets.setup.settings
        self._on_fall_back = on_fall_back

    @property
    def setup(self) -> UserSetup:
        """The user's setup."""
        return self._setup

    def with_settings(self, settings: Settings) -> SourceChooser:
        """Return a chooser with different settings."""
        return open_source_chooser(self._setup._replace(settings=settings), on_fall_back=self._on_fall_back)

    @property
    def service_url(self) -> str | None:
        """The URL of the remote service to use, or None if this process computes quotes.

        If both a service and a market file are set, the one given on the command line is used. Raises `InvalidOption`
        if both or neither of them come from the command line.
        """
        settings = self._settings
        if self._setup.is_offline:
            if settings.origin("api_url") == FLAG_ORIGIN:
                raise InvalidOption(
                    "a service is reached over the network, so --offline cannot be combined with --api-url",
                    hint="remove one of them; to accept a service's modelled prices, set SWAPCLI_LIVE=never",
                )
            return None
        if settings.api_url is None or settings.market is None:
            return settings.api_url
        by_flag = [settings.origin(key) == FLAG_ORIGIN for key in ("api_url", "market")]
        if by_flag[0] == by_flag[1]:
            raise InvalidOption(
                "a service quotes on its own market, so --api-url cannot be combined with --market",
                hint="give one of them",
            )
        return settings.api_url if by_flag[0] else None

    def open(self, name: str, *, retries: int = REMOTE_RETRIES) -> QuoteSource:
        """Return the source of quotes on the network called `name`.

        This is the service if one is set, otherwise the market file, the store or the embedded market, in this order.
        The source reads an order's pools from the nodes in the settings, otherwise from public nodes. Raises
        `InvalidInput`, `UnknownNetwork`.
        """
        if self.service_url is None:
            return self.open_local(name)
        if self._setup.block is not None:
            raise self._no_block_of_service()
        if self._setup.rpc_url is not None:
            raise InvalidOption("--rpc-url has no effect with --api-url: the service uses its own node")
        if self._settings.origin("block") == FLAG_ORIGIN:
            raise self._no_block_of_service()
        return self.open_service(name, retries=retries)

    def open_service(
        self, name: str, url: str | None = None, *, retries: int = REMOTE_RETRIES, sends_key: bool = True
    ) -> QuoteSource:
        """Return the source of the remote service at `url`, by default at the URL in the settings.

        With `sends_key`, requests carry the API key from the settings. Raises the same errors as `open`, also if no
        service is set.
        """
        from swapcli.quoting.sources.remote import RemoteSource

        url = url or self._settings.api_url
        if url is None:
            raise InvalidOption("no service is set", hint="give --api-url URL")
        key, timeout_s = self._setup.api_key() if sends_key else None, self._settings.timeout_s
        network = self.networks.find(name)
        return RemoteSource(
            url,
            network,
            SYSTEM_CLOCK,
            api_key=key,
            timeout_s=timeout_s,
            retries=retries,
            check_state=partial(self._check_state, network),
        )

    def service_networks(self, retries: int = REMOTE_RETRIES) -> tuple[str, ...] | None:
        """Return the names of the service's networks that are known here, or None if there is no service, or if it does
        not list its networks.

        Raises `UpstreamError` for an invalid response, `UnknownNetwork` if none of its networks is known.
        """
        url = self.service_url
        if url is None:
            return None
        from swapcli.quoting.sources.remote import served_networks

        key, timeout_s = self._setup.api_key(), self._settings.timeout_s
        names = served_networks(url, api_key=key, timeout_s=timeout_s, retries=retries)
        known = None if names is None else tuple(name for name in names if self.networks.chain_id(name) is not None)
        if names and not known:
            listed = ", ".join(names)
            raise UnknownNetwork(f"this version of swapcli supports none of the service's networks: {listed}")
        return known

    def open_live(self, name: str) -> QuoteSource:
        """Return the source that reads pools from nodes: the store's pools, otherwise the embedded market's pools.

        Its quotes raise `UpstreamError` if no node responds. Raises `ConfigError` for an invalid node URL, and
        `InvalidOption` if there is no node.
        """
        pool_source = self.pools.open_known(name)
        live = self._live_source(pool_source, may_fall_back=False)
        if live is None:
            network = pool_source.network
            raise InvalidOption(f"no node is set for {network.name}", hint=missing_node_hint(network, "rpc_url"))
        return live

    def open_local(self, name: str) -> QuoteSource:
        """Return the source that quotes in this process, even if a service is set. Raises the same errors as `open`."""
        live = None
        if self._setup.block is not None:
            self._check_past_block()
        if self._settings.market is not None:
            if self._setup.rpc_url is not None:
                raise InvalidOption(
                    "a market file is never updated from a node, so --rpc-url cannot be combined with --market",
                    hint="give one of them",
                )
            pool_source = self.pools.over_market(self.markets.market(name))
        else:
            pool_source = self.pools.open_known(name)
            live = self._live_source(pool_source)
        if live is not None:
            return live
        if self._setup.block is not None or self._settings.origin("block") == FLAG_ORIGIN:
            raise self._no_node_for("--block", pool_source.network)
        self._check_state(pool_source.network, pool_source.state_source)
        return self.pools.check_age(pool_source)

    def _check_state(self, network: Network, state: StateSource) -> None:
        """Raise `ModelledState` unless the setup allows prices on this state."""
        setup = self._setup
        check_use(state, setup.price_use, setup.node_rules.price_request, node_hint=own_node_hint(network))

    def _live_source(self, pool_source: PoolSource, *, may_fall_back: bool = True) -> QuoteSource | None:
        """Return the source that reads the pools from nodes; None if there are no nodes to read.

        If the user has named no node and the others fail, it quotes on the pool source's own state if it
        `may_fall_back`; `live` and a block tag on the command line exclude that. Raises as `open_live`.
        """
        network, rules, nodes = pool_source.network, self._setup.node_rules, self.nodes
        choices = list(rules.quoted_nodes(network))
        if not choices:
            if rules.requires_node:
                raise no_known_node(network)
            return None
        if choices[0].origin in (NodeOrigin.OPTION, NodeOrigin.SETTINGS):
            return self._live_on(pool_source, nodes.open_choice(choices[0], network))
        from swapcli.quoting.sources.public import PublicSource

        is_recent = self._setup.block is None and self._settings.origin("state") != FLAG_ORIGIN
        can_fall_back = may_fall_back and not rules.requires_node and is_recent

        return PublicSource(
            pool_source,
            lambda: self._live_on(pool_source, nodes.open_first(choices, network)),
            may_fall_back=lambda: can_fall_back and not nodes.reads_named_node,
            explain=partial(nodes.why_not_live, network),
            fall_back=partial(self._fall_back, network),
            answered=lambda: nodes.name_public_host(network),
            max_age_s=self._settings.max_age_s,
        )

    def _live_on(self, pool_source: PoolSource, node: AnyNode) -> LiveSource:
        from swapcli.quoting.sources.live import LiveSource

        route_ttl_s, network = self._settings.route_ttl_s, pool_source.network
        checks = self.nodes.token_checks(network)
        if self._setup.block is not None:
            from swapcli.state.rpc.block_view import view_past_block

            return LiveSource(
                pool_source,
                view_past_block(node, self._setup.block),
                SYSTEM_CLOCK,
                route_ttl_s=route_ttl_s,
                tag=None,
                close_node=node.close,
                token_checks=checks,
            )
        return LiveSource(
            pool_source,
            node,
            SYSTEM_CLOCK,
            max_age_s=self._settings.max_age_s,
            route_ttl_s=route_ttl_s,
            tag=self._settings.block,
            close_node=node.close,
            witnesses=self.nodes.witnesses(node, network),
            token_checks=checks,
        )

    def _fall_back(self, network: Network, state: StateSource) -> None:
        """Report why quotes are not live. Raise `ModelledState` if they must be."""
        self._check_state(network, state)
        self._on_fall_back(state.live_failure, own_node_hint(network))

    def _check_past_block(self) -> None:
        """Raise `InvalidOption` if the command line also names a different state."""
        settings = self._settings
        if settings.market is not None:
            raise InvalidOption("a market file is quoted as it is, so --block cannot be combined with --market")
        if settings.origin("max_age_s") == FLAG_ORIGIN:
            raise InvalidOption(
                "the state at a past block never changes, so --block N cannot be combined with --max-age"
            )

    @staticmethod
    def _no_block_of_service() -> InvalidOption:
        return InvalidOption("a service quotes on its own state, so --block cannot be combined with --api-url")

    def _no_node_for(self, option: str, network: Network) -> InvalidOption:
        """Return the error for a block option without a node that could read the block."""
        if self._settings.market is not None:
            return InvalidOption(
                f"a market file is never updated from a node, so {option} cannot be combined with --market"
            )
        rules = self._setup.node_rules
        problem = f"{option} is read from a node of {network.name}, but {rules.why_no_node()}"
        return InvalidOption(problem, hint=rules.hint_without_node(network))
