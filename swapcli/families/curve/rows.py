"""The `FAMILIES` and `KINDS` rows for Curve's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import invalid_field
from swapcli.core.records import NamedTuple
from swapcli.families.row import (
    Event,
    ExtraData,
    FamilyRow,
    KindRow,
    PoolUse,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    SwapPart,
    coin_indices,
    key_of_emitter,
    read_address,
    read_words,
)


class MetapoolConstants(NamedTuple):
    """The constants of a metapool: the pool whose liquidity token is its second coin."""

    base_pool: str = ""


class CryptoSwapConstants(NamedTuple):
    """The constants of a pool of volatile coins: the version of its contract."""

    version: str = ""


def _by_number(log: Event) -> SwapAmounts:
    """Read the positions of the tokens, each followed by its amount."""
    sold, amount_in, bought, amount_out = read_words(log, 4, "TokenExchange")
    return SwapAmounts(sold, bought, amount_in, amount_out)


def _meta_coins(use: PoolUse) -> ExtraData:
    """Read the indices of `exchange`, or those of `exchange_underlying`, which omits the liquidity token."""
    i, j = (use.pool.tokens.index(token) for token in (use.token_in, use.token_out))
    return bytes((i, j)) if max(i, j) < 2 else bytes((max(i - 1, 0), max(j - 1, 0), 1))


def _by_underlying_number(log: Event) -> SwapAmounts:
    """Read the coin numbers of a metapool's exchange: its own coin, then the base pool's coins.

    In the pool, the liquidity token comes between them.
    """
    amounts = _by_number(log)
    problem = "it passes the swap on to its base pool" if amounts.sold and amounts.bought else ""
    sold, bought = (int(number) + (int(number) > 0) for number in (amounts.sold, amounts.bought))
    return amounts._replace(sold=sold, bought=bought, problem=problem)


def _by_metapool(log: Event, pool: str) -> SwapPart:
    """Return a part without amounts. Raises `InvalidInput` for deposits and withdrawals by others."""
    if read_address(int(log.topics[1], 16), "provider") != pool:
        raise invalid_field("provider", "not the metapool")
    return SwapPart()


_LISTS: Final = (("pool_count()", "pool_list(uint256)"),)
_CRYPTO_EXCHANGE: Final = "TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)"

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "stableswap": FamilyRow(("reserves", "amp", "rates"), RouterEncoding(RouterPoolKind.STABLESWAP, coin_indices)),
    "curve_meta": FamilyRow(
        ("reserves", "amp", "rates", "base_pool", "lp_supply", "base"),
        RouterEncoding(RouterPoolKind.STABLESWAP, _meta_coins),
    ),
    "cryptoswap": FamilyRow(
        (
            *("version", "reserves", "invariant", "amp", "gamma", "price_scale", "price_oracle", "last_prices"),
            *("mid_fee", "out_fee", "fee_gamma", "allowed_extra_profit", "adjustment_step", "xcp_profit"),
            *("virtual_price", "lp_supply"),
        ),
        RouterEncoding(RouterPoolKind.CURVE_CRYPTO, coin_indices),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "stableswap": KindRow(
        ("stableswap", "curve_meta"),
        swaps={
            "TokenExchange(address,int128,uint256,int128,uint256)": _by_number,
            "TokenExchangeUnderlying(address,int128,uint256,int128,uint256)": _by_underlying_number,
        },
        list_functions=_LISTS,
        constants=MetapoolConstants,
        # In a metapool, those of its base pool.
        parts={
            "AddLiquidity(address,uint256[],uint256[],uint256,uint256)": _by_metapool,
            "RemoveLiquidityOne(address,int128,uint256,uint256,uint256)": _by_metapool,
        },
        unannounced="rates of its tokens, and versions whose events differ",
    ),
    "cryptoswap": KindRow(
        ("cryptoswap",),
        dict.fromkeys(
            (
                _CRYPTO_EXCHANGE,
                "AddLiquidity(address,uint256[2],uint256,uint256,uint256)",
                "AddLiquidity(address,uint256[3],uint256,uint256,uint256)",
                # Pools with the StableSwap maths name the receiver and accept donations.
                "AddLiquidity(address,address,uint256[2],uint256,uint256,uint256)",
                "Donation(address,uint256[2])",
                "RemoveLiquidityImbalance(address,uint256,uint256[2],uint256,uint256)",
                "SetDonationDuration(uint256)",
                "SetDonationProtection(uint256,uint256,uint256)",
                "SetPeriphery(address,address)",
                "RemoveLiquidity(address,uint256[2],uint256)",
                "RemoveLiquidity(address,uint256[3],uint256)",
                "RemoveLiquidityOne(address,uint256,uint256,uint256,uint256,uint256)",
                # With and without the time of a second average.
                "NewParameters(uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
                "NewParameters(uint256,uint256,uint256,uint256,uint256,uint256)",
                "RampAgamma(uint256,uint256,uint256,uint256,uint256,uint256)",
                "StopRampA(uint256,uint256,uint256)",
                "ClaimAdminFee(address,uint256[2])",
                "ClaimAdminFee(address,uint256[3])",
                "ClaimAdminFee(address,uint256)",
            ),
            key_of_emitter,
        ),
        {_CRYPTO_EXCHANGE: _by_number},
        list_functions=_LISTS,
        constants=CryptoSwapConstants,
    ),
}
