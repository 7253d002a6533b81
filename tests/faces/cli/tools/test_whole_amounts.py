"""Whole amounts are the raw ones, divided by the decimals of their own token."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.tools.whole_amounts import whole_amounts

BASE = find_network("base")
USDC = {"symbol": "USDC", "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "decimals": 6}
WETH = {"symbol": "WETH", "address": "0x4200000000000000000000000000000000000006", "decimals": 18}


def by_field(document: object) -> dict[str, tuple[str, str]]:
    return {each["field"]: (each["whole"], each["symbol"]) for each in whole_amounts(document, BASE)}


@given(raw=st.integers(-(2**256), 2**256), decimals=st.integers(0, 40))
def test_a_whole_amount_is_exactly_the_raw_one(raw: int, decimals: int) -> None:
    document = {"inputToken": USDC, "outputToken": WETH | {"decimals": decimals}, "outputAfterGas": str(raw)}
    (found,) = whole_amounts(document, None)
    assert found["baseUnits"] == str(raw)
    whole = Decimal(found["whole"]).as_tuple()
    scaled = int("".join(map(str, whole.digits))) * 10 ** (decimals + int(whole.exponent))
    assert (-scaled if whole.sign else scaled) == raw


def test_amounts_in_lists_have_the_tokens_of_the_document() -> None:
    points: dict[str, Any] = {"points": [{"inputAmount": "10000000", "outputAmount": "5"}, {"inputAmount": "x"}]}
    assert by_field({"inputToken": USDC, "outputToken": WETH} | points) == {
        "points.0.inputAmount": ("10", "USDC"),
        "points.0.outputAmount": ("0.000000000000000005", "WETH"),
    }


def test_native_swaps_are_in_the_native_token() -> None:
    route = {
        "meta": {},
        "routeSwapType": 0,
        "inputToken": WETH,
        "outputToken": USDC,
        "inputAmount": "1500000000000000000",
    }
    assert by_field(route) == {"inputAmount": ("1.5", "ETH")}
    assert by_field(route | {"routeSwapType": 2}) == {"inputAmount": ("1.5", "WETH")}


def test_a_token_of_starknet_keeps_its_name() -> None:
    """V1 has routeSwapType 0 for every swap."""
    starknet = find_network("starknet")
    ether = {"symbol": "ETH", "address": starknet.tokens[0].address, "decimals": 18}
    route = {"routeSwapType": 0, "inputToken": ether, "inputAmount": "1000000000000000000"}
    (amount,) = whole_amounts(route, starknet)
    assert (amount["whole"], amount["symbol"]) == ("1", "ETH")


def test_tokens_are_found_by_address_and_symbol() -> None:
    assert by_field({"tokenIn": USDC["address"], "amountIn": "1"}) == {"amountIn": ("0.000001", "USDC")}
    assert by_field({"sample": {"tokenOut": "USDC", "amountOut": "2500000"}}) == {"sample.amountOut": ("2.5", "USDC")}
    assert by_field({"tokenIn": "0x01", "amountIn": "1"}) == {}


def test_amounts_of_another_swap_have_its_tokens() -> None:
    sale = {"amountIn": "5", "tokenOut": WETH["address"], "received": "7"}
    assert by_field({"inputToken": WETH, "outputToken": USDC, "sales": [sale]}) == {
        "sales.0.received": ("0.000000000000000007", "WETH")
    }


def test_a_document_whose_route_has_the_tokens_is_in_them() -> None:
    payload = {"minReceived": "1000000", "route": {"inputToken": WETH, "outputToken": USDC, "outputAmount": "2000000"}}
    assert by_field(payload) == {"minReceived": ("1", "USDC"), "route.outputAmount": ("2", "USDC")}
