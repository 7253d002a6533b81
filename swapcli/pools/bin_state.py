"""The bins of a pool, read from a market file and checked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Final, NamedTuple, Self

from swapcli.errors import InvalidPoolState
from swapcli.pools.bin_math import MAX_ID, price_of_bin
from swapcli.pools.state_fields import StateFields
from swapcli.validation.values import InvalidValue, parse_integer, parse_list

_AMOUNT_BITS: Final = 128
_ENTRY_LENGTH: Final = 3


class Bins(NamedTuple):
    """The bins that a swap can reach: ids, ascending, and the amounts of X and Y in each."""

    ids: tuple[int, ...]
    amounts_x: tuple[int, ...]
    amounts_y: tuple[int, ...]

    def position(self, bin_id: int) -> int | None:
        """Return the position of a bin; None if it is not one of them."""
        i = bisect_left(self.ids, bin_id)
        return i if i < len(self.ids) and self.ids[i] == bin_id else None

    def replace(self, amounts: Mapping[int, tuple[int, int]]) -> Self:
        """Return the bins with new amounts (x, y) at some positions."""
        xs, ys = list(self.amounts_x), list(self.amounts_y)
        for i, (x, y) in amounts.items():
            xs[i], ys[i] = x, y
        return type(self)(self.ids, tuple(xs), tuple(ys))

    def without(self, bin_id: int) -> Self:
        """Return the bins without one of them."""
        rows = [row for row in zip(*self, strict=True) if row[0] != bin_id]
        return type(self)(*(tuple(row[k] for row in rows) for k in range(3)))

    def state(self) -> list[list[object]]:
        """Return the value that `read_bins` reads."""
        return [[bin_id, str(x), str(y)] for bin_id, x, y in zip(*self, strict=True)]


def read_bins(fields: StateFields, bin_step: int) -> Bins:
    """Read `bins: [[id, x, y], ...]`, ascending. Raises `InvalidPoolState`."""
    entries = fields.read("bins", _parse_entries)
    if not entries:
        return Bins((), (), ())
    bins = Bins(*(tuple(column) for column in zip(*entries, strict=True)))
    previous = -1
    for k, bin_id in enumerate(bins.ids):
        if bin_id <= previous:
            raise InvalidPoolState(f"bins[{k}]", f"{bin_id} does not come after {previous}")
        previous = bin_id
    for bin_id in (bins.ids[0], bins.ids[-1]):
        price_of_bin(bin_step, bin_id)  # the contracts have no price for ids that are too far out
    return bins


def check_sides(bins: Bins, active_id: int) -> None:
    """Raise `InvalidPoolState` if a bin below the active one has X, or one above it has Y: no swap leaves that."""
    for k, (bin_id, x, y) in enumerate(zip(*bins, strict=True)):
        if (x and bin_id < active_id) or (y and bin_id > active_id):
            side = "X below" if x and bin_id < active_id else "Y above"
            raise InvalidPoolState(f"bins[{k}]", f"bin {bin_id} has {side} the active bin {active_id}")


def _parse_entries(value: object) -> list[tuple[int, ...]]:
    rows = []
    limits = (MAX_ID, (1 << _AMOUNT_BITS) - 1, (1 << _AMOUNT_BITS) - 1)
    for k, entry in enumerate(parse_list(value)):
        if not isinstance(entry, list | tuple) or len(entry) != _ENTRY_LENGTH:
            raise InvalidValue("a list [id, x, y]", entry, f"[{k}]")
        try:
            rows.append(tuple(parse_integer(part, 0, limit) for part, limit in zip(entry, limits, strict=True)))
        except InvalidValue as invalid:
            raise InvalidValue(invalid.expected, invalid.value, f"[{k}]") from None
    return rows
