"""A list of pools says what they are worth to orders."""

from __future__ import annotations

import pytest

from swapcli.core.model.token import Token
from swapcli.quoting.pool_liquidity import liquidity_usd
from swapcli.quoting.pool_listing import list_pools, select_pools
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.families.balancer.test_balancer_v2_stable import build_composable, recorded_steps
from tests.support.pools import build_market


def test_a_pools_own_token_adds_no_liquidity_to_it() -> None:
    pool = build_composable(next(recorded_steps("balancer_v2_composable"))[0])
    others = [token for token in pool.tokens if token != pool.address]
    prices = {token: 10.0 ** (-places) for token, places in zip(pool.tokens, pool.decimals, strict=True)}
    liquidity = liquidity_usd(pool, prices)
    assert liquidity == pytest.approx(liquidity_usd(pool, {token: prices[token] for token in others}))
    assert liquidity_usd(pool, {pool.address: prices[pool.address]}) is None


def test_a_pool_is_listed_by_its_own_token_only_if_it_is_named() -> None:
    pool = build_composable(next(recorded_steps("balancer_v2_composable"))[0])
    identified = zip(pool.tokens, pool.decimals, strict=True)
    tokens = [Token(address, f"T{k}", f"T{k}", places) for k, (address, places) in enumerate(identified)]
    source = InMemorySource(build_market([pool], tokens), SYSTEM_CLOCK)
    selection = select_pools(source, (), None)
    (listed,) = list_pools(selection, ())
    assert pool.address not in listed.pair
    (listed,) = list_pools(selection, (pool.address,))
    assert listed.pair[0] == pool.address
