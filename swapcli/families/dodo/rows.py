"""The `FAMILIES` and `KINDS` rows for DODO's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import Event, FamilyRow, KindRow, SwapAmounts, read_address, read_words


def _by_tokens_in_data(log: Event) -> SwapAmounts:
    sold, bought, amount_in, amount_out = read_words(log, 4, "DODOSwap")
    return SwapAmounts(read_address(sold, "DODOSwap"), read_address(bought, "DODOSwap"), amount_in, amount_out)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "dodo_v2": FamilyRow(("reserves", "targets", "r_state", "price", "slippage", "lp_fee", "maintainer_fee")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "dodo_v2": KindRow(
        ("dodo_v2",),
        swaps={"DODOSwap(address,address,uint256,uint256,address,address)": _by_tokens_in_data},
        created=tuple(f"New{kind}(address,address,address,address)" for kind in ("DVM", "DPP", "DSP", "GSP")),
        unannounced="prices and fees that owners set, and balances that anyone can have counted",
    ),
}
