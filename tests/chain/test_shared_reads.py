"""Concurrent live quotes of one market share a read of the node, over a node that answers after a while."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from swapcli import AsyncMarket, Market, SwapcliError, SwapQuote, UpstreamError
from swapcli.core.errors import FeeOnTransfer, NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.live_search import Limits
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.store import Store
from tests.chain.anvil import CHAIN_ID
from tests.chain.contract_fixture import DECIMALS
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import Failure, Handler, hangs_up
from tests.chain.proxy import Proxy, ignores_overrides, late, open_proxy, without, without_overrides
from tests.chain.test_live_by_default import User
from tests.chain.trader import Trader
from tests.contracts.evm import compile_solidity
from tests.support.chain import connected

DELAY_S = 0.05
PAIRS = (
    ("WETH", "USDC"),
    ("USDC", "WETH"),
    ("DAI", "USDC"),
    ("WBTC", "DAI"),
    ("TKN", "WETH"),
    ("USDT", "WBTC"),
    ("DAI", "TKN"),
    ("USDC", "USDT"),
)
FEW = 2
"""Exchanges with the node: the block with the first state of all pools, and the ticks that this names."""


@pytest.fixture
def proxy(trader: Trader) -> Iterator[Proxy]:
    with open_proxy(trader.chain.node.port) as proxy:
        proxy.always = late(DELAY_S)
        yield proxy


@pytest.fixture
def name(trader: Trader, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The network of a user with a store and this node."""
    trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    user = User(trader, tmp_path)
    trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
    trader.chain.node.ask("evm_mine")
    for key, value in user.environment([f"http://127.0.0.1:{proxy.server_port}"]).items():
        monkeypatch.setenv(key, value)
    return user.name


def alone(name: str) -> list[int]:
    """What each order pays in a market of its own."""
    amounts = []
    for pair in PAIRS:
        with Market.open(name) as market:
            amounts.append(market.quote(*pair, "10").amount_out)
    return amounts


def open_warm(name: str) -> Market:
    market = Market.open(name)
    market.token("WETH")
    return market


def test_threads_share_one_read_and_get_what_each_would_get_alone(name: str, proxy: Proxy) -> None:
    expected = alone(name)
    before = len(proxy.exchanges)
    with open_warm(name) as market, ThreadPoolExecutor(len(PAIRS)) as threads, market._lock:
        found = [threads.submit(market.quote, *pair, "10") for pair in PAIRS]
        while len(market._joined._orders) < len(PAIRS):  # type: ignore[union-attr]
            time.sleep(0.001)
        market._lock.release()
        amounts = [each.result().amount_out for each in found]
        market._lock.acquire()
    assert amounts == expected
    assert len(proxy.exchanges) - before == FEW


def test_orders_at_a_known_block_share_the_trials_of_their_tokens(trader: Trader) -> None:
    """Another order has read the block: those that come next read their pools, and try their tokens, together."""
    multicall = deploy_multicall(trader.chain)
    market = trader.market._replace(network=trader.world.network._replace(multicall=multicall))
    tokens = trader.world.tokens
    requests = [
        QuoteRequest(Order(tokens[sold], tokens[bought], 10 ** DECIMALS[sold]), ApiVersion.V2) for sold, bought in PAIRS
    ]

    def open_source(node: RpcNode) -> LiveSource:
        return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, limits=Limits(first_pools=1))

    with connected(trader.chain) as node:
        expected = [open_source(node).quote(each).result.output_amount for each in requests]
    with connected(trader.chain) as node, ExitStack() as stack:
        source = open_source(node)
        found, trips = [source.quote(requests[0]).result.output_amount], [node.round_trips]
        joined = source.joined
        orders = [stack.enter_context(joined.joined(partial(_same, each))) for each in requests[1:]]
        for request, order in zip(requests[1:], orders, strict=True):
            with joined.turn(order):
                found.append(source.quote(request).result.output_amount)
            trips.append(node.round_trips)
    assert found == expected
    assert trips[0] == FEW
    assert trips[-1] == trips[1], "the first of them has read all"


def _same(request: QuoteRequest) -> QuoteRequest:
    return request


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the parts of the store that orders read, and the searches."""
    calls: Counter[str] = Counter()

    def count(owner: type, name: str) -> None:
        method = getattr(owner, name)

        def counting(*arguments: Any, **keywords: Any) -> Any:
            calls[name] += 1
            return method(*arguments, **keywords)

        monkeypatch.setattr(owner, name, counting)

    count(Store, "read_candidates")
    count(SearchableMarket, "search")
    return calls


@pytest.mark.slow
def test_orders_that_share_a_read_are_searched_no_more_than_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alone(name)  # the store then knows how the tokens transfer
    calls = counted(monkeypatch)
    alone(name)
    expected = calls.copy()
    calls.clear()

    async def quote_all() -> None:
        async with AsyncMarket.open(name) as market:
            await asyncio.gather(*(market.quote(*pair, "10") for pair in PAIRS))

    asyncio.run(quote_all())
    assert calls == expected
    assert calls["read_candidates"] == len(PAIRS)


def test_a_token_that_takes_fees_is_noticed_for_all_orders(name: str, trader: Trader) -> None:
    """What was found for an order before its turn does not hold once a transfer was tried."""
    ask = trader.chain.node.ask
    taxed = trader.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"]).address
    ask("anvil_setCode", trader.world.address("DAI"), ask("eth_getCode", taxed, "latest"))
    pairs = [pair for pair in PAIRS if "DAI" not in pair]

    async def quote_all() -> list[object]:
        async with AsyncMarket.open(name) as market:
            first, *others = pairs
            orders = [first, *others, ("DAI", "USDC"), ("WBTC", "DAI")]
            return list(await asyncio.gather(*(market.quote(*p, "10") for p in orders), return_exceptions=True))

    *found, sold, bought = asyncio.run(quote_all())
    assert isinstance(sold, FeeOnTransfer)
    assert isinstance(bought, FeeOnTransfer)
    dai = trader.world.address("DAI")
    for pair, quote in zip(pairs, found, strict=True):
        assert isinstance(quote, SwapQuote)
        assert all(dai not in trader.market.pools[key].tokens for key in quote.route.pool_keys)
        with Market.open(name) as market:
            assert market.quote(*pair, "10").amount_out == quote.amount_out


@pytest.mark.parametrize("failure", [without_overrides(), ignores_overrides()], ids=["rejected", "ignored"])
def test_a_failed_trial_is_repeated_at_the_turn_of_each_order_that_shared_it(
    trader: Trader, proxy: Proxy, failure: Failure
) -> None:
    """One order reads few pools, and the read for those behind it fails: they still notice that a token takes fees."""
    ask = trader.chain.node.ask
    taxed = trader.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"]).address
    ask("anvil_setCode", trader.world.address("TKN"), ask("eth_getCode", taxed, "latest"))
    tokens, network = trader.world.tokens, trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    pairs = (network.native, tokens["WETH"]), (tokens["TKN"], tokens["USDC"])
    current, waiting = (QuoteRequest(Order(*pair, 10**18), ApiVersion.V2) for pair in pairs)
    endpoint = RpcEndpoint(f"http://127.0.0.1:{proxy.server_port}", "the proxy")
    with closing(RpcNode([endpoint], CHAIN_ID, NodePolicy(pause=lambda _: None))) as node, ExitStack() as stack:
        market = InMemorySource(trader.market._replace(network=network), SYSTEM_CLOCK)
        source = LiveSource(market, node, SYSTEM_CLOCK)
        orders = [stack.enter_context(source.joined.joined(partial(_same, each))) for each in (current, waiting)]
        proxy.always = failure
        with source.joined.turn(orders[0]):
            source.quote(current)
        proxy.always = None
        with source.joined.turn(orders[1]), pytest.raises(FeeOnTransfer):
            source.quote(waiting)


def test_tasks_share_one_read(name: str, proxy: Proxy) -> None:
    async def quote_all() -> list[int]:
        async with AsyncMarket.open(name) as market:
            found = await asyncio.gather(*(market.quote(*pair, "10") for pair in PAIRS))
        return [quote.amount_out for quote in found]

    expected = alone(name)
    before = len(proxy.exchanges)
    assert asyncio.run(quote_all()) == expected
    assert len(proxy.exchanges) - before == FEW


def test_a_cancelled_task_leaves_the_others_their_quotes(name: str) -> None:
    async def quote_all() -> list[object]:
        async with AsyncMarket.open(name) as market:
            tasks = [asyncio.create_task(market.quote(*pair, "10")) for pair in PAIRS]
            await asyncio.sleep(DELAY_S / 2)
            for task in tasks[:2]:
                task.cancel()
            return list(await asyncio.gather(*tasks, return_exceptions=True))

    expected = alone(name)
    found = asyncio.run(quote_all())
    assert all(isinstance(each, asyncio.CancelledError) for each in found[:2])
    assert [each.amount_out for each in found[2:]] == expected[2:]  # type: ignore[attr-defined]


def test_an_order_that_cannot_be_read_fails_alone(name: str) -> None:
    """The first order reads for those behind it."""

    async def quote_all() -> list[object]:
        async with AsyncMarket.open(name) as market:
            bad = [
                market.quote("NOPE", "USDC", "1"),
                market.quote("USDC", "USDC", "1"),
                market.quote("DAI", "TKN", "x"),
                market.quote("DAI", "TKN", "1", unknown=1),  # type: ignore[call-arg]
                market.quote("DAI", "TKN", "1", max_pools="3"),  # type: ignore[arg-type]
            ]
            first, *good = (market.quote(*pair, "10") for pair in PAIRS)
            return list(await asyncio.gather(first, *bad, *good, return_exceptions=True))

    first, *found = asyncio.run(quote_all())
    assert all(isinstance(each, SwapcliError) for each in found[:3])
    assert all(isinstance(each, TypeError | SwapcliError) for each in found[3:5])
    assert [each.amount_out for each in (first, *found[5:])] == alone(name)  # type: ignore[attr-defined]


def test_an_order_with_a_gas_price_does_not_fail_for_one_without(
    name: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWAPCLI_LIVE", "require")
    proxy.always = without("eth_gasPrice")

    async def quote_all() -> list[object]:
        async with AsyncMarket.open(name) as market:
            orders = market.quote("WETH", "USDC", "10"), market.quote("DAI", "USDC", "10", gas_price=10**9)
            return list(await asyncio.gather(*orders, return_exceptions=True))

    failed, quoted = asyncio.run(quote_all())
    assert isinstance(failed, UpstreamError)
    assert isinstance(quoted, SwapQuote)


def test_the_failure_of_the_read_reaches_all_that_it_was_for(
    name: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWAPCLI_LIVE", "require")
    is_read = Event()

    def fails(handler: Handler) -> bool:
        is_read.set()
        time.sleep(DELAY_S)
        return hangs_up(handler)

    proxy.always = fails

    async def quote_all() -> tuple[list[SwapQuote | BaseException], int]:
        async with AsyncMarket.open(name) as market:
            before = len(proxy.exchanges)
            found = list(await asyncio.gather(*(market.quote(*pair, "10") for pair in PAIRS), return_exceptions=True))
            return found, len(proxy.exchanges) - before

    found, exchanges = asyncio.run(quote_all())
    assert is_read.is_set()
    assert all(isinstance(each, UpstreamError) for each in found)
    assert exchanges < len(PAIRS)


def test_the_failure_of_the_read_does_not_reach_orders_that_it_was_not_for(trader: Trader, proxy: Proxy) -> None:
    """An order for tokens without pools needs no node, alone or behind an order whose read fails."""
    tokens = trader.world.tokens
    lonely, lost = (tokens["DAI"]._replace(address="0x" + digits * 20, symbol=digits) for digits in ("66", "77"))
    pairs = (tokens["WETH"], tokens["USDC"]), (lonely, lost), (tokens["USDC"], tokens["DAI"])
    requests = [QuoteRequest(Order(*pair, 10**6), ApiVersion.V2) for pair in pairs]
    market = trader.market._replace(tokens={**trader.market.tokens, lonely.address: lonely, lost.address: lost})
    endpoint = RpcEndpoint(f"http://127.0.0.1:{proxy.server_port}", "the proxy")
    proxy.always = hangs_up
    with closing(RpcNode([endpoint], CHAIN_ID, NodePolicy(pause=lambda _: None))) as node, ExitStack() as stack:
        source = LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK)
        with pytest.raises(NoRoute):
            source.quote(requests[1])
        orders = [stack.enter_context(source.joined.joined(partial(_same, each))) for each in requests]
        errors = []
        for request, order in zip(requests, orders, strict=True):
            with source.joined.turn(order), pytest.raises(SwapcliError) as raised:
                source.quote(request)
            errors.append(type(raised.value))
    assert errors == [errors[0], NoRoute, errors[0]]
    assert issubclass(errors[0], UpstreamError)


def test_a_refreshed_market_reads_a_newer_block(name: str, trader: Trader) -> None:
    with open_warm(name) as market:
        first = market.quote("WETH", "USDC", "10")
        trader.chain.node.ask("evm_mine")
        market.refresh()
        assert market.quote("WETH", "USDC", "10").state.block > first.state.block  # type: ignore[operator]
