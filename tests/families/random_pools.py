"""Random pools of the stable, weighted and crypto families: level or tilted, any decimals, up to a billion tokens."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isqrt
from typing import Any, TypeVar

from hypothesis import assume
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool_token import VERSIONS, PoolToken
from swapcli.families.balancer.balancer_stable_math import invariant
from swapcli.families.balancer.balancer_v2_composable import BalancerV2Composable
from swapcli.families.balancer.balancer_v2_eclp import BalancerV2Eclp
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.families.balancer.balancer_v3_2clp import BalancerV3TwoClp
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.balancer.balancer_v3_eclp import BalancerV3Eclp
from swapcli.families.balancer.balancer_v3_reclamm import BalancerV3Reclamm
from swapcli.families.balancer.balancer_v3_stable import BalancerV3Stable
from swapcli.families.balancer.balancer_v3_stable_surge import BalancerV3StableSurge
from swapcli.families.balancer.balancer_v3_weighted import BalancerV3Weighted
from swapcli.families.balancer.weighted import Weighted
from swapcli.families.curve import fxswap
from swapcli.families.curve.cryptoswap import CryptoParameters, CryptoPrices, CryptoSwap
from swapcli.families.curve.cryptoswap_math import MATHS
from swapcli.families.curve.fxswap import FX_VERSION
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.testing.strategies import ADDRESS, TOKENS, decimals, depths, fees_ppm
from tests.families.recorded import read_vectors

T = TypeVar("T")
PERCENT = WAD // 100

fee_remainders = st.one_of(st.just(0), st.integers(0, 9_999).map(lambda part: part * 10**8))
"""What fees in parts per million leave, as 10^18 fractions: multiples of the smallest fee of any contract."""


@st.composite
def solidly_stable_pools(draw: st.DrawFn) -> SolidlyStable:
    places = draw(st.tuples(decimals, decimals))
    x, y = draw(depths(places, 2.0))
    return SolidlyStable(
        ADDRESS, "test", TOKENS[:2], places, draw(fees_ppm), (x, y), fee_remainder_wad=draw(fee_remainders)
    )


@st.composite
def stableswap_pools(draw: st.DrawFn, off_peg: bool = True) -> StableSwap:
    variant, most = draw(st.sampled_from([("ng", 8), ("ng", 8), ("plain", 4), ("plain_ema", 2)]))
    n = draw(st.integers(2, most))
    places = draw(st.tuples(*[decimals] * n))
    rates = tuple(draw(st.one_of(st.just(WAD), st.integers(WAD // 2, 2 * WAD))) for _ in range(n))
    amp = draw(st.sampled_from([1, 10, 100, 500, 2_000, 20_000, 1_000_000]))
    has_multiplier = off_peg and variant == "ng"
    multiplier = draw(st.sampled_from([0, 10**10, 2 * 10**10, 5 * 10**10, 50 * 10**10])) if has_multiplier else 0
    pool = StableSwap(
        ADDRESS, "test", TOKENS[:n], places, draw(fees_ppm), draw(depths(places, 2.0)), amp, rates, multiplier
    )
    return replace(pool, variant=variant, fee_remainder_wad=draw(fee_remainders))


@st.composite
def weighted_pools(draw: st.DrawFn) -> Weighted:
    n = draw(st.integers(2, 8))
    places = draw(st.tuples(*[decimals] * n))
    fee_ppm, reserves = draw(fees_ppm), draw(depths(places, 2.0))
    weights, version = draw(weights_of(n)), draw(st.integers(1, 4))
    return Weighted(ADDRESS, "test", TOKENS[:n], places, fee_ppm, reserves, weights, version, "", draw(fee_remainders))


@st.composite
def weights_of(draw: st.DrawFn, count: int) -> tuple[int, ...]:
    raw = draw(st.lists(st.integers(1, 99), min_size=count, max_size=count))
    spare = WAD - count * PERCENT
    weights = [PERCENT + spare * part // sum(raw) for part in raw]
    weights[0] += WAD - sum(weights)
    return tuple(weights)


balancer_fees = st.one_of(st.sampled_from([0, 10**12, 10**14, 3 * 10**15, 10**16]), st.integers(0, 10**16))
"""Fees as 10^18 fractions, also finer than a part per million."""
amps = st.one_of(st.sampled_from([1_000, 100_000, 200_000, 5_000_000, 50_000_000]), st.integers(1_000, 5_000_000))


def rates_of(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.one_of(st.just(WAD), st.integers(WAD // 2, 3 * WAD))] * count)


@st.composite
def balancer_v2_stable_pools(draw: st.DrawFn) -> BalancerV2Stable:
    n = draw(st.integers(2, 5))
    places = draw(st.tuples(*[decimals] * n))
    reserves, rates, fee = draw(depths(places, 2.0)), draw(rates_of(n)), draw(balancer_fees)
    identity = ADDRESS, "test", TOKENS[:n], places, fee // 10**12
    return BalancerV2Stable(*identity, reserves, rates, fee, False, "", draw(amps), draw(st.booleans()))


@st.composite
def pools_with_their_token(draw: st.DrawFn) -> BalancerV2Composable:
    """Return a composable pool that has grown since the last join, and that has tokens of its own to sell."""
    pool = draw(balancer_v2_stable_pools())
    d = invariant(pool.scaled_balances(), pool.amp)
    supply = int(d * draw(st.floats(0.5, 1.5)))
    own_reserve = int(supply * 10.0 ** draw(st.floats(-1.0, 3.0)))
    own, n = draw(st.integers(0, len(pool.tokens))), len(pool.tokens)
    old_rates = tuple(rate * draw(st.integers(95, 100)) // 100 for rate in pool.rates)
    shares = st.sampled_from([0, WAD // 10, WAD // 2])
    token = PoolToken(
        own,
        draw(st.sampled_from(VERSIONS)),
        supply + own_reserve,
        draw(st.sampled_from([pool.amp, 300_000])),
        d * draw(st.integers(900, 1_000)) // 1_000,
        old_rates,
        draw(shares),
        draw(shares),
        tuple(draw(st.integers(0, 1)) for _ in range(n)),
    )

    def with_own(values: tuple[T, ...], value: T) -> tuple[T, ...]:
        return (*values[:own], value, *values[own:])

    identity = ADDRESS, "test", with_own(pool.tokens, ADDRESS), with_own(pool.decimals, 18), pool.fee_ppm
    reserves, rates = with_own(pool.reserves, own_reserve), with_own(pool.rates, WAD)
    return BalancerV2Composable(*identity, reserves, rates, pool.swap_fee, False, "", pool.amp, False, token)


@st.composite
def balancer_v3_stable_pools(draw: st.DrawFn) -> BalancerV3Stable:
    n = draw(st.integers(2, 5))
    places = draw(st.tuples(*[decimals] * n))
    reserves, rates, fee = draw(depths(places, 2.0)), draw(rates_of(n)), draw(balancer_fees)
    identity = ADDRESS, "test", TOKENS[:n], places, fee // 10**12
    protocol_part = draw(st.sampled_from([0, WAD // 2]))
    return BalancerV3Stable(
        *identity, reserves, rates, fee, False, protocol_part, 10**6, draw(amps), draw(st.booleans())
    )


@st.composite
def balancer_v3_surge_pools(draw: st.DrawFn) -> BalancerV3StableSurge:
    pool = draw(balancer_v3_stable_pools())
    surge = draw(st.sampled_from([WAD * 95 // 100, WAD // 10])), draw(st.sampled_from([WAD * 3 // 10, WAD // 100]))
    values: tuple[Any, ...] = (*(getattr(pool, field.name) for field in fields(pool)), *surge)
    return BalancerV3StableSurge(*values)


@st.composite
def balancer_v3_weighted_pools(draw: st.DrawFn) -> BalancerV3Weighted:
    n = draw(st.integers(2, 8))
    places = draw(st.tuples(*[decimals] * n))
    reserves, rates, fee = draw(depths(places, 2.0)), draw(rates_of(n)), draw(balancer_fees)
    identity = ADDRESS, "test", TOKENS[:n], places, fee // 10**12
    floors = tuple(max(10**6, 10 ** (18 - k)) for k in places) if draw(st.booleans()) else ()
    return BalancerV3Weighted(*identity, reserves, rates, fee, False, 0, 10**6, draw(weights_of(n)), floors)


CRYPTO_LIMITS = {(2, "v2.0.0"): (40, 15.3), (2, "v2.1.0"): (40, 17.2), (3, "v2.0.0"): (270, 16.6)}
"""By coins and version: the smallest A, without the factor of 10^4, and the logarithm of the largest gamma."""


@st.composite
def crypto_pools(draw: st.DrawFn) -> CryptoSwap:
    """A pool that has earned a little, with any price scale, tilted by at most a factor e^1.5 from coin to coin."""
    (n, version), (min_amp, max_gamma) = draw(st.sampled_from(sorted(CRYPTO_LIMITS.items())))
    maths = MATHS[n, version]
    amp, gamma = int(min_amp * 10 ** draw(st.floats(3.0, 5.5))), int(10 ** draw(st.floats(11.0, max_gamma)))
    places = draw(st.tuples(*[decimals] * n))
    scale = tuple(int(WAD * 10 ** draw(st.floats(-6.0, 6.0))) for _ in range(n - 1))
    size, tilts = 10 ** draw(st.floats(2.0, 9.0)), [draw(st.floats(-0.75, 0.75)) for _ in range(n)]
    reserves = tuple(
        int(size * 10**digits * WAD / price * 2.718**tilt)
        for digits, price, tilt in zip(places, (WAD, *scale), tilts, strict=True)
    )
    scaled = [r * 10 ** (18 - p) * s // WAD for r, p, s in zip(reserves, places, (WAD, *scale), strict=True)]
    try:
        d = maths.find_invariant(amp, gamma, scaled, 0)
    except PoolError:
        assume(False)
        raise
    mid_fee = draw(st.sampled_from([500_000, 3_000_000, 26_000_000]))
    parameters = CryptoParameters(
        version,
        amp,
        gamma,
        mid_fee,
        mid_fee * draw(st.sampled_from([1, 2, 15])),
        int(10 ** draw(st.floats(13.5, 17.5))),
        2 * 10**12,
        146 * 10**12,
    )
    oracle = tuple(int(price * draw(st.floats(0.8, 1.25))) for price in scale)
    virtual_price = int(WAD * draw(st.floats(1.0, 1.1)))
    mean = maths.mean([d // n, *(d * WAD // (n * price) for price in scale)])
    supply = WAD * mean // virtual_price
    virtual_price = WAD * mean // supply
    profit = int(2 * virtual_price - WAD + draw(st.integers(-(10**15), 10**15)))
    prices = CryptoPrices(scale, oracle, scale, d, profit, virtual_price)
    return CryptoSwap(ADDRESS, "test", TOKENS[:n], places, mid_fee // 10_000, reserves, prices, parameters, supply)


@st.composite
def fx_pools(draw: st.DrawFn) -> CryptoSwap:
    """A pool with the StableSwap maths that has earned a little and may have donated liquidity to burn."""
    places, scale = draw(st.tuples(decimals, decimals)), int(WAD * 10 ** draw(st.floats(-6.0, 6.0)))
    amp, size = int(20_000 * 10 ** draw(st.floats(0.0, 3.5))), 10 ** draw(st.floats(2.0, 9.0))
    reserves = tuple(
        int(size * 10**digits * WAD / price * 2.718 ** draw(st.floats(-1.5, 1.5)))
        for digits, price in zip(places, (WAD, scale), strict=True)
    )
    scaled = [r * 10 ** (18 - p) * s // WAD for r, p, s in zip(reserves, places, (WAD, scale), strict=True)]
    d = fxswap.find_invariant(amp, scaled)
    mid_fee = draw(st.sampled_from([500_000, 3_000_000, 26_000_000]))
    parameters = CryptoParameters(
        FX_VERSION,
        amp,
        10**15,
        mid_fee,
        mid_fee * draw(st.sampled_from([1, 2, 15])),
        int(10 ** draw(st.floats(13.5, 17.9))),
        2 * 10**12,
        146 * 10**12,
    )
    value = d * WAD // 2 // isqrt(WAD * scale)
    supply = int(value / draw(st.floats(1.0, 1.1)))
    virtual_price = WAD * value // supply
    profit = 2 * virtual_price - WAD + draw(st.integers(-(10**15), 10**15))
    oracle = int(scale * draw(st.floats(0.8, 1.25)))
    burnable = supply // draw(st.sampled_from([10, 1_000, 10**40]))
    prices = CryptoPrices((scale,), (oracle,), (scale,), d, profit, virtual_price, burnable)
    return CryptoSwap(ADDRESS, "test", TOKENS[:2], places, mid_fee // 10_000, reserves, prices, parameters, supply)


@st.composite
def vault_states(draw: st.DrawFn) -> tuple[PoolIdentity, dict[str, object]]:
    """Return a pair of tokens in Balancer V3's Vault, with balances of a common size and rates from one half to two."""
    places = draw(st.tuples(decimals, decimals))
    identity = PoolIdentity(ADDRESS, "test", TOKENS[:2], places, draw(fees_ppm))
    rates = [draw(st.one_of(st.just(WAD), st.integers(WAD // 2, 2 * WAD))) for _ in range(2)]
    reserves = [depth * WAD // rate for depth, rate in zip(draw(depths(places, 2.0)), rates, strict=True)]
    aggregate_swap_fee = draw(st.sampled_from([0, WAD // 2]))
    return identity, {"reserves": reserves, "rates": rates, "aggregate_swap_fee": aggregate_swap_fee}


@st.composite
def eclp_pools(draw: st.DrawFn) -> BalancerV3Eclp:
    """Return an E-CLP with the parameters of a recorded one: the derived ones need 38 digits."""
    identity, state = draw(vault_states())
    recorded = draw(st.sampled_from(read_vectors("balancer_v3_gyro_eclp")["pools"]))
    return BalancerV3Eclp.from_state(identity, state | recorded["params_1e18"] | recorded["derived_1e38"])


@st.composite
def balancer_v2_eclp_pools(draw: st.DrawFn) -> BalancerV2Eclp:
    pool = draw(eclp_pools())
    state = {"reserves": pool.reserves, "rates": pool.rates, "changes_without_events": draw(st.booleans())}
    return BalancerV2Eclp.from_state(pool.identity, state | pool.parameters.state())


@st.composite
def two_clp_pools(draw: st.DrawFn) -> BalancerV3TwoClp:
    identity, state = draw(vault_states())
    sqrt_alpha = draw(st.integers(WAD // 10, 2 * WAD))
    sqrt_beta = sqrt_alpha * draw(st.integers(10_001, 30_000)) // 10_000
    return BalancerV3TwoClp.from_state(identity, state | {"sqrt_alpha": sqrt_alpha, "sqrt_beta": sqrt_beta})


@st.composite
def reclamm_pools(draw: st.DrawFn) -> BalancerV3Reclamm:
    identity, state = draw(vault_states())
    pool = BalancerV3Reclamm.from_state(identity, state | {"virtual_balances": [1, 1]})
    virtual = tuple(live * draw(st.integers(1, 10_000)) // 10 for live in pool.scaled_balances())
    return replace(pool, virtual_balances=virtual)


@st.composite
def balancer_v3_boosted_pools(draw: st.DrawFn) -> BalancerV3Boosted:
    """Return a boosted pool of one or two shares, with at least the decimals of the assets, worth up to two assets."""
    identity, state = draw(vault_states())
    wrapped = draw(st.sampled_from([(0, 1), (0,), (1,)]))
    tokens, places = list(identity.tokens), list(identity.decimals)
    prices: list[list[int] | None] = [None, None]
    for k in wrapped:
        tokens[k], places[k] = TOKENS[k + 2], max(places[k], draw(decimals))
        shares = draw(st.integers(10**15, 10**25))
        assets = int(shares * draw(st.floats(1.0, 2.0)) * 10.0 ** (identity.decimals[k] - places[k]))
        prices[k] = [max(1, assets), shares]
    state |= {"amp": draw(st.sampled_from([1, 100, 5_000])) * 1000, "limits_imbalance": draw(st.booleans())}
    state |= {"pool_tokens": tokens, "pool_decimals": places, "share_prices": prices}
    state["reserves"] = list(draw(depths(tuple(places), 2.0)))
    return BalancerV3Boosted.from_state(identity, state)
