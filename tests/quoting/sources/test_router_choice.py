"""The choice of the router of a quote: trust decides among outputs that are almost the same."""

from __future__ import annotations

from collections import Counter
from functools import cache
from statistics import median
from typing import NamedTuple

import pytest

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import DIALECTS, FIBROUS, OWN, SETTLER, UNIVERSAL_ROUTER, DialectRouter, Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_type import SwapType
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.core.routing.search.route_search import SearchResult
from swapcli.payload.dialects import execution_of, router_dialect
from swapcli.payload.router_trust import TRUST, TRUST_OF, available_dialects
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.router_choice import MAX_LOSS_BPS, ChosenRoute, choose_route
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import generator

SETTLER_NOW = "0x" + "5e" * 20
OWN_ROUTER = "0x" + "0a" * 20
ORDERS = 500


@cache
def market(name: str = "base") -> MarketState:
    return open_market(name, find_network).market


def with_routers(network: Network, *, settler: str | None = SETTLER_NOW, own: bool = False) -> Network:
    """Return the network as a quote reads it at a block: its registry names Settler, or is paused (None)."""
    network = network._replace(chooses_router=True)
    if SETTLER in network.routers:
        network = network.with_registered_router(settler)
    routers = {**network.routers, **({OWN: DialectRouter(OWN_ROUTER)} if own else {})}
    return network._replace(routers=routers)


def searchable(network: Network, *, only: frozenset[str] | None = None) -> SearchableMarket:
    """Return the embedded market, or the pools of it with these protocols, with the routers of `network`."""
    known = market(network.name)
    pools = {key: pool for key, pool in known.pools.items() if only is None or pool.protocol in only}
    return SearchableMarket(known._replace(network=network, pools=pools), SYSTEM_CLOCK)


def search(searched: SearchableMarket, request: QuoteRequest) -> tuple[SearchableMarket, SearchResult]:
    return searched, searched.search(request)


def usd_order(known: MarketState, sold: str, bought: str, usd: float) -> Order:
    ends = [token for symbol in (sold, bought) for token in known.tokens.values() if token.symbol == symbol][:2]
    price = SearchableMarket(known, SYSTEM_CLOCK).router.index.usd_prices(ends[0])[0]
    assert price is not None
    return Order(ends[0], ends[1], int(usd / price * 10 ** ends[0].decimals))


def request(sold: str, bought: str, usd: float) -> QuoteRequest:
    return QuoteRequest(usd_order(market(), sold, bought, usd), ApiVersion.V2)


class Counted:
    """A search for another router, which counts its calls."""

    def __init__(self) -> None:
        self.dialects: list[str] = []

    def __call__(self, searched: SearchableMarket, request: QuoteRequest) -> tuple[SearchableMarket, SearchResult]:
        self.dialects.append(searched.network.router_dialect)
        return search(searched, request)


def choose(asked: QuoteRequest, network: Network, counted: Counted | None = None) -> ChosenRoute:
    read = searchable(network)
    return choose_route(asked, search(read, asked), (counted or search,))


class TestTrust:
    """The table, and what it says of each router."""

    def test_it_has_every_dialect_once_and_the_interface_s_last(self) -> None:
        assert [each.dialect for each in TRUST] == [SETTLER, UNIVERSAL_ROUTER, OWN, FIBROUS]
        assert {each.dialect for each in TRUST} == set(DIALECTS)

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_what_a_router_enforces_is_what_its_payloads_rely_on(self, dialect: str) -> None:
        network = with_routers(find_network("base"), own=True).for_dialect(dialect)
        assert router_dialect(network).enforces_deadline == TRUST_OF[dialect].enforces_deadline

    @pytest.mark.parametrize(
        ("name", "dialects"),
        [
            ("base", (SETTLER, UNIVERSAL_ROUTER, FIBROUS)),
            ("monad", (SETTLER, UNIVERSAL_ROUTER, FIBROUS)),
            ("hyperevm", (SETTLER, FIBROUS)),
            ("citrea", (FIBROUS,)),
            ("ethereum", (SETTLER, UNIVERSAL_ROUTER)),
            ("arbitrum", (SETTLER, UNIVERSAL_ROUTER)),
        ],
    )
    def test_networks_have_the_dialects_of_their_definitions(self, name: str, dialects: tuple[str, ...]) -> None:
        network = find_network(name)
        assert available_dialects(with_routers(network)) == (dialects, ())
        assert network.facts_date
        assert all(f"routers.{each}" in network.sources for each in dialects if each != FIBROUS)


class TestOneSearch:
    """Most routes are searched once: a more trusted router executes them as they are."""

    def test_a_route_that_settler_executes_is_not_searched_again(self) -> None:
        counted = Counted()
        asked = request("WETH", "USDC", 5_000)
        found = choose(asked, with_routers(find_network("base")), counted)
        assert found.choice.dialect == SETTLER
        assert found.choice.gain_bps is None
        assert not counted.dialects
        assert found.searched.network.router == SETTLER_NOW
        quote = found.searched.build_quote(asked, found.outcome)
        scale = execution_of(found.searched.network).rate_scale
        assert max(step.rate for step in quote.steps) == scale
        assert quote.amount_out == found.outcome.best.replay.amount_out

    def test_a_proof_is_about_all_pools(self) -> None:
        asked = request("WETH", "USDC", 5_000)._replace(certify=True)
        found = choose(asked, with_routers(find_network("base")))
        certificate = found.searched.build_quote(asked, found.outcome).certificate
        assert certificate is not None
        assert certificate.pools_checked == len(market().pools)
        assert 0.0 <= certificate.gap_bps < 1.0


class TestChoice:
    """Which router carries an order, with each of them present or absent."""

    @pytest.mark.parametrize(
        ("settler", "own", "dialect", "passed"),
        [
            (SETTLER_NOW, False, SETTLER, ()),
            (SETTLER_NOW, True, SETTLER, ()),
            (None, False, FIBROUS, (SETTLER,)),
            (None, True, OWN, (SETTLER,)),
        ],
    )
    def test_of_a_large_order(self, settler: str | None, own: bool, dialect: str, passed: tuple[str, ...]) -> None:
        network = with_routers(find_network("base"), settler=settler, own=own)
        choice = choose(request("WETH", "USDC", 100_000), network).choice
        assert (choice.dialect, tuple(each.dialect for each in choice.passed)) == (dialect, passed)
        if dialect != SETTLER:  # the pools of Uniswap alone pay less
            assert choice.over == UNIVERSAL_ROUTER
            assert choice.gain_bps is not None
            assert choice.gain_bps > MAX_LOSS_BPS

    def test_of_pools_that_one_router_executes_alone(self) -> None:
        """Stable pairs of Solidly are not Settler's: the best route without them is what the gain refers to."""
        asked, counted = request("WETH", "axlUSDC", 465_000), Counted()
        network = with_routers(find_network("base"))
        best = search(searchable(network), asked)
        used = {market().pools[step.pool].protocol for step in best[1].best.replay.steps}
        assert "aerodromeV2Stable" in used
        found = choose_route(asked, best, (counted,))
        by_settler = searchable(network.for_dialect(SETTLER)).search(asked)
        paid, other = best[1].best.replay.amount_out, by_settler.best.replay.amount_out
        assert counted.dialects == [SETTLER]  # the pools of the Universal Router are among Settler's
        assert (found.choice.dialect, found.choice.over) == (FIBROUS, SETTLER)
        assert found.choice.gain_bps == pytest.approx(1e4 * (paid - other) / paid, abs=0.01)

    def test_a_network_without_the_interfaces_router_has_the_best_route_of_the_others(self) -> None:
        asked, counted = request("WETH", "axlUSDC", 465_000), Counted()
        network = with_routers(find_network("base"))._replace(router=None)
        best = search(searchable(network), asked)
        found = choose_route(asked, best, (counted,))
        by_settler = searchable(network.for_dialect(SETTLER)).search(asked)
        assert counted.dialects == [SETTLER]
        assert (found.choice.dialect, found.choice.over, found.choice.gain_bps) == (SETTLER, None, None)
        assert found.outcome.best.replay.amount_out == by_settler.best.replay.amount_out
        paused = with_routers(find_network("base"), settler=None)._replace(router=None)
        choice = choose(request("WETH", "USDC", 5_000), paused).choice
        assert (choice.dialect, [each.dialect for each in choice.passed]) == (UNIVERSAL_ROUTER, [SETTLER])

    def test_a_network_without_any_router_is_left_to_the_error_of_its_payload(self) -> None:
        network = with_routers(find_network("base"))._replace(router=None, routers={})
        assert available_dialects(network) == ((FIBROUS,), ())
        assert choose(request("WETH", "USDC", 5_000), network).choice.dialect == FIBROUS

    def test_without_any_router_of_others_there_is_no_comparison(self) -> None:
        network = with_routers(find_network("base"))._replace(routers={})
        choice = choose(request("WETH", "USDC", 5_000), network).choice
        assert (choice.dialect, choice.gain_bps, choice.over, choice.passed) == (FIBROUS, None, None, ())

    @pytest.mark.parametrize(
        ("loss_bps", "dialect"), [(0.0, SETTLER), (0.09, SETTLER), (0.11, FIBROUS), (5.0, FIBROUS)]
    )
    def test_a_tenth_of_a_basis_point_is_the_price_of_trust(self, loss_bps: float, dialect: str) -> None:
        """The route by Settler pays so much less than the best one, whose pool only the interface's router executes."""
        asked = request("WETH", "USDC", 5_000)
        network = with_routers(find_network("base"))
        without_pools = {SETTLER: network.routers[SETTLER]._replace(protocols={})}
        read = searchable(network._replace(routers=without_pools))
        _, found = best = search(read, asked)

        def worse(searched: SearchableMarket, again: QuoteRequest) -> tuple[SearchableMarket, SearchResult]:
            """Return the same route, as Settler would execute it if it knew the pools."""
            assert (searched.network.router_dialect, again) == (SETTLER, asked)
            amount_out = found.best.replay.amount_out
            less = found.best.replay._replace(amount_out=amount_out - round(amount_out * loss_bps / 1e4))
            market = read.market._replace(network=network.for_dialect(SETTLER))
            return SearchableMarket(market, SYSTEM_CLOCK), found._replace(best=found.best._replace(replay=less))

        choice = choose_route(asked, best, (worse,)).choice
        assert choice.dialect == dialect
        if dialect == FIBROUS:
            assert choice.gain_bps == pytest.approx(loss_bps, abs=1e-3)

    def test_an_extended_protocol_is_not_the_interface_s(self) -> None:
        network = with_routers(find_network("base"))
        protocols = tuple(
            each._replace(is_extended=each.amm_name in ("aerodromeV3", "pancakeSwapV3", "uniswapV3"))
            for each in network.protocols
        )
        asked = request("WETH", "USDC", 100_000)
        found = choose(asked, network._replace(protocols=protocols, routers={}))
        used = {market().pools[step.pool].protocol for step in found.outcome.best.replay.steps}
        assert not used & {"aerodromeV3", "pancakeSwapV3", "uniswapV3"}


class Outcome(NamedTuple):
    """An order with the chosen dialect, and how much less it pays than the best one, in basis points."""

    usd: float
    dialect: str
    loss_bps: float
    searched: int
    gain_bps: float | None


def value(searched: SearchableMarket, result: SearchResult, order: Order, dialect: str, common: str) -> float:
    """Return what a route pays net of gas; the interface's router, whose gas is unknown, takes that of `common`."""
    gas = execution_of(searched.network.for_dialect(dialect if TRUST_OF[dialect].has_known_gas else common)).gas
    pools, best = searched.executable.pools, result.best
    swap_type = SwapType.of(order.token_in.address, order.token_out.address)
    units = route_gas(pools, best.replay, gas) + gas_of_terms(pools, best.replay.steps, swap_type, gas)
    return best.replay.amount_out - units * result.problem.spec.gas_value


def outcomes(name: str, count: int) -> list[Outcome]:
    """Return what is chosen for random orders, against a full search for each dialect."""
    rng = generator(f"choice of routers {name}")
    network, known = with_routers(find_network(name)), market(name)
    read = searchable(network)
    by_dialect = {each: searchable(network.for_dialect(each)) for each in available_dialects(network)[0]}
    index = read.router.index
    weights = Counter(token for pool in known.pools.values() for token in pool.tokens)
    tokens = [token for token in known.tokens.values() if index.usd_prices(token)[0]]
    native = known.network.native
    found: list[Outcome] = []
    while len(found) < count:
        sold, bought = rng.choices(tokens, [weights[each.address] for each in tokens], k=2)
        usd, price = 10 ** rng.uniform(1, 6), index.usd_prices(sold)[0]
        if sold.address == bought.address or price is None:
            continue
        sold, bought = (native if network.to_wrapped(ZERO_ADDRESS) == each.address else each for each in (sold, bought))
        order = Order(sold, bought, max(1, int(usd / price * 10**sold.decimals)))
        asked, counted = QuoteRequest(order, ApiVersion.V2), Counted()
        try:
            chosen = choose_route(asked, search(read, asked), (counted,))
        except NoRoute:
            continue
        common = next(iter(by_dialect))
        values = {chosen.choice.dialect: value(chosen.searched, chosen.outcome, order, chosen.choice.dialect, common)}
        for dialect, each in by_dialect.items():
            try:
                best = value(each, each.search(asked), order, dialect, common)
            except NoRoute:
                continue
            values[dialect] = max(best, values.get(dialect, best))
        mine = value(chosen.searched, chosen.outcome, order, chosen.choice.dialect, common)
        loss_bps = 1e4 * (max(values.values()) - mine) / chosen.outcome.best.replay.amount_out
        found.append(Outcome(usd, chosen.choice.dialect, loss_bps, len(counted.dialects), chosen.choice.gain_bps))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["base"])
def test_trust_costs_a_tenth_of_a_basis_point_at_most(name: str) -> None:
    found = outcomes(name, ORDERS)
    losses = [each.loss_bps for each in found]
    assert median(losses) <= 0.005
    assert max(losses) <= MAX_LOSS_BPS + 1e-6
    assert sum(each.dialect == FIBROUS for each in found) < 0.05 * ORDERS
    assert sum(each.searched == 0 for each in found) > 0.75 * ORDERS
