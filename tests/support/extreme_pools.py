"""Markets with pools that anybody could create to break a router: dust, extreme prices, one-sided pools, absurd
fees."""

from __future__ import annotations

import random
from collections.abc import Callable

from swapcli.core.errors import SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.families import family
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, sqrt_ratio_at_tick
from tests.support.pools import UNIT, build_market, build_random_market, build_token

_SPACING = 60
_LOWEST, _HIGHEST = -(-MIN_TICK // _SPACING) * _SPACING, MAX_TICK // _SPACING * _SPACING
_FIRST_NUMBER = 3_000

PoolBuilder = Callable[[random.Random, int, Token, Token], Pool]


def build_extreme_concentrated(rng: random.Random, number: int, a: Token, b: Token) -> Pool:
    """Return a V3 pool near an end of the price range, or one whose only position is off its price."""
    end = rng.choice(["low", "high", "low", "high", "middle"])
    tick = {
        "low": MIN_TICK + rng.choice([1, 50, 1_000]),
        "high": MAX_TICK - rng.choice([2, 50, 1_000]),
        "middle": rng.randrange(-200_000, 200_000),
    }[end]
    low, high = _LOWEST, _HIGHEST
    if rng.random() < 0.5:
        low = max(low, (tick - rng.choice([60, 600, 60_000])) // _SPACING * _SPACING)
        high = max(min(high, (tick // _SPACING + rng.choice([1, 10, 1_000])) * _SPACING), low + _SPACING)
    if rng.random() < 0.3:
        beside = high + 5 if rng.random() < 0.5 else low - 5
        tick = beside if MIN_TICK < beside < MAX_TICK else tick
    liquidity = rng.choice([1, 2, 1_000, 10**6, 10**18, 2**100, 2**127 - 1])
    state = {
        "sqrt_price_x96": str(sqrt_ratio_at_tick(tick)),
        "tick": tick,
        "liquidity": str(liquidity if low <= tick < high else 0),
        "tick_spacing": _SPACING,
        "ticks": [[low, str(liquidity)], [high, str(-liquidity)]],
    }
    return _build(rng, number, a, b, "concentrated", "v3", state)


def build_extreme_constant_product(rng: random.Random, number: int, a: Token, b: Token) -> Pool:
    """Return a V2 pool with reserves from one unit to the largest number it can store."""
    reserves = [str(rng.choice([1, 2, 10, 1_000, UNIT, 2**112 - 1])) for _ in range(2)]
    return _build(rng, number, a, b, "constant_product", "v2", {"reserves": reserves})


def build_extreme_curve(rng: random.Random, number: int, a: Token, b: Token) -> Pool:
    """Return a stable or weighted pool far out of balance."""
    reserves = [str(rng.choice([1, 2, 10**3, 10**6, UNIT, 10**24, 10**30])) for _ in range(2)]
    weight = rng.choice([10**16, 2 * 10**17, 5 * 10**17])
    states: list[tuple[str, str, dict[str, object]]] = [
        ("solidly_stable", "solidly", {}),
        ("weighted", "balancer", {"weights": [str(weight), str(UNIT - weight)]}),
        ("stableswap", "curve", {"rates": [str(UNIT)] * 2, "amp": rng.choice([1, 100, 20_000])}),
    ]
    name, protocol, more = rng.choice(states)
    return _build(rng, number, a, b, name, protocol, {"reserves": reserves, **more})


BUILDERS: tuple[PoolBuilder, ...] = (
    build_extreme_concentrated,
    build_extreme_concentrated,
    build_extreme_constant_product,
    build_extreme_curve,
)


def build_extreme_market(seed: int) -> MarketState:
    """Return a market of ordinary pools, with up to 29 extreme ones between its tokens and worthless tokens.

    In half of them, four V3 pools lie at the ends of the price range of one pair.
    """
    rng = random.Random(seed)
    base = build_random_market(seed, tokens=rng.choice([2, 3, 4, 6]), pools=rng.choice([2, 6, 14]))
    tokens = [*base.tokens.values()]
    tokens += [build_token(500 + k, rng.choice([0, 6, 18])) for k in range(rng.choice([0, 1, 3, 8]))]
    builders = [rng.choice(BUILDERS) for _ in range(rng.choice([2, 4, 10, 25]))]
    pairs = [rng.sample(tokens, 2) for _ in builders]
    if rng.random() < 0.5:
        builders += [build_extreme_concentrated] * 4
        pairs += [rng.sample(tokens, 2)] * 4
    pools = list(base.pools.values())
    for number, (build, pair) in enumerate(zip(builders, pairs, strict=True), _FIRST_NUMBER):
        try:
            pools.append(build(rng, number, *pair))
        except SwapcliError:
            continue  # no contract has such a state
    return build_market(pools, tokens, gas_price_wei=rng.choice([0, 10**9]))


def _build(
    rng: random.Random, number: int, a: Token, b: Token, name: str, protocol: str, state: dict[str, object]
) -> Pool:
    first, second = sorted((a, b), key=lambda token: token.address)
    fee_ppm = (
        rng.choice([0, 1, 100, 3_000]) if name in ("weighted", "stableswap") else rng.choice([0, 1, 3_000, 999_999])
    )
    identity = PoolIdentity(
        f"0x{0xF00000 + number:040x}",
        protocol,
        (first.address, second.address),
        (first.decimals, second.decimals),
        fee_ppm,
    )
    return family(name).from_state(identity, state)
