"""The bins of a pool, read from a market file and checked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress

from swapcli.core.annotations import Final, Self, cast
from swapcli.core.errors import InvalidPoolState
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import InvalidValue, parse_integer, parse_integers, parse_list
from swapcli.families.bins.bin_math import MAX_ID, price_of_bin
from swapcli.families.state_fields import StateFields

_ROW_TYPES: Final = frozenset({list, tuple})
_LIMITS: Final = (MAX_ID, (1 << 128) - 1, (1 << 128) - 1)


class Bins(NamedTuple):
    """The bins within reach of a swap: IDs, ascending, and the amounts of X and Y in each."""

    ids: tuple[int, ...]
    amounts_x: tuple[int, ...]
    amounts_y: tuple[int, ...]

    def position(self, bin_id: int) -> int | None:
        """Return the position of a bin, or None if it is not in the list."""
        i = bisect_left(self.ids, bin_id)
        return i if i < len(self.ids) and self.ids[i] == bin_id else None

    def replace(self, amounts: Mapping[int, tuple[int, int]]) -> Self:
        """Return the bins with the (x, y) amounts replaced at the positions in `amounts`."""
        xs, ys = list(self.amounts_x), list(self.amounts_y)
        for i, (x, y) in amounts.items():
            xs[i], ys[i] = x, y
        return type(self)(self.ids, tuple(xs), tuple(ys))

    def without(self, bin_id: int) -> Self:
        """Return the bins without the bin `bin_id`."""
        rows = [row for row in zip(*self, strict=True) if row[0] != bin_id]
        return type(self)(*(tuple(row[k] for row in rows) for k in range(3)))

    def state(self) -> list[list[object]]:
        """Return the bins in the form that `read_bins` reads."""
        return [[bin_id, str(x), str(y)] for bin_id, x, y in zip(*self, strict=True)]


def read_bins(fields: StateFields, bin_step: int) -> Bins:
    """Read `bins: [[id, x, y], ...]`, ascending. Raises `InvalidPoolState`."""
    bins = Bins(*fields.read("bins", _parse_columns))
    if not bins.ids:
        return bins
    previous = -1
    for k, bin_id in enumerate(bins.ids):
        if bin_id <= previous:
            raise InvalidPoolState(f"bins[{k}]", f"{bin_id} does not come after {previous}")
        previous = bin_id
    for bin_id in (bins.ids[0], bins.ids[-1]):
        price_of_bin(bin_step, bin_id)  # the contracts have no prices for IDs that are too far out
    return bins


def check_sides(bins: Bins, active_id: int) -> None:
    """Raise `InvalidPoolState` if a bin below the active one holds X, or a bin above it holds Y. No swap leaves such
    bins."""
    for k, (bin_id, x, y) in enumerate(zip(*bins, strict=True)):
        if (x and bin_id < active_id) or (y and bin_id > active_id):
            side = "X below" if x and bin_id < active_id else "Y above"
            raise InvalidPoolState(f"bins[{k}]", f"bin {bin_id} has {side} the active bin {active_id}")


def _parse_columns(value: object) -> list[tuple[int, ...]]:
    """Return IDs, amounts of X and amounts of Y. They are parsed as columns for speed: a pool has hundreds of bins."""
    rows = parse_list(value)
    columns: list[tuple[int, ...]] = []
    if _ROW_TYPES.issuperset(map(type, rows)):
        with suppress(InvalidValue, ValueError):
            columns = [parse_integers(column) for column in zip(*cast(Sequence[Sequence[object]], rows), strict=True)]
    if rows and not (
        len(columns) == len(_LIMITS)
        and all(min(column) >= 0 and max(column) <= limit for column, limit in zip(columns, _LIMITS, strict=True))
    ):
        raise _entry_error(rows)
    return columns or [(), (), ()]


def _entry_error(rows: Sequence[object]) -> InvalidValue:
    """Return the error for the first row that is not [id, x, y] within the limits."""
    for k, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != len(_LIMITS):
            return InvalidValue("a list [id, x, y]", row, f"[{k}]")
        try:
            for part, limit in zip(row, _LIMITS, strict=True):
                parse_integer(part, 0, limit)
        except InvalidValue as invalid:
            return InvalidValue(invalid.expected, invalid.value, f"[{k}]")
    raise AssertionError("every bin is valid")
