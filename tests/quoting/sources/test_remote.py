"""A service returns the same quotes as the core; options that its API cannot express are not sent."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core.errors import (
    InvalidOption,
    InvalidSlippage,
    SameToken,
)
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.sources.quote_source import QuoteSource, quote_and_build
from swapcli.quoting.sources.remote import RemoteSource
from tests.quoting.remote.cases import (
    CASES,
    HYPE,
    SELL_V1,
    SELL_V2,
    STRK,
    UNTRUSTED_ADDRESS,
    V1,
    V2,
    Case,
    DocumentChange,
    expected_quote,
    mismatch_error,
    set_value,
    without_gas,
    without_times,
)
from tests.support.fake_service import remote_source
from tests.support.markets import embedded_source


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_route_from_a_service_equals_that_of_the_core(case: Case) -> None:
    with remote_source(case.network) as (source, _):
        answer = source.quote(case.build_request())
    assert without_times(answer.result) == expected_quote(case)[0]
    assert answer.state_source.service_url
    assert answer.state_source.provenance is None
    assert {swap.token_out for s in answer.result.segments for hop in s.hops for swap in hop} <= answer.tokens.keys()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_payload_with_its_route_equals_that_of_the_core(case: Case) -> None:
    with remote_source(case.network) as (source, running):
        answer, payload = quote_and_build(source, case.build_request(), case.terms())
    result, expected = expected_quote(case)
    assert payload == expected
    assert without_gas(answer.result) == without_gas(result)
    assert len(running.exchanges) == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_payload_of_an_earlier_route_equals_that_of_the_core(case: Case) -> None:
    with remote_source(case.network) as (source, running):
        result = source.quote(case.build_request()).result
        assert source.build(result, case.terms()) == expected_quote(case)[1]
    assert len(running.exchanges) == 2


def test_a_remote_source_is_a_quote_source() -> None:
    with remote_source("base") as (source, _):
        quotes: QuoteSource = source
        assert quotes.network is find_network("base")


INTEGRATOR = Integrator(UNTRUSTED_ADDRESS, fee_bps=20)


@pytest.mark.parametrize(
    ("changes", "order", "message"),
    [
        ({"certify": True}, {}, "proofs"),
        ({"gas_price_wei": 1}, {}, "gas price"),
        ({}, {"max_hops": 3}, "number of hops"),
        ({}, {"reverse": True}, "exact output on base in v2"),
        ({"api_version": V1}, {"reverse": True}, "exact output on base in v1"),
        ({"api_version": V1, "integrator": INTEGRATOR}, {}, "an integrator in v1"),
    ],
)
@pytest.mark.parametrize("build", [False, True])
def test_an_option_unknown_to_the_api_is_rejected_unsent(
    changes: dict[str, Any], order: dict[str, Any], message: str, build: bool
) -> None:
    plain = SELL_V2.build_request()
    request = plain._replace(**changes, order=plain.order._replace(**order))
    with remote_source("base") as (source, running):
        with pytest.raises(InvalidOption, match=f"{message}.* cannot be sent to a service"):
            quote_and_build(source, request, SELL_V2.terms()) if build else source.quote(request)
        assert not running.exchanges


@pytest.mark.parametrize(
    ("case", "slippage_ppm"),
    [(SELL_V2, 490_001), (SELL_V1, 999), (SELL_V1, 1_000_001), (HYPE, 490_001), (HYPE, 999), (STRK, 999)],
    ids=str,
)
def test_a_slippage_unsupported_by_the_endpoint_is_not_sent(case: Case, slippage_ppm: int) -> None:
    with remote_source(case.network) as (source, running):
        with pytest.raises(InvalidSlippage):
            quote_and_build(source, case.build_request(), case.terms()._replace(slippage_ppm=slippage_ppm))
        assert not running.exchanges


def test_a_network_without_v2_gets_no_v2_request() -> None:
    with remote_source("starknet") as (source, running):
        with pytest.raises(InvalidOption, match="starknet does not support v2"):
            source.quote(STRK.build_request()._replace(api_version=V2))
        with pytest.raises(InvalidOption, match="starknet does not support v2"):
            source.build(expected_quote(STRK)[0]._replace(api_version=V2), STRK.terms())
        assert not running.exchanges


def test_a_token_for_itself_sends_no_request() -> None:
    plain = SELL_V2.build_request()
    same = plain._replace(order=plain.order._replace(token_out=plain.order.token_in))
    with remote_source("base") as (source, running), pytest.raises(SameToken):
        source.quote(same)
    assert not running.exchanges


@pytest.mark.parametrize(("case", "sent"), [(SELL_V2, "5"), (SELL_V1, None), (HYPE, None)], ids=str)
def test_excluded_protocols_go_as_the_network_calls_them(case: Case, sent: str | None) -> None:
    protocols = find_network(case.network).protocols
    excluded = protocols[5]
    request = case.build_request()
    request = request._replace(order=request.order._replace(excluded_protocols=frozenset({excluded.amm_name})))
    with remote_source(case.network) as (source, running):
        result = source.quote(request).result
        (exchange,) = running.exchanges
    named = excluded.amm_name if case is HYPE else str(excluded.id)
    assert f"excludeProtocols={named}" in exchange.target
    assert sent is None or named == sent
    assert excluded.id not in {swap.protocol_id for s in result.segments for hop in s.hops for swap in hop}


@pytest.mark.parametrize("integrator", [INTEGRATOR, Integrator(UNTRUSTED_ADDRESS, surplus_bps=5_000)])
def test_an_integrator_earns_exactly_the_requested_fee(integrator: Integrator) -> None:
    request = SELL_V2.build_request()._replace(integrator=integrator)
    expected = quote_and_build(embedded_source("base"), request, SELL_V2.terms())[1]
    with remote_source("base") as (source, _):
        answer, payload = quote_and_build(source, request, SELL_V2.terms())
        assert source.build(answer.result, SELL_V2.terms()) == payload
    assert payload == expected._replace(gas_units=None)
    assert payload.router_call.integrator_data


@pytest.mark.parametrize(
    "mutation", [set_value(21, "integratorFeePercentageBps"), set_value("0x" + "67" * 20, "integratorAddress")]
)
def test_an_unrequested_integrator_is_refused(mutation: DocumentChange) -> None:
    def earning(source: RemoteSource, case: Case) -> object:
        return source.quote(case.build_request()._replace(integrator=INTEGRATOR))

    assert "bps fee" in mismatch_error(SELL_V2, mutation, earning).message
