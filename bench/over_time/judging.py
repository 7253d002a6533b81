"""Judge plans: their output on a path, compared with one swap and equal parts, and whether the forecast was right."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from random import Random
from typing import NamedTuple

from bench.over_time.trading import Pools, Sold, best_quote, mid_price, play, sell
from bench.over_time.worlds import BUY, HISTORY_S, UNIT, Event, World, draw_events, draw_world
from swapcli.core.execution.payout_curve import sample_payouts
from swapcli.core.execution.refill import RefillEstimate
from swapcli.core.execution.schedule import CostForecast, ExecutionSchedule, ExecutionTerms, plan_execution
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Quote
from swapcli.quoting.planning.measured_refill import MeasuredRefill, estimate_refill
from swapcli.quoting.planning.price_path import PricePath
from swapcli.quoting.planning.volatility import VolatilityEstimate, estimate_volatility

_REST_S = 300.0
_USUAL_PARTS = 16
"""The route of such a part has the pools and fees that most parts will use."""
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.3


class Outcome(NamedTuple):
    """The cost of one way of selling, as shares of the order's external value at the times of its parts.

    `net` is its output after gas in base units, which also depends on the drift of the price.
    """

    cost: float
    net: float


class Judged(NamedTuple):
    """An order: its plan, the measured refill, and the results of the plan, of one swap, and of equal parts."""

    seed: int
    world: World
    share: float
    refill: RefillEstimate | None
    schedule: ExecutionSchedule
    value: float
    plan: Outcome
    one_shot: Outcome
    equal: Outcome

    @property
    def forecast(self) -> tuple[float, float, float]:
        """The forecast cost and its band, as shares of the value at the plan's fair price."""
        forecast: CostForecast = self.schedule.forecast
        return forecast.cost / self.value, forecast.low / self.value, forecast.high / self.value


def judge(seed: int, *, has_arbitrage: bool = True) -> Judged:
    """Plan and sell the order of a seed. The plan sees only the current pools and their earlier prices."""
    world = draw_world(seed, has_arbitrage=has_arbitrage)
    rng = Random(f"order {seed}")
    share = exp(rng.uniform(log(_LEAST_SHARE), log(_MOST_SHARE)))
    amount = int(world.depth * share)
    events = list(draw_events(world, seed))
    begin = next((number for number, event in enumerate(events) if event.at_s >= HISTORY_S), len(events))
    pools, times_s, history = _record(world, events[:begin])
    quote = best_quote(pools, amount)
    usual = best_quote(pools, amount // _USUAL_PARTS)
    path = PricePath(times_s, [_route_price(mids, usual) for mids in history], HISTORY_S)
    fees = _fees(pools, usual)
    refill, volatility = _measure(path, 1.2 * sum(fees))
    gas = world.gas_usd / world.usd[BUY] * UNIT

    def payout(sold: int) -> int:
        return quote.amount_out if sold == amount else best_quote(pools, sold).amount_out

    curve = sample_payouts(payout, amount, exp(path.median(HISTORY_S - _REST_S, HISTORY_S)), fees)
    terms = ExecutionTerms(amount, world.horizon_s, gas, refill, volatility)
    schedule = plan_execution(curve, terms, payout)
    planned = [(part.start_s, part.amount_in) for part in schedule.parts]
    bounds = [amount * number // len(planned) for number in range(len(planned) + 1)]
    equal = [(at_s, bounds[number + 1] - bounds[number]) for number, (at_s, _) in enumerate(planned)]
    ahead = [events[begin - 1]._replace(at_s=HISTORY_S), *events[begin:]]

    def outcome(parts: Sequence[tuple[float, int]]) -> Outcome:
        sold: Sold = sell(world, pools, ahead, parts)
        paid = gas * len(parts)
        return Outcome((sold.value - sold.received + paid) / sold.value, sold.received - paid)

    value = curve.fair_price * amount
    return Judged(
        seed, world, share, refill, schedule, value, outcome(planned), outcome([(0.0, amount)]), outcome(equal)
    )


def _record(world: World, events: Sequence[Event]) -> tuple[Pools, list[float], list[dict[str, float]]]:
    """Play a history. Return the pools at its end, and all pools' log prices after each change."""
    pools = dict(world.pools)
    mids = {key: log(mid_price(pool, *pool.tokens)) for key, pool in pools.items()}
    times_s, history = [0.0], [dict(mids)]

    def after(event: Event) -> None:
        pool = pools[event.pool]
        mids[event.pool] = log(mid_price(pool, *pool.tokens))
        times_s.append(event.at_s)
        history.append(dict(mids))

    play(world, pools, events, after)
    return pools, times_s, history


def _route_price(mids: dict[str, float], quote: Quote) -> float:
    """Return the log price along a route: the weighted mean of each hop, by the amounts that pools carry."""
    total = 0.0
    for segment in quote.route.segments:
        for hop in segment.hops:
            for swap in hop:
                sign = 1.0 if swap.token_in < swap.token_out else -1.0
                total += sign * mids[swap.pool] * segment.share / SHARES_PER_ROUTE * swap.share / SHARES_PER_HOP
    return total


def _fees(pools: Pools, quote: Quote) -> tuple[float, ...]:
    """Return the fees of the pools in each hop of a route, as log prices."""
    fees: dict[int, float] = {}
    for segment in quote.route.segments:
        for number, hop in enumerate(segment.hops):
            for swap in hop:
                share = segment.share / SHARES_PER_ROUTE * swap.share / SHARES_PER_HOP
                fees[number] = fees.get(number, 0.0) - share * log(1.0 - pools[swap.pool].fee_ppm / 1e6)
    return tuple(fees.values())


def _measure(path: PricePath, least: float) -> tuple[RefillEstimate | None, float | None]:
    """Return the measurements of `swapcli plan` on a recorded path: refill and volatility."""
    refill = estimate_refill(path, least)
    estimate = refill.estimate if isinstance(refill, MeasuredRefill) else None
    volatility = estimate_volatility(path, estimate.half_life_s if estimate else None)
    return estimate, volatility.per_sqrt_s if isinstance(volatility, VolatilityEstimate) else None
