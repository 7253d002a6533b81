"""The minimum of a swap beside a fresh quote."""

from __future__ import annotations

import pytest

from swapcli.core.errors import NoRoute
from swapcli.core.model.pool import Pool
from swapcli.payload.review.amount_warnings import minimum_warnings, output_warnings, promise_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview, SlippageLimits
from tests.payload.review.reviews import ORDER, REVIEW, SWAP, USDC, WETH
from tests.support.pools import build_constant_product

LIMITS = SlippageLimits(slippage_ppm=10_000, max_slippage_ppm=200_000)


@pytest.mark.parametrize(
    ("minimum", "expected"),
    [
        (2_000_000_000, []),
        (1_987_910_100, []),
        (1_987_910_099, ["MINIMUM_LOW"]),
        (1_607_999_999, ["MINIMUM_TOO_LOW"]),
        (0, ["MINIMUM_ZERO"]),
        (2_010_000_001, ["MINIMUM_TOO_HIGH"]),
    ],
)
def test_the_minimum_is_compared_with_the_quote(minimum: int, expected: list[str]) -> None:
    found = minimum_warnings(REVIEW, ORDER._replace(min_received=minimum), None, LIMITS)
    assert [each.code for each in found] == expected


def test_the_reason_for_no_quote_is_named() -> None:
    unknown = REVIEW._replace(fresh_amount_out=None)
    (found,) = minimum_warnings(unknown, ORDER, NoRoute("no route"), LIMITS)
    assert found.code == "QUOTE_UNKNOWN"
    assert found.message.endswith("no route")
    assert list(minimum_warnings(unknown, ORDER, None, LIMITS)) == []


@pytest.mark.parametrize(
    ("minimum", "fresh", "expected"),
    [
        (1, None, ["MINIMUM_TOO_LOW"]),
        (1_900_000_000, None, ["MINIMUM_LOW"]),
        (2_000_000_000, None, []),
        (1, 2_010_000_000, ["MINIMUM_TOO_LOW"]),
        (1_900_000_000, 1_910_000_000, []),  # the price has fallen since
    ],
)
def test_the_minimum_is_compared_with_the_promise(minimum: int, fresh: int | None, expected: list[str]) -> None:
    review, order = REVIEW._replace(fresh_amount_out=fresh), ORDER._replace(min_received=minimum)
    assert [each.code for each in promise_warnings(review, order, 2_010_000_000, LIMITS)] == expected


POOL = build_constant_product(1, WETH, USDC, 1_000 * 10**18, 2_500_000 * 10**6, 3_000)
PAID = 2_490_017_452
"""What a constant product pool pays for 1 WETH: 2,500,000 * 0.997 / 1,000.997."""


def trading(*shares_in: tuple[bool, int]) -> PayloadReview:
    """Return a payload whose swaps sell shares of WETH, or of the USDC that it has bought."""
    (first,) = REVIEW.swaps
    swaps = []
    for sells_weth, share_ppm in shares_in:
        ends = (WETH.address, USDC.address) if sells_weth else (USDC.address, WETH.address)
        swap = SWAP._replace(token_in=ends[0], token_out=ends[1], share_ppm=share_ppm)
        swaps.append(first._replace(swap=swap, token_in=ends[0], token_out=ends[1], pool=POOL, share_ppm=share_ppm))
    return REVIEW._replace(swaps=tuple(swaps))


def codes(review: PayloadReview, gross: int, *pools: Pool) -> list[str]:
    return [each.code for each in output_warnings(review, ORDER, gross, {pool.key: pool for pool in pools})]


@pytest.mark.parametrize(
    ("gross", "expected"), [(PAID, []), (PAID * 10_020 // 10_000, []), (PAID * 10_030 // 10_000, ["ROUTE_WORSE"])]
)
def test_the_output_is_compared_on_the_pools_of_the_quote(gross: int, expected: list[str]) -> None:
    whole = trading((True, 1_000_000))
    assert codes(whole, gross, POOL) == expected
    assert codes(whole, gross) == ["ROUTE_UNCHECKED"]


def test_unknown_swaps_are_not_compared() -> None:
    assert codes(REVIEW, PAID, POOL) == ["ROUTE_UNCHECKED"]


def test_what_is_sold_again_is_not_received() -> None:
    assert codes(trading((True, 1_000_000), (False, 500_000)), PAID, POOL) == ["ROUTE_WORSE"]
