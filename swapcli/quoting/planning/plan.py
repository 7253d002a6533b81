"""A plan: a large order in parts over time, with its expected output and cost."""

from __future__ import annotations

import os
from fractions import Fraction
from functools import cache
from math import exp, sqrt
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidAmount, InvalidInput, InvalidOption, NoRoute, PoolError
from swapcli.core.execution.payout_curve import sample_payouts
from swapcli.core.execution.schedule import (
    RISK_LEVELS,
    CostForecast,
    ExecutionSchedule,
    ExecutionTerms,
    FrontierPoint,
    execution_frontier,
    plan_execution,
)
from swapcli.core.model.finding import Finding
from swapcli.core.model.network import Network
from swapcli.core.model.order import require_different_tokens
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import without_empty_fields
from swapcli.interface.quote_fields import render_state_source, render_swap_token, render_warning_list
from swapcli.quoting.impact_measures import impact_of
from swapcli.quoting.planning.cow_twap import cow_twap
from swapcli.quoting.planning.measured_market import MeasuredMarket, measure_market
from swapcli.quoting.planning.plan_file import PLAN_VERSION, PLANNED, price_of, seal
from swapcli.quoting.planning.plan_terms import PlanTerms
from swapcli.quoting.planning.route_limits import PlanRouteLimits, limits_of
from swapcli.quoting.planning.route_price import route_fee, route_legs
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.quote_source import QuoteSource, require_pools
from swapcli.state.file_writing import write_text_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from swapcli.interface.plan_types import CowTwapJson, ForecastJson, PlanJson, PlanPartJson
    from swapcli.quoting.openers.nodes import NodeOpener

_BAND_DEVIATIONS: Final = 3.0
"""Half the width of the price band, in standard deviations of the price over the horizon. 1 move in 370 exceeds it.
Chosen."""
_LEAST_BAND: Final = 0.02
"""The smallest half-width of a price band. The refill alone would leave a narrower band. Chosen."""
_UNKNOWN_BAND: Final = 0.05
"""The half-width of the price band if the volatility is unknown. Chosen."""
_LEAST_GROWTH: Final = 1.01
"""The minimum output of an order, as a multiple of the output of half the order. An order with less drains the pools.
Chosen."""
_PROBE_SHARE: Final = 4_096
"""The mid price is the price of this fraction of the order, which is too small to move prices."""
_PROBE_OUTPUT: Final = 100_000
"""The minimum output of the probe, in base units, so that it determines a price to a thousandth of a percent. Smaller
probes are doubled."""
_USUAL_PARTS: Final = 8
"""The usual number of parts if none is given. Chosen."""


class PriceBand(NamedTuple):
    """The prices within which parts are built, in whole output tokens per whole input token."""

    low: Fraction
    high: Fraction


class Plan(NamedTuple):
    """A plan for an order over time. Amounts are exact, in base units, on the planned state; times are in Unix seconds.

    `schedule` has the parts and the forecasts, and `measured` has the refill and volatility. `fair_price` is the mid
    price, in whole output tokens per whole input token. `limits` are the limits on the
    routes, also for the parts.

    Example: `Market.embedded("base").plan("ETH", "USDC", "500", over="4h").write("plan.json")`.
    """

    network: Network
    token_in: Token
    token_out: Token
    amount_in: int
    terms: PlanTerms
    created_s: int
    schedule: ExecutionSchedule
    fair_price: float
    measured: MeasuredMarket
    band: PriceBand
    frontier: tuple[FrontierPoint, ...]
    state: StateSource
    limits: PlanRouteLimits
    warnings: tuple[Finding, ...] = ()

    @property
    def start_s(self) -> int:
        """The Unix time from which the first part may be built."""
        return self.terms.start_s or self.created_s

    @property
    def expires_at_s(self) -> int:
        """The Unix time at which the plan ends: one interval between parts after the horizon."""
        return self.start_s + self.terms.horizon_s + self.terms.horizon_s // len(self.schedule.parts)

    @property
    def parts_outside_band(self) -> tuple[int, ...]:
        """The numbers of the parts whose shown price is outside the price band.

        This is empty unless the refill is unknown. Then parts are shown without refill, while the band assumes full
        refill.
        """
        tokens = self.token_in, self.token_out
        prices = (price_of(part.amount_in, part.payout, *tokens) for part in self.schedule.parts)
        return tuple(
            number for number, price in enumerate(prices, start=1) if not self.band.low <= price <= self.band.high
        )

    @property
    def cow_twap(self) -> CowTwapJson | None:
        """The parameters of the order as a CoW Protocol TWAP order, or None if it has no such form."""
        parts = self.schedule.parts
        interval_s = round(parts[-1].start_s / (len(parts) - 1)) if len(parts) > 1 else 0
        times_s = self.start_s, interval_s, len(parts)
        return cow_twap(self.network, (self.token_in, self.token_out), self.amount_in, times_s, self.band.low)

    def document(self) -> PlanJson:
        """Return the JSON of `swapcli plan`, which is also the plan's file."""
        schedule, start_s = self.schedule, self.start_s
        return seal(
            without_empty_fields(
                {
                    "planVersion": PLAN_VERSION,
                    "network": self.network.name,
                    "chainId": self.network.chain_id,
                    "inputToken": render_swap_token(self.token_in, self.network),
                    "outputToken": render_swap_token(self.token_out, self.network),
                    "inputAmount": str(self.amount_in),
                    "createdAt": self.created_s,
                    "startsAt": start_s,
                    "endsAt": start_s + self.terms.horizon_s,
                    "expiresAt": self.expires_at_s,
                    "risk": self.terms.risk,
                    "maxImpactPercent": None
                    if self.terms.max_impact is None
                    else round(self.terms.max_impact * 100, 4),
                    "routeLimits": self.limits.as_fields(),
                    "state": render_state_source(self.state),
                    "warnings": render_warning_list(self.warnings),
                    "fairPrice": self.fair_price,
                    "measured": self.measured.document(),
                    "forecast": _render_forecast(schedule.forecast),
                    "oneShot": _render_forecast(schedule.one_shot),
                    "extremes": schedule.extremes
                    and {
                        "noRefill": _render_forecast(schedule.extremes[0]),
                        "fullRefill": _render_forecast(schedule.extremes[1]),
                    },
                    "waitingGains": schedule.waiting_gains,
                    "priceBand": {"low": _decimal_text(self.band.low), "high": _decimal_text(self.band.high)},
                    "parts": self._part_rows(),
                    "frontier": [
                        {
                            "risk": point.risk,
                            "parts": point.parts,
                            "durationS": point.duration_s,
                            "cost": str(round(point.cost)),
                            "deviation": str(round(point.deviation)),
                        }
                        for point in self.frontier
                    ],
                    "cowTwap": self.cow_twap,
                }
            )
        )

    def _part_rows(self) -> list[PlanPartJson]:
        return [
            {
                "part": number,
                "time": self.start_s + round(part.start_s),
                "inputAmount": str(part.amount_in),
                "outputAmount": str(part.payout),
                "priceImpact": round(part.price_impact * 100, 4),
                "status": PLANNED,
            }
            for number, part in enumerate(self.schedule.parts, start=1)
        ]

    def orders(self) -> str:
        """Return the parts as orders for `swapcli route --batch`, one JSON object per line."""
        tokens = (display_address(token.address, self.network.kind) for token in (self.token_in, self.token_out))
        token_in, token_out = tokens
        return "".join(
            to_json({"id": number, "tokenIn": token_in, "tokenOut": token_out, "inputAmount": str(part.amount_in)})
            + "\n"
            for number, part in enumerate(self.schedule.parts, start=1)
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the plan to a new file, which `build_part` can read. Raises `InvalidInput`, `InputOutputError`."""
        name = os.fspath(path)
        check_new_file(name)
        write_text_file(name, f"{to_json(self.document(), indent=1)}\n")

    def svg(self, width: int | None = None) -> str:
        """Return the chart of cost and risk as an SVG document. Raises `InvalidOption` if neither is known."""
        from swapcli.quoting.pictures.frontier_chart import FrontierChart, FrontierDot, render_frontier_chart
        from swapcli.quoting.pictures.picture_width import parse_width

        if not self.frontier:
            has_past = self.measured.prices is not None
            raise InvalidOption(
                f"the chart of cost and risk needs the refill rate and the volatility: {self._why_unmeasured()}",
                hint="print the plan as a table or JSON instead" if has_past else "use a node or a synced store",
            )
        forecast, last = self.schedule.forecast, self.schedule.parts[-1]
        chart = FrontierChart(
            self.network,
            self.token_in,
            self.token_out,
            self.amount_in,
            tuple(FrontierDot(dot.parts, dot.duration_s, dot.cost, dot.deviation) for dot in self.frontier),
            FrontierDot(forecast.parts, last.start_s, forecast.cost, forecast.risk or 0.0),
        )
        return render_frontier_chart(chart, parse_width("width", None if width is None else str(width)))

    def _why_unmeasured(self) -> str:
        measured = self.measured.document()
        reasons = measured["refillUnknown"], measured["volatilityUnknown"]
        return next((each for each in reasons if each), "the measured refill is inconclusive")


def check_new_file(path: str) -> None:
    """Raise `InvalidInput` if the file already exists, because it may be a plan with parts that were built."""
    if os.path.lexists(path):
        raise InvalidInput(f"{printable(path)} already exists", hint="choose another name, or remove it first")


def make_plan(
    source: QuoteSource,
    nodes: NodeOpener,
    request: QuoteRequest,
    swap_terms: SwapTerms,
    terms: PlanTerms,
    now_s: float,
) -> Plan:
    """Plan the order in `request` on one state. All amounts in the plan come from exact quotes.

    Raises `InvalidOption` for terms that no plan can meet and for a remote service, `InvalidAmount` for an order that
    is too small to be priced or that drains the pools, and the errors of `QuoteSource.quote` for the whole order.
    """
    require_pools(source)
    order = request.order
    require_different_tokens(order)

    @cache
    def quote(amount: int) -> LocalQuote:
        answer = source.quote(request._replace(order=order._replace(amount=amount)))
        assert isinstance(answer, LocalQuote)
        return answer

    def payout(amount: int) -> int:
        return quote(amount).result.output_amount if amount else 0

    source.pin(pinned=True)
    try:
        whole = quote(order.amount)
        if whole.result.output_amount < _output(quote, order.amount // 2) * _LEAST_GROWTH:
            raise InvalidAmount("the pools cannot fill the whole order", hint="choose a smaller AMOUNT")
        # A large order also uses expensive pools, so gas, fees and past prices are those of one part's route.
        usual = quote(max(order.amount // (terms.parts or _USUAL_PARTS), 1))
        figures = compute_figures(usual, swap_terms)
        gas = 0 if figures.output_after_gas is None else figures.amount_out_after_fee - figures.output_after_gas
        measured = measure_market(source, nodes, usual)
        # The price at rest: otherwise a large swap just before the plan would count as the market price.
        fair_price = _mid_price(quote, order.amount) * (measured.rest_ratio or 1.0)
        curve = sample_payouts(payout, order.amount, fair_price, _hop_fees(usual))
        execution = ExecutionTerms(
            order.amount,
            terms.horizon_s,
            gas,
            measured.refill_estimate,
            measured.volatility_per_sqrt_s,
            terms.parts,
            terms.max_impact,
            RISK_LEVELS[terms.risk],
            _quoted_mid_price(usual),
        )
        schedule = plan_execution(curve, execution, payout)
        tokens = order.token_in, order.token_out
        band = _price_band(schedule, payout, tokens, terms, measured.volatility_per_sqrt_s)
    finally:
        source.pin(pinned=False)
    return Plan(
        network=source.network,
        token_in=order.token_in,
        token_out=order.token_out,
        amount_in=order.amount,
        terms=terms,
        created_s=int(now_s),
        schedule=schedule,
        fair_price=curve.fair_price * 10.0 ** (order.token_in.decimals - order.token_out.decimals),
        measured=measured,
        band=band,
        frontier=execution_frontier(curve, execution),
        state=whole.state_source,
        limits=limits_of(request, source.network),
    )


def _hop_fees(answer: LocalQuote) -> tuple[float, ...]:
    """Return the fees of each hop's pools, as logarithms of price ratios, weighted by their shares of the order."""
    fees: list[float] = []
    positions: dict[str, int] = {}
    for leg in route_legs(answer.quote.steps, answer.pools, answer.quote.amount_in):
        position = positions.get(leg.token_in, 0)
        positions.setdefault(leg.token_out, position + 1)
        fees.extend([0.0] * (position + 1 - len(fees)))
        fees[position] += route_fee((leg,), answer.pools)
    return tuple(fees)


def _mid_price(quote: Callable[[int], LocalQuote], amount: int) -> float:
    """Return the mid price of the pools used by a small part of an order, in base units of output per base unit of
    input.

    Raises `InvalidAmount` if even the whole order pays too little to determine a price.
    """
    probe = max(amount // _PROBE_SHARE, 1)
    while probe < amount and _output(quote, probe) < _PROBE_OUTPUT:
        probe = min(2 * probe, amount)
    output = _output(quote, probe)
    if not output:
        raise InvalidAmount("the order is too small to be priced", hint="choose a larger AMOUNT")
    return output / probe * exp(sum(_hop_fees(quote(probe))))


def _quoted_mid_price(answer: LocalQuote) -> float | None:
    """Return the mid price by which a quote measures its price impact, in base units; None if that is unknown."""
    impact = impact_of(answer)
    if impact is None or not impact.fraction < 1.0:
        return None
    return answer.result.output_amount / answer.result.input_amount / (1.0 - impact.fraction)


def _output(quote: Callable[[int], LocalQuote], amount: int) -> int:
    """Return the output for an amount; 0 if it is too small for any route."""
    try:
        return quote(amount).result.output_amount if amount else 0
    except (NoRoute, PoolError):
        return 0


def _price_band(
    schedule: ExecutionSchedule,
    payout: Callable[[int], int],
    tokens: tuple[Token, Token],
    terms: PlanTerms,
    volatility: float | None,
) -> PriceBand:
    """Return the band around the prices of the parts, with the measured refill, or full refill if it is unknown.

    If the pools refill less than that, the parts' prices leave the band, and the rest needs a new plan.
    """
    half = terms.band
    if half is None:
        moved = _UNKNOWN_BAND if volatility is None else _BAND_DEVIATIONS * volatility * sqrt(terms.horizon_s)
        half = max(moved, _LEAST_BAND)
    is_unknown = schedule.extremes is not None
    paid = [(part.amount_in, payout(part.amount_in) if is_unknown else part.payout) for part in schedule.parts]
    prices = [price_of(*amounts, *tokens) for amounts in paid]
    return PriceBand(max(min(prices) * Fraction(1 - half), Fraction(0)), max(prices) * Fraction(1 + half))


def _decimal_text(price: Fraction) -> str:
    """Return a price with 18 significant digits, without exponent."""
    from decimal import Context

    return f"{Context(prec=18).divide(price.numerator, price.denominator):f}"


def _render_forecast(forecast: CostForecast) -> ForecastJson:
    return {
        "parts": forecast.parts,
        "outputAmount": str(round(forecast.payout)),
        "impact": str(round(forecast.impact)),
        "gas": str(round(forecast.gas)),
        "cost": str(round(forecast.cost)),
        "low": str(round(forecast.low)),
        "high": str(round(forecast.high)),
        "risk": None if forecast.risk is None else str(round(forecast.risk)),
    }
