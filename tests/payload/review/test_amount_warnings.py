"""The amounts of a swap beside what its contract enforces, what can be, and a fresh quote."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core.errors import NoRoute
from swapcli.core.model.decoded_call import WHOLE_E18, DecodedPayment
from swapcli.core.model.pool import Pool
from swapcli.payload.dialects import execution_of
from swapcli.payload.review.amount_warnings import (
    enforcement_warnings,
    minimum_warnings,
    output_warnings,
    promise_warnings,
    rate_warnings,
)
from swapcli.payload.review.decoded_replay import replay_decoded
from swapcli.payload.review.reviewed_payload import PayloadReview, SlippageLimits
from tests.payload.evm.router_model import embedded
from tests.payload.review.reviews import BASE, CALL, ME, ORDER, REVIEW, SWAP, USDC, WETH
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


def test_more_than_the_pools_can_take_is_dangerous() -> None:
    unknown = REVIEW._replace(fresh_amount_out=None)
    problem = NoRoute("no route", details={"max_amount_in": str(10**17)})
    first, _ = minimum_warnings(unknown, ORDER, problem, LIMITS)
    assert (first.code, first.message.endswith("can take: at most 0.1 WETH")) == ("RATE_ABSURD", True)
    (bought,) = minimum_warnings(unknown, ORDER._replace(is_exact_out=True), problem, LIMITS)
    assert bought.code == "QUOTE_UNKNOWN"
    assert BASE.extended_protocols
    (swap,) = REVIEW.swaps
    for protocol, count in (("v2", 2), (min(BASE.extended_protocols), 1)):
        pool = build_constant_product(1, WETH, USDC, 10**18, 10**9, protocol=protocol)
        review = unknown._replace(swaps=(swap._replace(pool=pool),))
        assert len(list(minimum_warnings(review, ORDER, problem, LIMITS))) == count


def test_amounts_that_are_not_enforced_are_named_with_what_is() -> None:
    assert list(enforcement_warnings(REVIEW, ORDER)) == []
    (lower,) = enforcement_warnings(REVIEW, ORDER._replace(min_received=1, promised_received=2_000_000_000))
    assert lower.code == "MINIMUM_NOT_ENFORCED"
    assert "at least 2,000 USDC, but the whole call guarantees only 0.000001 USDC" in lower.message
    (more,) = enforcement_warnings(REVIEW, ORDER._replace(max_amount_in=3 * 10**18))
    assert more.code == "CALL_UNUSUAL"
    assert "up to 3 WETH from the sender, but its swaps sell 1 WETH" in more.message


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({}, []),
        ({"min_received": 200_999_999_999}, []),
        ({"min_received": 201_000_000_000}, ["the minimum is 100 times a fresh quote of 2,010 USDC"]),
        ({"promised_received": 10**15}, ["the minimum is 497,512 times a fresh quote of 2,010 USDC"]),
        ({"amount_out": 10**15}, ["the quoted output is 497,512 times a fresh quote of 2,010 USDC"]),
        ({"amount_in": (1 << 112) - 1}, []),
        ({"amount_in": 1 << 112}, [f"the amount sold is more than the supply of any token: {1 << 112} base units"]),
        ({"min_received": 1 << 255}, [f"the minimum is more than the supply of any token: {1 << 255} base units"]),
    ],
)
def test_impossible_amounts_are_dangers(changes: dict[str, Any], sentences: list[str]) -> None:
    found = list(rate_warnings(REVIEW, ORDER._replace(**changes)))
    assert [each.message for each in found] == sentences
    assert {each.code for each in found} <= {"RATE_ABSURD"}


def test_swaps_cannot_sell_more_than_the_input() -> None:
    (swap,) = REVIEW.swaps
    for amounts, expected in (
        ((10**18,), []),
        ((6 * 10**17, 4 * 10**17), []),
        ((6 * 10**17, 5 * 10**17), ["the swaps sell 110.00% of the WETH"]),
        ((330_621_395_040_000_000 * 10**9,), ["the swaps sell 33,062,139,504.00% of the WETH"]),
    ):
        swaps = tuple(swap._replace(swap=swap.swap._replace(amount_in=each)) for each in amounts)
        assert [each.message for each in rate_warnings(REVIEW._replace(swaps=swaps), ORDER)] == expected


def test_payments_cannot_be_more_than_there_is() -> None:
    for payment, count in (
        (DecodedPayment(USDC.address, ME, WHOLE_E18), 0),
        (DecodedPayment(USDC.address, ME, WHOLE_E18 + 1), 1),
        (DecodedPayment(USDC.address, ME, surplus_bps=10_001), 1),
    ):
        review = REVIEW._replace(call=CALL._replace(payments=(payment,)))
        assert len(list(rate_warnings(review, ORDER))) == count


def test_a_token_that_no_swap_bought_is_not_replayed() -> None:
    market = embedded("base")
    (first,), wrapped = REVIEW.swaps, market.network.wrapped_native_address
    pools = [pool for pool in market.pools.values() if USDC.address in pool.tokens and not pool.is_wrapper]
    known = next(pool for pool in pools if wrapped in pool.tokens)
    other = next(pool for pool in pools if wrapped not in pool.tokens)
    sold = next(token for token in other.tokens if token != USDC.address)
    swaps = (first._replace(pool=known), first._replace(pool=other, token_in=sold))
    execution = execution_of(market.network)
    assert replay_decoded(swaps[:1], first.token_in, USDC.address, 10**18, execution)
    assert replay_decoded(swaps, first.token_in, USDC.address, 10**18, execution) is None


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
