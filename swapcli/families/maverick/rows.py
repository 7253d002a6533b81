"""The `FAMILIES` and `KINDS` rows for Maverick V2 pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.families.row import Event, FamilyRow, KindRow, SwapAmounts, key_of_emitter, read_words


class MaverickConstants(NamedTuple):
    """The constants of a pool: its tick spacing, and its bin kinds as bits."""

    tick_spacing: int = 0
    kinds: int = 0


def _from_swap_params(log: Event) -> SwapAmounts:
    """Read the direction from the SwapParams, and both amounts."""
    words = read_words(log, 8, "PoolSwap")
    sold = 0 if words[3] else 1
    problem = "it was a swap for an exact output" if words[4] else ""
    return SwapAmounts(sold, 1 - sold, words[6], words[7], problem=problem)


_SWAP: Final = "PoolSwap(address,address,(uint256,bool,bool,int32),uint256,uint256)"

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "maverick_v2": FamilyRow(
        ("tick_spacing", "fees", "protocol_fee_per_mille", "kinds", "active_tick", "ticks"),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "maverick_v2": KindRow(
        ("maverick_v2",),
        dict.fromkeys(
            (
                _SWAP,
                "PoolAddLiquidity(address,address,uint256,(uint8,int32[],uint128[]),uint256,uint256,uint32[])",
                "PoolRemoveLiquidity(address,address,uint256,(uint32[],uint128[]),uint256,uint256)",
                "PoolMigrateBinsUpStack(address,uint32,uint32)",
                "PoolSetProtocolFeeRatio(uint256)",
            ),
            key_of_emitter,
        ),
        {_SWAP: _from_swap_params},
        has_whole_list=True,
        constants=MaverickConstants,
    ),
}
