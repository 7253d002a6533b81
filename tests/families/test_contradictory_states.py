"""A state that contradicts itself is refused by field, or swaps as a pool that pays no more than it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any, Final

import pytest

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import FAMILIES, family
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.bins.infinity_bin import InfinityBin
from swapcli.families.bins.liquidity_book import LiquidityBook
from swapcli.families.curve.curve_meta import CurveMeta
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from swapcli.families.fixed_rate.vault import ShareVault
from swapcli.families.fluid.fluid_t1 import FluidT1
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.testing.strategies import ADDRESS, TOKENS
from swapcli.testing.wrong_states import ABSENT, changed, check_wrong_states
from tests.examples import few
from tests.families.balancer.test_balancer_v2_stable import build_composable, recorded_steps
from tests.families.bins.test_infinity_bin import POOL as INFINITY_BIN
from tests.families.bins.test_liquidity_book import POOL as LIQUIDITY_BOOK
from tests.families.curve.test_cryptoswap import as_recorded as recorded_cryptoswap
from tests.families.curve.test_curve_meta import liquid_pool
from tests.families.ekubo.random_ekubo import FEE_30_BPS, pool_of
from tests.families.ekubo.test_ekubo import model_of_four_ticks
from tests.families.family_tests import reserve_of, valid_pool_of
from tests.families.fluid.test_fluid_t1 import as_recorded as recorded_fluid
from tests.families.recorded import read_vectors
from tests.families.uniswap.hooked_pools import hooked_pool
from tests.support.pools import (
    BALANCER_VARIANTS,
    build_balancer,
    build_concentrated,
    build_constant_product,
    build_pair_in_vault,
    build_solidly_stable,
    build_stableswap,
    build_token,
    build_weighted,
)


def first_recorded(name: str, as_recorded: Callable[[dict[str, Any], dict[str, Any]], Pool]) -> Pool:
    recorded = read_vectors(name)["pools"][0]
    return as_recorded(recorded, recorded["steps"][0])


def plain_stableswap() -> Pool:
    pool = build_stableswap(1, PAIR, [1.0, 1.0], 1e6, 100, 100)
    return family("stableswap").from_state(pool.identity, {**pool.state(), "variant": "plain"})


PAGE: Final = (Path(__file__).parents[2] / "docs" / "pools.md").read_text()
PAIR: Final = build_token(0), build_token(1)
VALID: Final[Mapping[str, Callable[[], Pool]]] = {
    "constant_product": lambda: build_constant_product(1, *PAIR, 10**24, 10**24),
    "concentrated": lambda: build_concentrated(1, *PAIR, 10**24, 1.0, 600),
    "uniswap_v4_hooked": lambda: hooked_pool(HookFees(DirectionFees(3_000, 10**16), DirectionFees(3_000, 0, 10**16))),
    "solidly_stable": lambda: build_solidly_stable(1, *PAIR, 1e6, 0.99, 100),
    "stableswap": plain_stableswap,
    "weighted": lambda: build_weighted(1, PAIR, [1.0, 1.0], 1e6, [20, 80], 100),
    "cryptoswap": lambda: first_recorded("tricrypto", recorded_cryptoswap),
    "curve_meta": liquid_pool,
    "balancer_v2_composable": lambda: build_composable(next(recorded_steps("balancer_v2_composable"))[0]),
    "ekubo": lambda: pool_of(model_of_four_ticks(), FEE_30_BPS),
    "infinity_bin": lambda: INFINITY_BIN,
    "liquidity_book": lambda: LIQUIDITY_BOOK,
    "fluid_t1": lambda: first_recorded("fluid_dex_t1", recorded_fluid),
}


def valid_pool(name: str) -> Pool:
    """Return a liquid pool of a family."""
    if name in FIXED:
        return family(name).from_state(*FIXED[name])
    if name in VALID:
        return VALID[name]()
    own = valid_pool_of(name)
    if own:
        return own
    if name in BALANCER_VARIANTS["solidly_stable"]:
        return build_pair_in_vault(name, 1, PAIR, [1.0, 1.0], 1e6, 0.1, 100)
    return build_balancer(name, 1, PAIR, [1.0, 1.0], 1e6, 100, 100)


FIXED: Final[Mapping[str, tuple[PoolIdentity, Mapping[str, object]]]] = {
    "psm": (
        PoolIdentity(ADDRESS, "test", TOKENS[:3], (6, 18, 18), 0),
        {"reserves": [10**12, 10**24, 10**24], "rate": 11 * 10**26},
    ),
    "vault": (
        PoolIdentity(ADDRESS, "test", (TOKENS[0], ADDRESS), (6, 18), 0),
        {"share_price": [10**12, 10**24], "max_deposit": 10**18, "max_redeemed": 10**12},
    ),
    "bridge": (
        PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 6), 0),
        {"reserve": 10**12, "minted": 10**24, "limit": 10**25},
    ),
    "wrapper": (PoolIdentity(ADDRESS, "test", (ZERO_ADDRESS, ADDRESS), (18, 18), 0), {}),
    "sampled": (
        PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 0),
        {
            "samples": [[[10**6, 10**6], [10**12, 9 * 10**11]], [[10**6, 10**6]]],
            "balances": [10**13, 10**13],
            "constants": {"fee": "3000"},
        },
    ),
}


def reserve(pool: Pool, k: int) -> float:
    """Return how much of the k-th token the pool has; infinity where only the maths knows."""
    match pool:
        case BalancerV3Boosted(share_prices=prices):
            price, shares = prices[k], pool.share_pool.reserves[k]
            return shares if price is None else shares * price.assets // price.shares
        case CurveMeta(own=own, base=base):
            return own.reserves[k] if k < 2 else base.pool.reserves[k - 2]
        case FluidT1():
            adjusted: int = sum(side.real[k] for side in (pool.collateral, pool.debt) if side is not None)
            return adjusted * int(10 ** pool.decimals[k]) // 10**12
        case InfinityBin() | LiquidityBook():
            return sum(pool.bins.amounts_y if k else pool.bins.amounts_x)
        case ShareVault():
            return inf if k else pool.max_redeemed
        case StablecoinBridge():
            return inf if k == 0 else pool.reserve
        case Sampled(balances=balances):
            return inf if balances is None else balances[k]
    return reserve_of(pool, k)


def state_of(pool: Pool) -> Mapping[str, object]:
    """Return the state of a pool as a market file has it: only there a sampled pool has its quotes too."""
    return FIXED[pool.family][1] if pool.is_sampled else pool.state()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_of_pools_names_what_a_state_needs(name: str) -> None:
    valid = valid_pool(name)
    identity, state = valid.identity, state_of(valid)
    (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
    named = set(re.findall(r"\w+", row)) if "nothing" not in row else set()
    assert named <= state.keys()
    for key in state.keys() - named:
        family(name).from_state(identity, changed(state, (key,), ABSENT))


@pytest.mark.parametrize("name", few(FAMILIES, 16))
def test_a_contradictory_state_is_never_quoted_wrongly(name: str) -> None:
    pool = valid_pool(name)
    check_wrong_states(pool, reserve, state_of(pool))
