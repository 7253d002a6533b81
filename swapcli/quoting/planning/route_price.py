"""The mid price of a route as one number: the prices of its legs, weighted by their shares of the order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.records import NamedTuple

_SQRT_PRICE: Final = "sqrt_price_x96"
_LEAST_WEIGHT: Final = 0.005
"""The minimum weight of a leg. Pools that carry less are dust, with arbitrary prices."""


class RouteLeg(NamedTuple):
    """One pool of a route in one direction. `weight` is the share of the order that takes this leg."""

    pool: str
    token_in: str
    token_out: str
    weight: float


def route_legs(steps: Sequence[Step], pools: Mapping[str, Pool], amount_in: int) -> list[RouteLeg]:
    """Return the legs of a quote's steps, except wrappers, whose price is fixed, and legs with a negligible share."""
    spent, units = defaultdict[str, float](float), defaultdict[str, int](int)
    spent[steps[0].token_in], units[steps[0].token_in] = 1.0, amount_in
    weights = defaultdict[tuple[str, str, str], float](float)
    for step in steps:  # in the order in which they are executed
        part = spent[step.token_in] * step.amount_in / (units[step.token_in] or 1)
        spent[step.token_out] += part
        units[step.token_out] += step.amount_out
        weights[step.pool, step.token_in, step.token_out] += part
    return [
        RouteLeg(*leg, weight)
        for leg, weight in weights.items()
        if weight >= _LEAST_WEIGHT and not pools[leg[0]].is_wrapper
    ]


def route_fee(legs: Iterable[RouteLeg], pools: Mapping[str, Pool]) -> float:
    """Return the total of the pool fees along a route for a small amount, as a logarithm: about 0.003 for 0.3%."""
    fees = 0.0
    for leg in legs:
        price = log_mid_price(pools[leg.pool], leg)
        if price is not None:
            rate = pools[leg.pool].curve(leg.token_in, leg.token_out).start_rate
            fees += leg.weight * max(price - log(rate), 0.0)
    return fees


class RoutePrice:
    """The logarithm of a route's mid price (`log_price`), which is updated with the states of its pools.

    It is the weighted sum of the logarithms of the legs' prices, in an arbitrary unit. A leg counts from its pool's
    first known state, which therefore does not move the price.
    """

    def __init__(self, legs: Iterable[RouteLeg], pools: Mapping[str, Pool]) -> None:
        """Start with `pools` by key, in any state."""
        self._legs = defaultdict[str, list[RouteLeg]](list)
        for leg in legs:
            self._legs[leg.pool].append(leg)
        self._pools = pools
        self._prices: dict[RouteLeg, float] = {}
        self.log_price = 0.0

    def follow_fields(self, key: str, fields: Mapping[str, object]) -> None:
        """Apply the pool state in an event. An impossible state is ignored."""
        if _SQRT_PRICE in fields:
            # Without the ticks of that block, the other fields may not fit.
            for leg in self._legs[key]:
                self._move(leg, _log_of_sqrt_price(fields[_SQRT_PRICE], self._pools[key], leg))
            return
        pool = self._pools[key]
        try:
            after = pool.from_state(pool.identity, {**pool.state(), **fields})
        except Exception as error:
            pass_request_errors(error)
            return
        self.follow_pool(after)

    def follow_pool(self, pool: Pool) -> None:
        """Apply a pool's state."""
        for leg in self._legs[pool.key]:
            self._move(leg, log_mid_price(pool, leg))

    def is_near(self, pool: Pool, tolerance: float) -> bool:
        """Return whether a pool's prices are near those last applied. If none were applied, return True."""
        prices = [(self._prices.get(leg), log_mid_price(pool, leg)) for leg in self._legs[pool.key]]
        return all(one is None or (other is not None and abs(one - other) <= tolerance) for one, other in prices)

    def _move(self, leg: RouteLeg, log_price: float | None) -> None:
        if log_price is None:
            return
        self.log_price += leg.weight * (log_price - self._prices.get(leg, log_price))
        self._prices[leg] = log_price


def log_mid_price(pool: Pool, leg: RouteLeg) -> float | None:
    """Return the logarithm of the sold token's price in a pool, midway between both directions, or None if the pool has
    no price."""
    try:
        forward = pool.curve(leg.token_in, leg.token_out).start_rate
        backward = pool.curve(leg.token_out, leg.token_in).start_rate
    except Exception as error:
        pass_request_errors(error)
        return None
    if min(forward, backward) <= 0.0 or not isfinite(forward * backward):
        return None
    return (log(forward) - log(backward)) / 2


def _log_of_sqrt_price(sqrt_price_x96: object, pool: Pool, leg: RouteLeg) -> float | None:
    """Return the logarithm of the sold token's price, from the first token's; None outside the uint160 range."""
    if not isinstance(sqrt_price_x96, int) or not 0 < sqrt_price_x96 < 1 << 160:
        return None
    log_price = 2 * log(sqrt_price_x96 / 2**96)
    return log_price if leg.token_in == pool.tokens[0] else -log_price
