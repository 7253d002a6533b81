"""Recorded swaps: what a real chain paid, in the form that a stranger's program replays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest

from swapcli.core.errors import InvalidInput, UpstreamError
from swapcli.core.model.order import Order
from swapcli.core.networks.address import parse_address
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.verification.recent_verification import verify_recent_swaps
from swapcli.quoting.verification.recording import RecordedPool, record_recent, record_transaction
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.swap_events import find_swaps
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import DEPLOYER
from tests.chain.contract_fixture import WETH
from tests.chain.trader import USER, Trader
from tests.recorded.replay import Outcome, replay
from tests.state.mined.test_swap_verification import block_number as newest_block
from tests.state.mined.test_swap_verification import (
    mined_since,
    trade_in_one_block,
    verify,
    verifying_node,
)

FIELDS = {"family", "source", "tokens", "decimals", "fee_ppm", "state", "swaps", "sequential", "note"}


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    with verifying_node(trader) as node:
        yield node


def check_replays(recorded: RecordedPool, trader: Trader) -> int:
    """Require that the document, read back from JSON, pays what the contracts did; return the number of swaps."""
    text = json.dumps(recorded.document())
    assert not any(secret in text.lower() for secret in (USER.lower(), DEPLOYER.lower(), "127.0.0.1", "localhost"))
    document = json.loads(text)
    assert document.keys() == FIELDS
    assert set(document["tokens"]) <= {*trader.market.tokens}
    swaps = [*replay(document)]
    assert {swap.outcome for swap in swaps} == {Outcome.EQUAL}
    return len(swaps)


def test_a_recorded_transaction_is_replayed_from_its_document(trader: Trader, node: RpcNode) -> None:
    first = newest_block(trader.chain) + 1
    for trade in trader.trades(Random("recorded trades"), 2):
        trader.execute(trade)
    recorded, families = 0, set()
    for transaction in mined_since(trader.chain, first):
        receipt = node.read_receipt(transaction)
        if receipt is None or not find_swaps(receipt.logs):
            continue
        found = record_transaction(verify(trader, node, transaction))
        found.check()
        assert not found.skipped
        assert all(transaction in each.document()["source"] for each in found.pools)
        recorded += sum(check_replays(each, trader) for each in found.pools)
        families |= {each.pool.family for each in found.pools}
    assert recorded >= 8
    assert len(families) >= 3


def test_swaps_of_one_block_follow_one_another(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    pairs = ((WETH, "USDC"), ("USDC", WETH), (WETH, "USDC"))
    orders = [Order(tokens[a], tokens[b], (k + 1) * 10 ** (tokens[a].decimals + 1)) for k, (a, b) in enumerate(pairs)]
    transactions = trade_in_one_block(trader, orders)
    last = record_transaction(verify(trader, node, transactions[-1]))
    assert sum(check_replays(each, trader) for each in last.pools) == last.swaps
    assert max(len(each.swaps) for each in last.pools) >= 3
    recent = record_recent(verify_recent_swaps(node, InMemorySource(trader.market, SYSTEM_CLOCK), 3))
    places = [(each.block, each.pool.key) for each in recent.pools]
    assert len(places) == len(set(places))
    assert sum(check_replays(each, trader) for each in recent.pools) == recent.swaps >= last.swaps


def test_a_swap_after_a_change_of_liquidity_is_left_out(trader: Trader, node: RpcNode) -> None:
    place = next(place for place in trader.world.places if place.protocol == "uniswapV3")
    lower, upper = (sign * 10 * place.tick_spacing for sign in (-1, 1))
    provider = trader.world.provider
    call = provider.calldata("mint", place.contract.address, lower, upper, 10**12)
    mint = {"from": DEPLOYER, "to": provider.address, "data": f"0x{call.hex()}", "gas": hex(12_000_000)}
    sold, bought = (trader.world.tokens[trader.world.symbol(each)] for each in place.tokens)
    transactions = trade_in_one_block(trader, [Order(sold, bought, 10 ** (sold.decimals + 2))], before=[mint])
    for transaction in transactions:
        receipt = node.read_receipt(transaction)
        if receipt and find_swaps(receipt.logs):
            found = record_transaction(verify(trader, node, transaction))
            assert place.key not in {each.pool.key for each in found.pools}
            reasons = [each.reason for each in found.skipped if each.pool == place.key]
            assert len(reasons) == 1
            assert "its pool changed" in reasons[0]


def test_one_pool_is_recorded_by_its_address(trader: Trader, node: RpcNode) -> None:
    place = next(place for place in trader.world.places if place.protocol == "uniswapV2")
    sold, bought = (trader.world.tokens[trader.world.symbol(each)] for each in place.tokens)
    market = trader.market
    trader.market = market._replace(pools={place.key: market.pools[place.key]})
    trade_in_one_block(trader, [Order(sold, bought, 10**sold.decimals)])
    for pools in (trader.market.pools, {}):  # a known pool, and one that only its contract names
        known = InMemorySource(market._replace(pools=pools), SYSTEM_CLOCK)
        found = record_recent(verify_recent_swaps(node, known, 5, pool=parse_address(place.key, market.network.kind)))
        assert [each.pool.key for each in found.pools] == [place.key]
        assert check_replays(found.pools[0], trader) == 1
    with pytest.raises(InvalidInput, match="is not a known pool"):
        verify_recent_swaps(node, known, 5, pool=USER)
    with pytest.raises(UpstreamError, match="no swap could be recorded"):
        record_recent(verify_recent_swaps(node, known, 5, pool=place.key, max_requests=1)).check()
