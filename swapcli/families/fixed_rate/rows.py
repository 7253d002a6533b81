"""The `FAMILIES` and `KINDS` rows for contracts that convert tokens at a rate unaffected by swaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.model.network import Kind
from swapcli.families.row import (
    Event,
    ExtraData,
    FamilyRow,
    KindRow,
    PoolUse,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    addresses_in_topics,
    is_first_sold,
    read_words,
)


def _are_shares_sold(use: PoolUse) -> ExtraData:
    """Return whether shares are sold; a vault's address is that of its shares."""
    return bytes((use.token_in == use.pool.address,))


def _by_address(log: Event) -> SwapAmounts:
    """Read the tokens from the first topics, and the amounts that follow the sender's address."""
    sold, bought = addresses_in_topics(log, 1)
    _, amount_in, amount_out = read_words(log, 3)
    return SwapAmounts(sold, bought, amount_in, amount_out)


def _deposit(log: Event) -> SwapAmounts:
    assets, shares = read_words(log, 2, "Deposit")
    return SwapAmounts(0, 1, assets, shares)


def _withdrawal(log: Event) -> SwapAmounts:
    assets, shares = read_words(log, 2, "Withdraw")
    return SwapAmounts(1, 0, shares, assets)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "psm": FamilyRow(("reserves", "rate"), RouterEncoding(RouterPoolKind.PSM)),
    "vault": FamilyRow(
        ("share_price", "max_deposit", "max_redeemed"), RouterEncoding(RouterPoolKind.VAULT, _are_shares_sold)
    ),
    "bridge": FamilyRow(("reserve", "minted", "limit"), RouterEncoding(RouterPoolKind.BRIDGE, is_first_sold)),
    "wrapper": FamilyRow(("nothing",), RouterEncoding(RouterPoolKind.WRAPPER)),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "psm": KindRow(
        ("psm",),
        swaps={"Swap(address,address,address,address,uint256,uint256,uint256)": _by_address},
        roles=("psm",),
        is_pool_itself=True,
        unannounced="a rate that grows with time",
    ),
    "vault": KindRow(
        ("vault",),
        swaps={
            "Deposit(address,address,uint256,uint256)": _deposit,
            "Withdraw(address,address,address,uint256,uint256)": _withdrawal,
        },
        roles=("share_vault",),
        is_pool_itself=True,
        unannounced="the price of shares",
    ),
    "bridge": KindRow(
        ("bridge",),
        roles=("bridge",),
        is_pool_itself=True,
        unannounced="limits and the balances of another contract",
    ),
    "token_migration": KindRow(
        ("bridge",),
        roles=("bridge",),
        network_kind=Kind.STARKNET,
        is_pool_itself=True,
        unannounced="the balance and the allowance of the account that supplies the tokens",
    ),
}
