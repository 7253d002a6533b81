"""The client gets from the service, over a real socket, the same results as from the local source."""

from __future__ import annotations

import threading

import pytest

from swapcli.core.errors import InvalidRoute, NoRoute, Unauthorized, UnknownToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.interface.health import HEALTHY
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.quoting.remote.cases import CASES, RECIPIENT, SELL_V2, Case, expected_quote, without_gas, without_times
from tests.support.markets import embedded_source


def source(service_url: str, name: str) -> RemoteSource:
    return RemoteSource(service_url, find_network(name), SYSTEM_CLOCK, api_key=None, timeout_s=20.0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_route_equals_the_local_one(service_url: str, case: Case) -> None:
    assert (
        without_times(source(service_url, case.network).quote(case.build_request()).result) == expected_quote(case)[0]
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_route_with_its_transaction_equals_the_local_one(service_url: str, case: Case) -> None:
    answer, payload = quote_and_build(source(service_url, case.network), case.build_request(), case.terms())
    result, expected = expected_quote(case)
    assert payload == expected
    assert without_gas(answer.result) == without_gas(result)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_transaction_of_a_posted_route_equals_the_local_one(service_url: str, case: Case) -> None:
    remote = source(service_url, case.network)
    assert remote.build(remote.quote(case.build_request()).result, case.terms()) == expected_quote(case)[1]


@pytest.mark.parametrize("name", network_names())
def test_every_network_is_healthy(service_url: str, name: str) -> None:
    health = source(service_url, name).health()
    assert (health.status, health.network) == (HEALTHY, name)
    assert health.message


@pytest.mark.parametrize("name", network_names())
def test_a_token_of_the_market_only_is_found(service_url: str, name: str) -> None:
    stored, known = embedded_source(name).market.tokens, {token.address for token in find_network(name).tokens}
    remote = source(service_url, name)
    for token in [each for each in stored.values() if each.address not in known][:3] or list(stored.values())[:1]:
        found = remote.token(token.address)
        assert (found.address, found.symbol, found.decimals) == (token.address, token.symbol, token.decimals)


def test_an_unlisted_token_is_unknown(service_url: str) -> None:
    with pytest.raises(UnknownToken):
        source(service_url, "base").token("0x" + "66" * 20)


def test_a_missing_route_is_reported(service_url: str) -> None:
    request = SELL_V2.build_request()
    unlisted = request.order.token_out._replace(address="0x" + "66" * 20)
    with pytest.raises(NoRoute):
        source(service_url, "base").quote(request._replace(order=request.order._replace(token_out=unlisted)))


def test_an_integrator_without_a_key_is_unauthorized(service_url: str) -> None:
    with pytest.raises(Unauthorized):
        source(service_url, "base").quote(SELL_V2.build_request()._replace(integrator=Integrator(RECIPIENT, fee_bps=1)))


def test_an_old_route_is_rejected(service_url: str) -> None:
    remote = source(service_url, "base")
    old = remote.quote(SELL_V2.build_request()).result
    stale = old._replace(timestamp_ms=old.timestamp_ms - 3_600_000)
    with pytest.raises(InvalidRoute, match="seconds old"):
        remote.build(stale, SELL_V2.terms())


def test_concurrent_requests_get_their_own_responses(service_url: str) -> None:
    cases = [case for case in CASES if case.api_version is ApiVersion.V2][:4]
    results: dict[Case, object] = {}

    def request_quote(case: Case) -> None:
        results[case] = without_times(source(service_url, case.network).quote(case.build_request()).result)

    threads = [threading.Thread(target=request_quote, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {case: expected_quote(case)[0] for case in cases}
