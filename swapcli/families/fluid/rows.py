"""The `FAMILIES` and `KINDS` rows for Fluid's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.families.row import (
    Event,
    FamilyRow,
    KindRow,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    is_first_sold,
    read_words,
)


class FluidConstants(NamedTuple):
    """The constants of a pool: the contract that returns its reserves, and whether it trades the native token."""

    resolver: str = ""
    is_native: bool = False


def _by_direction(log: Event) -> SwapAmounts:
    forward, amount_in, amount_out = read_words(log, 3)
    return SwapAmounts(*((0, 1) if forward else (1, 0)), amount_in, amount_out)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "fluid_t1": FamilyRow(
        ("collateral", "debt", "center_price", "last_price", "revenue_cut", "withdrawable", "borrowable"),
        RouterEncoding(RouterPoolKind.FLUID, is_first_sold),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "fluid_t1": KindRow(
        ("fluid_t1",),
        swaps={"Swap(bool,uint256,uint256,address)": _by_direction},
        roles=("reserves_resolver",),
        has_whole_list=True,
        constants=FluidConstants,
        unannounced="interest and limits that grow in another contract",
    ),
}
