"""Builders of tokens, pools and small markets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import cbrt, exp, expm1, sqrt

from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.families import family
from tests.families.recorded import read_vectors

Q96 = 1 << 96
UNIT = 10**18
_FEES = (500, 3000, 10000)
BALANCER_VARIANTS = {
    "stableswap": (
        "balancer_v2_stable",
        "balancer_v2_composable",
        "balancer_v3_stable",
        "balancer_v3_stable_surge",
        "balancer_v3_boosted",
    ),
    "solidly_stable": (
        "balancer_v2_eclp",
        "balancer_v3_eclp",
        "balancer_v3_2clp",
        "balancer_v3_reclamm",
    ),
    "weighted": ("balancer_v3_weighted",),
}
"""Balancer families that replace some pools of another family with similar prices in random markets."""
RANDOM_FAMILIES = (
    *("constant_product", "concentrated", "solidly_stable", "stableswap", "weighted"),
    *(name for variants in BALANCER_VARIANTS.values() for name in variants),
)
"""Families of the pools of a random market with `every_family`."""


def build_token(number: int, decimals: int = 18) -> Token:
    """Return token number `number` of the test network."""
    return Token(f"0x{number + 1:040x}", f"T{number}", f"Token {number}", decimals)


def build_market(pools: Sequence[Pool], tokens: Sequence[Token], gas_price_wei: int = 0) -> MarketState:
    """Return a market of `pools` whose wrapped native token is token 0 and whose stablecoin is token 1."""
    native = Token(ZERO_ADDRESS, "ETH", "Ether", 18)
    network = Network("test", Kind.EVM, 1, native, tokens[0], tuple(tokens), (), stablecoins=(tokens[1].address,))
    by_address = {t.address: t for t in tokens}
    by_key = {pool.key: pool for pool in pools}
    return MarketState(network, by_address, by_key, Provenance.SYNTHETIC, "test", gas_price_wei)


def _identity(number: int, tokens: Sequence[Token], fee_ppm: int, protocol: str) -> PoolIdentity:
    addresses = tuple(t.address for t in tokens)
    return PoolIdentity(f"0x{0xF00000 + number:040x}", protocol, addresses, tuple(t.decimals for t in tokens), fee_ppm)


def build_constant_product(
    number: int, a: Token, b: Token, reserve_a: int, reserve_b: int, fee_ppm: int = 3000, protocol: str = "v2"
) -> Pool:
    """Return pool `number` with these reserves of the tokens `a` and `b`."""
    (first, x), (second, y) = sorted(((a, reserve_a), (b, reserve_b)), key=lambda side: side[0].address)
    identity = _identity(number, (first, second), fee_ppm, protocol)
    return family("constant_product").from_state(identity, {"reserves": [str(x), str(y)]})


def build_concentrated(
    number: int, a: Token, b: Token, liquidity: int, price: float, width: int, fee_ppm: int = 3000, protocol: str = "v3"
) -> Pool:
    """Return a V3 pool with one position of `width` ticks on either side of `price` (second token per first)."""
    from swapcli.families.tick_math import sqrt_ratio_at_tick, tick_at_sqrt_ratio

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


def build_solidly_stable(number: int, a: Token, b: Token, value: float, price: float, fee_ppm: int) -> Pool:
    """Return a pool worth `value` units of `b`, so imbalanced that a unit of `a` costs `price` units of `b`."""
    s = cbrt((1 - price) / (1 + price))
    reserves = [str(int(value * (1 + s) / (1 - s) * UNIT)), str(int(value * UNIT))]
    return family("solidly_stable").from_state(_identity(number, (a, b), fee_ppm, "solidly"), {"reserves": reserves})


def build_stableswap(
    number: int, tokens: Sequence[Token], prices: Sequence[float], value: float, amp: int, fee_ppm: int
) -> Pool:
    """Return a balanced pool with the same `value` in each token; `prices` are its rates."""
    state = {
        "reserves": [str(int(value / price * UNIT)) for price in prices],
        "rates": [str(int(price * UNIT)) for price in prices],
        "amp": amp,
    }
    return family("stableswap").from_state(_identity(number, tokens, fee_ppm, "stable"), state)


def build_balancer(
    name: str, number: int, tokens: Sequence[Token], prices: Sequence[float], value: float, amp: int, fee_ppm: int
) -> Pool:
    """Return a balanced pool of the family `name` with the same `value` in each token."""
    state: dict[str, object] = {"reserves": [str(int(value / price * UNIT)) for price in prices]}
    if name == "balancer_v3_weighted":
        weights = [UNIT // len(tokens)] * len(tokens)
        weights[0] += UNIT - sum(weights)
        state |= {"rates": [str(UNIT)] * len(tokens), "weights": [str(weight) for weight in weights]}
    else:
        state |= {"rates": [str(int(price * UNIT)) for price in prices], "amp": amp * 1000}
    if name == "balancer_v3_boosted":
        # Shares worth 1.05 assets; there are as many shares as there would be assets.
        state |= {"pool_tokens": [f"0x{number + 1:036x}{k:04x}" for k in range(len(tokens))]}
        state |= {"share_prices": [["105", "100"]] * len(tokens)}
        state |= {"rates": [str(int(price * 1.05 * UNIT)) for price in prices]}
    if name == "balancer_v3_stable_surge":
        state |= {"max_surge_fee": str(UNIT * 95 // 100), "surge_threshold": str(UNIT * 3 // 10)}
    return family(name).from_state(_identity(number, tokens, fee_ppm, name), state)


def build_pair_in_vault(
    name: str, number: int, tokens: Sequence[Token], prices: Sequence[float], value: float, width: float, fee_ppm: int
) -> Pool:
    """Return a pool of the family `name` with about the same `value` in both tokens, at the ratio of their prices.

    `width` is how far its price range reaches: by e^(2 width) each way, in families whose range can be chosen.
    """
    x, y = (value / price for price in prices)
    state: dict[str, object] = {"rates": [str(UNIT)] * 2, "reserves": [str(int(x * UNIT)), str(int(y * UNIT))]}
    if name == "balancer_v3_2clp":
        root = sqrt(y / x)
        state |= {"sqrt_alpha": int(root * exp(-width) * UNIT), "sqrt_beta": int(root * exp(width) * UNIT)}
    elif name == "balancer_v3_reclamm":
        factor = 1.0 / expm1(width)
        state["virtual_balances"] = [str(int(x * factor * UNIT)), str(int(y * factor * UNIT))]
    else:
        recorded = read_vectors("balancer_v3_gyro_eclp")["pools"][0]
        state |= recorded["params_1e18"] | recorded["derived_1e38"]
        unscaled = family(name).from_state(_identity(number, tokens, 0, name), state)
        inner = unscaled.curve(tokens[0].address, tokens[1].address).start_rate
        # The rate of the first token moves the price at these balances to the fair one.
        rate = prices[0] / prices[1] / inner
        state |= {
            "rates": [str(int(rate * UNIT)), str(UNIT)],
            "reserves": [str(int(x / rate * UNIT)), str(int(y * UNIT))],
        }
    return family(name).from_state(_identity(number, tokens, fee_ppm, name), state)


def build_weighted(
    number: int, tokens: Sequence[Token], prices: Sequence[float], value: float, parts: Sequence[int], fee_ppm: int
) -> Pool:
    """Return a pool of this total `value` whose weights are proportional to `parts`."""
    weights = [UNIT * part // sum(parts) for part in parts]
    weights[0] += UNIT - sum(weights)
    reserves = [str(int(value * weight / price)) for weight, price in zip(weights, prices, strict=True)]
    state = {"reserves": reserves, "weights": [str(weight) for weight in weights]}
    return family("weighted").from_state(_identity(number, tokens, fee_ppm, "weighted"), state)


def build_random_market(
    seed: int,
    *,
    tokens: int = 6,
    pools: int = 14,
    noise: float = 0.8,
    gas_price_wei: int = 0,
    every_family: bool = False,
    with_balancer: bool = True,
) -> MarketState:
    """Return a random market. Each pool's price differs from the fair one by less than `noise` times its fee.

    With `noise` below 1 there is no arbitrage. Pools are constant-product and concentrated; with `every_family` half of
    them belong to the other families, some with more than two tokens; `with_balancer` includes Balancer's. Every token
    is in a pool.
    """
    rng = random.Random(seed)
    known = [build_token(k) for k in range(tokens)]
    fair = [10 ** rng.uniform(-2, 2) for _ in known]
    built: list[Pool] = []
    for number in range(pools):
        i = number if number < tokens else rng.randrange(tokens)
        if every_family and rng.random() < 0.5:
            built.append(_other_pool(rng, number, i, known, fair, noise, with_balancer))
        else:
            built.append(_common_pool(rng, number, i, known, fair, noise))
    return build_market(built, known, gas_price_wei)


def _common_pool(
    rng: random.Random, number: int, i: int, known: Sequence[Token], fair: Sequence[float], noise: float
) -> Pool:
    j = rng.choice([k for k in range(len(known)) if k != i])
    fee = rng.choice(_FEES)
    price_factor = 1 + rng.uniform(-noise, noise) * fee / 1e6
    value = 10 ** rng.uniform(2, 7)
    if rng.random() < 0.6:
        reserves = int(value / fair[i] * UNIT), int(value / fair[j] * price_factor * UNIT)
        return build_constant_product(number, known[i], known[j], *reserves, fee)
    a, b = sorted((i, j))
    price = fair[a] / fair[b] * price_factor
    liquidity = int(value / fair[b] * UNIT / sqrt(price)) * 10
    return build_concentrated(number, known[a], known[b], liquidity, price, rng.choice([600, 6000, 60000]), fee)


def _other_pool(
    rng: random.Random,
    number: int,
    i: int,
    known: Sequence[Token],
    fair: Sequence[float],
    noise: float,
    with_balancer: bool,
) -> Pool:
    fee = rng.choice(_FEES)
    name = rng.choice(["solidly_stable", "stableswap", "weighted"])
    others = rng.sample([k for k in range(len(known)) if k != i], min(rng.choice([1, 1, 2, 3]), len(known) - 1))
    members = sorted([i, *(others[:1] if name == "solidly_stable" else others)])
    prices = [fair[k] * (1 + rng.uniform(-noise, noise) * fee / 2e6) for k in members]
    value = 10 ** rng.uniform(2, 7)
    pool_tokens = [known[k] for k in members]
    variants = BALANCER_VARIANTS.get(name, ()) if with_balancer else ()
    if name == "solidly_stable":
        if variants and (variant := number % (len(variants) + 1)):
            return build_pair_in_vault(
                variants[variant - 1], number, pool_tokens, prices, value, rng.uniform(0.05, 0.5), fee
            )
        return build_solidly_stable(
            number, pool_tokens[0], pool_tokens[1], value / prices[1], prices[0] / prices[1], fee
        )
    if variants and (variant := number % (len(variants) + 1)):
        return build_balancer(
            variants[variant - 1], number, pool_tokens, prices, value, rng.choice([10, 100, 1000]), fee
        )
    if name == "stableswap":
        return build_stableswap(number, pool_tokens, prices, value, rng.choice([10, 100, 1000]), fee)
    return build_weighted(number, pool_tokens, prices, value, [rng.randint(10, 80) for _ in members], fee)


def build_order(market: MarketState, i: int, j: int, amount: int) -> Order:
    """Return an order that sells `amount` of token i for token j."""
    listed = list(market.tokens.values())
    return Order(listed[i], listed[j], amount)


def after_some_swaps(market: MarketState, seed: int, count: int = 3) -> tuple[MarketState, frozenset[str]]:
    """Return the market after small swaps in `count` of its pools, and the keys of these."""
    rng = random.Random(seed)
    changed = {}
    for key in rng.sample(sorted(market.pools), count):
        pool = market.pools[key]
        sold, bought = rng.sample(list(pool.tokens), 2)
        curve = pool.curve(sold, bought)
        amount = int(curve.trade_to_marginal_rate(curve.start_rate * (1.0 - 10 ** rng.uniform(-6.0, -3.0)))[0])
        try:
            changed[key] = pool.swap(sold, bought, max(amount, 1))[1]
        except PoolError:
            continue
    return market._replace(pools={**market.pools, **changed}), frozenset(changed)


seeds = st.integers(0, 10**9)
amounts = st.floats(12, 22).map(lambda digits: int(10**digits))


def build_wide_market(count: int, seed: int = 1, noise: float = 1.0) -> MarketState:
    """Return a market of `count` pools over `count / 5` tokens, most of them paired with one of five hub tokens.

    Prices differ from the fair ones by up to `noise` times the fee; above 1 there is arbitrage. Token 0 is the wrapped
    native token, token 1 the dollar.
    """
    rng = random.Random(seed)
    tokens = [
        build_token(0),
        build_token(1, 6),
        *(build_token(number, rng.choice((6, 8, 18, 18))) for number in range(2, count // 5)),
    ]
    prices = [2500.0, 1.0, *(10 ** rng.uniform(-3, 4) for _ in tokens[2:])]
    pools = [_wide_pool(rng, number, tokens, prices, noise) for number in range(count)]
    return build_market(pools, tokens)


def _wide_pool(rng: random.Random, number: int, tokens: Sequence[Token], prices: Sequence[float], noise: float) -> Pool:
    hubs = 5
    i = rng.randrange(hubs)
    others = [k for k in (rng.randrange(len(tokens)), 0, 1) if k != i]
    j = number if hubs <= number < len(tokens) else rng.choice(others)
    value, fee_ppm = 1e4 * rng.random() ** -0.9, rng.choice((500, 3000, 10000))
    price_factor = 1.0 + noise * rng.uniform(-1, 1) * fee_ppm / 1e6
    amounts = [value / prices[k] * 10 ** tokens[k].decimals for k in (i, j)]
    if rng.random() < 0.3:
        first, second = sorted((i, j), key=lambda k: tokens[k].address)
        price = (
            prices[first] / prices[second] * 10.0 ** (tokens[second].decimals - tokens[first].decimals) * price_factor
        )
        liquidity = int((amounts[0] * amounts[1]) ** 0.5 * rng.uniform(2, 20))
        return build_concentrated(number, tokens[i], tokens[j], liquidity, price, rng.choice((600, 6000)), fee_ppm)
    return build_constant_product(
        number, tokens[i], tokens[j], int(amounts[0]), int(amounts[1] * price_factor), fee_ppm
    )
