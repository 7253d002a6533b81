"""Schedule a large order: the parts, their times and sizes, and the expected cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from math import exp, hypot, inf, log, sqrt

from swapcli.core.errors import InvalidOption
from swapcli.core.execution.payout_curve import Payout, PayoutCurve
from swapcli.core.execution.refill import FULL_REFILL, NO_REFILL, PriceRecovery, RefillEstimate, recoveries_of
from swapcli.core.records import NamedTuple

RISK_LEVELS = {"none": 0.0, "low": 0.5, "medium": 1.5, "high": 4.0}
"""The weight of one standard deviation of the proceeds relative to their expectation; chosen."""
MAX_PARTS = 100
_PART_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48)
"""The numbers of parts to choose from: nobody wants to send more than 48 transactions."""
_DURATIONS = (1.0, 0.71, 0.5, 0.35, 0.25, 0.18, 0.125, 0.06, 0.03)
"""The shares of the horizon that a plan may take."""
_DECAYS = (0.0, 1.0, 3.0)
_STEEPEST = 6.0
"""The maximum decrease in size from the first part to the last, as a logarithm."""
_SLACK = 0.05
"""The share of a plan's savings that does not justify more parts; twice as much if the refill is unknown.

Chosen: n parts of equal impact save 1 - 1/n of the impact.
"""
_WAITING_GAIN = 0.01
"""The share of the cost that a longer plan must save; chosen."""
_UNEQUAL_GAIN = 0.02
"""The share of the cost that unequal parts must save; chosen."""
_EXTREMES = (NO_REFILL, FULL_REFILL)
_CHANCE = 2.6
_TOO_HIGH, _TOO_LOW = 0.3, 0.15
"""The band of a forecast: standard deviations of the mispricing, and shares of the impact by which the model may be too
high or too low, such that 90% of simulated orders fall inside (bench/over_time, seeds below 100; with other seeds, 87
to 89%). Jumps and other traders make the tails so fat that a band 5% wider contains hardly more. Other traders also
refill, and routes choose the better pool, so forecasts tend to be too high."""
_FRONTIER = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
_DIGITS = 6
_CAP_ROUNDS = 5
_ROUNDS, _SECTIONS = 2, 10
"""The number of rounds in the search for sizes: the optimum is flat, and more rounds save less than a thousandth of the
cost."""
_EPSILON = 1e-9


class ExecutionTerms(NamedTuple):
    """An order to plan: `amount_in` base units within `horizon_s` seconds.

    `gas_per_part` is in base units of the output. `volatility` is the standard deviation of the log price per square
    root of a second, None if unknown. If `parts` is None, the plan chooses the number of parts; `max_impact` bounds the
    price impact of each part, pool fees included (0.005 is 0.5%). The plan minimizes the expected cost plus `risk`
    times its standard deviation.

    `mid_price` is today's price without fees, in output units per input unit, from which quotes measure their price
    impact; None means the price that the curve implies.
    """

    amount_in: int
    horizon_s: float
    gas_per_part: float
    refill: RefillEstimate | None
    volatility: float | None
    parts: int | None = None
    max_impact: float | None = None
    risk: float = 0.0
    mid_price: float | None = None


class ScheduledPart(NamedTuple):
    """One part: `amount_in` base units, `start_s` seconds after the plan begins.

    `displaced` is how much of the earlier parts, in input units, is expected to still displace the price. `payout` is
    in base units of the output, before gas; `price_impact` is the part of the value, at the mid price of that time,
    that is lost to the part's size and to pool fees, as in a quote.
    """

    start_s: float
    amount_in: int
    displaced: int
    payout: int
    price_impact: float


class CostForecast(NamedTuple):
    """The expected cost of `parts` parts, in base units of the output, relative to the fair price at the time of each
    part.

    `payout` is the expected output at today's price. `cost` is `impact`, which includes the fees of pools, plus `gas`.
    The cost lies between `low` and `high` in 90% of cases. `risk` is the standard deviation that price movements until
    the last part cause in the proceeds; it is not part of the cost, and None if the volatility is unknown.
    """

    parts: int
    payout: float
    impact: float
    gas: float
    cost: float
    low: float
    high: float
    risk: float | None


class ExecutionSchedule(NamedTuple):
    """The parts of an order, and their forecast compared with one swap now.

    If the refill is unknown, `extremes` are the forecasts without refill and with full refill; the forecast is then the
    one without refill, and its interval begins at the cost with full refill. `waiting_gains` shows whether the parts
    are expected to cost less than one swap.
    """

    parts: tuple[ScheduledPart, ...]
    forecast: CostForecast
    one_shot: CostForecast
    extremes: tuple[CostForecast, CostForecast] | None
    waiting_gains: bool


class FrontierPoint(NamedTuple):
    """The plan for one weight of risk (`risk`): the number of parts, the duration in seconds, and the cost and the
    standard deviation of the proceeds, both in output units."""

    risk: float
    parts: int
    duration_s: float
    cost: float
    deviation: float


class _Trial(NamedTuple):
    """Sizes in input units, as floats that sum to the order, and their times.

    The expected cost and the standard deviation of the proceeds are in output units. The cost is infinite if the sizes
    exceed the largest price impact.
    """

    amounts: tuple[float, ...]
    starts_s: tuple[float, ...]
    cost: float
    deviation: float

    def value(self, risk: float) -> float:
        """The value to minimize, in output units."""
        return self.cost + risk * self.deviation


class _Setting(NamedTuple):
    """The shared data of trials: the market, the terms, the expected refill, and the largest price impact without fees
    if there is one."""

    curve: PayoutCurve
    terms: ExecutionTerms
    recovery: PriceRecovery
    cap: float | None


def plan_execution(curve: PayoutCurve, terms: ExecutionTerms, payout: Payout | None = None) -> ExecutionSchedule:
    """Return the schedule with the least cost and risk. Sizes and times are chosen in floats.

    With `payout`, the exact output of a swap on today's market, every amount of the result comes from exact quotes: a
    part pays the market's output for `displaced + amount_in` less its output for `displaced`. Without it, the amounts
    come from `curve`. Raises `InvalidOption` for terms that no plan can meet, and for parts that cost more gas than
    they gain.
    """
    _check(curve, terms)
    recoveries = recoveries_of(terms.refill, curve.fees, terms.volatility or 0.0)
    after_fees = _after_fees(curve, terms)
    cap = _cap_without_fees(curve, terms)
    for _ in range(_CAP_ROUNDS):
        setting = _Setting(curve, terms, recoveries[0] if recoveries else NO_REFILL, cap)
        trial = _best(setting, _shapes(setting), terms.risk) if recoveries else _least_regret(setting)
        schedule = _schedule(curve, terms, recoveries, trial, payout or curve.payout)
        if cap is None or terms.max_impact is None:
            return schedule
        largest = max(part.price_impact for part in schedule.parts)
        if largest <= terms.max_impact:
            return schedule
        # The curve is not exact between its quotes.
        cap *= 0.98 * (1.0 - (1.0 - terms.max_impact) / after_fees) / (1.0 - (1.0 - largest) / after_fees)
    raise _unreachable_impact(terms)


def execution_frontier(curve: PayoutCurve, terms: ExecutionTerms) -> tuple[FrontierPoint, ...]:
    """Return the plans from the least expected cost to the least risk; empty if the refill or the volatility is
    unknown."""
    recoveries = recoveries_of(terms.refill, curve.fees, terms.volatility or 0.0)
    if not recoveries or not terms.volatility:
        return ()
    _check(curve, terms)
    setting = _Setting(curve, terms, recoveries[0], _cap_without_fees(curve, terms))
    shapes = _shapes(setting)
    points: list[FrontierPoint] = []
    for risk in _FRONTIER:
        best = _best(setting, shapes, risk)
        if not points or best.deviation < points[-1].deviation:
            points.append(FrontierPoint(risk, len(best.amounts), best.starts_s[-1], best.cost, best.deviation))
    return tuple(points)


def _check(curve: PayoutCurve, terms: ExecutionTerms) -> None:
    """Raise `InvalidOption` for terms out of range, and for parts that do not pay for their gas."""
    parts, amount = terms.parts, terms.amount_in
    if not 0.0 < terms.horizon_s < inf:
        raise InvalidOption("a plan needs a horizon of more than 0 seconds", hint="for example 4h")
    if parts is not None and not 1 <= parts <= MAX_PARTS:
        raise InvalidOption(f"a plan has 1 to {MAX_PARTS} parts, not {parts}", hint="remove the number of parts")
    if terms.max_impact is not None and not 0.0 < terms.max_impact < 1.0:
        raise InvalidOption(
            "the price impact of a part must be more than 0% and less than 100%", hint="for example 0.5%"
        )
    if not 0.0 <= terms.risk < inf:
        raise InvalidOption("the risk must be 0 or more", hint="choose none, low, medium or high")
    if parts is None or parts == 1:
        return
    gain = parts * curve.payout(amount / parts) - curve.payout(amount)
    if amount < parts or terms.gas_per_part * (parts - 1) > max(gain, 0.0):
        raise InvalidOption(
            f"{parts} parts would cost more gas than they can gain", hint="use fewer parts, or remove their number"
        )


def _after_fees(curve: PayoutCurve, terms: ExecutionTerms) -> float:
    """Return the price of today's first unit as a fraction of the mid price, from 0.0 to 1.0."""
    mid_price = terms.mid_price or curve.price(0.0) * exp(sum(curve.fees))
    return min(curve.price(0.0) / mid_price, 1.0)


def _cap_without_fees(curve: PayoutCurve, terms: ExecutionTerms) -> float | None:
    """Return how much price impact `terms.max_impact` leaves to a part's size; None without a maximum.

    Raises `InvalidOption` if the pool fees alone exceed the maximum.
    """
    if terms.max_impact is None:
        return None
    cap = 1.0 - (1.0 - terms.max_impact) / _after_fees(curve, terms)
    if cap <= 0.0:
        raise _unreachable_impact(terms)
    return cap


def _unreachable_impact(terms: ExecutionTerms) -> InvalidOption:
    return InvalidOption(
        f"no plan of at most {terms.parts or _PART_COUNTS[-1]} parts keeps the price impact of each part below"
        f" {(terms.max_impact or 0.0) * 100:g}%",
        hint="allow a larger price impact, more parts or more time",
    )


def _shapes(setting: _Setting) -> list[_Trial]:
    """Return simple sizes for each number of parts and each duration: equal ones, and some that fall with time."""
    terms = setting.terms
    counts = _PART_COUNTS if terms.parts is None else (terms.parts,)
    trials = [_trial(setting, (1.0,), 0.0)] if 1 in counts else []
    decays = _DECAYS if terms.volatility else _DECAYS[:1]
    for count, duration, decay in product(counts, _DURATIONS, decays):
        if count > 1:
            shares = _falling(count, decay)
            trials.append(_trial(setting, shares, terms.horizon_s * duration))
    if all(trial.cost == inf for trial in trials):
        raise _unreachable_impact(terms)
    return trials


def _best(setting: _Setting, shapes: Sequence[_Trial], risk: float) -> _Trial:
    """Return the fewest parts over the shortest time that save nearly as much as the best plan, in their best sizes.

    Each part has to be signed, and each hour is a risk: neither is worth a few hundredths of a plan's savings.
    """
    least = min(shape.value(risk) for shape in shapes)
    saved = _one_shot_cost(setting) - least
    fewest = min(len(shape.amounts) for shape in shapes if shape.value(risk) <= least + _SLACK * max(saved, 0.0))
    rivals = [shape for shape in shapes if len(shape.amounts) == fewest]
    best = min(shape.value(risk) for shape in rivals)
    good = [shape for shape in rivals if shape.value(risk) <= best + _WAITING_GAIN * abs(best)]
    return _improved(setting, min(good, key=lambda shape: (shape.starts_s[-1], shape.value(risk))), risk)


def _one_shot_cost(setting: _Setting) -> float:
    curve, terms, *_ = setting
    return curve.fair_price * terms.amount_in - curve.payout(terms.amount_in) + terms.gas_per_part


def _least_regret(setting: _Setting) -> _Trial:
    """Return equal parts, in the number with the least regret whether the price recovers fully or not at all."""
    terms = setting.terms
    counts = _PART_COUNTS if terms.parts is None else (terms.parts,)
    pairs = [
        [_trial(setting._replace(recovery=recovery), _falling(count, 0.0), terms.horizon_s) for recovery in _EXTREMES]
        for count in counts
    ]
    best = [min(trial.cost for trial in trials) for trials in zip(*pairs, strict=True)]
    if inf in best:
        raise _unreachable_impact(terms)
    regrets = [max(trial.cost - least for trial, least in zip(pair, best, strict=True)) for pair in pairs]
    enough = min(regrets) + 2.0 * _SLACK * max(_one_shot_cost(setting) - best[1], 0.0)
    return next(none for (none, _), regret in zip(pairs, regrets, strict=True) if regret <= enough)


def _improved(setting: _Setting, shape: _Trial, risk: float) -> _Trial:
    """Return the best sizes for the number of parts and the times of `shape`, in a family with few parameters.

    The parameters are the first part, the last one, and how fast the parts between them decrease. Without risk, the
    optimum under transient impact has equal parts in between; with risk, they decrease nearly exponentially.
    """
    count, duration_s = len(shape.amounts), shape.starts_s[-1]
    if count == 1:
        return shape
    trials = [shape]
    shares = [-log(count), -log(count), 0.0]

    def improve(index: int, low: float, high: float) -> None:
        def value(tried: float) -> float:
            first, last, decay = (tried if index == number else share for number, share in enumerate(shares))
            trials.append(_trial(setting, _shares(count, exp(first), exp(last), decay), duration_s))
            return trials[-1].value(risk)

        shares[index] = _minimize(value, low, high)

    least = -log(5.0 * count)
    for _ in range(_ROUNDS):
        if count > 3 and risk and setting.terms.volatility:
            improve(2, 0.0, _STEEPEST)
        improve(0, least, 0.0)
        if count > 2:
            improve(1, least, 0.0)
    best = min(trials, key=lambda trial: trial.value(risk))
    equal = _trial(setting, _falling(count, 0.0), duration_s)
    return equal if equal.value(risk) <= best.value(risk) + _UNEQUAL_GAIN * abs(best.value(risk)) else best


def _falling(count: int, decay: float) -> tuple[float, ...]:
    """Return shares that sum to 1 and decrease; the last is `exp(-decay)` of the first."""
    weights = [exp(-decay * number / max(count - 1, 1)) for number in range(count)]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def _shares(count: int, first: float, last: float, decay: float) -> tuple[float, ...]:
    """Return shares that sum to 1: `first`, then decreasing parts, and at the end the share `last` of the rest."""
    if count == 2:
        return first, 1.0 - first
    rest = (1.0 - first) * (1.0 - last)
    return first, *(share * rest for share in _falling(count - 2, decay)), (1.0 - first) * last


def _minimize(value: Callable[[float], float], low: float, high: float) -> float:
    """Return the point between `low` and `high` at which `value` is least, by golden-section search."""
    golden = (sqrt(5.0) - 1.0) / 2.0
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(_SECTIONS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = value(right)
    return left if at_left <= at_right else right


def _trial(setting: _Setting, shares: Sequence[float], duration_s: float) -> _Trial:
    """Return the value of parts with these shares. Parts above the cap are cut, and the next ones sell the rest."""
    curve, terms, recovery, cap = setting
    count = len(shares)
    interval_s = duration_s / (count - 1) if count > 1 else 0.0
    starts_s = tuple(duration_s * number / max(count - 1, 1) for number in range(count))
    volatility = terms.volatility or 0.0
    amounts: list[float] = []
    displaced = owed = received = variance = 0.0
    left = float(terms.amount_in)
    for share in shares:
        amount = share * terms.amount_in + owed
        if cap is not None:
            most = curve.amount_at(curve.displacement(displaced) - 2.0 * log(1.0 - cap)) - displaced
            owed = max(amount - most, 0.0)
            amount -= owed
        sold = displaced + amount
        received += curve.payout(sold) - curve.payout(displaced)
        left -= amount
        variance += left * left * interval_s
        amounts.append(amount)
        displaced = _refilled(curve, sold, interval_s, recovery)
    cost = curve.fair_price * terms.amount_in - received + terms.gas_per_part * count
    deviation = volatility * curve.fair_price * sqrt(variance)
    return _Trial(tuple(amounts), starts_s, cost if owed <= _EPSILON * terms.amount_in else inf, deviation)


def _refilled(curve: PayoutCurve, sold: float, elapsed_s: float, recovery: PriceRecovery) -> float:
    """Return how much of `sold` input units still displaces the price after some seconds."""
    displacement = curve.displacement(sold)
    left = recovery.remaining(displacement - curve.advantage, elapsed_s) + curve.advantage
    return sold if left == displacement else curve.amount_at(left)


def _schedule(
    curve: PayoutCurve,
    terms: ExecutionTerms,
    recoveries: Sequence[PriceRecovery],
    trial: _Trial,
    payout: Callable[[int], float],
) -> ExecutionSchedule:
    """Return the parts of a trial in whole units, with their amounts from `payout`, and their forecast."""
    amounts, starts_s = _whole_units(trial, terms.amount_in)
    displaced = [round(each) for each in _displacements(curve, amounts, starts_s, (recoveries or _EXTREMES)[0])]
    known = {0: 0}
    for amount in {*displaced, *(sum(pair) for pair in zip(displaced, amounts, strict=True)), terms.amount_in}:
        known.setdefault(amount, round(payout(amount)) if amount else 0)
    parts = tuple(
        ScheduledPart(
            start_s,
            amount,
            before,
            paid := known[before + amount] - known[before],
            _impact(curve, terms, before, amount, paid),
        )
        for start_s, amount, before in zip(starts_s, amounts, displaced, strict=True)
    )
    received = sum(part.payout for part in parts)
    one_shot = _forecast(curve, terms, recoveries or _EXTREMES[:1], [terms.amount_in], [0.0], known[terms.amount_in])
    if recoveries:
        forecast, extremes = _forecast(curve, terms, recoveries, amounts, starts_s, received), None
    else:
        full = sum(round(payout(amount)) for amount in amounts)
        none = _forecast(curve, terms, _EXTREMES[:1], amounts, starts_s, received)
        best = _forecast(curve, terms, _EXTREMES[1:], amounts, starts_s, full)
        forecast, extremes = none._replace(low=best.low), (none, best)
    return ExecutionSchedule(parts, forecast, one_shot, extremes, forecast.cost < one_shot.cost)


def _whole_units(trial: _Trial, amount_in: int) -> tuple[list[int], list[float]]:
    """Return the sizes and times without empty parts; the sizes sum to the order.

    All but the last are rounded to a millionth of the order or less: no one wants to read more digits.
    """
    step = 10 ** max(len(str(amount_in)) - _DIGITS, 0)
    sizes = [int(amount / step) * step for amount in trial.amounts[:-1]]
    sizes.append(amount_in - sum(sizes))
    kept = [(size, at) for size, at in zip(sizes, trial.starts_s, strict=True) if size > 0]
    return [size for size, _ in kept], [at for _, at in kept]


def _displacements(
    curve: PayoutCurve, amounts: Sequence[float], starts_s: Sequence[float], recovery: PriceRecovery
) -> Iterator[float]:
    """Yield, for each part, how much of the earlier ones still displaces the price, in input units."""
    displaced = 0.0
    for number, amount in enumerate(amounts):
        yield displaced
        if number + 1 < len(amounts):
            elapsed_s = starts_s[number + 1] - starts_s[number]
            displaced = _refilled(curve, displaced + amount, elapsed_s, recovery)


def _impact(curve: PayoutCurve, terms: ExecutionTerms, displaced: float, amount: float, paid: float) -> float:
    """Return the part of a part's value at the mid price of its time that is lost, pool fees included, from 0.0 to
    1.0."""
    mid_price = curve.price(displaced) / _after_fees(curve, terms)
    return min(max(1.0 - paid / (amount * mid_price), 0.0), 1.0)


def _forecast(
    curve: PayoutCurve,
    terms: ExecutionTerms,
    recoveries: Sequence[PriceRecovery],
    amounts: Sequence[int],
    starts_s: Sequence[float],
    received: float,
) -> CostForecast:
    """Return the forecast for parts that together receive `received`."""
    volatility = terms.volatility or 0.0
    value, gas = curve.fair_price * terms.amount_in, terms.gas_per_part * len(amounts)
    cost = value - received + gas
    by_recovery = [_received(curve, amounts, starts_s, each) for each in recoveries]
    best, worst = max(by_recovery), min(by_recovery)
    chance = _CHANCE * curve.fair_price * _mispricing(amounts, starts_s, recoveries[0])
    risk = None
    if terms.volatility is not None:
        left = terms.amount_in
        variance = 0.0
        for amount, (start, end) in zip(amounts, pairwise(starts_s), strict=False):
            left -= amount
            variance += left * left * (end - start)
        risk = volatility * curve.fair_price * sqrt(variance)
    # One swap now is exact, and so is the assumption of either extreme.
    impact = abs(value - received) if len(amounts) > 1 and len(recoveries) > 1 else 0.0
    low = cost - hypot(best - by_recovery[0], chance, _TOO_HIGH * impact)
    high = cost + hypot(by_recovery[0] - worst, chance, _TOO_LOW * impact)
    return CostForecast(len(amounts), received, value - received, gas, cost, low, high, risk)


def _received(curve: PayoutCurve, amounts: Sequence[int], starts_s: Sequence[float], recovery: PriceRecovery) -> float:
    displaced = _displacements(curve, amounts, starts_s, recovery)
    return sum(
        curve.payout(before + amount) - curve.payout(before) for before, amount in zip(displaced, amounts, strict=True)
    )


def _mispricing(amounts: Sequence[int], starts_s: Sequence[float], recovery: PriceRecovery) -> float:
    """Return the standard deviation, in input units, of the proceeds due to pools that are off the fair price."""
    variance = recovery.mispricing_variance()
    pairs = [
        amount * other * (recovery.mispricing_memory(abs(start - end)) if start != end else 1.0)
        for amount, start in zip(amounts, starts_s, strict=True)
        for other, end in zip(amounts, starts_s, strict=True)
    ]
    return sqrt(variance * sum(pairs))
