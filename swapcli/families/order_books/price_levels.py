"""One side of an order book: its price levels, which a swap fills in order, best price first.

The orders of a level share its price, so their number does not affect amounts. A `LevelRule` describes how a contract
rounds when it fills one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from swapcli.core.annotations import Final, Protocol
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256, InvalidValue, parse_choice, parse_integer, parse_list
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.state_fields import StateFields

MAX_LEVELS: Final = 1_000
"""The maximum number of levels on one side: more than any reader requests."""
NATIVE_TOKENS: Final = ("base", "quote")
"""The values of a book's `native` field for its first and its second token."""


class PriceLevel(NamedTuple):
    """A price level.

    `price` is the contract's number for it, a price or a tick; `size` is the fillable amount, in the contract's units.
    """

    price: int
    size: int


class LevelRule(NamedTuple):
    """The rounding and the fee of a contract's trades on one side of a book.

    A size is worth `size * price / scale` of the other token, or `size * scale / price_of_tick(price)`. A swap buys
    sizes of `unit` base units each if `buys_size`; its payment rounds up. Otherwise it sells sizes, and its proceeds
    round down. The fee of each trade is a part of its input or its output, rounds up, and is a rebate if negative; a
    fee on a whole order is applied outside. `counts_rest_in_sizes` marks contracts that keep the part of an input that
    is smaller than a whole size at a level's price.
    """

    scale: int
    buys_size: bool
    unit: int = 1
    fee_in_ppm: int = 0
    fee_out_ppm: int = 0
    counts_rest_in_sizes: bool = False
    price_of_tick: Callable[[int], int] | None = None

    def ratio(self, price: int) -> tuple[int, int]:
        """Return the value of one size at a level, as a fraction (numerator, denominator)."""
        return (self.scale, self.price_of_tick(price)) if self.price_of_tick else (price, self.scale)

    def without_fee(self, amount_in: int) -> int:
        """Return the largest amount that, together with its fee, is at most `amount_in`."""
        return amount_in * PPM // (PPM + self.fee_in_ppm)

    def rate(self, level: PriceLevel) -> float:
        """Return the output for one base unit of input at a level, with the fee and without rounding."""
        numerator, denominator = self.ratio(level.price)
        rate = self.unit * denominator / numerator if self.buys_size else numerator / denominator
        return rate * (1.0 - self.fee_out_ppm / PPM) / (1.0 + self.fee_in_ppm / PPM)

    def outputs(self, levels: Iterable[PriceLevel]) -> Iterator[tuple[float, int]]:
        """Yield the rate and the total output of each level."""
        for level in levels:
            numerator, denominator = self.ratio(level.price)
            received = level.size * self.unit if self.buys_size else level.size * numerator // denominator
            yield self.rate(level), received + -received * self.fee_out_ppm // PPM


class FilledSide(NamedTuple):
    """The levels after a swap, the part of its input that buys no further unit, and its output.

    `is_exhausted` means that all levels are filled and that the remaining input would need more.
    """

    levels: tuple[PriceLevel, ...]
    amount_left: int
    amount_out: int
    is_exhausted: bool = False


def fill_levels(levels: Sequence[PriceLevel], amount_in: int, rule: LevelRule) -> FilledSide:
    """Sell `amount_in` through the levels. An amount that buys no unit at a price buys none at a worse one."""
    scale, buys_size, unit, fee_in_ppm, fee_out_ppm, counts_rest_in_sizes, price_of_tick = rule
    left, amount_out = amount_in, 0
    for k, (price, available) in enumerate(levels):
        if not left:
            return FilledSide(tuple(levels[k:]), 0, amount_out)
        numerator, denominator = (scale, price_of_tick(price)) if price_of_tick else (price, scale)
        size = available
        if not buys_size:
            if left < size:
                size = left
            left -= size
            amount_out += size * numerator // denominator
        else:
            if counts_rest_in_sizes:
                affordable = left * denominator // numerator
                if affordable < size:
                    size = affordable
                left = (affordable - size) * numerator // denominator
            else:
                while (spent := _with_fee(-(-size * numerator // denominator), fee_in_ppm)) > left:
                    size = rule.without_fee(left) * denominator // numerator
                left -= spent
            received = size * unit
            amount_out += received + -received * fee_out_ppm // PPM if fee_out_ppm else received
        if size < available:
            return FilledSide((PriceLevel(price, available - size), *levels[k + 1 :]), left, amount_out)
    return FilledSide((), left, amount_out, is_exhausted=left > 0)


def level_curve(levels: Iterable[PriceLevel], rule: LevelRule, scale: float = 1.0, unit: float = 1.0) -> BinCurve:
    """Return the floating-point curve of one direction: one rate per level, times `scale`; outputs are in units of
    `unit`."""
    return BinCurve(((rate * scale, output * unit) for rate, output in rule.outputs(levels)), MAX_UINT256)


def count_levels(levels: Iterable[PriceLevel], rule: LevelRule, rate: float) -> int:
    """Return the number of levels, at least 1, that a swap reaches if it ends at the marginal rate `rate`."""
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


class TwoSidedBook(Protocol):
    """An order book with levels on both sides, best price first."""

    @property
    def asks(self) -> tuple[PriceLevel, ...]: ...

    @property
    def bids(self) -> tuple[PriceLevel, ...]: ...


def read_sides(
    fields: StateFields, prices: range, size_bits: int
) -> tuple[tuple[PriceLevel, ...], tuple[PriceLevel, ...]]:
    """Read `asks`, ascending, and `bids`, descending. Raises `InvalidPoolState`, also if they cross."""
    asks = read_levels(fields, "asks", prices, size_bits, ascending=True)
    bids = read_levels(fields, "bids", prices, size_bits, ascending=False)
    if asks and bids and asks[0].price <= bids[0].price:
        raise InvalidPoolState("asks", f"the best one, {asks[0].price}, is not above the best bid {bids[0].price}")
    return asks, bids


def sides_state(book: TwoSidedBook) -> dict[str, object]:
    """Return the fields that `read_sides` reads."""
    return {"asks": levels_state(book.asks), "bids": levels_state(book.bids)}


def count_emptied(before: TwoSidedBook, after: TwoSidedBook) -> int:
    """Return the number of levels on both sides that a swap has emptied."""
    return len(before.asks) - len(after.asks) + len(before.bids) - len(after.bids)


def read_native(fields: StateFields) -> str:
    """Read the optional `native`, one of `NATIVE_TOKENS`, or return an empty string without it."""
    return fields.read_optional("native", parse_choice, NATIVE_TOKENS) or ""


def native_state(native: str) -> Mapping[str, object]:
    """Return the field that `read_native` reads, if any."""
    return {"native": native} if native else {}


def currencies_of(tokens: tuple[str, ...], native: str) -> tuple[str, str]:
    """Return the contract's base and quote currencies: the native token is the zero address."""
    base, quote = (ZERO_ADDRESS if name == native else token for name, token in zip(NATIVE_TOKENS, tokens, strict=True))
    return base, quote


def _with_fee(amount: int, fee_ppm: int) -> int:
    return amount - -amount * fee_ppm // PPM if fee_ppm else amount


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
