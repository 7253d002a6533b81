"""The newest swaps of real pools on a node, found backwards within its limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from random import Random

import pytest

from swapcli.families.reading.calls import Log
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.mined.recent_swaps import RecentSwaps, find_recent_swaps
from swapcli.state.mined.swap_events import find_swaps
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.node.server import RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.trader import USER, Trader
from tests.state.mined.test_swap_verification import balancer_deployment, mined_since, trade_at_random

MAX_BLOCKS = 3


@pytest.fixture
def traded(trader: Trader) -> Trader:
    network = trader.world.network
    trader.world.network = network._replace(deployments=(*network.deployments, balancer_deployment(trader)))
    trader.market = trader.market._replace(network=trader.world.network)
    trade_at_random(trader, "recent swaps", 8)
    return trader


def refs_of(trader: Trader) -> dict[str, list[PoolRef]]:
    refs: dict[str, list[PoolRef]] = {}
    for pool in trader.market.pools.values():
        ref = ref_of_pool(pool, trader.world.network)
        if ref is not None and pool.protocol != "curveFi":  # its model announces no swaps
            refs.setdefault(pool.protocol, []).append(ref)
    return refs


def search(trader: Trader, node: RpcNode, count: int, may_continue: Sequence[bool] = ()) -> RecentSwaps:
    answers = iter(may_continue)
    newest = node.read_head().block.number
    return find_recent_swaps(
        node, trader.world.network, refs_of(trader), newest, count, lambda: next(answers, not may_continue)
    )


def mined_swaps(trader: Trader, node: RpcNode) -> Iterator[tuple[str, int, int, str]]:
    """Yield key, block, first log and transaction of every swap, the newest first, from all receipts."""
    for transaction in reversed(mined_since(trader.chain, 1)):
        receipt = node.read_receipt(transaction)
        assert receipt is not None
        for event in reversed(find_swaps(receipt.logs)):
            yield event.key, receipt.block_number, event.first_log, transaction


def test_the_newest_swaps_of_each_protocol_are_found(traded: Trader, node: RpcNode) -> None:
    protocol_of = {ref.key: name for name, refs in refs_of(traded).items() for ref in refs}
    expected: dict[str, list[tuple[str, int, int, str]]] = {name: [] for name in refs_of(traded)}
    for swap in mined_swaps(traded, node):
        if swap[0] in protocol_of:
            expected[protocol_of[swap[0]]].append(swap)
    found = search(traded, node, 4)
    assert found.problem is None
    assert {
        name: [(each.event.key, each.block_number, each.event.first_log, each.transaction) for each in swaps]
        for name, swaps in found.swaps.items()
    } == {name: swaps[:4] for name, swaps in expected.items()}
    assert sum(map(len, found.swaps.values())) > 8
    short = {name for name, swaps in found.swaps.items() if len(swaps) < 4}
    assert {name for name, first in found.searched_from.items() if first == 1} >= short


def test_narrow_ranges_find_the_same(traded: Trader, node: RpcNode) -> None:
    def limits(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        return [
            refusal(answer, -32005, f"query exceeds max block range {MAX_BLOCKS}")
            if request["method"] == "eth_getLogs" and _width(request) > MAX_BLOCKS
            else answer
            for request, answer in zip(requests, answers, strict=True)
        ]

    with open_proxy(traded.chain.node.port) as proxy:
        proxy.always = rewrites(limits)
        endpoint = RpcEndpoint(f"http://127.0.0.1:{proxy.server_port}", "the narrow node")
        with closing(RpcNode([endpoint], CHAIN_ID, NodePolicy(pause=bool))) as narrow:
            assert search(traded, narrow, 4).swaps == search(traded, node, 4).swaps
        assert proxy.methods.count("eth_getLogs") > 20


def test_a_search_that_may_not_continue_says_how_far_it_came(traded: Trader, node: RpcNode) -> None:
    newest = node.read_head().block.number
    found = search(traded, node, 1_000, may_continue=[True, False])
    assert set(found.searched_from.values()) == {newest - 63}
    assert all(swap.block_number >= newest - 63 for swaps in found.swaps.values() for swap in swaps)


class _Forging:
    """A node whose events all come from another address than they did."""

    def __init__(self, node: RpcNode) -> None:
        self._node, self.limits = node, node.limits

    def read_logs(self, query: LogFilter) -> list[Log]:
        return [log._replace(address=USER) for log in self._node.read_logs(query)]


def test_an_event_of_another_contract_is_no_swap(traded: Trader, node: RpcNode) -> None:
    newest = node.read_head().block.number
    forging = _Forging(node)
    found = find_recent_swaps(
        forging,  # type: ignore[arg-type]
        traded.world.network,
        refs_of(traded),
        newest,
        2,
        lambda: True,
    )
    assert not any(found.swaps.values())


def test_pools_are_chosen_at_random_but_their_swaps_are_not(traded: Trader, node: RpcNode) -> None:
    """The order in which pools are given changes nothing."""
    refs = refs_of(traded)
    shuffled = {name: Random(name).sample(each, len(each)) for name, each in reversed(refs.items())}
    newest = node.read_head().block.number
    found = find_recent_swaps(node, traded.world.network, shuffled, newest, 3, lambda: True)
    assert found.swaps == search(traded, node, 3).swaps


def _width(request: RpcRequest) -> int:
    query = request["params"][0]
    return int(query["toBlock"], 16) - int(query["fromBlock"], 16) + 1
