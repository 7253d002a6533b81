"""Small markets of real pools for the routing tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import cbrt, sqrt

from hypothesis import strategies as st

from swapcli.model.market import Market, Provenance
from swapcli.model.network import Kind, Network
from swapcli.model.order import ZERO_ADDRESS, Order
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.model.token import Token
from swapcli.pools import family
from swapcli.routing.graph.market_graph import MarketGraph
from swapcli.routing.graph.spot_prices import SpotPrices
from swapcli.routing.search.problem import FINE, CandidateSolution, RoutingProblem, SwapSpec

Q96 = 1 << 96
UNIT = 10**18
_FEES = (500, 3000, 10000)


def token(number: int, decimals: int = 18) -> Token:
    """Token number `number` of the test network."""
    return Token(f"0x{number + 1:040x}", f"T{number}", f"Token {number}", decimals)


def market(pools: Sequence[Pool], tokens: Sequence[Token], gas_price_wei: int = 0) -> Market:
    """A market of `pools` whose wrapped native token is token 0 and whose dollar is token 1."""
    native = Token(ZERO_ADDRESS, "ETH", "Ether", 18)
    network = Network("test", Kind.EVM, 1, native, tokens[0], tuple(tokens), (), stablecoins=(tokens[1].address,))
    by_address = {t.address: t for t in tokens}
    by_key = {pool.key: pool for pool in pools}
    return Market(network, by_address, by_key, Provenance.SYNTHETIC, "test", gas_price_wei)


def _identity(number: int, tokens: Sequence[Token], fee_ppm: int, protocol: str) -> PoolIdentity:
    addresses = tuple(t.address for t in tokens)
    return PoolIdentity(f"0x{0xF00000 + number:040x}", protocol, addresses, tuple(t.decimals for t in tokens), fee_ppm)


def constant_product(
    number: int, a: Token, b: Token, reserve_a: int, reserve_b: int, fee_ppm: int = 3000, protocol: str = "v2"
) -> Pool:
    """Pool `number` of tokens `a` and `b` with the given reserves."""
    (first, x), (second, y) = sorted(((a, reserve_a), (b, reserve_b)), key=lambda side: side[0].address)
    identity = _identity(number, (first, second), fee_ppm, protocol)
    return family("constant_product").from_state(identity, {"reserves": [str(x), str(y)]})


def concentrated(
    number: int, a: Token, b: Token, liquidity: int, price: float, width: int, fee_ppm: int = 3000, protocol: str = "v3"
) -> Pool:
    """A V3 pool with one position of `width` ticks either side of `price`, units of the second token per first."""
    from swapcli.pools.tick_math import sqrt_ratio_at_tick, tick_at_sqrt_ratio

    first, second = sorted((a, b), key=lambda t: t.address)
    spacing = 60
    sqrt_price = int(sqrt(price) * Q96)
    tick = tick_at_sqrt_ratio(sqrt_price)
    low, high = (tick - width) // spacing * spacing, ((tick + width) // spacing + 1) * spacing
    assert sqrt_ratio_at_tick(low) < sqrt_price < sqrt_ratio_at_tick(high)
    state = {
        "sqrt_price_x96": str(sqrt_price),
        "tick": tick,
        "liquidity": str(liquidity),
        "tick_spacing": spacing,
        "ticks": [[low, str(liquidity)], [high, str(-liquidity)]],
    }
    return family("concentrated").from_state(_identity(number, (first, second), fee_ppm, protocol), state)


def solidly_stable(number: int, a: Token, b: Token, worth: float, price: float, fee_ppm: int) -> Pool:
    """A pool of about `worth` of token `b` whose tilt makes one unit of `a` worth `price` units of `b`."""
    s = cbrt((1 - price) / (1 + price))
    reserves = [str(int(worth * (1 + s) / (1 - s) * UNIT)), str(int(worth * UNIT))]
    return family("solidly_stable").from_state(_identity(number, (a, b), fee_ppm, "solidly"), {"reserves": reserves})


def stableswap(
    number: int, tokens: Sequence[Token], values: Sequence[float], worth: float, amp: int, fee_ppm: int
) -> Pool:
    """A balanced pool that holds `worth` of each token, a unit of which counts as its value."""
    state = {
        "reserves": [str(int(worth / value * UNIT)) for value in values],
        "rates": [str(int(value * UNIT)) for value in values],
        "amp": amp,
    }
    return family("stableswap").from_state(_identity(number, tokens, fee_ppm, "stable"), state)


def weighted(
    number: int, tokens: Sequence[Token], values: Sequence[float], worth: float, parts: Sequence[int], fee_ppm: int
) -> Pool:
    """A pool of `worth` in all that weighs the tokens in proportion to `parts`."""
    weights = [UNIT * part // sum(parts) for part in parts]
    weights[0] += UNIT - sum(weights)
    reserves = [str(int(worth * weight / value)) for weight, value in zip(weights, values, strict=True)]
    state = {"reserves": reserves, "weights": [str(weight) for weight in weights]}
    return family("weighted").from_state(_identity(number, tokens, fee_ppm, "weighted"), state)


def random_market(
    seed: int,
    *,
    tokens: int = 6,
    pools: int = 14,
    noise: float = 0.8,
    gas_price_wei: int = 0,
    every_family: bool = False,
) -> Market:
    """Pools around fair prices, each off by less than `noise` times its fee: below 1 there is no arbitrage.

    Constant product and concentrated pools; with `every_family` half of the pools are of the others, some with more
    than two tokens. Every token is in a pool.
    """
    rng = random.Random(seed)
    known = [token(k) for k in range(tokens)]
    fair = [10 ** rng.uniform(-2, 2) for _ in known]
    made: list[Pool] = []
    for number in range(pools):
        i = number if number < tokens else rng.randrange(tokens)
        drawn = _other_pool if every_family and rng.random() < 0.5 else _common_pool
        made.append(drawn(rng, number, i, known, fair, noise))
    return market(made, known, gas_price_wei)


def _common_pool(
    rng: random.Random, number: int, i: int, known: Sequence[Token], fair: Sequence[float], noise: float
) -> Pool:
    j = rng.choice([k for k in range(len(known)) if k != i])
    fee = rng.choice(_FEES)
    off = 1 + rng.uniform(-noise, noise) * fee / 1e6
    worth = 10 ** rng.uniform(2, 7)
    if rng.random() < 0.6:
        reserves = int(worth / fair[i] * UNIT), int(worth / fair[j] * off * UNIT)
        return constant_product(number, known[i], known[j], *reserves, fee)
    a, b = sorted((i, j))
    price = fair[a] / fair[b] * off
    liquidity = int(worth / fair[b] * UNIT / sqrt(price)) * 10
    return concentrated(number, known[a], known[b], liquidity, price, rng.choice([600, 6000, 60000]), fee)


def _other_pool(
    rng: random.Random, number: int, i: int, known: Sequence[Token], fair: Sequence[float], noise: float
) -> Pool:
    fee = rng.choice(_FEES)
    name = rng.choice(["solidly_stable", "stableswap", "weighted"])
    others = rng.sample([k for k in range(len(known)) if k != i], min(rng.choice([1, 1, 2, 3]), len(known) - 1))
    members = sorted([i, *(others[:1] if name == "solidly_stable" else others)])
    values = [fair[k] * (1 + rng.uniform(-noise, noise) * fee / 2e6) for k in members]
    worth = 10 ** rng.uniform(2, 7)
    held = [known[k] for k in members]
    if name == "solidly_stable":
        return solidly_stable(number, held[0], held[1], worth / values[1], values[0] / values[1], fee)
    if name == "stableswap":
        return stableswap(number, held, values, worth, rng.choice([10, 100, 1000]), fee)
    return weighted(number, held, values, worth, [rng.randint(10, 80) for _ in members], fee)


def graph_of(held: Market) -> MarketGraph:
    """All pools of `held` as a graph whose token numbers are those of the market."""
    return MarketGraph(held.pools.values(), held.tokens)


def problem_of(held: Market, amount: int, max_hops: int = 6, gas_value: float = 0.0) -> RoutingProblem:
    """The order that sells `amount` of token 0 for token 1."""
    return problem_on(graph_of(held), amount, max_hops, gas_value)


def problem_on(graph: MarketGraph, amount: int, max_hops: int = 6, gas_value: float = 0.0) -> RoutingProblem:
    """The same on a graph."""
    return RoutingProblem(graph, SpotPrices(graph, 1, max_hops), SwapSpec(0, 1, amount, max_hops, gas_value))


def solved(problem: RoutingProblem, tolerance: float = FINE) -> CandidateSolution | None:
    """The problem solved over the whole market, without growth; None where no path joins the two tokens."""
    prices = {t: price for t in range(len(problem.graph.addresses)) if (price := problem.spot.value(t)) > 0.0}
    if not problem.spot.path(0):
        return None
    arcs = problem.arcs_between(prices)
    return CandidateSolution(problem.solve(arcs, prices | {1: 1.0}, tolerance), arcs)


def order(held: Market, i: int, j: int, amount: int) -> Order:
    """Sell `amount` of token i for token j."""
    listed = list(held.tokens.values())
    return Order(listed[i], listed[j], amount)


seeds = st.integers(0, 10**9)
amounts = st.floats(12, 22).map(lambda digits: int(10**digits))
