"""The `FAMILIES` and `KINDS` rows for the family `capped_sum`, and for the contracts that have its pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import PAIR_LISTS, Event, FamilyRow, KindRow, SwapAmounts, read_words


def _capped_sum_swap(log: Event) -> SwapAmounts:
    """Return what `Swapped` says: whether the first token was sold, the input and the output."""
    is_first_sold, amount_in, amount_out = read_words(log, 3)
    sold = 0 if is_first_sold else 1
    return SwapAmounts(sold, 1 - sold, amount_in, amount_out)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "capped_sum": FamilyRow(("reserves", "max_swap")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "capped_sum": KindRow(
        ("capped_sum",),
        swaps={"Swapped(bool,uint256,uint256)": _capped_sum_swap},
        list_functions=PAIR_LISTS,
        unannounced="deposits and new limits",
    ),
}
