"""The `FAMILIES` and `KINDS` rows for Lunarbase, LFJ's POE and Mento's FPMM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import (
    Event,
    FamilyRow,
    KindRow,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    read_words,
)
from swapcli.families.uniswap.rows import pair_data, swap_in_pair


def _by_direction(log: Event) -> SwapAmounts:
    """Read the direction and the amounts of both tokens, which follow the recipient."""
    _, forward, amount_x, amount_y = read_words(log, 4, "SwapExecuted")
    return SwapAmounts(0, 1, amount_x, amount_y) if forward else SwapAmounts(1, 0, amount_y, amount_x)


def _by_indexed_direction(log: Event) -> SwapAmounts:
    """Read the direction from the third topic, and the amounts from the data."""
    amount_in, amount_out = read_words(log, 2)
    return SwapAmounts(*((0, 1) if int(log.topics[3], 16) else (1, 0)), amount_in, amount_out)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "lunarbase": FamilyRow(
        ("reserves", "anchor", "fee_ask", "fee_bid", "concentration", "slippage"),
    ),
    "lfj_poe": FamilyRow(("reserves", "price", "alpha_bps")),
    "mento_fpmm": FamilyRow(
        ("reserves", "rate", "lp_fee_bps", "limits", "timestamp"),
        RouterEncoding(RouterPoolKind.PAIR, pair_data),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "lunarbase": KindRow(
        ("lunarbase",),
        swaps={"SwapExecuted(address,bool,uint256,uint256,uint256)": _by_direction},
        roles=("pool",),
        is_pool_itself=True,
        unannounced="a price that becomes stale",
    ),
    "lfj_poe": KindRow(
        ("lfj_poe",),
        swaps={"Swap(address,address,bool,uint256,uint256,uint256,uint256)": _by_indexed_direction},
        list_functions=(("getPoolsLength()", "getPoolAt(uint256)"),),
        unannounced="an oracle's price",
    ),
    "mento_fpmm": KindRow(
        ("mento_fpmm",),
        swaps={"Swap(address,uint256,uint256,uint256,uint256,address)": swap_in_pair},
        has_whole_list=True,
        unannounced="an oracle's rate, and the hours of its market",
    ),
}
