"""The `FAMILIES` and `KINDS` rows for Solidly forks' stable pairs, and for the contracts that also have volatile
pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import (
    PAIR_LISTS,
    FactoryConstants,
    FamilyRow,
    KindRow,
    RouterEncoding,
    RouterPoolKind,
    address_in_first_topic,
    key_of_emitter,
)
from swapcli.families.uniswap.rows import STARKNET_PAIR, kind_of_pairs, pair_data, swap_in_pair

_PAIRS: Final = ("constant_product", "solidly_stable")

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "solidly_stable": FamilyRow(
        ("reserves",),
        RouterEncoding(RouterPoolKind.PAIR, pair_data),
        kind_of_pairs,
        lambda _: "solidly",  # other versions have a name
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "solidly": KindRow(
        _PAIRS,
        {"Sync(uint256,uint256)": key_of_emitter, "SetCustomFee(address,uint256)": address_in_first_topic},
        {"Swap(address,address,uint256,uint256,uint256,uint256)": swap_in_pair},
        list_functions=PAIR_LISTS,
        constants=FactoryConstants,
    ),
    "solidly_v1": KindRow(
        _PAIRS,
        # The second is Ramses's.
        dict.fromkeys(("Sync(uint256,uint256)", "Sync(uint112,uint112)"), key_of_emitter),
        {"Swap(address,uint256,uint256,uint256,uint256,address)": swap_in_pair},
        list_functions=PAIR_LISTS,
        constants=FactoryConstants,
    ),
    "sithswap": STARKNET_PAIR._replace(families=_PAIRS),
    "starkdefi": STARKNET_PAIR._replace(families=_PAIRS, constants=FactoryConstants),
}
