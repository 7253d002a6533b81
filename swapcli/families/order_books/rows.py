"""The `FAMILIES` and `KINDS` rows for order books."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families.row import FamilyRow, KeyOfEvent, KindRow, first_topic, key_of_emitter


class CloberConstants(NamedTuple):
    """The ID of a Clober V2 book, its key without the tokens, and the contract that reads its ticks.

    `native` is "base" or "quote" if that token is the native one, listed in its wrapped form.
    """

    lens: str = ""
    pool_id: str = ""
    unit_size: int = 0
    maker_policy: int = 0
    taker_policy: int = 0
    hooks: str = ZERO_ADDRESS
    native: str = ""


class KuruConstants(NamedTuple):
    """The constants of a Kuru market: its units, the taker's fee, and which token is the native one, as in
    `CloberConstants`."""

    price_precision: int = 0
    size_precision: int = 0
    taker_fee_bps: int = 0
    native: str = ""


class HanjiConstants(NamedTuple):
    """The constants of a Hanji book: the contract that assembles its orders."""

    lens: str = ""


clober_book_in_first_topic: Final = KeyOfEvent(
    lambda log: f"0x{0:016x}{log.topics[1][2:50]}", lambda _, address: (address,)
)
"""The ID of a Clober V2 book: the first 192 bits of an order's ID, as 32 bytes."""

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "clober_v2": FamilyRow(("book_id", "unit_size", "maker_policy", "taker_policy", "hooks", "levels")),
    "hanji": FamilyRow(("scaling_factors", "fee", "asks", "bids")),
    "kuru": FamilyRow(("size_precision", "price_precision", "asks", "bids")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "clober_v2": KindRow(
        ("clober_v2",),
        {
            "Make(uint192,address,int24,uint256,uint64,address)": first_topic,
            "Take(uint192,address,int24,uint64)": first_topic,
            "Cancel(uint256,uint64)": clober_book_in_first_topic,
        },
        roles=("book_manager",),
        created=("Open(uint192,address,address,uint64,uint24,uint24,address)",),
        is_keyed_by_id=True,
        constants=CloberConstants,
        needs_lens=True,
    ),
    "kuru": KindRow(
        ("kuru",),
        dict.fromkeys(
            (
                "OrderCreated(uint40,address,uint96,uint32,bool)",
                "FlipOrderCreated(uint40,uint40,address,uint96,uint32,uint32,bool)",
                "FlippedOrderCreated(uint40,uint40,address,uint96,uint32,uint32,bool)",
                "FlipOrderUpdated(uint40,uint96)",
                "FlipOrdersCanceled(uint40[],address)",
                "OrderCanceled(uint40,address,uint32,uint96,bool)",
                "OrdersCanceled(uint40[],address)",
                "Trade(uint40,address,bool,uint256,uint96,address,address,uint96)",
                "VaultParamsUpdated(uint96,uint96,uint96,uint96,uint256,uint256)",
                "MarketStateUpdated(uint8,uint8)",
            ),
            key_of_emitter,
        ),
        created=(
            "MarketRegistered(address,address,address,address,uint32,uint96,uint32,uint96,uint96,uint256,uint256,uint96)",
        ),
        constants=KuruConstants,
    ),
    "hanji": KindRow(
        ("hanji",),
        created=(
            "OnchainCLOBCreated(address,address,address,address,bool,uint256,uint256,address,address,address,bool,uint64,uint64,uint64,uint64)",
        ),
        constants=HanjiConstants,
        needs_lens=True,
        unannounced="quotes of a market maker follow an oracle",
    ),
}
