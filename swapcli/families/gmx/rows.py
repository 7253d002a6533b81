"""The `FAMILIES` and `KINDS` rows for GMX V1 vaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import Event, FamilyRow, KindRow, SwapAmounts, announces, read_address, read_words


def _by_address_in_data(log: Event) -> SwapAmounts:
    """Read account, tokens, input, and output before and after the fee."""
    _, sold, bought, amount_in, _, amount_out = read_words(log, 6)
    return SwapAmounts(read_address(sold), read_address(bought), amount_in, amount_out)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "gmx_vault": FamilyRow(
        (
            *("reserves", "min_reserves", "min_prices", "max_prices", "usdg", "max_usdg", "targets", "is_stable"),
            *("tax_bps", "stable_fee_bps", "stable_tax_bps"),
        )
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "gmx_vault": KindRow(
        ("gmx_vault",),
        # Balancer V3's event has the same signature, with the pool in its topics.
        swaps={"Swap(address,address,address,uint256,uint256,uint256,uint256)": _by_address_in_data},
        roles=("vault",),
        # Other operations of the vault also emit some of these, followed by their own event.
        parts=dict.fromkeys(
            (
                "CollectSwapFees(address,uint256,uint256)",
                "IncreaseUsdgAmount(address,uint256)",
                "DecreaseUsdgAmount(address,uint256)",
                "IncreasePoolAmount(address,uint256)",
                "DecreasePoolAmount(address,uint256)",
            ),
            announces,
        ),
        harmless=("UpdateFundingRate(address,uint256)",),
        is_pool_itself=True,
        unannounced="prices of an oracle",
    ),
}
