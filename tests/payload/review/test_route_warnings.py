"""Tokens and pools of a call, and whether its swaps lead from the input to the output."""

from __future__ import annotations

from types import MappingProxyType

from swapcli.payload.review.route_warnings import named_tokens, route_warnings, token_warnings
from tests.payload.review.reviews import REVIEW, USDC, WETH


def test_the_tokens_of_a_call_are_named() -> None:
    assert set(named_tokens(REVIEW)) == {WETH.address, USDC.address}


def test_unknown_tokens_and_pools_are_named() -> None:
    unknown = REVIEW._replace(tokens=MappingProxyType({}))
    assert [each.code for each in token_warnings(unknown, knows_pools=True)] == ["TOKEN_UNKNOWN"] * 2 + ["POOL_UNKNOWN"]
    assert [each.code for each in token_warnings(REVIEW, knows_pools=False)] == []
    assert list(token_warnings(unknown._replace(network=None), knows_pools=False)) == []


def test_a_route_leads_from_the_input_to_the_output() -> None:
    (swap,) = REVIEW.swaps
    assert list(route_warnings(REVIEW)) == []
    for broken, sentence in (
        (swap._replace(token_in=USDC.address), "nothing before it has bought"),
        (swap._replace(token_out=WETH.address), "sells WETH for WETH"),
        (swap._replace(share_ppm=600_000), "40.00% of the WETH is not swapped"),
    ):
        messages = [each.message for each in route_warnings(REVIEW._replace(swaps=(broken,)))]
        assert any(sentence in message for message in messages), messages
