"""Random pools for properties, without a chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.tick_math import MAX_TICK, sqrt_ratio_at_tick
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.strategies import log_uniform

TOKEN0, TOKEN1 = "0x" + "0a" * 20, "0x" + "0b" * 20
DOWN, UP = (TOKEN0, TOKEN1), (TOKEN1, TOKEN0)
Direction = tuple[str, str]
"""Token in, token out."""
Position = tuple[int, int, int]
"""Lower tick, upper tick, liquidity."""

PoolT = TypeVar("PoolT", bound=Pool)

directions = st.sampled_from([DOWN, UP])
fees_ppm = st.sampled_from([0, 100, 500, 2_500, 3_000, 10_000]) | st.integers(0, 999_999)


def identity(fee_ppm: int = 3_000, tokens: Sequence[str] = (TOKEN0, TOKEN1)) -> PoolIdentity:
    return PoolIdentity("0x" + "0c" * 20, "test", tuple(tokens), (18,) * len(tokens), fee_ppm)


@st.composite
def constant_products(draw: st.DrawFn, solidly: bool | None = None) -> ConstantProduct:
    is_solidly = draw(st.booleans()) if solidly is None else solidly
    reserves = [draw(log_uniform(0, 112)), draw(log_uniform(0, 112))]
    state: dict[str, object] = {"reserves": reserves, "variant": "solidly" if is_solidly else "uniswap_v2"}
    fee_ppm = draw(fees_ppm)
    if is_solidly:
        state["swap_fee"] = fee_ppm * 10**12 + draw(st.just(0) | st.integers(0, 10**12 - 1))
    return ConstantProduct.from_state(identity(fee_ppm), state)


@st.composite
def concentrated_states(draw: st.DrawFn, reach: int = 800_000) -> dict[str, object]:
    """States of pools with up to eight positions within some 3,000 spacings of a price whose |tick| is <= `reach`."""
    spacing = draw(st.sampled_from([1, 10, 60, 200]))
    tick = draw(st.integers(-reach, reach))
    positions = []
    for _ in range(draw(st.integers(1, 8))):
        width = draw(st.sampled_from([1, 2, 256]) | st.integers(1, 1_500))
        lower = tick // spacing + draw(st.integers(-width, 0) | st.integers(-1_500, 1_500))
        lower = min(max(lower, -(MAX_TICK // spacing)), MAX_TICK // spacing - 1)
        upper = min(lower + width, MAX_TICK // spacing)
        positions.append((lower * spacing, upper * spacing, draw(log_uniform(10, 100))))
    low, high = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    state = state_of(positions, tick, draw(st.sampled_from([low, high - 1]) | st.integers(low, high - 1)), spacing)
    if draw(st.booleans()):
        state["variant"] = "algebra_integral"
    return state


@st.composite
def concentrateds(draw: st.DrawFn, reach: int = 800_000) -> Concentrated:
    return Concentrated.from_state(identity(draw(fees_ppm)), draw(concentrated_states(reach)))


def state_of(positions: Sequence[Position], tick: int, sqrt_price_x96: int, tick_spacing: int) -> dict[str, object]:
    """Return the state of a pool with exactly these positions."""
    nets: dict[int, int] = {}
    for lower, upper, liquidity in positions:
        nets[lower] = nets.get(lower, 0) + liquidity
        nets[upper] = nets.get(upper, 0) - liquidity
    return {
        "sqrt_price_x96": str(sqrt_price_x96),
        "tick": tick,
        "liquidity": str(sum(liquidity for lower, upper, liquidity in positions if lower <= tick < upper)),
        "tick_spacing": tick_spacing,
        "ticks": [[t, str(nets[t])] for t in sorted(nets)],
    }


def pool_at(tick: int, *positions: Position, tick_spacing: int = 60, fee_ppm: int = 3_000) -> Concentrated:
    """Return a pool whose price is exactly that of `tick`."""
    return Concentrated.from_state(identity(fee_ppm), state_of(positions, tick, sqrt_ratio_at_tick(tick), tick_spacing))


def with_fields(pool: Concentrated, **fields: object) -> Concentrated:
    """Return the pool with some fields of its state replaced."""
    return Concentrated.from_state(identity(pool.fee_ppm), {**pool.state(), **fields})
