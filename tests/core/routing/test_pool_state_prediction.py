"""How prices have moved is found out from a few pools, and leads the others where arbitrage would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import exp, log
from random import Random

import pytest
from hypothesis import given

from swapcli.core.model.pool import Pool
from swapcli.core.routing.pool_state_prediction import price_moves, shift_market, shift_pool
from tests.support.pools import UNIT, build_constant_product, build_market, build_random_market, build_token, seeds


def rate(pool: Pool, sold: str, bought: str) -> float:
    return pool.curve(sold, bought).start_rate


def arbitraged(pools: Mapping[str, Pool], worths: Mapping[str, float]) -> dict[str, Pool]:
    """The pools of two tokens with reserves for other worths, as deep as before."""
    moved = {}
    for number, (key, pool) in enumerate(pools.items()):
        shift = exp((worths[pool.tokens[0]] - worths[pool.tokens[1]]) / 2)
        x, y = (int(each) for each in pool.state()["reserves"])  # type: ignore[attr-defined]
        a, b = (build_token(int(address, 16) - 1) for address in pool.tokens)
        made = build_constant_product(number, a, b, int(x / shift), int(y * shift), pool.fee_ppm)
        moved[key] = replace(made, address=key)
    return moved


def pairs(seed: int, tokens: int = 6, pools: int = 20) -> dict[str, Pool]:
    market = build_random_market(seed, tokens=tokens, pools=pools).pools
    return {key: pool for key, pool in market.items() if pool.family == "constant_product"}


@given(seeds)
def test_token_price_moves_explain_the_effect_of_arbitrage(seed: int) -> None:
    before, rng = pairs(seed), Random(seed)
    worths = {address: rng.gauss(0.0, 0.2) for pool in before.values() for address in pool.tokens}
    after = arbitraged(before, worths)
    found = price_moves(before, after)
    assert found.spread < 1e-5
    for pool in before.values():
        first, second = pool.tokens
        reported = found.log_growth[first] - found.log_growth[second]
        assert reported == pytest.approx(worths[first] - worths[second], abs=1e-5)


@given(seeds)
def test_pools_not_looked_at_are_expected_where_they_are(seed: int) -> None:
    before, rng = pairs(seed, tokens=4, pools=24), Random(seed)
    worths = {address: rng.gauss(0.0, 0.1) for pool in before.values() for address in pool.tokens}
    after = arbitraged(before, worths)
    hub = build_token(0).address
    read = {key: pool for key, pool in after.items() if hub in pool.tokens and rng.random() < 0.8}
    moves = price_moves(before, read)
    for key, pool in before.items():
        first, second = pool.tokens
        if {first, second} <= moves.log_growth.keys() and key not in read:
            expected = shift_pool(pool, moves)
            reported, true = (log(rate(each, first, second)) for each in (expected, after[key]))
            assert reported == pytest.approx(true, abs=pool.fee_ppm / 1e6 * 2 + 1e-3)


def test_one_drained_pool_is_no_move_of_its_tokens() -> None:
    a, b = build_token(0), build_token(1)
    before = {pool.key: pool for pool in (build_constant_product(k, a, b, 1000 * UNIT, 1000 * UNIT) for k in range(5))}
    drained = build_constant_product(0, a, b, 10**6 * UNIT, UNIT)
    moves = price_moves(before, {**before, drained.key: drained})
    assert abs(moves.log_growth[a.address] - moves.log_growth[b.address]) < 1e-3
    assert moves.spread < 1e-3


def test_what_pools_move_by_themselves_is_the_spread() -> None:
    rng, a, b = Random(3), build_token(0), build_token(1)
    before, after = {}, {}
    for k in range(200):
        off = exp(rng.gauss(0.0, 0.003))
        before[f"{k}"] = build_constant_product(k, a, b, 1000 * UNIT, 1000 * UNIT)
        after[f"{k}"] = build_constant_product(k, a, b, 1000 * UNIT, int(1100 * off * UNIT))
    moves = price_moves(before, after)
    assert moves.log_growth[a.address] - moves.log_growth[b.address] == pytest.approx(log(1.1), abs=1e-3)
    assert moves.spread == pytest.approx(0.003, rel=0.3)


def test_nothing_known_means_nothing_moved() -> None:
    market = build_market(
        [build_constant_product(0, build_token(0), build_token(1), UNIT, UNIT)], [build_token(0), build_token(1)]
    )
    moves = price_moves({}, market.pools)
    assert not moves.log_growth
    assert shift_market(market.pools, moves) == market.pools


def test_a_path_through_an_unread_token_moves_with_its_ends() -> None:
    a, b, x = build_token(0), build_token(1), build_token(2)
    deep = 10**6 * UNIT
    between = build_constant_product(0, a, b, deep, deep, fee_ppm=1)
    into, out = (
        build_constant_product(1, a, x, deep, deep, fee_ppm=1),
        build_constant_product(2, x, b, deep, deep, fee_ppm=1),
    )
    moved = build_constant_product(0, a, b, deep, 2 * deep, fee_ppm=1)
    before = {pool.key: pool for pool in (between, into, out)}
    expected = shift_market(before, price_moves(before, {moved.key: moved}))
    through = rate(expected[into.key], a.address, x.address) * rate(expected[out.key], x.address, b.address)
    assert through == pytest.approx(rate(moved, a.address, b.address), rel=1e-3)
