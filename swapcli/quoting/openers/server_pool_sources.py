"""Choose the source of each network's pools for an HTTP service: a file, a feed, a store or the embedded market."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from swapcli.core.errors import InvalidOption
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.state_source import is_real
from swapcli.core.records import NamedTuple
from swapcli.quoting.config import Secret, network_names_from
from swapcli.quoting.openers.long_running_nodes import LastingNode, named_lasting_node, service_node
from swapcli.quoting.openers.markets import MarketOpener
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.price_policy import PriceRequest

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState
    from swapcli.quoting.followers.feed_follower import AnyFollowed
    from swapcli.state.rpc.rpc_node import RpcNode
    from swapcli.state.rpc.witness_node import Witnesses


class ServicePools(NamedTuple):
    """The sources of each network's pools in an HTTP service.

    All `networks` have paths in the service. `openers`, by network, return markets that do not change, and the markets
    in `followed` follow the latest block. A network in both is served on its opener's market until a public node has
    been read. `check_nodes`, by network, are only for balance checks, because a node belongs to one thread. `modelled`
    are the networks that start on prices that are not real, and `price_request` is how the user requested such prices.
    `witnesses`, by network, confirm the state of payloads.
    """

    networks: list[Network]
    openers: dict[str, Callable[[], MarketState]]
    followed: list[AnyFollowed]
    check_nodes: dict[str, RpcNode]
    modelled: list[str]
    price_request: PriceRequest
    witnesses: dict[str, Witnesses]


def choose_service_pools(
    markets: MarketOpener,
    nodes: NodeOpener,
    names: Sequence[str],
    *,
    warn_of_node: Callable[[str, str], object],
) -> ServicePools:
    """Choose the pools of a service. A market file serves only its own network. Otherwise each of the networks called
    `names` is served from the feed, its store, the embedded market, or the pools that factories list for the tokens in
    its definition, in this order. Without `names`, all networks are served.

    `warn_of_node` receives the network and the reason when another node replaces one that fails, or when there are
    neither pools nor a node. Raises `InvalidOption`, `InvalidInput`, `UnknownNetwork`.
    """
    settings = markets.setup.settings
    chosen = names or network_names_from(settings)
    if settings.service.feed_url is not None:
        return _choose_feeds(markets, nodes, settings.service.feed_url, chosen, warn_of_node)
    market = markets.file_market()
    if market is None:
        return _choose_by_network(markets, nodes, chosen, warn_of_node)
    network = market.network
    if any(name.lower() not in (network.name.lower(), str(network.chain_id)) for name in names):
        raise InvalidOption(f"the market file is only for {network.name}", hint="remove --networks")
    modelled = [] if is_real(market.provenance) else [network.name]
    return ServicePools([network], {network.name: lambda: market}, [], {}, modelled, nodes.rules.price_request, {})


def _choose_feeds(
    markets: MarketOpener,
    nodes: NodeOpener,
    url: Secret,
    names: Iterable[str],
    warn_of_node: Callable[[str, str], object],
) -> ServicePools:
    from swapcli.core.encoding.redis_url import RedisUrl
    from swapcli.quoting.followers.feed_follower import FollowedFeed
    from swapcli.state.feed.feed_stream import FeedReader
    from swapcli.state.feed.redis_client import require_redis

    require_redis()
    setup = markets.setup
    for problem, is_set in (("--offline", setup.is_offline), ("a market file", setup.settings.market is not None)):
        if is_set:
            raise InvalidOption(
                f"a feed cannot be combined with {problem}: its pools come from a Redis server",
                hint="remove one of them",
            )
    server, timeout_s = RedisUrl.parse(url.reveal()), setup.settings.timeout_s
    networks = [markets.networks.find(name) for name in names]
    feeds: list[AnyFollowed] = [
        FollowedFeed(network, FeedReader(server, network.name, timeout_s)) for network in networks
    ]
    check_nodes = {network.name: _check_node(nodes, network, warn_of_node) for network in networks}
    nodes_to_check = {name: node for name, node in check_nodes.items() if node is not None}
    return ServicePools(networks, {}, feeds, nodes_to_check, [], nodes.rules.price_request, {})


def _check_node(nodes: NodeOpener, network: Network, warn_of_node: Callable[[str, str], object]) -> RpcNode | None:
    """Return the node for balance checks on a network; None if there is none."""
    if not network.kind.traits.has_eth_nodes or nodes.rules.excludes_nodes:
        return None
    lasting = named_lasting_node(nodes, network, partial(warn_of_node, network.name), is_followed=False)
    return lasting and cast("RpcNode", lasting.node)


def _choose_by_network(
    markets: MarketOpener, nodes: NodeOpener, names: Iterable[str], warn_of_node: Callable[[str, str], object]
) -> ServicePools:
    from swapcli.state.markets.embedded import embedded_names

    service = ServicePools([], {}, [], {}, [], nodes.rules.price_request, {})
    for name in names:
        network, store = _network_and_store(markets, name)
        service.networks.append(network)
        warn = partial(warn_of_node, network.name)
        lasting = service_node(nodes, network, warn)
        may_fall_back = lasting is not None and lasting.is_public and not nodes.rules.requires_node
        witnesses = nodes.service_witnesses(network, is_public=lasting is not None and lasting.is_public)
        if lasting is not None and witnesses is not None:
            service.witnesses[network.name] = witnesses
        if store is not None:
            _add_store(service, network, markets, store, lasting, may_fall_back=may_fall_back)
        elif network.name in embedded_names():
            _add_market(service, network, markets, lasting, may_fall_back=may_fall_back)
        elif lasting is not None:
            _add_found_pools(service, network, markets, lasting)
        else:
            # The service then lists its tokens and protocols, and rejects orders.
            reason, _ = nodes.rules.explain_missing_pools(network)
            warn(f"{network.name} has no pools, so its orders are rejected: {reason}")
            continue
        check_node = _check_node(nodes, network, warn_of_node)
        if check_node is not None:
            service.check_nodes[network.name] = check_node
    return service


def _add_market(
    service: ServicePools,
    network: Network,
    markets: MarketOpener,
    lasting: LastingNode | None,
    *,
    may_fall_back: bool,
) -> None:
    """Serve the embedded market, with pool state from the node, if there is one."""
    from swapcli.quoting.followers.market_follower import FollowedMarket

    load = partial(markets.market, network.name)
    if lasting is not None:
        followed = FollowedMarket(network, markets.networks.find, load, lasting.node, lasting.heads)
        service.followed.append(followed)
    if lasting is None or may_fall_back:
        service.openers[network.name] = load
        service.modelled.append(network.name)


def _add_found_pools(service: ServicePools, network: Network, markets: MarketOpener, lasting: LastingNode) -> None:
    """Serve the pools between the definition's tokens, which the node finds at the start."""
    from swapcli.quoting.followers.market_follower import FollowedMarket
    from swapcli.quoting.openers.listed_pools import find_listed_pools

    load = partial(find_listed_pools, network, lasting.node, markets.setup.stores_folder)
    service.followed.append(FollowedMarket(network, markets.networks.find, load, lasting.node, lasting.heads))


def _add_store(
    service: ServicePools,
    network: Network,
    markets: MarketOpener,
    store: _StoreFile,
    lasting: LastingNode | None,
    *,
    may_fall_back: bool,
) -> None:
    """Serve a store. A store that no node fills is refilled from a node; until a public node responds, its own state
    is served."""
    from swapcli.quoting.followers.market_follower import FollowedStore, read_stored_market

    node, heads = (lasting.node, lasting.heads) if lasting is not None else (None, None)
    followed = FollowedStore(network, markets.networks.find, store.path, node, heads)
    service.followed.append(followed)
    if may_fall_back and store.provenance is not Provenance.SYNCED:
        service.openers[network.name] = partial(read_stored_market, followed)
    if not is_real(store.provenance) and (lasting is None or may_fall_back):
        service.modelled.append(network.name)


class _StoreFile(NamedTuple):
    path: Path
    provenance: Provenance | None


def _network_and_store(markets: MarketOpener, name: str) -> tuple[Network, _StoreFile | None]:
    """Return a network and its store, if any. A network that only a store knows comes from that store."""
    store = markets.find_quotable_store(name)
    if store is None:
        return markets.networks.find(name), None
    with store:
        return store.network, _StoreFile(Path(store.path), store.read_pools(()).provenance)
