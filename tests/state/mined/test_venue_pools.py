"""The pools whose swaps are looked for: known ones first, and of other protocols those that real factories name."""

from __future__ import annotations

from swapcli.state.mined.venue_pools import MAX_POOLS, find_venue_pools
from swapcli.state.rpc.multicall import MulticallReader
from tests.chain.market_reader import read_market
from tests.chain.small_chain import SmallTestChain
from tests.chain.trader import Trader
from tests.support.chain import connected


def test_factories_name_the_pools_of_unknown_protocols(small_chain: SmallTestChain) -> None:
    network = small_chain.network
    with connected(small_chain.chain) as node:
        reader = MulticallReader(node, node.read_head().block, network.multicall)
        found = find_venue_pools(reader, network, network.protocols, ())
    assert {name: {ref.key for ref in refs} for name, refs in found.pools.items()} == {
        "uniswapV2": {each.address for each in small_chain.pairs},
        "uniswapV3": {each.address for each in small_chain.pools},
        "uniswapV4": {each.key for each in small_chain.singletons},
    }
    assert all(ref.last_read is None for refs in found.pools.values() for ref in refs)
    assert "not supported" in found.reasons["unknownDex"]
    assert "has no contract" in found.reasons["pancakeSwapV3"]
    assert found.pools.keys() | found.reasons.keys() == {protocol.amm_name for protocol in network.protocols}


def test_known_pools_need_no_node(trader: Trader) -> None:
    """A reader without a node would fail at the first call."""
    network = trader.world.network
    pools = read_market(trader.world).pools.values()
    reader = MulticallReader(None, 1, network.multicall)  # type: ignore[arg-type]
    found = find_venue_pools(reader, network, network.protocols, pools, asks_factories=False)
    keys = {ref.key for refs in found.pools.values() for ref in refs}
    assert keys == {pool.key for pool in pools}
    assert all(len(refs) <= MAX_POOLS for refs in found.pools.values())
