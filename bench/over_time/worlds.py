"""Draw worlds: pools of real families, external prices that move, and traders who arrive at random times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, inf, log, sqrt
from random import Random
from typing import NamedTuple

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.families import family
from swapcli.families.tick_math import sqrt_ratio_at_tick, tick_at_sqrt_ratio

UNIT = 10**18
HISTORY_S = 4 * 3600.0
"""The period that `swapcli plan` measures by default."""
_YEAR_S = 365.25 * 86_400
_Q96 = 1 << 96
_TOKENS = tuple(Token(f"0x{number:040x}", name, name, 18) for number, name in enumerate(("SELL", "VIA", "BUY"), 1))
SELL, VIA, BUY = (token.address for token in _TOKENS)
_SPACINGS = {100: 1, 500: 10, 3000: 60, 10_000: 200}


class Traders(NamedTuple):
    """Mean seconds between arbitrageurs, and between other traders, for one pool; `inf` if there are none.

    The sizes of other traders have a median of `size` of the pool's depth.
    """

    arbitrage_s: float
    others_s: float
    size: float


class World(NamedTuple):
    """A market at the beginning of its recorded history, and how it continues.

    `usd` are the first prices of tokens elsewhere. They move by `volatility` (log price per square root of a second);
    with `has_regimes` by twice or half as much for hours, and with jumps every `jumps_s` seconds. `depths` are a pool's
    holdings of each token in USD (virtual reserves for concentrated pools), and `depth` is the total of the sold token
    in all its pools, in base units. `gas_usd` is the cost of a transaction.
    """

    name: str
    pools: Mapping[str, Pool]
    usd: Mapping[str, float]
    volatility: float
    has_regimes: bool
    jumps_s: float
    traders: Mapping[str, Traders]
    depths: Mapping[str, float]
    depth: float
    gas_usd: float
    horizon_s: float


class Event(NamedTuple):
    """A trader arrives at a pool at a time; `usd` are the external prices. If `size` is None, it is an arbitrageur.

    Otherwise this part of the pool's depth is sold: of its first token if positive, of its second if negative.
    """

    at_s: float
    usd: Mapping[str, float]
    pool: str
    size: float | None


def market_of(pools: Mapping[str, Pool]) -> MarketState:
    """Return the market of these pools, without gas, which the plan counts separately."""
    native = Token(ZERO_ADDRESS, "ETH", "Ether", 18)
    network = Network("simulated", Kind.EVM, 1, native, _TOKENS[1], _TOKENS, (), stablecoins=(BUY,))
    tokens = {token.address: token for token in _TOKENS}
    return MarketState(network, tokens, pools, Provenance.SYNTHETIC, "bench.over_time", 0)


def draw_world(seed: int, *, has_arbitrage: bool = True) -> World:
    """Return the world for a seed: 1 to 3 pools on a route of one or two hops."""
    rng = Random(f"world {seed}")
    kind = rng.choices(("direct", "two hops", "stable"), (5, 3, 2))[0]
    usd = {SELL: exp(rng.uniform(log(0.5), log(50_000))), VIA: exp(rng.uniform(log(0.5), log(3_000))), BUY: 1.0}
    if kind == "stable":
        usd[SELL] = 1.0
    hops = [(SELL, VIA), (VIA, BUY)] if kind == "two hops" else [(SELL, BUY)]
    value = 10 ** rng.uniform(5.7, 7.7)
    pools: dict[str, Pool] = {}
    traders: dict[str, Traders] = {}
    depths: dict[str, float] = {}
    arbitrage_s, others_s = 10 ** rng.uniform(0.3, 1.4), 10 ** rng.uniform(1.0, 2.2)
    for a, b in hops:
        for _ in range(rng.choice((1, 2) if kind == "two hops" else (1, 2, 3))):
            depth = value * exp(rng.gauss(0.0, 0.7))
            pool = _draw_pool(rng, len(pools) + 1, kind, (a, b), usd, depth)
            pools[pool.key], depths[pool.key] = pool, depth
            slow = exp(rng.gauss(0.0, 0.3))
            traders[pool.key] = Traders(
                arbitrage_s * slow if has_arbitrage else inf, others_s * slow, 10 ** rng.uniform(-4.0, -3.0)
            )
    sigma = 10 ** rng.uniform(-2.7, -1.7) if kind == "stable" else rng.uniform(0.3, 1.2)
    sold = sum(depths[key] for key, pool in pools.items() if SELL in pool.tokens) / usd[SELL]
    return World(
        kind,
        pools,
        usd,
        sigma / sqrt(_YEAR_S),
        rng.random() < 0.3,
        6 * 3600.0 if kind != "stable" and rng.random() < 0.3 else inf,
        traders,
        depths,
        sold * UNIT,
        10 ** rng.uniform(-2.0, 0.7),
        3600.0 * rng.choice((1, 2, 4, 8)),
    )


def draw_events(world: World, seed: int) -> Iterator[Event]:
    """Yield the events of a world without us: its history, and then its horizon, from 0 s on."""
    rng = Random(f"events {seed}")
    comers = [
        (key, is_arbitrage, 1.0 / mean_s)
        for key, each in world.traders.items()
        for is_arbitrage, mean_s in ((True, each.arbitrage_s), (False, each.others_s))
        if mean_s < inf
    ]
    rates = [rate for *_, rate in comers]
    total, end_s = sum(rates), HISTORY_S + world.horizon_s
    at_s, logs, factor = 0.0, {token: log(price) for token, price in world.usd.items()}, 1.0
    while (at_s := at_s + (step_s := rng.expovariate(total))) < end_s:
        if world.has_regimes and rng.random() < step_s / 7200.0:
            factor = rng.choice((0.5, 1.0, 2.0))
        for token in (SELL, VIA):
            logs[token] += rng.gauss(0.0, world.volatility * factor * sqrt(step_s))
            if rng.random() < step_s / world.jumps_s:
                logs[token] += rng.gauss(0.0, 0.01)
        key, is_arbitrage, _ = rng.choices(comers, rates)[0]
        median = world.traders[key].size
        size = min(median * exp(rng.gauss(0.0, 1.6)), 0.03) * rng.choice((-1.0, 1.0))
        yield Event(at_s, {token: exp(value) for token, value in logs.items()}, key, None if is_arbitrage else size)


def _draw_pool(
    rng: Random, number: int, kind: str, pair: tuple[str, str], usd: Mapping[str, float], depth: float
) -> Pool:
    """Return a pool of a random family at the external price, which holds `depth` USD of each token."""
    first, second = sorted(pair)
    price = usd[first] / usd[second]
    x, y = (int(depth / usd[token] * UNIT) for token in (first, second))
    name = rng.choice(("stableswap", "concentrated") if kind == "stable" else ("constant_product", "concentrated"))
    fees = {"stableswap": (100, 400), "constant_product": (2500, 3000), "concentrated": (500, 3000)}
    fee_ppm = rng.choice((100, 500)) if kind == "stable" and name == "concentrated" else rng.choice(fees[name])
    identity = PoolIdentity(f"0x{0xF000 + number:040x}", name, (first, second), (18, 18), fee_ppm)
    if name == "constant_product":
        return family(name).from_state(identity, {"reserves": [str(x), str(y)]})
    if name == "stableswap":
        state = {"reserves": [str(x), str(y)], "rates": [str(UNIT)] * 2, "amp": rng.choice((50, 200, 1000))}
        return family(name).from_state(identity, state)
    return _concentrated(rng, identity, price, sqrt(x * y), kind)


def _concentrated(rng: Random, identity: PoolIdentity, price: float, liquidity: float, kind: str) -> Pool:
    """Return a V3 pool whose virtual reserves match `liquidity` near the price, and are smaller further away."""
    spacing = _SPACINGS[identity.fee_ppm]
    sqrt_price = int(sqrt(price) * _Q96)
    tick = tick_at_sqrt_ratio(sqrt_price)
    widths = (100, 1_000, 20_000) if kind == "stable" else (2_000, 8_000, 60_000)
    parts = [rng.uniform(0.5, 1.0), rng.uniform(0.2, 0.6), 0.3]
    net: dict[int, int] = {}
    for width, part in zip(widths, parts, strict=True):
        amount = int(liquidity * part / sum(parts))
        low, high = (tick - width) // spacing * spacing, ((tick + width) // spacing + 1) * spacing
        net[low], net[high] = net.get(low, 0) + amount, net.get(high, 0) - amount
    assert all(sqrt_ratio_at_tick(each) for each in net)
    state = {
        "sqrt_price_x96": str(sqrt_price),
        "tick": tick,
        "liquidity": str(sum(each for each in net.values() if each > 0)),
        "tick_spacing": spacing,
        "ticks": [[each, str(net[each])] for each in sorted(net)],
    }
    return family("concentrated").from_state(identity, state)
