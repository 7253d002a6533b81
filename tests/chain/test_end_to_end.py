"""What a quote says is what a signed and mined transaction pays out, to the unit, on a local chain.

State is read from the node, quoted, built, signed with a throw-away key and mined; the pools that were touched are then
read again and must be what the replay left. Seeds are fixed.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from swapcli.core.model.order import Order
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.payload.evm import build_approval, build_transactions
from swapcli.testing.evm import RevertedError, selector
from tests.chain.contract_fixture import PROTOCOLS, WETH, ContractFixture
from tests.chain.trader import (
    USER,
    V4_FEATURES,
    Trade,
    Trader,
    check_outcome,
    v4_features,
    with_calldata,
    with_unreachable_minimum,
)
from tests.examples import examples, seeds

ROUTES_A_SEED = 100
SEEDS = 6


@pytest.mark.parametrize("seed", seeds(1, full=SEEDS))
def test_what_is_received_is_what_was_quoted(trader: Trader, seed: int) -> None:
    rng = Random(f"end to end {seed}")
    seen: Counter[str] = Counter()
    for trade in trader.trades(rng, ROUTES_A_SEED):
        outcome = trader.execute(trade)
        check_outcome(trade, outcome)
        assert trader.pools_of(trade) == trade.replay.pools_after
        seen.update(features(trader.world, trade))
    assert seen["routes"] == ROUTES_A_SEED
    check_variety(seen)
    assert untouched(trader.world)


def test_the_routes_are_enough() -> None:
    assert SEEDS * ROUTES_A_SEED >= 500


def features(world: ContractFixture, trade: Trade) -> set[str]:
    """What a route has, for counting."""
    call, result = trade.payload.router_call, trade.result
    names = {protocol.id: protocol.amm_name for protocol in world.network.protocols}
    found = {"routes", trade.kind, call.route.swap_type.name, *(names[swap.protocol_id] for swap in call.swaps)}
    found = found.union(*map(v4_features, trade.replay.pools_after.values()))
    found |= {f"{len(result.segments)} segments", f"{max(len(segment.hops) for segment in result.segments)} hops"}
    integrator: Integrator | None = result.integrator
    if integrator:
        found.add("fee" if integrator.fee_bps else "surplus")
    return found


def check_variety(seen: Counter[str]) -> None:
    families = [protocol.amm_name for protocol in PROTOCOLS if protocol.family not in (None, "wrapper")]
    shapes = [f"{count} segments" for count in range(1, 9)] + [f"{count} hops" for count in range(1, 5)]
    kinds = ["quoted", "posted", "reverse", "fee", "surplus", *V4_FEATURES, *(each.name for each in SwapType)]
    assert [each for each in (*families, *shapes, *kinds) if not seen[each]] == []


def untouched(world: ContractFixture) -> bool:
    """The router holds nothing."""
    tokens = [token.address for token in world.tokens.values()]
    return not any(world.balance(token, world.router.address) for token in (*tokens, "0x" + "0" * 40))


@pytest.mark.parametrize("back", [False, True])
def test_wrapping_and_unwrapping_are_mined_too(trader: Trader, back: bool) -> None:
    tokens = trader.market.network.native, trader.world.tokens[WETH]
    trade = trader.quote_trade(Order(*(tokens[::-1] if back else tokens), 12_345))
    check_outcome(trade, trader.execute(trade))
    assert trade.amount_due == 12_345


def test_a_minimum_one_unit_too_high_reverts(trader: Trader) -> None:
    rng = Random("a unit more")
    for trade in trader.trades(rng, 30):
        *approvals, _ = build_transactions(trade.payload)
        for each in approvals:
            assert trader.send(each).succeeded
        with pytest.raises(RevertedError) as caught:
            ask(trader, with_calldata(with_unreachable_minimum(trade), trader.world).calldata, trade.payload.value)
        expected = trade.amount_due.to_bytes(32) + (trade.amount_due + 1).to_bytes(32)
        assert caught.value.data == selector("ReceivedTooLittle(uint256,uint256)") + expected
        assert int(ask(trader, trade.payload.calldata, trade.payload.value), 16) == trade.amount_due
        withdraw_approval(trader, trade)


def ask(trader: Trader, calldata: str, value: int) -> str:
    """Return the revert data of the router at the latest block."""
    call = {"from": USER, "to": trader.world.router.address, "data": calldata, "value": hex(value)}
    return str(trader.chain.node.ask("eth_call", call, "latest"))


def test_an_adverse_market_move_reverts_and_costs_only_gas(trader: Trader) -> None:
    rng = Random("moved")
    reverted = 0
    for trade in trader.trades(rng, examples(12, full=60)):
        # The same trade again pays less, for the pools moved by the first; unless it is too small to be felt.
        check_outcome(trade, trader.execute(trade))
        *approvals, swap = build_transactions(trade.payload)
        for each in approvals:
            assert trader.send(each).succeeded
        sold = trade.payload.call.route.token_in
        with trader.chain.revert_after():
            before = trader.world.balance(sold, USER)
            if not trader.send(swap).succeeded:
                assert trader.world.balance(sold, USER) == before
                reverted += 1
        trader.nonce -= 1
        withdraw_approval(trader, trade)
    assert reverted > examples(6, full=40)


def withdraw_approval(trader: Trader, trade: Trade) -> None:
    """USDT refuses an approval on top of another."""
    route = trade.payload.call.route
    if route.swap_type is not SwapType.NATIVE_TO_TOKEN:
        assert trader.send(build_approval(route.token_in, trade.payload.to, 0)).succeeded
