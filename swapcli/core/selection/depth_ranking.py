"""Dollar prices of tokens and depths of pools, for ranking pools. No quoted amount depends on them.

Prices start at the network's dollar stablecoins or, if there are none, at the reference prices of its tokens. Prices
spread over the deepest pairs first, at the pairs' mid rates. The *width* of a token is the depth of the thinnest pair
on its path from the start. So pools between worthless tokens never look deep, however many units they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, isfinite, log

from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.widest_path_prices import PathPrice as PathPrice
from swapcli.core.routing.graph.widest_path_prices import widest_path_prices

_RATE_STEP = 0.02
"""The decrease of the rate over which depth is measured, since the first unit alone can lie in a very thin range of
ticks."""
MIN_PRICE, MAX_PRICE = 1e-150, 1e150
"""Bounds that keep products and quotients of prices within the range of floats."""
_ANCHOR_WIDTH = 1e300  # dollars: wider than every path, so that anchors keep their prices
_UNREACHED_WIDTH = 1e-6
"""The width, in dollars, of tokens that no anchor reaches: negligible, yet it orders them among themselves."""

MidRate = tuple[float, float]
"""The logarithm of the mid rate in units of the other token, and the depth in units of this token."""


class Leg(NamedTuple):
    """The trades of one pool between two of its tokens, by id, `low` < `high`.

    `up` is the logarithm of the rate for selling the first unit of `low`, and `down` for selling the first unit of
    `high`; None if the pool does not trade in that direction. `in_low` and `in_high` are the base units that move this
    logarithm by one.
    """

    low: int
    high: int
    pool: int
    protocol: str
    up: float | None
    down: float | None
    in_low: float
    in_high: float


def pool_legs(pool_id: int, pool: Pool, token_ids: Sequence[int]) -> Iterator[Leg]:
    """Yield a leg for each pair of tokens that the pool trades in at least one direction.

    A sampled pool, whose rates are not in the store, has a leg without rates and depth.
    """
    addresses = dict(zip(token_ids, pool.tokens, strict=True))
    for low in addresses:
        for high in addresses:
            if low < high:
                up, in_low = _log_rate_and_depth(pool, addresses[low], addresses[high])
                down, in_high = _log_rate_and_depth(pool, addresses[high], addresses[low])
                if up is not None or down is not None or pool.is_sampled:
                    yield Leg(low, high, pool_id, pool.protocol, up, down, in_low, in_high)


def _log_rate_and_depth(pool: Pool, token_in: str, token_out: str) -> tuple[float | None, float]:
    """Return the logarithm of the rate of the first unit, and the input units that move it by one.

    The rate is None for a pool so far out of balance that floats fail, or that fails in another way: the pool stays,
    but gets no orders.
    """
    try:
        curve = pool.curve(token_in, token_out)
        rate = curve.start_rate
        is_usable = MIN_PRICE < rate < MAX_PRICE
        depth = curve.trade_to_marginal_rate(rate * (1.0 - _RATE_STEP))[0] / _RATE_STEP if is_usable else 0.0
    except Exception as error:
        pass_request_errors(error)
        return None, 0.0
    if not is_usable:
        return None, 0.0
    return log(rate), min(depth, MAX_PRICE) if isfinite(depth) else MAX_PRICE


def price_tokens(mid_rates: Mapping[int, Mapping[int, MidRate]], anchors: Mapping[int, float]) -> dict[int, PathPrice]:
    """Return the price of every token in `mid_rates`, given the `anchors`' prices in dollars per base unit.

    Tokens that no anchor reaches get a price too small to matter next to a dollar.
    """

    def neighbours(token: int) -> Iterable[int]:
        return mid_rates.get(token, {})

    def price_over(token: int, price: float, other: int) -> tuple[float, float]:
        log_rate, depth = mid_rates[token][other]
        return _price_at(price, -log_rate), depth * price

    start = [(token, _clamp(price), _ANCHOR_WIDTH) for token, price in anchors.items()]
    prices = widest_path_prices(start, neighbours, price_over)
    for token in sorted(mid_rates, key=lambda token: -len(mid_rates[token])):
        if token not in prices:
            max_depth = max(depth for _, depth in mid_rates[token].values())
            start = [(token, _clamp(_UNREACHED_WIDTH / max_depth), _UNREACHED_WIDTH)]
            prices |= widest_path_prices(start, neighbours, price_over, prices)
    return prices


def price_new_tokens(
    rates: Iterable[tuple[int, int, float, float, float]], known: Mapping[int, PathPrice]
) -> dict[int, PathPrice]:
    """Return prices of the tokens that are not in `known`, over single pools and without changing the known prices.

    `rates` are (low, high, logarithm of the mid rate, depth in units of low, depth in units of high) of pools.
    """
    pools: dict[int, dict[int, list[MidRate]]] = {}
    for low, high, log_rate, in_low, in_high in rates:
        pools.setdefault(low, {}).setdefault(high, []).append((log_rate, in_low))
        pools.setdefault(high, {}).setdefault(low, []).append((-log_rate, in_high))

    def neighbours(token: int) -> Iterable[int]:
        return pools.get(token, {})

    def price_over(token: int, price: float, other: int) -> tuple[float, float]:
        log_rate, depth = max(pools[token][other], key=lambda mid_rate: mid_rate[1])
        return _price_at(price, -log_rate), depth * price

    start = [(token, path.price, path.width) for token, path in known.items()]
    prices = widest_path_prices(start, neighbours, price_over, known)
    return {token: path for token, path in prices.items() if token not in known}


def _price_at(price: float, log_rate: float) -> float:
    return _clamp(exp(max(min(log(price) + log_rate, log(MAX_PRICE)), log(MIN_PRICE))))


def _clamp(price: float) -> float:
    return max(min(price, MAX_PRICE), MIN_PRICE)
