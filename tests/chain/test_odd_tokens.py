"""Orders over tokens whose transfers are not what they seem: what was quoted is received, or nothing is quoted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli.core.errors import FeeOnTransfer, InvalidRoute, NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.model.transfer_behaviour import ORDINARY, REFUSED, SHARES, TransferBehaviour, TransferKind
from swapcli.families.reading.calls import ReturnData
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.sources.stored import StoreSource
from swapcli.quoting.transfer_rules import rounding_of, transfer_warnings
from swapcli.quoting.warnings import is_exact
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.node import BlockId, HypotheticalCall
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.sync import follow, import_pools, transfer_check_error
from tests.chain.contract_fixture import DECIMALS, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.odd_tokens import STETH_POT, UNIT, WHOLE, add_token, open_curve, open_pair
from tests.chain.trader import USER, Trader
from tests.examples import examples
from tests.state.store.build import create, reopen
from tests.support.chain import restored

ROUNDING = 2
ODD = {
    "FEE": TransferBehaviour(TransferKind.FEE, 20_000, 20_000, 20_000),
    "SELL": TransferBehaviour(TransferKind.FEE, 0, 30_000, 0),
    "SHR": SHARES,
    "FALSE": REFUSED,
}
SWAPS = 16


@pytest.fixture(scope="module")
def odd_trader(shared_trader: Trader) -> Iterator[Trader]:
    """A trader on a chain where odd tokens are in pairs with DAI and TKN that look better than all others."""
    with restored(shared_trader) as trader:
        add_odd_tokens(trader)
        yield trader


def add_odd_tokens(trader: Trader) -> None:
    world = trader.world
    world.network = world.network._replace(multicall=deploy_multicall(trader.chain))
    add_token(world, "FeeCoin", 20_000, 20_000, 20_000, symbol="FEE")
    add_token(world, "FeeCoin", 0, 30_000, 0, symbol="SELL")
    add_token(world, "ShareCoin", STETH_POT, symbol="SHR")
    add_token(world, "FalseCoin", symbol="FALSE")
    for symbol in ODD:
        for other in ("DAI", "TKN"):
            place = open_pair(world, symbol, other)
            if symbol == "SELL":
                world.contracts[symbol].send("setPool", place.contract.address)
        world.give(symbol, USER, WHOLE)
    open_curve(world, "SHR", "DAI")
    trader.market = read_market(world)


@pytest.fixture
def trader(odd_trader: Trader) -> Iterator[Trader]:
    with restored(odd_trader) as trader:
        yield trader


def live(trader: Trader, node: RpcNode) -> LiveSource:
    return LiveSource(InMemorySource(trader.market, SYSTEM_CLOCK), node, SYSTEM_CLOCK)


def quote_request(world: ContractFixture, sold: str, bought: str, amount: int = 1_000 * UNIT) -> QuoteRequest:
    return QuoteRequest(Order(world.tokens[sold], world.tokens[bought], amount), ApiVersion.V2)


def tokens_of(answer: LocalQuote) -> set[str]:
    return {token for step in answer.quote.steps for token in (step.token_in, step.token_out)}


def carried_out(trader: Trader, answer: LocalQuote, payload: UnsignedTransaction) -> int:
    return trader.execute(trader.build_trade(answer.result, payload, answer.pools, "live")).received


def left_behind(world: ContractFixture) -> dict[str, int]:
    """What the router holds, by symbol."""
    balances = {symbol: world.balance(token.address, world.router.address) for symbol, token in world.tokens.items()}
    return {symbol: amount for symbol, amount in balances.items() if amount}


@pytest.mark.parametrize("symbol", ["FEE", "SELL"])
@pytest.mark.parametrize("is_sold", [True, False])
def test_a_token_with_a_fee_is_refused_with_the_fee(trader: Trader, node: RpcNode, symbol: str, is_sold: bool) -> None:
    ends = (symbol, "DAI") if is_sold else ("DAI", symbol)
    with pytest.raises(FeeOnTransfer) as caught:
        live(trader, node).quote(quote_request(trader.world, *ends))
    error = caught.value
    assert (error.code, isinstance(error, NoRoute)) == ("FEE_ON_TRANSFER", True)
    assert error.message.startswith(f"{symbol} takes a fee of {'2% on transfers' if symbol == 'FEE' else '3% when'}")
    expected = {"token": trader.world.address(symbol), **ODD[symbol]._asdict(), "kind": "fee"}
    assert error.details == expected


def test_a_route_past_tokens_with_a_fee_pays_what_it_says(trader: Trader, node: RpcNode) -> None:
    """All odd tokens pay a quarter of what is left, so that from TKN to DAI everything would go through them."""
    order = quote_request(trader.world, "TKN", "DAI", WHOLE // 10)
    bad = {trader.world.address(symbol) for symbol in ("FEE", "SELL", "FALSE")}
    assert tokens_of(InMemorySource(trader.market, SYSTEM_CLOCK).quote(order)) & bad
    answer = live(trader, node).quote(order)
    assert not tokens_of(answer) & bad
    assert set(answer.transfers.values()) <= {ORDINARY, SHARES}


def test_what_is_received_is_what_was_quoted_or_nothing_is(trader: Trader, node: RpcNode) -> None:
    rng, seen = Random("odd orders"), Counter[str]()
    source = live(trader, node)
    symbols = [*DECIMALS, "FEE", "SELL", "SHR", "SHR", "SHR"]
    while seen["carried out"] < SWAPS:
        sold, bought = rng.sample(symbols, 2)
        if sold == bought:
            continue
        places = trader.world.tokens[sold].decimals
        order = quote_request(trader.world, sold, bought, rng.randint(10 ** (places + 1), 10 ** (places + 3)))
        if {sold, bought} & {"FEE", "SELL"}:
            with pytest.raises(FeeOnTransfer):
                source.quote(order)
            seen["refused"] += 1
            continue
        source.refresh()
        answer, payload = quote_and_build(source, order, SwapTerms(100, USER))
        received, quoted = carried_out(trader, answer, payload), answer.result.output_amount
        behaviours = set(answer.transfers.values())
        assert behaviours <= {ORDINARY, SHARES}
        if behaviours == {ORDINARY}:
            assert received == quoted
            seen["exact"] += 1
        else:
            assert quoted * (1 - 1e-9) - 20 <= received <= quoted + 20
            seen["rounded"] += 1
        seen["carried out"] += 1
    assert seen["exact"] >= 2
    assert seen["rounded"] >= 4
    assert seen["refused"] >= 2
    left = left_behind(trader.world)
    assert left.keys() <= {"SHR"}
    assert left.get("SHR", 0) <= ROUNDING * SWAPS


def test_share_tokens_differ_by_no_more_units_than_said(trader: Trader, node: RpcNode) -> None:
    rng, source = Random("units of shares"), live(trader, node)
    for number in range(examples(12, full=200)):
        ends = ("SHR", "DAI") if number % 2 else ("DAI", "SHR")
        source.refresh()
        order = quote_request(trader.world, *ends, rng.randint(10**9, 10**22))
        answer, payload = quote_and_build(source, order, SwapTerms(100, USER))
        rounding = rounding_of(answer)
        assert rounding is not None
        assert (rounding, is_exact(answer)) == (payload.rounding, False)
        assert rounding == source.build(answer.result, SwapTerms(100, USER)).rounding
        difference = carried_out(trader, answer, payload) - answer.result.output_amount
        # Where a pool pays more than a unit for a unit, the input's units are worth more of the output's.
        assert abs(difference) <= rounding.units * 1.1


def test_an_untestable_token_is_only_an_end_of_a_route(trader: Trader, node: RpcNode) -> None:
    answer = live(trader, node).quote(quote_request(trader.world, "FALSE", "DAI"))
    assert answer.transfers[trader.world.address("FALSE")] == REFUSED
    assert answer.transfers[trader.world.address("DAI")] == ORDINARY


def test_a_store_remembers_what_a_sync_has_found_out(trader: Trader, node: RpcNode, tmp_path: Path) -> None:
    world = trader.world
    expected = {token.address: ODD.get(symbol, ORDINARY) for symbol, token in world.tokens.items()}
    with create(tmp_path / "store", world.network) as store:
        list(import_pools(store, node, trader.market))
        assert store.read_market().transfers == expected
        assert store.read_summary().transfers == Counter(behaviour.kind for behaviour in expected.values())
    with reopen(tmp_path / "store", world.network) as store:
        offline = StoreSource(store, SYSTEM_CLOCK)
        with pytest.raises(FeeOnTransfer):
            offline.quote(quote_request(world, "FEE", "DAI"))
        assert not tokens_of(offline.quote(quote_request(world, "DAI", "TKN"))) & {
            world.address("FEE"),
            world.address("SELL"),
        }
        again = LiveSource(offline, node, SYSTEM_CLOCK)
        before = node.round_trips
        again.quote(quote_request(world, "DAI", "TKN"))
        assert node.round_trips - before <= 3, "nothing is tried twice"


def test_a_live_quote_stores_transfer_behaviours_it_measured(trader: Trader, node: RpcNode, tmp_path: Path) -> None:
    world = trader.world
    with create(tmp_path / "store", world.network) as store:
        store.write_market(trader.market)
        source = LiveSource(StoreSource(store, SYSTEM_CLOCK), node, SYSTEM_CLOCK)
        with pytest.raises(FeeOnTransfer):
            source.quote(quote_request(world, "FEE", "DAI"))
        known = store.read_market().transfers
        assert known[world.address("FEE")] == ODD["FEE"]
        with pytest.raises(FeeOnTransfer):
            StoreSource(store, SYSTEM_CLOCK).quote(quote_request(world, "DAI", "FEE"))


def test_a_posted_route_over_a_token_with_a_fee_is_refused(trader: Trader, node: RpcNode) -> None:
    believed = InMemorySource(trader.market, SYSTEM_CLOCK).quote(quote_request(trader.world, "FEE", "DAI"))
    with pytest.raises(InvalidRoute, match=r"trades FEE, which takes a fee of 2% on transfers"):
        live(trader, node).build(believed.result, SwapTerms(10_000, USER))


def test_the_settings_count_before_what_was_found_out(trader: Trader, node: RpcNode) -> None:
    world = trader.world
    marks = {world.address("USDC"): TransferBehaviour.with_fee(5_000), world.address("FEE"): ORDINARY}
    trader.market = trader.market._replace(network=trader.market.network._replace(transfers=marks))
    with pytest.raises(FeeOnTransfer, match=r"USDC takes a fee of 0.5% on transfers"):
        live(trader, node).quote(quote_request(world, "USDC", "DAI", 10**9))
    assert live(trader, node).quote(quote_request(world, "FEE", "DAI")).result.output_amount


class OverrideIgnoringNode:
    """A node that pays state overrides no heed."""

    def __init__(self, node: RpcNode) -> None:
        self._node = node

    def __getattr__(self, name: str) -> object:
        return getattr(self._node, name)

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        return self._node.call_many([each.call for each in calls], at)


def test_a_node_without_overrides_leaves_tokens_unknown(trader: Trader, node: RpcNode, tmp_path: Path) -> None:
    ignoring: Any = OverrideIgnoringNode(node)
    with create(tmp_path / "store", trader.world.network._replace(block_time_s=1_200.0)) as store:
        list(import_pools(store, ignoring, trader.market))
        assert store.read_market().transfers == {}
        assert transfer_check_error(store) == f"{node.redacted_url} ignores state overrides"
        quoted = StoreSource(store, SYSTEM_CLOCK).quote(quote_request(trader.world, "FEE", "DAI"))
        assert [each.code for each in transfer_warnings(quoted)] == ["UNTRIED_TOKEN"]
        answer = LiveSource(StoreSource(store, SYSTEM_CLOCK), ignoring, SYSTEM_CLOCK).quote(
            quote_request(trader.world, "FEE", "DAI")
        )
        assert [each.code for each in transfer_warnings(answer)] == ["UNTRIED_TOKEN"]
        assert store.read_market().transfers == {}, "that a node could not try is nothing about tokens"
        trader.chain.node.ask("anvil_mine", "0x1")
        assert follow(store, node)
        assert store.read_market().transfers == {}, "trials are not repeated within the hour"
        trader.chain.node.ask("anvil_mine", "0x3")
        assert follow(store, node)
        assert store.read_market().transfers[trader.world.address("FEE")] == ODD["FEE"]
        assert transfer_check_error(store) is None
