"""One side of an order book: its price levels, which a swap fills in their order, best price first.

The orders of a level share its price, so that their number changes no amount. What a contract rounds when it fills a
level is a `FillRule`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, Protocol

from swapcli.core.errors import InvalidPoolState
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256, InvalidValue, parse_integer, parse_list
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.state_fields import StateFields

MAX_LEVELS: Final = 1_000
"""Of one side: more than any reader asks for."""


class PriceLevel(NamedTuple):
    """`price` is the contract's number of it, a price or a tick; `size` is what can be filled, in its units."""

    price: int
    size: int


class LevelFill(NamedTuple):
    """A trade within one level: `size` of it for `amount_in` base units."""

    size: int
    amount_in: int
    amount_out: int


class FillRule(Protocol):
    """How a contract rounds the trades of one side."""

    def fill_whole(self, level: PriceLevel) -> LevelFill:
        """Return the trade that fills all of a level."""

    def fill_part(self, level: PriceLevel, amount_in: int) -> LevelFill:
        """Return the largest trade for at most `amount_in`, which does not pay for all of the level."""

    def rate(self, level: PriceLevel) -> float:
        """Return the output for one base unit of input at a level, with the fee and without rounding."""


class FilledSide(NamedTuple):
    """The levels after a swap, the part of its input that buys no further unit, and its output.

    `is_exhausted` says that all levels are filled, and an input is left that would need others.
    """

    levels: tuple[PriceLevel, ...]
    amount_left: int
    amount_out: int
    is_exhausted: bool = False


def fill_levels(levels: Sequence[PriceLevel], amount_in: int, rule: FillRule) -> FilledSide:
    """Sell `amount_in` through the levels. An amount that buys no unit at a price buys none at a worse one."""
    amount_out = 0
    for k, level in enumerate(levels):
        if not amount_in:
            return FilledSide(tuple(levels[k:]), 0, amount_out)
        size, spent, received = rule.fill_whole(level)
        if spent > amount_in:
            size, spent, received = rule.fill_part(level, amount_in)
            rest = (level._replace(size=level.size - size), *levels[k + 1 :])
            return FilledSide(rest, amount_in - spent, amount_out + received)
        amount_in -= spent
        amount_out += received
    return FilledSide((), amount_in, amount_out, is_exhausted=amount_in > 0)


def level_curve(levels: Iterable[PriceLevel], rule: FillRule) -> BinCurve:
    """Return a direction in floats: one rate a level."""
    return BinCurve(((rule.rate(level), rule.fill_whole(level).amount_out) for level in levels), MAX_UINT256)


def count_levels(levels: Iterable[PriceLevel], rule: FillRule, rate: float) -> int:
    """Return how many levels a swap reaches that ends at the marginal rate `rate`, at least 1."""
    return max(sum(1 for level in levels if rule.rate(level) >= rate), 1)


def levels_state(levels: Iterable[PriceLevel]) -> list[list[object]]:
    """Return the value that `read_levels` reads."""
    return [[price, str(size)] for price, size in levels]


def read_levels(
    fields: StateFields, key: str, prices: range, size_bits: int, *, ascending: bool
) -> tuple[PriceLevel, ...]:
    """Read `[[price, size], ...]` in the order of a swap, without empty levels. Raises `InvalidPoolState`."""
    levels = fields.read(key, _parse_levels, prices, size_bits)
    for k, (before, after) in enumerate(pairwise(levels), 1):
        if (after.price <= before.price) if ascending else (after.price >= before.price):
            expected = "above" if ascending else "below"
            raise InvalidPoolState(f"{key}[{k}]", f"the price {after.price} is not {expected} {before.price}")
    return levels


def _parse_levels(value: object, prices: range, size_bits: int) -> tuple[PriceLevel, ...]:
    return tuple(_parse_rows(parse_list(value, 0, MAX_LEVELS), prices, (1 << size_bits) - 1))


def _parse_rows(rows: Sequence[object], prices: range, max_size: int) -> Iterator[PriceLevel]:
    for k, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != len(PriceLevel._fields):
            raise InvalidValue("a list [price, size]", row, f"[{k}]")
        try:
            yield PriceLevel(parse_integer(row[0], prices[0], prices[-1]), parse_integer(row[1], 1, max_size))
        except InvalidValue as invalid:
            raise InvalidValue(invalid.expected, invalid.value, f"[{k}]") from None
