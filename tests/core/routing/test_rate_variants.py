"""Replays for routers that read rates as parts of an earlier balance, against a model of such a router."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.router_execution import Execution
from swapcli.core.model.router_variant import RateVariant
from swapcli.core.routing.replay import Replay, replay
from tests.core.routing.random_routes import random_route
from tests.support.pools import build_random_market, seeds

amounts = st.integers(10**12, 10**20)
ABSOLUTE = st.sampled_from([RateVariant.ABSOLUTE_INPUT, RateVariant.ABSOLUTE])


def replay_random_route(seed: int, amount: int, reading: RateVariant) -> Replay:
    market = build_random_market(seed, every_family=True)
    route = random_route(random.Random(seed), market)
    assume(route is not None)
    assert route is not None
    try:
        return replay(market.pools, route, amount, Execution(rate_variant=reading))
    except PoolError:
        assume(False)
        raise


@given(seeds, amounts, st.sampled_from(RateVariant))
def test_a_router_of_the_reading_spends_the_same(seed: int, amount: int, reading: RateVariant) -> None:
    steps = replay_random_route(seed, amount, reading).steps
    token_in, balances = steps[0].token_in, Counter({steps[0].token_in: amount})
    inflows = Counter(balances)
    for step in steps:
        inflows[step.token_out] += step.amount_out
    for step in steps:
        is_absolute = reading is RateVariant.ABSOLUTE or (
            reading is RateVariant.ABSOLUTE_INPUT and step.token_in == token_in
        )
        whole = inflows[step.token_in] if is_absolute else balances[step.token_in]
        assert step.amount_in == whole * step.rate // RATE_SCALE
        balances[step.token_in] -= step.amount_in
        balances[step.token_out] += step.amount_out
        assert balances[step.token_in] >= 0


@given(seeds, amounts, ABSOLUTE)
def test_absolute_rates_sum_to_the_whole(seed: int, amount: int, reading: RateVariant) -> None:
    """So less than a unit for each swap stays in the router."""
    steps = replay_random_route(seed, amount, reading).steps
    sold = [step for step in steps if step.token_in == steps[0].token_in]
    assert sum(step.rate for step in sold) == RATE_SCALE
    assert 0 <= amount - sum(step.amount_in for step in sold) < len(sold)


@given(seeds, amounts, ABSOLUTE)
def test_pools_get_the_shares_of_relative_rates(seed: int, amount: int, reading: RateVariant) -> None:
    """Rates are whole millionths, so an amount differs by two of them at most, and by the unit of rounding."""
    absolute = replay_random_route(seed, amount, reading).steps
    relative = replay_random_route(seed, amount, RateVariant.RELATIVE).steps
    token_in = relative[0].token_in
    expected = {step.pool + step.token_out: step.amount_in for step in relative if step.token_in == token_in}
    found = {step.pool + step.token_out: step.amount_in for step in absolute if step.token_in == token_in}
    assert expected.keys() == found.keys()
    for key, share in expected.items():
        assert abs(found[key] - share) <= len(expected) * amount / RATE_SCALE + len(expected)
