"""Issued routes are recognised in any spelling, but not with another meaning; their number is bounded."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.route_result import RouteResult
from swapcli.faces.service.issued_routes import IssuedRoutes, ProcessRouteTimes, route_digest
from swapcli.interface.route import parse_result, render_result
from tests.interface.build import EVM, STARKNET, results
from tests.support.service import Json, build_order_query, build_swap_terms, in_process_service

V1_RESULTS = results(EVM, ApiVersion.V1)


@given(st.sampled_from([EVM, STARKNET]), st.data())
def test_a_route_is_known_again_after_it_went_over_the_wire(network: Network, data: st.DataObject) -> None:
    result = data.draw(results(network, ApiVersion.V1))
    returned = parse_result(render_result(result, network), network)
    issued = IssuedRoutes()
    issued.record("base", result, 1_000)
    assert issued.issue_time_ms("base", returned) == 1_000
    assert issued.issue_time_ms("other", returned) is None


@given(V1_RESULTS, st.data())
def test_only_what_a_route_does_changes_its_digest(result: RouteResult, data: st.DataObject) -> None:
    dull = result._replace(
        time_s=data.draw(st.floats(0, 9)),
        gas_units=data.draw(st.integers(0, 9)),
        gas_usd=None,
        initial=not result.initial,
        best_quotes=(),
        input_token=result.input_token._replace(name="another", symbol="", price_usd=None),
    )
    assert route_digest("base", dull) == route_digest("base", result)


@given(V1_RESULTS)
def test_what_changes_what_a_route_does_changes_its_digest(result: RouteResult) -> None:
    segment = result.segments[0]
    swap = segment.hops[0][0]

    def with_swap(**changes: Any) -> RouteResult:
        hops = ((swap._replace(**changes), *segment.hops[0][1:]), *segment.hops[1:])
        return result._replace(segments=(segment._replace(hops=hops), *result.segments[1:]))

    others = [
        result._replace(input_amount=result.input_amount + 1),
        result._replace(output_amount=result.output_amount + 1),
        result._replace(output_token=result.output_token._replace(address="0x" + "fe" * 20)),
        result._replace(segments=(segment._replace(share=segment.share + 1), *result.segments[1:])),
        result._replace(segments=(*result.segments, segment)),
        with_swap(share=swap.share + 1),
        with_swap(pool_address="0x" + "fe" * 20, extra={}),
        with_swap(token_in="0x" + "fe" * 20),
        with_swap(token_out="0x" + "fe" * 20),
        with_swap(protocol_id=swap.protocol_id + 1),
    ]
    digests = {route_digest("base", each) for each in others}
    assert len(digests) == len(others)
    assert route_digest("base", result) not in digests


@given(V1_RESULTS)
def test_only_the_last_ones_are_kept_and_asking_again_renews(route: RouteResult) -> None:
    routes = [route._replace(output_amount=amount) for amount in range(1, 5)]
    times = ProcessRouteTimes(max_routes=3)
    issued = IssuedRoutes(times)
    for number, route in enumerate(routes[:3]):
        issued.record("base", route, number)
    issued.record("base", routes[0], 10)
    issued.record("base", routes[3], 11)
    assert len(times) == 3
    assert [issued.issue_time_ms("base", route) for route in routes[:4]] == [10, None, 2, 11]


def respelled(route: Json) -> Json:
    """The same route as other JSON libraries would write it."""
    copy = {key: value for key, value in route.items() if key not in ("initial", "bestQuotesByProtocols")}
    for key in ("inputToken", "outputToken"):
        copy[key] = {**copy[key], "address": copy[key]["address"].lower(), "price": 0}
    copy["route"] = [
        {
            "percent": segment["percent"].replace("%", ".0%"),
            "swaps": [
                [{**swap, "poolAddress": swap["poolAddress"].lower(), "poolName": ""} for swap in hop]
                for hop in segment["swaps"]
            ],
        }
        for segment in route["route"]
    ]
    return copy | {"time": 0, "estimatedGasUsed": "0", "estimatedGasUsedInUsd": 0}


def test_a_v1_route_expires_in_any_spelling() -> None:
    with in_process_service("base") as served:
        route = served.get_json("/base/route", build_order_query("base"))
        for spelled in (route, respelled(route)):
            assert served.post("/base/execute", {"route": spelled, **build_swap_terms("base")}).status_code == 200
        served.fake_clock.advance(60)
        assert served.post("/base/execute", {"route": respelled(route), **build_swap_terms("base")}).status_code == 200
        served.fake_clock.advance(1)
        for path in ("/base/execute", "/base/calldata"):
            refused = served.post(path, {"route": respelled(route), **build_swap_terms("base")})
            assert refused.status_code == 400
            assert "61 seconds old" in refused.json()["message"]
        again = served.get_json("/base/route", build_order_query("base"))
        assert again["route"] == route["route"]
        assert served.post("/base/execute", {"route": route, **build_swap_terms("base")}).status_code == 200


def test_a_v1_route_that_is_not_known_is_judged_by_its_content() -> None:
    with in_process_service("base") as issuer, in_process_service("base") as other:
        route = issuer.get_json("/base/route", build_order_query("base"))
        other.fake_clock.advance(1_000)
        assert other.post("/base/execute", {"route": route, **build_swap_terms("base")}).status_code == 200


def test_a_v2_route_carries_its_time() -> None:
    with in_process_service("base") as issuer, in_process_service("base") as other:
        route = issuer.get_json("/base/v2/route", build_order_query("base"))
        other.fake_clock.advance(60)
        assert other.post("/base/v2/calldata", {"route": route, **build_swap_terms("base")}).status_code == 200
        other.fake_clock.advance(1)
        assert other.post("/base/v2/calldata", {"route": route, **build_swap_terms("base")}).status_code == 400
        other.fake_clock.advance(-70)
        refused = other.post("/base/v2/calldata", {"route": route, **build_swap_terms("base")}).json()
        assert (refused["error"], refused["details"]) == ("Invalid route", "the route's issue time is in the future")
        assert refused["meta"] == other.v2_metadata


def test_starknets_and_hyperevms_routes_expire_too() -> None:
    with in_process_service("starknet", "hyperevm") as served:
        ways = {"starknet": ("/starknet/route", "/starknet/calldata"), "hyperevm": ("/hyperevm/calldata",)}
        for name, paths in ways.items():
            for path in paths:
                answer = served.get_json(path, {**build_order_query(name), **build_swap_terms(name)})
                route = answer["route"] if path.endswith("calldata") else answer
                assert served.post(f"/{name}/execute", {"route": route, **build_swap_terms(name)}).status_code == 200
                served.fake_clock.advance(61)
                assert served.post(f"/{name}/execute", {"route": route, **build_swap_terms(name)}).status_code == 400
