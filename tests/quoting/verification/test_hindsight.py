"""Mined swaps beside the best routes of their time: each is explained, or has the reason why it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from swapcli.core.errors import (
    InvalidInput,
    InvalidUpstreamResponse,
    NotMined,
    SwapcliError,
    Unreachable,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
)
from swapcli.core.model.network import Deployment
from swapcli.core.model.order import Order
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.verification.hindsight import (
    UNKNOWN_VENUE,
    Hindsight,
    SwapHindsight,
    look_back,
    summarize,
)
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.delegating_node import DelegatingNode
from swapcli.state.rpc.receipt import Receipt
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import INTEGRATOR, Trade, Trader
from tests.state.mined.test_swap_verification import balancer_deployment
from tests.support.chain import connected

SAMPLE, ALL = 6, 200
NOTHING = "0x" + "12" * 32


def announce_swaps(trader: Trader) -> None:
    """Leave only pools whose swaps are announced, by contracts of the definition, to the trader's market."""
    network = trader.world.network
    pairs = Deployment(("uniswapV2",), "Uniswap V2", {"factory": trader.world.factory.address}, fee_tiers={3000: 0})
    deployments = (*network.deployments, pairs, balancer_deployment(trader))
    network = network._replace(multicall=deploy_multicall(trader.chain), deployments=deployments)
    # The modelled pool of Curve's kind announces no swaps, so that the rest of its routes would be no whole swap.
    pools = {key: pool for key, pool in trader.market.pools.items() if pool.protocol != "curveFi"}
    trader.world.network, trader.market = network, trader.market._replace(network=network, pools=pools)


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    announce_swaps(trader)
    with connected(trader.chain) as node:
        yield node


def newest_transaction(trader: Trader) -> str:
    return str(trader.chain.node.ask("eth_getBlockByNumber", "latest", False)["transactions"][-1])


def mine(trader: Trader, trade: Trade) -> str:
    """Have a trade mined, and return its swap."""
    trader.execute(trade)
    return newest_transaction(trader)


def trades(trader: Trader, count: int) -> Iterator[tuple[Trade, str]]:
    for trade in trader.trades(Random("hindsight"), count):
        yield trade, mine(trader, trade)


def as_result(trader: Trader, found: list[SwapHindsight]) -> Hindsight:
    return Hindsight(trader.world.network, tuple(found), summarize(found))


def hindsight(trader: Trader, node: RpcNode, transactions: list[str]) -> list[SwapHindsight]:
    return list(look_back(node, InMemorySource(trader.market, SYSTEM_CLOCK), transactions))


def pools_of(quote: LocalQuote) -> set[str]:
    """Return the pools of a quote without the contract of wrapped ether."""
    return {step.pool for step in quote.quote.steps if quote.pools[step.pool].family != "wrapper"}


def check_after_gas(swap: SwapHindsight) -> None:
    """Both amounts are less their gas at the prices in USD of the best route's quote.

    A best route through the same pools uses the transaction's gas.
    """
    found = swap.verification
    assert found is not None
    assert found.best is not None
    assert isinstance(found.best.quote, LocalQuote)
    quote = found.best.quote.quote
    assert quote.wei_usd is not None
    assert quote.price_out_usd is not None
    wei_value = quote.wei_usd / quote.price_out_usd * 10**quote.order.token_out.decimals
    has_same_pools = pools_of(found.best.quote) == {each.event.key for each in found.swaps}
    for amount, net, units in (
        (swap.amount_out, swap.output_after_gas, found.gas_used),
        (swap.best_amount_out, swap.best_after_gas, found.gas_used if has_same_pools else quote.gas_units),
    ):
        assert amount is not None
        assert net == pytest.approx(amount - units * found.gas_price_wei * wei_value, rel=1e-9, abs=1)
    assert swap.gas_value_source in ("native", "midPrices")


def check_explained(trader: Trader, node: RpcNode, count: int) -> None:
    mined = list(trades(trader, count))
    found = hindsight(trader, node, [transaction for _, transaction in mined])
    assert len(found) == count
    explained = 0
    for (trade, transaction), swap in zip(mined, found, strict=True):
        assert swap.transaction == transaction
        if not trade.replay.pools_after:
            assert "no swap in a known kind of pool" in swap.reason, "native currency was wrapped"
            continue
        assert swap.is_explained, swap.reason
        explained += 1
        assert swap.verification is not None
        assert swap.verification.net is not None
        assert swap.verification.net.amount_in == trade.result.input_amount
        assert swap.amount_out == trade.result.output_amount
        assert swap.difference_bps is not None
        assert swap.output_after_gas is not None
        assert swap.best_after_gas is not None
        assert swap.best_amount_out is not None
        check_after_gas(swap)
        # Where gas takes most of the output, routes are chosen by estimates of gas, which mined ones may beat.
        is_cheap = 10 * (swap.best_amount_out - swap.best_after_gas) < swap.best_amount_out
        saves_gas = swap.best_after_gas > swap.output_after_gas
        if is_cheap:
            assert swap.difference_bps >= -0.01 or saves_gas, "the best route over the same pools pays no less"
        if trade.kind == "quoted":
            assert swap.difference_bps <= 0.01, "it was the best route of its block"
        assert swap.venues
        assert UNKNOWN_VENUE not in swap.venues
        assert swap.best_venues
    summary = summarize(found)
    assert (summary.explained, summary.not_explained) == (explained, count - explained)
    assert summary.better + summary.equal + summary.worse == explained
    assert summary.better > 0, "random routes are no best ones"
    assert max(venue.used for venue in summary.venues) <= explained


def test_each_mined_swap_is_explained(trader: Trader, node: RpcNode) -> None:
    check_explained(trader, node, SAMPLE)


class OddReceipts(DelegatingNode[RpcNode]):
    """A node with an odd receipt for each of some transactions: an error, or a change of the real one."""

    def __init__(self, node: RpcNode, model: str, odd: dict[str, Odd]) -> None:
        super().__init__(node)
        self._model, self._odd = model, odd

    def read_receipt(self, transaction: str) -> Receipt | None:
        odd = self._odd.get(transaction)
        if isinstance(odd, SwapcliError):
            raise odd
        receipt = self._node.read_receipt(self._model if odd else transaction)
        return odd(receipt) if odd and receipt else receipt


Odd = SwapcliError | Callable[[Receipt], Receipt | None]
ODD: tuple[tuple[Odd, str, bool], ...] = (
    (lambda _: None, "has no mined transaction", False),
    (lambda receipt: receipt._replace(succeeded=False), "reverted: it swapped nothing", False),
    (lambda receipt: receipt._replace(logs=()), "no swap in a known kind of pool", False),
    (lambda receipt: receipt._replace(block_number=10**6), "is only preconfirmed, in block 1,000,000", True),
    (lambda receipt: receipt._replace(block_hash="0x" + "77" * 32), "the chain was reorganized", True),
    (NotMined("0x12 is pending: it is not mined yet"), "is pending", True),
    (InvalidUpstreamResponse("a receipt without events", details={"method": "r"}), "without events", False),
    (UpstreamRejected("no such history"), "no such history", False),
)


def test_an_odd_transaction_is_listed_beside_the_others(trader: Trader, node: RpcNode) -> None:
    mined = [transaction for trade, transaction in trades(trader, 4) if trade.replay.pools_after][:2]
    odd = {f"0x{number:064x}": change for number, (change, *_) in enumerate(ODD)}
    changed = OddReceipts(node, mined[0], odd)
    known = InMemorySource(trader.market, SYSTEM_CLOCK)
    first, *refused, last = look_back(changed, known, [mined[0], *odd, mined[1]])
    assert [swap.is_explained for swap in (first, *refused, last)] == [True, *[False] * len(ODD), True]
    for swap, (_, reason, is_retryable) in zip(refused, ODD, strict=True):
        assert reason in swap.reason
        assert (swap.is_retryable, reason) == (is_retryable, reason)
    as_result(trader, [*refused, last]).check()
    with pytest.raises(NotMined, match=r"none of 8 transactions could be explained: .* preconfirmed"):
        as_result(trader, refused).check()
    with pytest.raises(UpstreamError, match=r"the transaction could not be explained: .* reverted") as caught:
        as_result(trader, refused[1:2]).check()
    assert not caught.value.is_retryable


@pytest.mark.parametrize(
    "error", [Unreachable("refuses connections"), UpstreamTimeout("late"), InvalidUpstreamResponse("not JSON-RPC")]
)
def test_a_node_that_fails_ends_it(trader: Trader, node: RpcNode, error: UpstreamError) -> None:
    changed = OddReceipts(node, NOTHING, {NOTHING: error})
    with pytest.raises(type(error), match=error.message):
        list(look_back(changed, InMemorySource(trader.market, SYSTEM_CLOCK), [NOTHING]))


@pytest.mark.slow
def test_each_of_200_mined_swaps_is_explained(trader: Trader, node: RpcNode) -> None:
    check_explained(trader, node, ALL)


def test_the_route_that_was_mined_is_no_better_than_itself(trader: Trader, node: RpcNode) -> None:
    """The estimate of its gas differs from the gas that it used."""
    tokens = trader.world.tokens
    order = Order(tokens["USDC"], tokens[WETH], 10**10)
    (swap,) = hindsight(trader, node, [mine(trader, trader.quote_trade(order))])
    found = swap.verification
    assert found is not None
    assert found.gas_price_wei > 0
    assert swap.best_gas_units != found.gas_used > 21_000
    assert swap.amount_out is not None
    assert swap.output_after_gas == swap.amount_out - found.gas_used * found.gas_price_wei
    assert (swap.best_amount_out, swap.best_after_gas) == (swap.amount_out, swap.output_after_gas)
    summary = summarize([swap])
    assert (summary.better, summary.equal, summary.worse) == (0, 1, 0)


def test_what_cannot_be_compared_is_named_with_the_reason(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens["USDC"], tokens[WETH], 10**10)))
    trader.world.give("USDC", INTEGRATOR, 1)
    transfer = newest_transaction(trader)
    good = mine(trader, trader.quote_trade(Order(tokens["USDC"], tokens["DAI"], 10**8)))
    trader.chain.send_with_receipt(trader.world.address("USDC"), b"\xde\xad\xbe\xef")
    reverted = newest_transaction(trader)
    known = trader.market
    trader.market = known._replace(pools={})
    alone = hindsight(trader, node, [good])
    trader.market = known
    found = hindsight(trader, node, [transfer, good, reverted, NOTHING])
    assert [swap.is_explained for swap in found] == [False, True, False, False]
    assert "no swap" in found[0].reason
    assert "reverted" in found[2].reason
    assert "no mined transaction" in found[3].reason
    assert not alone[0].is_explained, "without pools there is no best route"
    assert alone[0].reason
    with pytest.raises(InvalidInput, match="64 hex digits"):
        hindsight(trader, node, ["0x12"])
