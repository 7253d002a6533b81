"""Random pools of Ekubo, each beside the same pool in a model of the core contract."""

from __future__ import annotations

from hypothesis import strategies as st

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.ekubo.ekubo import Ekubo, fee_ppm_of
from swapcli.testing.strategies import log_uniform
from tests.families.random_pairs import TOKEN0, TOKEN1
from tests.payload.starknet.ekubo_core import MAX_TICK, PoolState, Q, ratio_of

FEE_30_BPS = 1020847100762815390390123822295304634

fees_x128 = st.sampled_from([0, Q // 2, FEE_30_BPS, 170141183460469231731687303715884105]) | st.integers(0, Q - 1)


def pool_of(model: PoolState, fee_x128: int, skip_ahead: int = 0, extension: str = "0x0") -> Ekubo:
    """Return the pool with the state of the model."""
    identity = PoolIdentity("0x" + "0c" * 20, "Ekubo", (TOKEN0, TOKEN1), (18, 18), fee_ppm_of(fee_x128))
    state: dict[str, object] = {
        "pool_id": "0x" + "5e" * 32,
        "fee_x128": fee_x128,
        "tick_spacing": model.spacing,
        "extension": extension,
        "skip_ahead": skip_ahead,
        "version": model.version,
        "sqrt_ratio": model.ratio,
        "tick": model.tick,
        "liquidity": model.liquidity,
        "ticks": [[tick, model.deltas[tick]] for tick in sorted(model.deltas)],
    }
    return Ekubo.from_state(identity, state)


@st.composite
def ekubo_models(draw: st.DrawFn, reach: int = 60_000_000) -> PoolState:
    """Pools with up to eight positions within some 3,000 spacings of a price whose |tick| is at most `reach`."""
    spacing = draw(st.sampled_from([1, 20, 200, 1_000, 5_982, 354_892]))
    tick = draw(st.integers(-reach, reach))
    low, high = ratio_of(tick), ratio_of(tick + 1)
    ratio = draw(st.sampled_from([low, high - 1]) | st.integers(low, high - 1))
    model = PoolState(spacing, tick, ratio, draw(st.sampled_from([4, 5])))
    limit = MAX_TICK // spacing
    for _ in range(draw(st.integers(1, 8))):
        width = draw(st.sampled_from([1, 2, 251]) | st.integers(1, 1_500))
        lower = tick // spacing + draw(st.integers(-width, 0) | st.integers(-1_500, 1_500))
        lower = min(max(lower, -limit), limit - 1)
        model.update(lower * spacing, min(lower + width, limit) * spacing, draw(log_uniform(10, 100)))
    return model


skips_ahead = st.sampled_from([0, 1, 5, 100])


@st.composite
def ekubo_pools(draw: st.DrawFn) -> Ekubo:
    return pool_of(draw(ekubo_models()), draw(fees_x128), draw(skips_ahead))
