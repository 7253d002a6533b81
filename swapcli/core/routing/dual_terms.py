"""The terms of a dual bound, and their exact sum, rounded up.

A float stands for its shortest decimal text, as in a proof document. This way, the texts in a proof add up to its
quote's bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import inf, isnan, nextafter

from swapcli.core.annotations import Final
from swapcli.core.model.pool import RateCurve
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.market_graph import Arc, Prices

_DIGITS: Final = 60
"""The number of digits: more than the product of a price (17 digits) and an amount of base units has."""
UP: Final = Context(prec=_DIGITS, rounding=ROUND_CEILING, traps=[])
DOWN: Final = Context(prec=_DIGITS, rounding=ROUND_FLOOR, traps=[])

_TRADE_ERROR: Final = 1e-12
"""The error relative to a trade's output: more than its rounding error in floats. Measured against exact arithmetic."""
_PRICE_ERROR: Final = 1e-13
"""The part by which terms lower the prices of sold tokens: more than the float error of a rate, which decides whether a
direction gains at all."""


_EXTRA_UNITS: Final = 2.0
"""The base units by which rounding in a contract may let a pool take more than the capacity of its curve.

No more than twice the capacity, which matters for pools with less than one unit.
"""
_JUST_BELOW: Final = 1.0 - 1e-9
_ABOVE: Final = 1.0 + 1e-9  # more than floats and lowered prices lose of the amount that rounding adds


class ArcTerm(NamedTuple):
    """The best trade of an arc at some prices, and an upper bound on its profit."""

    arc: Arc
    amount_in: float
    amount_out: float
    value: float


def exact(number: float) -> Decimal:
    """Return the exact value of a float's decimal text."""
    return Decimal(repr(number))


def float_above(number: Decimal) -> float:
    """Return a float that is at least `number`."""
    found = float(number)
    return found if exact(found) >= number else nextafter(found, inf)


def lowered(price_in: float) -> float:
    """Return the price of a sold token, lowered so far that no direction gains less despite the rounding of its
    rate."""
    return price_in * (1.0 - _PRICE_ERROR)


def effective_price(arc: Arc, price_out: float) -> float:
    """Return the price of the bought token, raised by the amount that rounding may add in proportion to the output."""
    return price_out if arc.rounding is None else price_out * (1.0 + arc.rounding.part)


def term_of(arc: Arc, amount_in: float, amount_out: float, price_in: float, price_out: float) -> ArcTerm:
    """Return the term for an arc's best trade, at the lowered price of the sold token and the effective price of the
    bought token."""
    value, rate, rounding = 0.0, arc.rate, arc.rounding
    if amount_in > 0.0:
        paid, rate = price_out * amount_out, arc.curve.rate(amount_in)
        value = max(0.0, paid - price_in * amount_in) + _TRADE_ERROR * paid
        if rate == 0.0:
            rate = _rate_at_capacity(arc.curve, amount_in)
            value += min(_EXTRA_UNITS, amount_in) * max(0.0, price_out * rate - price_in)
    if rounding is not None:
        # As if the trade began with the given units: they save their price, or are sold at the trade's last rate.
        given = rounding.input_units * max(price_in, price_out * rate) + rounding.output_units * price_out
        value += given * _ABOVE
    return ArcTerm(arc, amount_in, amount_out, inf if isnan(value) else value)


def most_paid(arc: Arc, amount_in: float) -> float:
    """Return an upper bound on a pool's output for inputs up to `amount_in`."""
    curve, rounding = arc.curve, arc.rounding
    capacity = curve.capacity
    if rounding is not None:
        amount_in += rounding.input_units
    if amount_in < capacity:
        paid = curve.amount_out(amount_in)
    else:
        paid = curve.amount_out(capacity) + min(_EXTRA_UNITS, capacity) * _rate_at_capacity(curve, capacity)
    return paid if rounding is None else paid * (1.0 + rounding.part) + rounding.output_units


def _rate_at_capacity(curve: RateCurve, capacity: float) -> float:
    return curve.rate(capacity * _JUST_BELOW)


def terms_at(arcs: Iterable[Arc], prices: Prices) -> list[ArcTerm]:
    """Return the terms of the arcs that could gain at `prices`."""
    terms: list[ArcTerm] = []
    for arc in arcs:
        price_in, price_out = lowered(prices.get(arc.token_in, 0.0)), prices.get(arc.token_out, 0.0)
        if price_out * arc.unit_rate > price_in:
            price_out = effective_price(arc, price_out)
            if price_out * arc.rate <= price_in:
                terms.append(term_of(arc, 0.0, 0.0, price_in, price_out))
                continue
            terms.append(term_of(arc, *arc.best_trade(price_in, price_out), price_in, price_out))
    return terms


def sum_up(amount: int, price: float, terms: Iterable[ArcTerm]) -> Decimal:
    """Return the value of `amount` base units at `price` plus all `terms`, rounded up. The result is infinite if floats
    overflow."""
    total = UP.multiply(Decimal(amount), exact(price))
    for term in terms:
        total = UP.add(total, exact(term.value))
    return total if not total.is_nan() else Decimal(inf)
