"""The `FAMILIES` and `KINDS` rows for SmarDex's pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.families.row import (
    PAIR_LISTS,
    Event,
    FactoryConstants,
    FamilyRow,
    KindRow,
    SwapAmounts,
    announces,
    key_of_emitter,
    of_signs,
    read_words,
)


def _two_signed(log: Event) -> SwapAmounts:
    """Read the amounts from the pool's view: what it receives is positive."""
    amount0, amount1 = (to_signed(word) for word in read_words(log, 2))
    return of_signs(amount0, amount1)


_SYNC: Final = "Sync(uint256,uint256,uint256,uint256,uint256,uint256)"

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "smardex": FamilyRow(("reserves", "fictive_reserves", "average", "lp_fee_ppm", "timestamp")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "smardex": KindRow(
        ("smardex",),
        dict.fromkeys((_SYNC, "FeesChanged(uint256,uint256)"), key_of_emitter),
        {"Swap(address,address,int256,int256)": _two_signed},
        parts={_SYNC: announces},
        list_functions=PAIR_LISTS,
        constants=FactoryConstants,
    ),
}
