"""Choose where the pools of each network of an HTTP service come from: a file, a feed, a store, the embedded market."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.quoting.config import Secret, network_names_from
from swapcli.quoting.openers.long_running_nodes import named_lasting_node, service_node
from swapcli.quoting.openers.markets import MarketOpener
from swapcli.quoting.openers.nodes import NodeOpener

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState
    from swapcli.quoting.followers.feed_follower import AnyFollowed
    from swapcli.state.rpc.rpc_node import RpcNode


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
    markets: MarketOpener,
    nodes: NodeOpener,
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
    settings = markets.setup.settings
    chosen = names or network_names_from(settings)
    if settings.service.feed_url is not None:
        return _choose_feeds(markets, nodes, settings.service.feed_url, chosen, warn_of_node)
    market = markets.file_market(skip_bad_pools=skip_bad_pools)
    if market is None:
        return _choose_by_network(markets, nodes, chosen, warn_of_node)
    network = market.network
    if any(name.lower() not in (network.name.lower(), str(network.chain_id)) for name in names):
        raise InvalidOption(f"the market file is for {network.name} alone", hint="leave --networks out")
    return ServicePools([network], {network.name: lambda: market}, [], {})


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
                f"a feed cannot be combined with {problem}: its pools come from a Redis server", hint="leave one out"
            )
    server, timeout_s = RedisUrl.parse(url.reveal()), setup.settings.timeout_s
    networks = [markets.networks.find(name) for name in names]
    feeds: list[AnyFollowed] = [
        FollowedFeed(network, FeedReader(server, network.name, timeout_s)) for network in networks
    ]
    check_nodes = {network.name: _check_node(nodes, network, warn_of_node) for network in networks}
    return ServicePools(networks, {}, feeds, {name: node for name, node in check_nodes.items() if node is not None})


def _check_node(nodes: NodeOpener, network: Network, warn_of_node: Callable[[str, str], object]) -> RpcNode | None:
    """Return the node for balance checks on a network, None if there is none."""
    if not network.kind.traits.has_eth_nodes or nodes.rules.excludes_nodes:
        return None
    lasting = named_lasting_node(nodes, network, partial(warn_of_node, network.name), is_followed=False)
    return lasting and cast("RpcNode", lasting.node)


def _choose_by_network(
    markets: MarketOpener, nodes: NodeOpener, names: Iterable[str], warn_of_node: Callable[[str, str], object]
) -> ServicePools:
    from swapcli.quoting.followers.market_follower import FollowedMarket, FollowedStore
    from swapcli.state.markets.embedded import embedded_names

    pools_of_service = ServicePools([], {}, [], {})
    for name in names:
        network, store_file = _network_and_store(markets, name)
        pools_of_service.networks.append(network)
        market = partial(markets.market, network.name) if network.name in embedded_names() else None
        warn = partial(warn_of_node, network.name)
        pools, lasting = store_file or market, service_node(nodes, network, warn)
        if pools is None:
            continue  # the service lists its tokens and protocols, and refuses orders
        if not isinstance(pools, Path) and lasting is None:
            pools_of_service.openers[network.name] = pools
            continue
        if isinstance(pools, Path):
            node, heads = lasting or (None, None)
            pools_of_service.followed.append(FollowedStore(network, markets.networks.find, pools, node, heads))
        elif lasting is not None:
            pools_of_service.followed.append(FollowedMarket(network, markets.networks.find, pools, *lasting))
        check_node = _check_node(nodes, network, warn_of_node)
        if check_node is not None:
            pools_of_service.check_nodes[network.name] = check_node
    return pools_of_service


def _network_and_store(markets: MarketOpener, name: str) -> tuple[Network, Path | None]:
    """Return a network and the path of its store, if any. A network that only its store knows comes from there."""
    store = markets.find_store(name)
    if store is None:
        return markets.networks.find(name), None
    with store:
        return store.network, Path(store.path)
