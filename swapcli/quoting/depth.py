"""Measure the depth of a market with quotes for a ladder of amounts, and find the amounts at given levels of price
impact.

Every figure comes from a quote for exactly that amount. Nothing is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from swapcli.core.errors import InvalidAmount, NoRoute, PoolError, SwapcliError
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.order import Order
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.quoting.amounts import ResolvedAmount
from swapcli.quoting.depth_result import Depth, DepthLevel, DepthPoint
from swapcli.quoting.impact_measures import measure_impacts
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.quote_source import QuoteSource

LEVELS: Final = (0.001, 0.005, 0.01, 0.05)
"""The levels of price impact for which to find the amount."""
LAST_IMPACT: Final = 0.2
"""The ladder ends with the first amount whose price impact exceeds this."""
_START_USD: Final = 10
MAX_STEPS: Final = 60
"""Steps of a ladder: twenty orders of magnitude, for pairs whose price impact is unknown."""
_DIGITS: Final = 4
"""Significant digits of the amounts at levels: the next larger amount is at most 0.1% more."""
_SMALLEST: Final = 1_000  # the smallest number with `_DIGITS` digits
_STEPS: Final = 9_000
"""The smallest four-digit number, and how many four-digit numbers there are."""


def measure_depth(
    source: QuoteSource, request: QuoteRequest, terms: SwapTerms, amounts: Sequence[int] = (), start: int = 1
) -> Depth:
    """Quote the order in `request` for each of `amounts`, and find the amounts at given levels of price impact. All
    quotes use the same state.

    Without `amounts`, a ladder with steps of 1, 2 and 5 begins at or just below `start`, and ends when the impact is
    above `LAST_IMPACT` or there is no route. Amounts are sold, and are in base units. Raises the same errors as
    `QuoteSource.quote` for the smallest amount.
    """
    prober = _Prober(source, request, terms)
    ladder = sorted(set(amounts)) or list(ladder_from(start))
    source.pin(pinned=True)
    try:
        points: list[DepthPoint] = []
        for amount in ladder:
            point = prober.probe(amount)
            if point is None:
                break
            points.append(point)
            if not amounts and point.exceeds(LAST_IMPACT):
                break
        if prober.first_figures is None:
            raise prober.error or NoRoute("no route for any amount")
        has_end = len(points) < len(ladder) and not points[-1].exceeds(LAST_IMPACT)
        levels = tuple(find_level(fraction, points, prober.probe) for fraction in LEVELS)
    finally:
        source.pin(pinned=False)
    order = request.order
    return Depth(source.network, order.token_in, order.token_out, tuple(points), levels, prober.first_figures, has_end)


def start_amount(order: Order, resolve: Callable[[str], ResolvedAmount]) -> int:
    """Return the first amount of a ladder in base units: the amount worth `_START_USD`, or one whole token if it has no
    USD price."""
    whole_token: int = 10**order.token_in.decimals
    try:
        return resolve(f"${_START_USD}").amount
    except InvalidAmount:
        return whole_token


def ladder_from(start: int) -> Iterator[int]:
    """Yield amounts in steps of 1, 2 and 5, starting with the largest step at or below `start`."""
    power = 10 ** (len(str(max(start, 1))) - 1)
    index = sum(factor * power <= start for factor in (2, 5))
    for step in range(index, index + MAX_STEPS):
        yield (1, 2, 5)[step % 3] * power * 10 ** (step // 3)


def find_level(fraction: float, points: Sequence[DepthPoint], probe: Callable[[int], DepthPoint | None]) -> DepthLevel:
    """Find the amount above which the price impact exceeds `fraction`, by bisection over amounts with four significant
    digits.

    `points` are known quotes, smallest first. If none exceeds `fraction`, larger amounts are tried.
    """
    within: DepthPoint | None = None
    beyond: DepthPoint | None = None
    for point in points:
        if point.exceeds(fraction):
            beyond = point
            break
        within = point
    if within is None:
        return DepthLevel(fraction, None, beyond)
    if beyond is None:
        within, beyond = _search_upwards(fraction, within, probe)
        if beyond is None:
            return DepthLevel(fraction, within, None)
    low, high = _to_index(within.amount_in), _to_index(beyond.amount_in)
    while high - low > 1:
        middle = (low + high) // 2
        found = probe(_to_amount(middle))
        if found is None or found.exceeds(fraction):
            high, beyond = middle, found
        else:
            low, within = middle, found
    return DepthLevel(fraction, within, beyond)


def _search_upwards(
    fraction: float, within: DepthPoint, probe: Callable[[int], DepthPoint | None]
) -> tuple[DepthPoint, DepthPoint | None]:
    """Return the last amount within a fraction, and the first beyond it, or None if the liquidity ends before that."""
    for amount in ladder_from(within.amount_in):
        if amount > within.amount_in:
            point = probe(amount)
            if point is None or point.exceeds(fraction):
                return within, point
            within = point
    return within, None


def _to_index(amount: int) -> int:
    """Return an amount's index among those with at most four significant digits, rounded down."""
    digits = str(amount)
    return max(len(digits) - _DIGITS, 0) * _STEPS + int(digits[:_DIGITS])


def _to_amount(index: int) -> int:
    """Return the amount with this index."""
    zeros = max((index - _SMALLEST) // _STEPS, 0)
    return int(f"{index - zeros * _STEPS}{'0' * zeros}")


class _Prober:
    """Quotes amounts of one order, each once. `error` is the reason why the last amount has no route."""

    def __init__(self, source: QuoteSource, request: QuoteRequest, terms: SwapTerms) -> None:
        self._source, self._request, self._terms = source, request, terms
        self._known: dict[int, DepthPoint | None] = {}
        self._basis: ImpactBasis | None = None
        self.first_figures: QuoteFigures | None = None
        self.error: SwapcliError | None = None

    def probe(self, amount: int) -> DepthPoint | None:
        """Return the quote for an amount, None if there is no route. Raises other errors of `QuoteSource.quote`."""
        if amount not in self._known:
            self._known[amount] = self._quote(self._request.order._replace(amount=amount))
        return self._known[amount]

    def _quote(self, order: Order) -> DepthPoint | None:
        try:
            answer = self._source.quote(self._request._replace(order=order))
        except (NoRoute, PoolError) as error:
            self.error = error
            return None
        figures = compute_figures(answer, self._terms)
        self._add_figures(figures)
        token, price_usd = order.token_in, answer.result.input_token.price_usd
        sold_usd = None if price_usd is None else figures.amount_in / 10**token.decimals * price_usd
        return DepthPoint(figures.amount_in, figures.amount_out, self._impact(answer), sold_usd)

    def _impact(self, answer: QuoteResult) -> PriceImpact | None:
        """Return the price impact by the measure that was known for the first amount: the same measure for all
        amounts."""
        known = measure_impacts(answer)
        if self._basis is None and known:
            self._basis = known[0].basis
        return next((each for each in known if each.basis is self._basis), None)

    def _add_figures(self, figures: QuoteFigures) -> None:
        """Keep the first figures, adding the pools that other amounts omitted."""
        first = self.first_figures or figures
        left_out = [each for each in figures.warnings if each.code is FindingCode.POOL_LEFT_OUT]
        self.first_figures = first._replace(warnings=tuple(dict.fromkeys((*first.warnings, *left_out))))
