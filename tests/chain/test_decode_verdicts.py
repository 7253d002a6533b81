"""`swapcli decode` beside a node: the verdict compares a payload with the chain's state, and not with known prices.

The store has the pools as they were before trades that have moved their prices by some percent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.payload.dialects import executable_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.random_routes import random_route
from tests.chain.test_checks_commands import Client
from tests.chain.trader import USER, Trade, Trader
from tests.examples import examples, generator
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

OTHER = "0x" + "22" * 20
MOVES = (("WETH", "USDC", 1_000), ("WBTC", "DAI", 20))
"""Trades that move prices."""
SYMBOLS = ("ETH", "USDC", "USDT", "WBTC", "DAI")
LOSS = re.compile(r"the swaps pay ([\d.]+)% less than a fresh quote")


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        client = Client(trader, tmp_path_factory.mktemp("verdicts"))
        for sold, bought, amount in MOVES:
            token_in, token_out = trader.world.tokens[sold], trader.world.tokens[bought]
            trader.execute(trader.quote_trade(Order(token_in, token_out, amount * 10**token_in.decimals)))
        yield client


def decode(client: Client, payload: dict[str, Any], *options: str) -> CommandResult:
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    return run_swapcli("decode", "-", "--json", *options, stdin=json.dumps(payload).encode(), env=env)


def bare(client: Client, payload: UnsignedTransaction) -> dict[str, Any]:
    """Return a payload without a document around it."""
    return {"network": client.name, "to": payload.to, "value": str(payload.value), "calldata": payload.calldata}


def random_order(rng: Random, trader: Trader) -> Order:
    """Return an order of $10 to $10,000."""
    sold, bought = rng.sample([*trader.world.tokens.values()], 2)
    usd = 10 ** rng.uniform(1, 4)
    price = {"WETH": 2_500, "WBTC": 60_000, "TKN": 0.25}.get(sold.symbol, 1)
    return Order(sold, bought, int(usd / price * 10**sold.decimals))


def fresh_trade(trader: Trader, order: Order, slippage_ppm: int = 5_000) -> Trade:
    source = InMemorySource(trader.market, SYSTEM_CLOCK)
    answer, payload = quote_and_build(source, QuoteRequest(order, ApiVersion.V2), SwapTerms(slippage_ppm, USER))
    return trader.build_trade(answer.result, payload, answer.pools, "quoted")


def worse_trade(rng: Random, trader: Trader, order: Order) -> Trade:
    """Return a trade by a route that no search would find, without slippage."""
    ends = order.token_in.address, order.token_out.address
    route = random_route(rng, executable_market(trader.market).pools, *ends, max_segments=2)
    return trader._build_trade_of_route(route, order, None, USER)


def received(trader: Trader, trade: Trade) -> int:
    """Return what a trade pays on the chain, which is then reverted."""
    with restored(trader) as copy:
        outcome = copy.execute(trade)
        assert outcome.receipt.succeeded
        return outcome.received


def test_the_state_of_the_store_is_not_that_of_the_chain(client: Client) -> None:
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    words = ("route", client.name, "ETH", "USDC", "0.01", "--get", "outputAmount")
    stored, live = (int(run_swapcli(*words, *more, env=env).stdout) for more in (("--offline",), ()))
    assert abs(1 - stored / live) > 0.01


def test_a_fresh_payload_has_no_danger(client: Client) -> None:
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    built = client.calldata("ETH", "USDC", "1.5", "--json", to=USER)
    ran = run_swapcli("decode", "-", "--from", USER, stdin=built.stdout.encode(), env=env)
    verdict, _, *lines = ran.stdout.splitlines()
    assert ran.exit_code == 0
    assert re.fullmatch(
        rf"No danger found: at least [\d.,]+ USDC for 1\.5 ETH to {USER}",
        verdict,
        re.IGNORECASE,
    )
    assert [line.split("  ")[0] for line in lines[:5]] == ["You sell", "At least", "To", "Until", "Through"]


@pytest.mark.fuzz
def test_fresh_payloads_are_never_called_worse(client: Client) -> None:
    rng, count = generator("fresh payloads"), examples(6, full=200, fuzz=200)
    while count:
        order = random_order(rng, client.trader)
        try:
            trade = fresh_trade(client.trader, order)
        except (NoRoute, PoolError):
            continue
        count -= 1
        ran = decode(client, bare(client, trade.payload), "--from", USER)
        assert (ran.exit_code, ran.json.get("warnings", [])) == (0, []), ran.json
        assert ran.json["verdict"]["status"] == "no_danger_found"


@pytest.mark.fuzz
def test_the_reported_loss_of_a_worse_route_is_its_loss(client: Client) -> None:
    rng, count = generator("worse routes"), examples(6, full=200, fuzz=200)
    while count:
        order = random_order(rng, client.trader)
        try:
            best, worse = fresh_trade(client.trader, order), worse_trade(rng, client.trader, order)
        except (NoRoute, PoolError):
            continue
        loss = 1 - worse.result.output_amount / best.result.output_amount
        if not 0.005 <= loss <= 0.1:
            continue
        count -= 1
        loss = 1 - received(client.trader, worse) / received(client.trader, best)
        ran = decode(client, bare(client, worse.payload), "--from", USER)
        (message,) = [
            each["message"] for each in ran.json.get("warnings", []) if each["code"] == FindingCode.ROUTE_WORSE
        ]
        found = LOSS.match(message)
        assert found, message
        assert abs(float(found[1]) - loss * 100) <= 0.1
        assert ran.json["verdict"]["status"] == "unknown"


def test_a_payload_whose_pools_cannot_be_read_is_not_called_safe(client: Client) -> None:
    built = client.calldata("ETH", "USDC", "1.5", "--json", to=USER).json
    pool = decode(client, built).json["swaps"][0]["pool"]
    with client.trader.chain.revert_after():
        client.trader.chain.node.ask("anvil_setCode", pool, "0x")
        ran = decode(client, built, "--from", USER)
    assert ran.json["verdict"]["status"] != "no_danger_found"
    assert {each["code"] for each in ran.json.get("warnings", [])} & {
        FindingCode.ROUTE_UNCHECKED,
        FindingCode.ROUTE_WORSE,
    }
