"""Small markets of real pools for the routing tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import sqrt

from hypothesis import strategies as st

from swapcli.model.market import Market, Provenance
from swapcli.model.network import Kind, Network
from swapcli.model.order import ZERO_ADDRESS, Order
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.model.token import Token
from swapcli.pools import family

Q96 = 1 << 96
UNIT = 10**18


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


def random_market(seed: int, *, tokens: int = 6, pools: int = 14, noise: float = 0.8, gas_price_wei: int = 0) -> Market:
    """Pools of both families around fair prices, each off by less than `noise` times its fee: below 1 no arbitrage."""
    rng = random.Random(seed)
    known = [token(k) for k in range(tokens)]
    fair = [10 ** rng.uniform(-2, 2) for _ in known]
    made: list[Pool] = []
    for number in range(pools):
        i = number if number < tokens else rng.randrange(tokens)
        j = rng.choice([k for k in range(tokens) if k != i])
        fee = rng.choice([500, 3000, 10000])
        off = 1 + rng.uniform(-noise, noise) * fee / 1e6
        worth = 10 ** rng.uniform(2, 7)
        if rng.random() < 0.6:
            reserves = int(worth / fair[i] * UNIT), int(worth / fair[j] * off * UNIT)
            made.append(constant_product(number, known[i], known[j], *reserves, fee))
        else:
            a, b = (i, j) if known[i].address < known[j].address else (j, i)
            price = fair[a] / fair[b] * off
            liquidity = int(worth / fair[b] * UNIT / sqrt(price)) * 10
            made.append(concentrated(number, known[a], known[b], liquidity, price, rng.choice([600, 6000, 60000]), fee))
    return market(made, known, gas_price_wei)


def order(held: Market, i: int, j: int, amount: int) -> Order:
    """Sell `amount` of token i for token j."""
    listed = list(held.tokens.values())
    return Order(listed[i], listed[j], amount)


seeds = st.integers(0, 10**9)
amounts = st.floats(12, 22).map(lambda digits: int(10**digits))
