"""The `FAMILIES` and `KINDS` rows for Valantis STEX pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import Event, FamilyRow, KindRow, SwapAmounts, read_words


def _by_direction_with_fee(log: Event) -> SwapAmounts:
    """Read the direction, the input including the fee, and the output; the fee is between them."""
    forward, amount_in, _, amount_out = read_words(log, 4)
    return SwapAmounts(*((0, 1) if forward else (1, 0)), amount_in, amount_out)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "valantis_stex": FamilyRow(("reserves", "rate", "lent", "manager_fee_bps", "fee_by", "thresholds", "fees_bps")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "valantis_stex": KindRow(
        ("valantis_stex",),
        swaps={"Swap(address,bool,uint256,uint256,uint256)": _by_direction_with_fee},
        roles=("stex",),
        has_whole_list=True,
        unannounced="a rate that grows with time, and balances of other contracts",
    ),
}
