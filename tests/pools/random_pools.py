"""Random pools of the stable and weighted families: level or tilted, of any decimals, a token to a billion deep."""

from __future__ import annotations

from hypothesis import strategies as st

from swapcli.pools.log_exp import ONE
from swapcli.pools.solidly_stable import SolidlyStable
from swapcli.pools.stableswap import StableSwap
from swapcli.pools.weighted import Weighted

ADDRESS = "0x" + "ab" * 20
TOKENS = tuple(f"0x{k:040x}" for k in range(1, 9))
PERCENT = ONE // 100

fees_ppm = st.sampled_from([0, 100, 500, 3_000, 10_000])
decimals = st.sampled_from([6, 8, 18])


@st.composite
def depths(draw: st.DrawFn, places: tuple[int, ...], tilt: float) -> tuple[int, ...]:
    """Return reserves of a common size in whole tokens, each within a factor e^tilt of it."""
    size = draw(st.floats(0.0, 9.0))
    return tuple(int(10 ** (places_k + size) * 2.718 ** draw(st.floats(-tilt, tilt))) for places_k in places)


@st.composite
def solidly_stable_pools(draw: st.DrawFn) -> SolidlyStable:
    places = draw(st.tuples(decimals, decimals))
    x, y = draw(depths(places, 2.0))
    return SolidlyStable(ADDRESS, "test", TOKENS[:2], places, draw(fees_ppm), (x, y))


@st.composite
def stableswap_pools(draw: st.DrawFn, off_peg: bool = True) -> StableSwap:
    n = draw(st.integers(2, 8))
    places = draw(st.tuples(*[decimals] * n))
    rates = tuple(draw(st.one_of(st.just(ONE), st.integers(ONE // 2, 2 * ONE))) for _ in range(n))
    amp = draw(st.sampled_from([1, 10, 100, 500, 2_000, 20_000, 1_000_000]))
    multiplier = draw(st.sampled_from([0, 10**10, 2 * 10**10, 5 * 10**10, 50 * 10**10])) if off_peg else 0
    reserves = draw(depths(places, 2.0))
    return StableSwap(ADDRESS, "test", TOKENS[:n], places, draw(fees_ppm), reserves, amp, rates, multiplier)


@st.composite
def weighted_pools(draw: st.DrawFn) -> Weighted:
    n = draw(st.integers(2, 8))
    places = draw(st.tuples(*[decimals] * n))
    raw = draw(st.lists(st.integers(1, 99), min_size=n, max_size=n))
    spare = ONE - n * PERCENT
    weights = [PERCENT + spare * part // sum(raw) for part in raw]
    weights[0] += ONE - sum(weights)
    version = draw(st.integers(1, 4))
    return Weighted(
        ADDRESS, "test", TOKENS[:n], places, draw(fees_ppm), draw(depths(places, 2.0)), tuple(weights), version
    )


parts = st.floats(-6.0, -0.6).map(lambda exponent: 10.0**exponent)
"""A trade's size as a part of the input reserve, below 30%."""
