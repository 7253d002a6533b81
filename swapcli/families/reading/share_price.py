"""The price of an ERC-4626 share as a fraction that gives every conversion exactly.

Such a contract converts by its total assets over its total shares, both possibly with a virtual unit or more, or by a
price with a fixed number of decimals. The published total of shares may omit due fees. So the fraction is derived from
the value of a huge number of shares, which has more digits than the fraction, and checked with other amounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word
from swapcli.families.reading.calls import ContractCall, ReturnData

_TOTAL_ASSETS: Final = "totalAssets()"
_REDEEM: Final = "previewRedeem(uint256)"
_DEPOSIT: Final = "previewDeposit(uint256)"
_MANY_SHARES: Final = 10**45
"""A number of shares for which products in 256-bit contracts do not overflow, with up to 10^32 units of assets."""
_MAX_RATIO: Final = 10**14
"""The maximum ratio between assets and shares, either way: more than their decimals differ by.

Beyond it, digits would be missing.
"""
_SPARE_DIGITS: Final = 10**12
"""The number of trailing zeros, out of 45 decimals, that show, except in rare cases, that a price has no more
decimals."""
_CHECKED_AMOUNTS: Final = (10**5 + 3, 3 * 10**10 + 1, 7 * 10**15 + 9, 10**20 + 7, 9 * 10**24 - 1)


def share_price_calls(share: str) -> list[ContractCall]:
    """Return the calls whose results `read_share_price` decodes."""
    amounts = [(_REDEEM, _MANY_SHARES), *((name, k) for name in (_DEPOSIT, _REDEEM) for k in _CHECKED_AMOUNTS)]
    calls = [ContractCall(share, encode_call(name, amount), may_revert=True) for name, amount in amounts]
    return [ContractCall(share, encode_call(_TOTAL_ASSETS)), *calls]


def read_share_price(share: str, results: Sequence[ReturnData]) -> tuple[int, int]:
    """Return (assets, shares): x assets buy floor(x * shares / assets) shares, and x shares return floor(x * assets /
    shares) assets.

    Raises `InvalidUpstreamResponse` if no such fraction reproduces the conversions that were read.
    """
    total_assets, many, *checks = results
    if many is None or None in checks:
        raise invalid_response(share, "the share's preview of its conversions reverts")
    value = read_word(many, _REDEEM)
    if not _MANY_SHARES // _MAX_RATIO <= value <= _MANY_SHARES * _MAX_RATIO:
        raise invalid_response(share, "the share's price is out of range")
    fractions = [*_fractions_with(read_word(total_assets, _TOTAL_ASSETS), value)]
    if value % _SPARE_DIGITS == 0:
        fractions.append((value, _MANY_SHARES))
    deposited, redeemed = checks[: len(_CHECKED_AMOUNTS)], checks[len(_CHECKED_AMOUNTS) :]
    for assets, shares in fractions:
        expected = [amount * shares // assets for amount in _CHECKED_AMOUNTS]
        expected += [amount * assets // shares for amount in _CHECKED_AMOUNTS]
        if expected == [read_word(answer, _REDEEM) for answer in (*deposited, *redeemed)]:
            return assets, shares
    raise invalid_response(share, "the share's conversions follow no constant price")


def _fractions_with(total_assets: int, value: int) -> list[tuple[int, int]]:
    """Return the fractions of the total assets, with and without a virtual unit, for which many shares are worth
    `value`."""
    found = []
    for assets in (total_assets + 1, total_assets):
        shares = (assets * _MANY_SHARES + value // 2) // value
        if shares and assets * _MANY_SHARES // shares == value:
            found.append((assets, shares))
    return found
