"""No contract pays more than its curve and what its family says that rounding may add.

Inputs are few units, as many as buy few units, and any part of what the pool takes. The integers are those of the exact
swaps, which recorded swaps and contracts on a local chain confirm.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool, RoundingGain
from swapcli.families import FAMILIES
from tests.families import random_pools as pools
from tests.families.bins.random_bins import infinity_bin_pools
from tests.families.bins.test_liquidity_book import books
from tests.families.ekubo.random_ekubo import ekubo_pools
from tests.families.ekubo.test_ekubo_twamm import pools as twamm_pools
from tests.families.order_books.test_kuru import markets as kuru_markets
from tests.families.random_pairs import concentrateds, constant_products
from tests.families.test_contradictory_states import valid_pool
from tests.families.uniswap.test_ring_pair import pools as ring_pools

FLOATS: Final = 1e-11
"""Of an output: more than curves in floats lose. 3e-12, of a Gyro pool, is the most that was measured."""
APPROXIMATE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "balancer_v3_fixed_lbp": "a fixed rate is made to fall by 10^-7",
        "balancer_v3_stable_surge": "the fee of small swaps jumps",
        "bridge": "a fixed rate is made to fall by 10^-7",
        "cryptoswap": "far from the price scale the contract's iteration ends elsewhere",
        "curve_meta": "the fee of the base pool is estimated",
        "dodo_v2": "the target of the first swap is rounded",
        "ekubo_evm": "a hook's fee depends on the whole swap",
        "euler_swap": "reserves above the curve are paid out",
        "gmx_vault": "corners between steps of the fee are rounded",
        "iziswap": "points are merged",
        "lfj_poe": "a fixed rate is made to fall by 10^-7",
        "lunarbase": "a fixed rate is made to fall by 10^-7",
        "maverick_v2": "prices of ticks have 18 decimals",
        "mento_fpmm": "a fixed rate is made to fall by 10^-7",
        "psm": "a fixed rate is made to fall by 10^-7",
        "sampled": "only samples are known",
        "smardex": "fictive reserves are rounded",
        "uniswap_v4_hooked": "a hook's fee depends on the whole swap",
        "valantis_stex": "fees are whole basis points of the net input",
        "vault": "a fixed rate is made to fall by 10^-7",
        "wrapper": "a fixed rate is made to fall by 10^-7",
    }
)
"""Families whose curve differs from the contract by more than rounding, and why: docs/proof.md lists them."""

exact_pools = st.one_of(
    constant_products(),
    constant_products(solidly=True),
    concentrateds(),
    pools.solidly_stable_pools(),
    pools.solidly_stable_pools(),
    pools.stableswap_pools(),
    pools.stableswap_pools(off_peg=False),
    pools.weighted_pools(),
    pools.balancer_v2_stable_pools(),
    pools.balancer_v2_eclp_pools(),
    pools.balancer_v3_stable_pools(),
    pools.balancer_v3_weighted_pools(),
    pools.balancer_v3_boosted_pools(),
    pools.eclp_pools(),
    pools.two_clp_pools(),
    pools.reclamm_pools(),
    ekubo_pools(),
    twamm_pools(),
    ring_pools(),
    infinity_bin_pools(),
    books(),
    kuru_markets(),
)
shares = st.floats(0.0, 1.0)
few_units = st.integers(1, 40)


def excess(pool: Pool, way: tuple[str, str], amount_in: int) -> float:
    """Return how much more a swap pays than the curve and the gain of rounding; below 0 if it pays less."""
    curve = pool.curve(*way)
    assume(curve.start_rate > 0.0 and amount_in <= curve.capacity)
    try:
        paid = pool.swap(*way, amount_in)[0]
    except PoolError:
        assume(False)
        raise
    units_in, units_out, part = pool.rounding_gain(*way) or RoundingGain()
    counted = min(amount_in + units_in, amount_in * max(1.0, units_in))
    return paid * (1.0 - FLOATS) - curve.amount_out(counted) * (1.0 + part) - units_out


def amount_of(pool: Pool, way: tuple[str, str], units: int, share: float) -> int:
    """Return some units, about the price of as many units, or a part of what moves the price to a hundredth."""
    curve = pool.curve(*way)
    assume(curve.start_rate > 0.0 and curve.capacity >= 1.0)
    if share < 0.2:
        return units
    if share < 0.5:
        return int(min(units / curve.start_rate, 1e36)) + 1
    most = min(curve.capacity, curve.trade_to_marginal_rate(curve.start_rate / 100)[0], 1e36)
    return max(1, int(most ** (2.0 * share - 1.0)))


@given(exact_pools, st.booleans(), few_units, shares)
def test_no_swap_pays_more_than_the_curve_and_what_rounding_adds(
    pool: Pool, forward: bool, units: int, share: float
) -> None:
    way = (pool.tokens[0], pool.tokens[1]) if forward else (pool.tokens[1], pool.tokens[0])
    assert excess(pool, way, amount_of(pool, way, units, share)) <= 0.0


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - APPROXIMATE.keys()))
def test_it_holds_for_each_family_that_is_not_approximate(name: str) -> None:
    pool = valid_pool(name)
    swaps = 0
    for way in ((pool.tokens[0], pool.tokens[1]), (pool.tokens[1], pool.tokens[0])):
        curve = pool.curve(*way)
        for number in range(400 if curve.start_rate > 0.0 else 0):
            amount = number + 1 if number < 40 else int(min(curve.capacity, 1e30) ** (number / 400))
            try:
                paid = pool.swap(*way, amount)[0]
            except PoolError:
                continue
            swaps += 1
            units_in, units_out, part = pool.rounding_gain(*way) or RoundingGain()
            counted = min(amount + units_in, amount * max(1.0, units_in))
            assert paid <= (curve.amount_out(counted) * (1.0 + part) + units_out) * (1.0 + FLOATS), (way, amount)
    assert swaps > 20


def test_a_floored_fee_is_worth_up_to_a_unit() -> None:
    """Made by hand: of 199 units at 0.5% Solidly takes 0.995 units as a fee, rounded down to none."""
    pool = valid_pool("constant_product")
    state = {"reserves": [10**24, 10**30], "variant": "solidly"}
    solidly = type(pool).from_state(pool.identity._replace(fee_ppm=5_000), state)
    tokens = (pool.tokens[0], pool.tokens[1])
    gain = solidly.rounding_gain(*tokens)
    assert gain is not None
    assert gain.input_units == pytest.approx(1 / 0.995, rel=1e-15)
    assert solidly.swap(*tokens, 199)[0] == 198_999_999
    assert solidly.curve(*tokens).amount_out(199.0) == pytest.approx(198_005_000)
    assert pool.rounding_gain(*tokens) is None
