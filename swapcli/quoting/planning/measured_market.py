"""Measure in recent blocks how fast a quote's pools refill after large swaps, and how much prices move.

With a node, this reads the events of a few hours, with about ten requests. Most nodes have these events even if they
have no old state. Without a node, it uses the blocks to which a store can go back. A store keeps no more of the past,
because that would cost followers time at every change of every pool. Besides, following a chain requires a node, and
the node has the events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from math import exp, isfinite
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import UpstreamError
from swapcli.core.model.market import Provenance
from swapcli.core.records import NamedTuple
from swapcli.quoting.planning.measured_refill import MeasuredRefill, estimate_refill
from swapcli.quoting.planning.price_path import MeasureOrigin, PastPrices, PricePath, Unmeasured
from swapcli.quoting.planning.route_price import RouteLeg, RoutePrice, route_fee, route_legs
from swapcli.quoting.planning.volatility import VolatilityEstimate, estimate_volatility
from swapcli.quoting.sources.quote_source import known_market

if TYPE_CHECKING:
    from swapcli.core.execution.refill import RefillEstimate
    from swapcli.interface.plan_types import MeasuredMarketJson, RefillJson, VolatilityJson
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.quote_results import LocalQuote
    from swapcli.quoting.sources.quote_source import QuoteSource

MAX_REQUESTS: Final = 120
"""Maximum number of requests for one measurement. It needs about ten, and a few more if pools must be read."""
_BEYOND_FEE: Final = 1.2
"""The smallest price move of a swap that is measured, as a multiple of the route's fee. Arbitrage gains nothing from
smaller moves."""
_REST_S: Final = 300.0
_LEAST_SHARE: Final = 0.5
"""The minimum share of the order's flow for which prices must be known. Fewer pools say little about the route."""


class MeasuredMarket(NamedTuple):
    """The measurements for a quote's route, or the reasons why there are none. `prices` is None without any past
    prices."""

    refill: MeasuredRefill | Unmeasured
    volatility: VolatilityEstimate | Unmeasured
    prices: PastPrices | None

    @property
    def refill_estimate(self) -> RefillEstimate | None:
        """The measured refill, or None if it is unknown."""
        return None if isinstance(self.refill, Unmeasured) else self.refill.estimate

    @property
    def volatility_per_sqrt_s(self) -> float | None:
        """The standard deviation of the price's logarithm per square root of a second, or None if it is unknown."""
        return None if isinstance(self.volatility, Unmeasured) else self.volatility.per_sqrt_s

    @property
    def rest_ratio(self) -> float | None:
        """The median price of the last five minutes as a fraction of the latest price, or None without past prices."""
        path = self.prices.path if self.prices else None
        if path is None or path.duration_s <= 0.0:
            return None
        start_s = max(path.end_s - _REST_S, path.times_s[0])
        return exp(path.median(start_s, path.end_s) - path.log_prices[-1])

    def document(self) -> MeasuredMarketJson:
        """Return the JSON of the measurements, which is part of a plan's JSON. Infinite values are null."""
        refill, volatility, prices = self.refill, self.volatility, self.prices
        return {
            "origin": (prices.origin if prices else MeasureOrigin.NONE).value,
            "source": prices.source if prices else None,
            "firstBlock": prices.first_block if prices else None,
            "lastBlock": prices.last_block if prices else None,
            "firstTime": int(prices.path.times_s[0]) if prices else None,
            "lastTime": int(prices.path.end_s) if prices else None,
            "moves": len(prices.path.times_s) - 1 if prices else 0,
            "problem": (prices.problem or None) if prices else None,
            "measuredShare": round(prices.measured_share, 4) if prices else 0.0,
            "requests": prices.requests if prices else 0,
            "baseFeeWei": str(prices.base_fee_wei) if prices and prices.base_fee_wei is not None else None,
            "refill": _refill_document(refill) if isinstance(refill, MeasuredRefill) else None,
            "refillUnknown": refill.reason if isinstance(refill, Unmeasured) else None,
            "volatility": _volatility_document(volatility) if isinstance(volatility, VolatilityEstimate) else None,
            "volatilityUnknown": volatility.reason if isinstance(volatility, Unmeasured) else None,
        }


def measure_market(
    source: QuoteSource,
    nodes: NodeOpener,
    answer: LocalQuote,
    *,
    hours: float = 4.0,
    max_requests: int = MAX_REQUESTS,
    on_progress: Callable[[str], object] | None = None,
) -> MeasuredMarket:
    """Measure, in the blocks before a quote, the refill and the price moves of its route's pools.

    With a node, this reads at most `hours` hours and sends at most `max_requests` requests. `on_progress` receives
    lines that describe the progress. A measurement that fails or is too uncertain is `Unmeasured`, with the reason.
    """
    legs = route_legs(answer.quote.steps, answer.pools, answer.quote.amount_in)
    found = _past_prices(source, nodes, answer, legs, hours, max_requests, on_progress)
    if isinstance(found, Unmeasured):
        return MeasuredMarket(found, found, None)
    if found.measured_share < _LEAST_SHARE:
        known = f"only {found.measured_share:.0%} of the order goes through pools with known past prices"
        return MeasuredMarket(Unmeasured(known), Unmeasured(known), found)
    refill = estimate_refill(found.path, _BEYOND_FEE * route_fee(legs, answer.pools))
    half_life_s = None if isinstance(refill, Unmeasured) else refill.estimate.half_life_s
    is_known = half_life_s is not None and isfinite(half_life_s)
    return MeasuredMarket(refill, estimate_volatility(found.path, half_life_s if is_known else None), found)


def _past_prices(
    source: QuoteSource,
    nodes: NodeOpener,
    answer: LocalQuote,
    legs: Sequence[RouteLeg],
    hours: float,
    max_requests: int,
    on_progress: Callable[[str], object] | None,
) -> PastPrices | Unmeasured:
    """Return the prices from a node; if there is none, or it fails, from a store."""
    state, network = answer.state_source, answer.network
    if not legs:
        return Unmeasured("the route only wraps or unwraps")
    if state.block is None or state.provenance not in (Provenance.LIVE, Provenance.SYNCED):
        return Unmeasured("these prices have no past blocks")
    problem = ""
    if any(nodes.rules.quoted_nodes(network)):
        from swapcli.quoting.planning.past_prices import read_past_prices

        try:
            with closing(nodes.require_quoted_node(network)) as node:
                return read_past_prices(node, answer, legs, hours, max_requests, on_progress or (lambda _: None))
        except UpstreamError as error:
            problem = error.message
    stored = _stored_prices(source, answer, legs)
    if stored is None:
        return Unmeasured(problem or "no node is set, and no store has past blocks of these pools")
    return stored._replace(problem=problem)


def _stored_prices(source: QuoteSource, answer: LocalQuote, legs: Sequence[RouteLeg]) -> PastPrices | None:
    """Return the prices at the blocks that a store remembers; None if it has none of these pools."""
    known = known_market(source)
    keys = {leg.pool for leg in legs}
    past = known.past_pools(keys) if known else ()
    if not past:
        return None
    price = RoutePrice(legs, answer.pools)
    times_s: list[float] = []
    log_prices: list[float] = []
    for blocks_s, pools in reversed(past):
        for key in keys:
            price.follow_pool(pools[key])
        times_s.append(min(blocks_s))
        log_prices.append(price.log_price)
    path = PricePath(times_s, log_prices, max(*past[0].times_s, times_s[-1]))
    return PastPrices(MeasureOrigin.STORED_BLOCKS, answer.state_source.description, path, 1.0)


def _refill_document(refill: MeasuredRefill) -> RefillJson:
    estimate = refill.estimate
    return {
        "swaps": estimate.swaps,
        "medianDisplacement": estimate.displacement,
        "halfLifeS": _finite(estimate.half_life_s),
        "halfLifeRangeS": [_finite(estimate.half_life_low_s), _finite(estimate.half_life_high_s)],
        "residualShare": estimate.residual_share,
        "residualShareRange": [estimate.residual_low, estimate.residual_high],
        "fitError": refill.fit_error,
        "points": [
            {"afterS": each.after_s, "shareGone": each.share_gone, "range": [each.low, each.high]}
            for each in refill.points
        ],
    }


def _volatility_document(volatility: VolatilityEstimate) -> VolatilityJson:
    return {
        "perSqrtS": volatility.per_sqrt_s,
        "range": [volatility.low, volatility.high],
        "intervals": volatility.intervals,
        "intervalS": volatility.interval_s,
    }


def _finite(seconds: float) -> float | None:
    return seconds if isfinite(seconds) else None
