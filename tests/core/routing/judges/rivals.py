"""Simple rivals of the search: the best single path, paths filled chunk by chunk, and hill climbing."""

from __future__ import annotations

from typing import NamedTuple

from bench.optimum.simple_methods.exact_paths import PathFinder
from bench.optimum.simple_methods.hill_climb import hill_climb
from bench.optimum.simple_methods.routes import Judge, JudgedRoute, build_route
from bench.optimum.simple_methods.water_fill import water_fill
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS
from swapcli.core.routing.router import Router
from tests.core.routing.judges.quoted import gas_unit_value, net_output, quote_or_none, usd

MIN_BPS, MIN_USD = 0.05, 0.01
"""A rival that is ahead by less in either way does not count."""

_SINGLE_PATHS = 20  # the best by their sums of swaps; the replay of each decides


class Lead(NamedTuple):
    """How far the best rival is ahead by the output net of gas; both are at most 0 if none is."""

    order: Order
    bps: float
    usd: float
    rival: JudgedRoute | None

    @property
    def counts(self) -> bool:
        """Whether the lead is more than noise."""
        return self.bps > MIN_BPS and self.usd > MIN_USD


def lead_of_rivals(
    router: Router, order: Order, gas_price_wei: int, evaluations: int, share_step: int = HUNDREDTHS
) -> Lead:
    """Return the lead of the best rival; climbs have `evaluations` replays each."""
    quote, value = quote_or_none(router, order, gas_price_wei, share_step), gas_unit_value(router, order, gas_price_wei)
    pools, ours = router.market.pools, net_output(quote, value)
    judge = Judge(pools, order.amount, value, share_step)
    finder = PathFinder(pools, order.token_in.address, order.token_out.address)
    single_paths = finder.best_paths(order.amount, pools, _SINGLE_PATHS, labels=12)
    single = judge.best(build_route({each.path: 1.0}, share_step) for each in single_paths)
    found = [single, water_fill(judge, finder, 256)]
    starts = [each.route for each in found if each] + ([quote.route] if quote else [])
    found += [hill_climb(judge, finder, start, evaluations) for start in starts]
    rival = max((each for each in found if each), key=lambda each: each.net, default=None)
    if rival is None:
        return Lead(order, 0.0, 0.0, None)
    gain = rival.net - ours
    return Lead(order, gain / (abs(ours) or abs(rival.net)) * 1e4, usd(router, order, gain), rival)
