"""The depth of a market: every figure is that of a quote, and each level is where the price impact passes it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from swapcli import DepthPoint
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.quoting.depth import LAST_IMPACT, LEVELS, find_level, ladder_from, measure_depth
from swapcli.quoting.impact_measures import impact_of
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.testnet import USDC, WETH, build_testnet_market

ETH = 10**18


@given(st.integers(1, 10**30))
def test_a_ladder_rises_in_steps_of_1_2_5(start: int) -> None:
    amounts = list(ladder_from(start))
    assert amounts[0] <= start < amounts[1]
    assert all(str(amount).rstrip("0") in ("1", "2", "5") for amount in amounts)
    assert all(2 * low <= high <= 5 * low // 2 for low, high in pairwise(amounts))


@example(5 * 10**19, [1], False)
@given(
    st.integers(1, 10**28),
    st.lists(st.integers(1, 10**30), min_size=1, max_size=8, unique=True),
    st.booleans(),
)
def test_a_level_is_between_adjacent_amounts(limit: int, amounts: list[int], has_end: bool) -> None:
    """An impact that passes the level above `limit`; the liquidity may end there instead."""

    def probe(amount: int) -> DepthPoint | None:
        if has_end and amount > limit:
            return None
        return DepthPoint(amount, 0, PriceImpact(0.02 if amount > limit else 0.01, ImpactBasis.USD))

    known = [point for point in map(probe, sorted(amounts)) if point]
    if not known:
        return
    level = find_level(0.01, known, probe)
    if level.within is None:
        assert known[0].amount_in > limit
        return
    assert level.within.amount_in <= limit
    if has_end or list(ladder_from(known[-1].amount_in))[-1] <= limit:  # the search upwards ends at 20 digits more
        assert level.beyond is None
        return
    assert level.beyond is not None
    assert level.beyond.amount_in > limit
    assert level.beyond.amount_in - level.within.amount_in <= max(1, level.within.amount_in // 500)


def test_every_figure_of_a_depth_is_that_of_its_own_quote() -> None:
    market = build_testnet_market()
    source = InMemorySource(market, SYSTEM_CLOCK)
    request = QuoteRequest(Order(market.tokens[WETH], market.tokens[USDC], 0), ApiVersion.V2)
    depth = measure_depth(source, request, SwapTerms(5_000, None), start=ETH // 200)
    assert len(depth.points) > 10
    assert depth.points[-1].exceeds(LAST_IMPACT)
    assert not any(point.exceeds(LAST_IMPACT) for point in depth.points[:-1])
    ends = [point for level in depth.levels for point in (level.within, level.beyond) if point]
    assert len(ends) == 2 * len(LEVELS)
    for point in [*depth.points, *ends]:
        order = Order(market.tokens[WETH], market.tokens[USDC], point.amount_in)
        answer = InMemorySource(market, SYSTEM_CLOCK).quote(request._replace(order=order))
        assert (answer.quote.amount_out, impact_of(answer)) == (point.amount_out, point.impact)
    for level in depth.levels:
        assert level.within is not None
        assert level.beyond is not None
        assert not level.within.exceeds(level.fraction)
        assert level.beyond.exceeds(level.fraction)
        assert level.beyond.amount_in <= level.within.amount_in * 1001 // 1000 + 1
