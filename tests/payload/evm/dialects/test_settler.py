"""What a quote says is what a model of 0x Settler pays out, to the unit, from real pools on a local chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.payload.dialects import router_dialect
from swapcli.payload.evm import build_transactions
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.payload.simulation.sender_balances import read_sender_balances
from swapcli.payload.simulation.swap_simulation import simulate_swap
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import WETH
from tests.chain.gas import measure, share_within
from tests.chain.settler_fixture import PROTOCOLS, SettlerTrader
from tests.chain.trader import INTEGRATOR, USER, V4_FEATURES, Trade, check_outcome, features
from tests.examples import examples, seeds
from tests.quoting.review.test_payload_rehearsal import check_decoded
from tests.support.chain import connected

POOR = "0x" + "90" * 20
"""Holds nothing."""
ROUTES_A_SEED = 50
SEEDS = 12


@pytest.fixture
def trader(settler_trader: SettlerTrader) -> SettlerTrader:
    return settler_trader


@pytest.fixture
def node(trader: SettlerTrader) -> Iterator[RpcNode]:
    with connected(trader.chain) as node:
        yield node


@pytest.mark.parametrize("seed", seeds(1, full=SEEDS))
def test_what_is_received_is_what_was_quoted(trader: SettlerTrader, seed: int) -> None:
    rng = Random(f"settler {seed}")
    seen: Counter[str] = Counter()
    for trade in trader.trades(rng, ROUTES_A_SEED):
        check_outcome(trade, trader.execute(trade))
        assert trader.pools_of(trade) == plain_pools(trade)
        assert trader.world.leftovers() == {}
        seen.update(features(trade))
    kinds = [
        *(name for name in PROTOCOLS if name != "balancerV2Weighted"),
        *V4_FEATURES,
        "fee",
        *(each.name for each in SwapType),
    ]
    assert [kind for kind in kinds if not seen[kind]] == []


def test_the_routes_are_enough() -> None:
    assert SEEDS * ROUTES_A_SEED >= 500


@pytest.mark.parametrize("seed", seeds(1, full=3))
def test_what_is_simulated_is_what_is_mined(trader: SettlerTrader, node: RpcNode, seed: int) -> None:
    for trade in trader.trades(Random(f"simulated settler {seed}"), 20):
        swap = SimulatedCall.from_payload(trade.payload)
        runs = [simulate(node, swap, sender) for sender in (USER, POOR)]
        received = trader.execute(trade).received
        assert [(run.status, run.received) for run in runs] == [(SimulationStatus.DONE, received)] * 2


def test_a_simulation_names_the_reason_of_a_revert(trader: SettlerTrader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.tokens[WETH], trader.world.tokens["USDC"], 10**18))
    due, past_s = trade.amount_due, block_time_s(trader) - 1
    for payload, reason in (
        (
            rebuild(trader, trade, minimum=due + 1),
            f"TooMuchSlippage (token {trade.token_out}, least {due + 1}, received {due})",
        ),
        (rebuild(trader, trade, deadline_s=past_s), f"SignatureExpired (deadline {past_s})"),
    ):
        run = simulate(node, SimulatedCall.from_payload(payload), USER)
        assert run.status is SimulationStatus.REVERTED
        assert describe_revert(run.return_data) == reason


def test_a_decoded_payload_that_is_simulated_has_no_warning(trader: SettlerTrader, node: RpcNode) -> None:
    check_decoded(trader, node, Random("decoded"))


def simulate(node: RpcNode, swap: SimulatedCall, sender: str) -> SimulationRun:
    at = node.read_head().block
    return simulate_swap(node, at, swap, sender, read_sender_balances(node, at, sender, swap)).run


@pytest.mark.parametrize("seed", seeds(1, full=4))
def test_a_minimum_one_unit_too_high_reverts(trader: SettlerTrader, seed: int) -> None:
    rng = Random(f"a unit more {seed}")
    for trade in trader.trades(rng, 20):
        *approvals, swap = build_transactions(trade.payload)
        for each in approvals:
            assert trader.send(each).succeeded
        for missing in (1, 0):
            assert sent(trader, rebuild(trader, trade, minimum=trade.amount_due + missing)) == (missing == 0)
        assert trader.send(swap).succeeded
        trader.refresh(trade)


@pytest.mark.parametrize("is_native", [False, True])
def test_a_swap_after_its_deadline_reverts(trader: SettlerTrader, is_native: bool) -> None:
    tokens = trader.world.tokens
    token_in = trader.market.network.native if is_native else tokens[WETH]
    trade = trader.quote_trade(Order(token_in, tokens["USDC"], 10**18))
    for each in build_transactions(trade.payload)[:-1]:
        assert trader.send(each).succeeded
    now_s = block_time_s(trader)
    for deadline_s, succeeds in ((now_s, False), (now_s + 600, True), (None, True)):
        assert sent(trader, rebuild(trader, trade, deadline_s=deadline_s)) == succeeds


@pytest.mark.parametrize("unwraps", [False, True])
@pytest.mark.parametrize("fee_bps", [0, 30])
def test_wrapping_and_unwrapping_are_mined_too(trader: SettlerTrader, unwraps: bool, fee_bps: int) -> None:
    tokens = trader.market.network.native, trader.world.tokens[WETH]
    integrator = Integrator(INTEGRATOR, fee_bps) if fee_bps else None
    trade = trader.quote_trade(Order(*(tokens[::-1] if unwraps else tokens), 12_345), integrator)
    check_outcome(trade, trader.execute(trade))
    assert trade.amount_due == 12_345 - 12_345 * fee_bps // 10_000
    assert trader.world.leftovers() == {}


def block_time_s(trader: SettlerTrader) -> int:
    """Return the time of the latest block."""
    return int(trader.chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)


def sent(trader: SettlerTrader, payload: UnsignedTransaction) -> bool:
    """Return whether a transaction succeeds, and undo it."""
    with trader.chain.revert_after():
        succeeded = trader.send(Transaction(payload.to, payload.calldata, payload.value)).succeeded
    trader.nonce -= 1
    return succeeded


def rebuild(
    trader: SettlerTrader, trade: Trade, *, minimum: int | None = None, deadline_s: int | None = None
) -> UnsignedTransaction:
    """Return the payload of a trade with another minimum or deadline."""
    route = trade.payload.call.route
    route = route if minimum is None else route._replace(min_received=minimum)
    swap = ReplayedSwap(route, trade.replay.steps, trader.market.pools, trade.result.integrator, deadline_s)
    return router_dialect(trader.market.network).build_payload(swap, trader.world.router.address)


def plain_pools(trade: Trade) -> dict[str, Pool]:
    """Return the pools after a trade as they are on the chain, without what the router does with them."""
    return {
        key: replace(pool, has_v2_output=False) if isinstance(pool, ConstantProduct) else pool
        for key, pool in trade.replay.pools_after.items()
    }


@pytest.mark.slow
def test_the_gas_of_most_routes_is_within_ten_percent(trader: SettlerTrader) -> None:
    """Of routes that the figures were not fitted to."""
    samples = list(measure(trader, 1_000, examples(24, full=200)))
    assert share_within(samples) >= examples(80, full=95) / 100
