"""The `FAMILIES` and `KINDS` rows for iZiSwap's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.families.row import (
    Event,
    FamilyRow,
    KindRow,
    RouterEncoding,
    SwapAmounts,
    TickConstants,
    fee_tier,
    key_of_emitter,
    read_words,
)


def _by_point(log: Event) -> SwapAmounts:
    sells_x, amount_x, amount_y, point = read_words(log, 4)
    sides = (0, 1, amount_x, amount_y) if sells_x else (1, 0, amount_y, amount_x)
    return SwapAmounts(*sides, state_after={"point": to_signed(point)})


_SWAP: Final = "Swap(address,address,uint24,bool,uint256,uint256,int24)"

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "iziswap": FamilyRow(
        ("point", "liquidity", "liquidity_x", "point_delta", "points"), RouterEncoding(extra_data=fee_tier)
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "iziswap": KindRow(
        ("iziswap",),
        dict.fromkeys(
            (
                _SWAP,
                "Mint(address,address,int24,int24,uint128,uint256,uint256)",
                "Burn(address,int24,int24,uint128,uint256,uint256)",
                "AddLimitOrder(address,uint128,uint128,int24,uint128,uint128,bool)",
                "DecLimitOrder(address,uint128,int24,uint128,uint128,bool)",
            ),
            key_of_emitter,
        ),
        {_SWAP: _by_point},
        created=("NewPool(address,address,uint24,uint24,address)",),
        constants=TickConstants,
    ),
}
