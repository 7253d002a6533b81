"""The price of an ERC-4626 share is found exactly for each of the usual formulas, or refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.share_price import read_share_price, share_price_calls

SHARE = "0x" + "5a" * 20
RAY = 10**27
Convert = Callable[[int], int]

amounts = st.integers(0, 10**30)
total_assets = st.integers(10**6, 10**32)
prices = st.floats(-13.0, 13.0).map(lambda exponent: 10.0**exponent)
"""Total assets per share, whose decimals need not be the same."""


@given(total_assets, prices, st.sampled_from([0, 1]), st.sampled_from([0, 1, 10**6]), amounts)
def test_a_share_of_total_assets_has_its_fraction(
    total: int, price: float, virtual_assets: int, virtual_shares: int, amount: int
) -> None:
    assets, shares = total + virtual_assets, int(total / price) + virtual_shares
    # Beyond that, 45 digits do not distinguish fractions that differ by a unit in both numbers.
    assume(shares <= 10**31 and (abs(assets - shares) > shares // 10**12 or assets == shares))
    assume(price / 2 < assets / max(shares, 1) < 2 * price)
    found_assets, found_shares = read(total, lambda x: x * shares // assets, lambda x: x * assets // shares)
    assert amount * found_shares // found_assets == amount * shares // assets
    assert amount * found_assets // found_shares == amount * assets // shares


@given(st.integers(RAY // 10, 10 * RAY), total_assets, amounts)
def test_a_share_with_a_rate_has_its_fraction(rate: int, total: int, amount: int) -> None:
    found_assets, found_shares = read(total, lambda x: x * RAY // rate, lambda x: x * rate // RAY)
    assert amount * found_shares // found_assets == amount * RAY // rate
    assert amount * found_assets // found_shares == amount * rate // RAY


@given(total_assets, prices)
def test_a_share_with_a_fee_on_deposits_is_refused(assets: int, price: float) -> None:
    shares = max(1, int(assets / price))
    with pytest.raises(InvalidUpstreamResponse, match=r"no constant price|out of range"):
        read(assets, lambda x: x * 999 // 1000 * shares // assets, lambda x: x * assets // shares)


def test_a_share_that_previews_nothing_is_refused() -> None:
    with pytest.raises(InvalidUpstreamResponse, match="preview of its conversions reverts"):
        read_share_price(SHARE, [bytes(32), *[None] * (len(share_price_calls(SHARE)) - 1)])


def read(total: int, deposit: Convert, redeem: Convert) -> tuple[int, int]:
    """Return the price that is read from a share with these conversions."""
    by_selector = {
        encode_call("totalAssets()"): lambda _: total,
        encode_call("previewDeposit(uint256)", 0)[:4]: deposit,
        encode_call("previewRedeem(uint256)", 0)[:4]: redeem,
    }
    results = [by_selector[call.calldata[:4]](int.from_bytes(call.calldata[4:])) for call in share_price_calls(SHARE)]
    return read_share_price(SHARE, [value.to_bytes(32) for value in results])
