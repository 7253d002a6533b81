"""Routes that differ from the requested one are rejected."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import (
    InvalidUpstreamResponse,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.networks.catalogue import find_network
from swapcli.interface.route import render_result
from swapcli.quoting.remote.response_validation import ExpectedRoute, validated_result
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import examples
from tests.quoting.remote.cases import (
    REVERSE,
    SELL_V2,
    UNTRUSTED_ADDRESS,
    V1,
    Case,
    DocumentChange,
    expected_quote,
    mismatch_error,
    request_quote,
    set_value,
    without_times,
)
from tests.support.fake_service import remote_source
from tests.support.loopback_server import http_response, loopback_server, respond_with
from tests.support.markets import embedded_source


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_value(UNTRUSTED_ADDRESS, "inputToken", "address"), "as the input token"),
        (set_value(UNTRUSTED_ADDRESS, "outputToken", "address"), "as the output token"),
        (set_value(18, "inputToken", "decimals"), "18 decimals for the input token, not 6"),
        (set_value("9999999999", "inputAmount"), "an input of 9999999999, not 10000000000"),
        (set_value(0, "routeSwapType"), "a route of type 0, not 2"),
        (lambda route: route.pop("meta"), "a route of v1, not of v2"),
        (
            lambda route: route.update(integratorAddress=UNTRUSTED_ADDRESS, integratorFeePercentageBps=500),
            "500 bps fee",
        ),
        (lambda route: _redirect_hop(route, 0, "fromTokenAddress"), "hops that do not lead"),
        (lambda route: _redirect_hop(route, -1, "toTokenAddress"), "hops that do not lead"),
    ],
)
def test_a_route_that_differs_from_the_order_is_rejected(change: DocumentChange, message: str) -> None:
    assert message in mismatch_error(SELL_V2, change, request_quote).message


def _redirect_hop(route: Any, hop: int, end: str) -> None:
    """Change the input or output token of all swaps of a hop."""
    for segment in route["route"]:
        for swap in segment["swaps"][hop]:
            swap[end] = UNTRUSTED_ADDRESS


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"direct": True}, "not a direct one"),
        ({"excluded_protocols": frozenset(p.amm_name for p in find_network("base").protocols)}, "which was excluded"),
    ],
)
def test_a_route_beyond_the_limits_of_its_order_is_rejected(order: dict[str, Any], message: str) -> None:
    unlimited = embedded_source("base").quote(SELL_V2.build_request())
    body = json.dumps(render_result(unlimited.result, find_network("base")))
    assert max(len(segment.hops) for segment in unlimited.result.segments) > 1
    with loopback_server(respond_with(http_response(200, body))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(InvalidUpstreamResponse, match=message):
            source.quote(SELL_V2.build_request()._replace(order=SELL_V2.build_request().order._replace(**order)))


@pytest.mark.parametrize("allows_only", [False, True])
def test_a_protocol_unknown_here_is_used_unless_the_order_names_those_it_allows(allows_only: bool) -> None:
    route = render_result(embedded_source("base").quote(SELL_V2.build_request()).result, find_network("base"))
    body = re.sub(r'"protocol": ?"?\d+"?', '"protocol": 999', json.dumps(route))
    assert "999" in body
    request = SELL_V2.build_request()._replace(order=SELL_V2.build_request().order._replace(allows_only=allows_only))
    with loopback_server(respond_with(http_response(200, body))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        if allows_only:
            with pytest.raises(InvalidUpstreamResponse, match="protocol 999, which was excluded"):
                source.quote(request)
        else:
            source.quote(request)


def test_an_output_below_the_requested_one_is_rejected() -> None:
    assert (
        "less than the 100000000"
        in mismatch_error(REVERSE, set_value("99999999", "outputAmount"), request_quote).message
    )


def test_an_output_far_above_the_requested_one_is_rejected() -> None:
    assert (
        "far more than the 100000000"
        in mismatch_error(REVERSE, set_value("101000100", "outputAmount"), request_quote).message
    )


@settings(max_examples=examples(12, full=50))
@given(st.integers(1, 10**10), st.booleans())
def test_the_smallest_input_for_any_output_is_accepted(amount: int, swapped: bool) -> None:
    """Accept it even if one unit of one token buys many of the other."""
    ends = ("HYPE", "USDC") if swapped else ("USDC", "HYPE")
    case = REVERSE._replace(token_in=ends[0], token_out=ends[1], amount=amount)
    result = embedded_source("hyperevm").quote(case.build_request()).result
    assert (
        validated_result(result, ExpectedRoute(case.build_request().order, V1, None, find_network("hyperevm")))
        == result
    )


@pytest.mark.parametrize("api_version", ApiVersion)
def test_the_native_token_cannot_replace_the_wrapped_one(api_version: ApiVersion) -> None:
    case = Case("base", "WETH", "USDC", 10**18, api_version)

    def native(route: Any) -> None:
        route["routeSwapType"] = 0
        route["inputToken"]["address"] = "0x" + "0" * 40

    assert mismatch_error(case, native, request_quote)


def test_v1_may_write_the_wrapped_token_for_the_native_one() -> None:
    case = Case("base", "ETH", "USDC", 10**19, V1)

    def wrapped(_: str, route: Any) -> Any:
        route["inputToken"]["address"] = "0x4200000000000000000000000000000000000006"
        return route

    with remote_source("base", wrapped) as (source, _):
        assert without_times(source.quote(case.build_request()).result) == expected_quote(case)[0]
