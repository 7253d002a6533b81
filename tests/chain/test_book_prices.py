"""The best prices of HyperCore's books beside a live quote, read from contracts in place of its precompiles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from eth_abi.abi import encode

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Deployment
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.cli.render.quote_facts import build_facts
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import Contract
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import Trader
from tests.contracts.evm import compile_solidity
from tests.examples import few
from tests.support.chain import connected

SPOT_INFO, TOKEN_INFO, BEST_PRICES = (f"0x{number:040x}" for number in (0x80B, 0x80C, 0x80E))
BASE_INDEX, QUOTE_INDEX, MARKET, OTHER_MARKET = 150, 268, 107, 9
"""The base is the wrapped native token, which has the index of HYPE and no contract of its own on HyperCore."""
SIZE_DECIMALS: Final = 5
NOBODY: Final = "0x" + "77" * 20


class Core:
    """HyperCore as far as contracts can see it: its precompiles, and a registry of tokens."""

    def __init__(self, trader: Trader) -> None:
        artifacts = compile_solidity("hypercore.sol", root=Path(__file__).parent)
        place = trader.chain.place
        self.spots, self.tokens, self.prices = (
            place(each, artifacts["Precompile"]) for each in (SPOT_INFO, TOKEN_INFO, BEST_PRICES)
        )
        self.registry: Contract = trader.chain.deploy(artifacts["TokenRegistry"])

    def link(self, token: str, index: int, markets: list[int], contract: str) -> None:
        """Register a token, and describe it."""
        self.registry.send("set", token, index)
        fields = ["string", "uint64[]", "uint64", "address", "address", "uint8", "uint8", "int8"]
        values = ["A TOKEN", markets, 0, NOBODY, contract, SIZE_DECIMALS if index == BASE_INDEX else 2, 8, 10]
        self.tokens.send("set", index, encode([f"({','.join(fields)})"], [values]))

    def open(self, market: int, base: int, quote: int, bid: int, ask: int) -> None:
        """Open a market with two prices."""
        self.spots.send("set", market, encode(["(string,uint64[2])"], [("@107", [base, quote])]))
        self.prices.send("set", 10_000 + market, encode(["uint64", "uint64"], [bid, ask]))


@pytest.fixture
def core(trader: Trader) -> Core:
    found = Core(trader)
    weth, usdc = (trader.world.tokens[name].address for name in (WETH, "USDC"))
    found.link(weth, BASE_INDEX, [OTHER_MARKET, MARKET], ZERO_ADDRESS)
    found.link(usdc, QUOTE_INDEX, [1, 2, MARKET, 3], usdc)
    found.open(OTHER_MARKET, BASE_INDEX, 999, 1, 2)
    found.open(MARKET, BASE_INDEX, QUOTE_INDEX, 3_012_500, 3_013_250)
    return found


@pytest.fixture(params=few([True, False], 1), ids=["multicall", "no multicall"])
def node(trader: Trader, core: Core, request: pytest.FixtureRequest) -> Iterator[RpcNode]:
    books = Deployment((), "books", {"token_registry": core.registry.address})
    multicall = deploy_multicall(trader.chain) if request.param else None
    network = trader.world.network._replace(multicall=multicall, deployments=(*trader.world.network.deployments, books))
    trader.market = trader.market._replace(network=network)
    with connected(trader.chain) as node:
        yield node


def quoted(trader: Trader, node: RpcNode, sold: str, bought: str) -> LocalQuote:
    tokens = trader.world.tokens
    order = Order(tokens[sold], tokens[bought], 10 ** DECIMALS[sold])
    source = LiveSource(InMemorySource(trader.market, SYSTEM_CLOCK), node, SYSTEM_CLOCK)
    answer = source.quote(QuoteRequest(order, ApiVersion.V2))
    assert isinstance(answer, LocalQuote)
    return answer


@pytest.mark.parametrize(("sold", "bought"), [(WETH, "USDC"), ("USDC", WETH)])
def test_the_best_prices_are_shown_beside_a_live_quote(trader: Trader, node: RpcNode, sold: str, bought: str) -> None:
    answer = quoted(trader, node, sold, bought)
    book = answer.book_prices
    assert book is not None
    assert (book.base, book.quote) == (trader.world.tokens[WETH], trader.world.tokens["USDC"])
    assert (book.bid, book.ask, book.decimals) == (3_012_500, 3_013_250, 3)
    figures = compute_figures(answer, SwapTerms(0))
    shown = render_quote_fields(figures, answer.network)["bookPrices"]
    assert {**shown, "base": shown["base"].lower(), "quote": shown["quote"].lower()} == {
        "name": "HyperCore spot", "base": book.base.address, "quote": book.quote.address,
        "bid": "3012.5", "ask": "3013.25",
    }  # fmt: skip
    (fact,) = (
        each for each in build_facts(answer, SwapTerms(0), figures, verbose=True) if each.name == "HyperCore spot"
    )
    assert fact.value == f"bid 3,012.5, ask 3,013.25 USDC for 1 {book.base.symbol}"
    assert "not part of the transaction" in fact.note


def test_a_side_without_offers_is_null(trader: Trader, core: Core, node: RpcNode) -> None:
    core.open(MARKET, BASE_INDEX, QUOTE_INDEX, 0, 3_013_250)
    answer = quoted(trader, node, WETH, "USDC")
    shown = render_quote_fields(compute_figures(answer, SwapTerms(0)), answer.network)["bookPrices"]
    assert (shown["bid"], shown["ask"]) == (None, "3013.25")


@pytest.mark.parametrize("fault", ["another token", "no market", "no prices", "no registry"])
def test_nothing_is_shown_that_cannot_be_read(trader: Trader, core: Core, node: RpcNode, fault: str) -> None:
    weth, usdc = (trader.world.tokens[name].address for name in (WETH, "USDC"))
    if fault == "another token":
        core.link(usdc, QUOTE_INDEX, [MARKET], NOBODY)
    elif fault == "no market":
        core.open(MARKET, QUOTE_INDEX, 999, 1, 2)
    elif fault == "no prices":
        core.link(weth, BASE_INDEX, [77], ZERO_ADDRESS)
    else:
        core.registry.send("set", usdc, 0)
    answer = quoted(trader, node, WETH, "USDC")
    assert answer.result.output_amount > 0
    assert answer.book_prices is None
    assert "bookPrices" not in render_quote_fields(compute_figures(answer, SwapTerms(0)), answer.network)


def test_only_networks_with_such_books_are_asked() -> None:
    assert [name for name in network_names() if find_network(name).book_registry] == ["hyperevm"]
