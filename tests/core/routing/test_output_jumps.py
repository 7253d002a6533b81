"""Where a token of few units makes a route's output jump, the least input still takes few replays."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.model.router_execution import RATES
from swapcli.core.routing.least_input import least_input
from swapcli.core.routing.output_jumps import estimate_jump
from swapcli.core.routing.replay import replay
from swapcli.core.routing.search.scored_route import RouteScorer
from tests.core.routing.build import problem_of
from tests.support.pools import build_constant_product, build_market, build_token

A, B, COARSE = build_token(0), build_token(1), build_token(2, decimals=6)
fine_reserves, coarse_reserves = st.integers(10**24, 10**27), st.integers(10**9, 10**13)
FIRST, SECOND = "0x0000000000000000000000000000000000f00000", "0x0000000000000000000000000000000000f00001"
ROUTE = Route(
    (
        Segment(
            SHARES_PER_ROUTE,
            (
                (Swap(FIRST, A.address, COARSE.address, SHARES_PER_HOP),),
                (Swap(SECOND, COARSE.address, B.address, SHARES_PER_HOP),),
            ),
        ),
    )
)


class CountedScorer(RouteScorer):
    """A scorer of the route, with the number of its replays."""

    def __init__(self, reserve_a: int, coarse: int, reserve_b: int) -> None:
        self.replays = 0
        pools = [
            build_constant_product(0, A, COARSE, reserve_a, coarse),
            build_constant_product(1, COARSE, B, coarse, reserve_b),
        ]
        market = build_market(pools, [A, B, COARSE])
        problem = problem_of(market, 10**18)
        super().__init__(problem.spec._replace(check=self._count), market.pools, RATES)

    def _count(self) -> None:
        self.replays += 1

    def amount_out(self, amount: int) -> int:
        """The output of the route."""
        try:
            return replay(self.pools, ROUTE, amount).amount_out
        except PoolError:
            return 0


@given(fine_reserves, coarse_reserves, fine_reserves, st.floats(1e-6, 1.0), st.floats(0.5, 2.0))
def test_the_least_input_takes_few_replays(
    reserve_a: int, coarse: int, reserve_b: int, part: float, error: float
) -> None:
    """Interpolation and bisection took 74 in the median."""
    scorer = CountedScorer(reserve_a, coarse, reserve_b)
    amount = int(reserve_a * part)
    requested = scorer.amount_out(amount)
    assume(requested > 0)
    found = least_input(scorer, ROUTE, requested, int(amount * error))
    assert found is not None
    amount_in, replay = found
    assert scorer.amount_out(amount_in) == replay.amount_out >= requested > scorer.amount_out(amount_in - 1)
    assert scorer.replays <= 40


@given(fine_reserves, coarse_reserves, fine_reserves, st.floats(1e-6, 1.0))
def test_a_jump_is_estimated_between_the_inputs(reserve_a: int, coarse: int, reserve_b: int, part: float) -> None:
    scorer = CountedScorer(reserve_a, coarse, reserve_b)
    low = int(reserve_a * part)
    high = low + reserve_a // coarse
    assume(scorer.amount_out(low) > 0)
    ends = [(amount, replay(scorer.pools, ROUTE, amount)) for amount in (low, high)]
    jump = estimate_jump(scorer.pools, *ends)
    assert jump is None or low <= jump <= high
    if ends[1][1].steps[0].amount_out == ends[0][1].steps[0].amount_out + 1:
        assert jump is not None
        assert scorer.amount_out(jump - 2) < scorer.amount_out(jump + 2)
