"""The `FAMILIES` and `KINDS` rows for bin pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.families.row import (
    Event,
    ExtraData,
    FamilyRow,
    InfinityConstants,
    KindRow,
    PoolKey,
    PoolUse,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    first_topic,
    infinity_pool_key,
    is_first_sold,
    key_of_emitter,
    of_signs,
    read_words,
    two_sided,
)


def _infinity_data(use: PoolUse) -> ExtraData:
    return PoolKey(infinity_pool_key(use).encoded + b"\1")


def _swap_in_manager(log: Event) -> SwapAmounts:
    amount0, amount1 = (-to_signed(word) for word in read_words(log, 2))
    return of_signs(amount0, amount1)._replace(fee_ppm=read_words(log, 4)[3])


def _swap_in_bin(log: Event) -> SwapAmounts:
    """Read the amounts of one bin: 128 bits for each token, the first in the lower half."""
    _, sold, bought = read_words(log, 3)
    mask = (1 << 128) - 1
    return two_sided(sold & mask, sold >> 128, bought & mask, bought >> 128)


_INFINITY_SWAP: Final = "Swap(bytes32,address,int128,int128,uint24,uint24,uint16)"
_BOOK_SWAP: Final = "Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)"
_PRICES: Final = "(uint256,uint256,uint256)"
"""Prices in dollars and in the native token, at the end of Bean Exchange's events."""
_BEAN_SWAP: Final = f"{_BOOK_SWAP[:-1]},{_PRICES})"

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "infinity_bin": FamilyRow(
        ("active_id", "bin_step", "bins", "pool_id", "hooks", "parameters"),
        RouterEncoding(RouterPoolKind.INFINITY, _infinity_data),
    ),
    "liquidity_book": FamilyRow(
        ("active_id", "bin_step", "bins", "fee_parameters", "volatility", "timestamp"),
        RouterEncoding(RouterPoolKind.LIQUIDITY_BOOK, is_first_sold),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "infinity_bin": KindRow(
        ("infinity_bin",),
        dict.fromkeys(
            (
                _INFINITY_SWAP,
                "Mint(bytes32,address,uint256[],bytes32,bytes32[],bytes32,bytes32)",
                "Burn(bytes32,address,uint256[],bytes32,bytes32[])",
                "Donate(bytes32,address,int128,int128,uint24)",
                "ProtocolFeeUpdated(bytes32,uint24)",
                "DynamicLPFeeUpdated(bytes32,uint24)",
            ),
            first_topic,
        ),
        {_INFINITY_SWAP: _swap_in_manager},
        roles=("bin_pool_manager",),
        created=("Initialize(bytes32,address,address,address,uint24,bytes32,uint24)",),
        is_keyed_by_id=True,
        constants=InfinityConstants,
    ),
    "liquidity_book": KindRow(
        ("liquidity_book",),
        dict.fromkeys(
            (
                _BOOK_SWAP,
                "DepositedToBins(address,address,uint256[],bytes32[])",
                "WithdrawnFromBins(address,address,uint256[],bytes32[])",
                "FlashLoan(address,address,uint24,bytes32,bytes32,bytes32)",
                _BEAN_SWAP,
                f"DepositedToBins(address,address,uint256[],bytes32[],{_PRICES})",
                f"WithdrawnFromBins(address,address,uint256[],bytes32[],{_PRICES})",
                f"FlashLoan(address,address,uint24,bytes32,bytes32,bytes32,{_PRICES})",
                "StaticFeeParametersSet(address,uint16,uint16,uint16,uint16,uint24,uint16,uint24)",
                "HooksParametersSet(address,bytes32)",
                "ForcedDecay(address,uint24,uint24)",
            ),
            key_of_emitter,
        ),
        {_BOOK_SWAP: _swap_in_bin, _BEAN_SWAP: _swap_in_bin},
        list_functions=(("getNumberOfLBPairs()", "getLBPairAtIndex(uint256)"),),
        has_event_per_bin=True,
    ),
}
