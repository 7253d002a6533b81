"""Dust pools: amounts next to nothing, and made to mislead a router."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import log
from typing import Literal, get_args

from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.families import family
from swapcli.families.tick_math import sqrt_ratio_at_tick

Kind = Literal["extreme_tick", "beyond_extreme_tick", "one_sided", "wrong_price", "tiny", "one_unit", "absurd_token"]
DustAmounts = dict[str, float]
"""Base units of each token, by address, that a dust pool holds of it."""

_Q96 = 1 << 96
_MAX_TICK = 887_271
_FEE_PPM = 3_000


def with_dust(
    market: MarketState, amounts: DustAmounts, pairs: Sequence[tuple[str, str]], count: int, seed: int
) -> MarketState:
    """Return `market` with up to `count` dust pools of all kinds between `pairs` of tokens.

    No pool can pay more than about `amounts` of a token; a pool that would have to is left out.
    """
    rng, tokens, pools = random.Random(seed), dict(market.tokens), dict(market.pools)
    for number in range(count):
        a, b = rng.choice(pairs)
        if rng.random() < 0.5:
            a, b = b, a
        kind = rng.choice(get_args(Kind))
        made: list[Pool] = []
        if kind == "absurd_token":
            token = Token(f"0x{0xDEAD0000 + number:040x}", f"DUST{number}", "Dust", rng.choice((0, 1, 2, 27, 30, 36)))
            tokens[token.address] = token
            for side, other in enumerate((a, b)):
                reserves = {other: amounts[other], token.address: 10.0 ** rng.randint(1, 30)}
                made.append(_pair(2 * number + side, tokens, reserves))
        elif kind in ("wrong_price", "tiny", "one_unit"):
            reserve = {"wrong_price": amounts[a] / 10 ** rng.randint(1, 6), "tiny": amounts[a], "one_unit": 1.0}[kind]
            made.append(_pair(2 * number, tokens, {a: reserve, b: amounts[b]}))
        else:
            made.append(_concentrated(rng, 2 * number, tokens, amounts, sorted((a, b)), kind))
        if all(_most_paid(pool, token) <= 3 * amounts.get(token, 1e40) + 2 for pool in made for token in pool.tokens):
            pools.update({pool.key: pool for pool in made})
    return market._replace(tokens=tokens, pools=pools)


def _most_paid(pool: Pool, token: str) -> float:
    other = next(t for t in pool.tokens if t != token)
    curve = pool.curve(other, token)
    return curve.amount_out(curve.capacity) if curve.start_rate else 0.0


def _identity(number: int, tokens: dict[str, Token], pair: Sequence[str], protocol: str) -> PoolIdentity:
    decimals = tuple(tokens[address].decimals for address in pair)
    return PoolIdentity(f"0x{0xD0570000 + number:040x}", protocol, tuple(pair), decimals, _FEE_PPM)


def _pair(number: int, tokens: dict[str, Token], traded_market: dict[str, float]) -> Pool:
    pair = sorted(traded_market)
    reserves = [str(min(max(1, int(traded_market[address])), (1 << 112) - 1)) for address in pair]
    return family("constant_product").from_state(_identity(number, tokens, pair, "v2"), {"reserves": reserves})


def _concentrated(
    rng: random.Random, number: int, tokens: dict[str, Token], amounts: DustAmounts, pair: Sequence[str], kind: Kind
) -> Pool:
    """One position beside the fair price, or at a price that is absurd: such a pool needs no capital."""
    spacing, is_above = rng.choice((1, 10, 60, 200)), rng.random() < 0.5
    if kind == "one_sided":
        fair = int(log(amounts[pair[1]] / amounts[pair[0]]) / log(1.0001)) // spacing * spacing
        low, high = (fair + 2 * spacing, fair + 20 * spacing) if is_above else (fair - 20 * spacing, fair - 2 * spacing)
        tick = fair
    else:
        low = rng.randint(100_000, 880_000) // spacing * spacing
        high = low + spacing
        tick = high - 1 if kind == "extreme_tick" else min(high + 3, _MAX_TICK)
        if not is_above:
            low, high, tick = -high, -low, -1 - tick
    bottom, top, price = (sqrt_ratio_at_tick(t) / _Q96 for t in (low, high, tick))
    price = min(max(price, bottom), top)
    needed = (1 / price - 1 / top, price - bottom)
    liquidity = min((amounts[t] / amount for t, amount in zip(pair, needed, strict=True) if amount), default=1.0)
    liquidity = min(max(1, int(liquidity)), 1 << 100)
    state = {
        "sqrt_price_x96": str(sqrt_ratio_at_tick(tick)),
        "tick": tick,
        "liquidity": str(liquidity if low <= tick < high else 0),
        "tick_spacing": spacing,
        "ticks": [[low, str(liquidity)], [high, str(-liquidity)]],
    }
    return family("concentrated").from_state(_identity(number, tokens, pair, "v3"), state)
