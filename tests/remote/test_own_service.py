"""Our own service on a real socket, asked by our own client: what comes back is what the core says."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
import uvicorn

from swapcli.config.settings import ServiceSettings
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.health import HEALTHY
from swapcli.engine.sources.remote import RemoteSource
from swapcli.errors import InvalidRoute, NoRoute, Unauthorized, UnknownToken
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Market
from swapcli.model.swap_terms import Integrator
from swapcli.networks.catalogue import network, network_names
from swapcli.service.app import create_app
from swapcli.service.market_registry import MarketRegistry
from tests.remote.cases import CASES, RECEIVER, SELL_V2, Case, core, gasless, timeless
from tests.support.markets import embedded_source

READY_S = 20.0


def market_of(name: str) -> Market:
    return embedded_source(name).market


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a service of all embedded markets."""
    names = network_names()
    desk = MarketRegistry(map(network, names), {name: partial(market_of, name) for name in names})
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(create_app(desk, ServiceSettings()), log_config=None, lifespan="on")
        server = uvicorn.Server(config)
        running = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        running.start()
        try:
            _wait(server)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            running.join()


def _wait(server: uvicorn.Server) -> None:
    give_up_s = time.monotonic() + READY_S
    while not server.started:
        assert time.monotonic() < give_up_s
        time.sleep(0.01)


def source(url: str, name: str) -> RemoteSource:
    return RemoteSource(url, network(name), SYSTEM_CLOCK, api_key=None, timeout_s=20.0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_route_is_the_cores(url: str, case: Case) -> None:
    assert timeless(source(url, case.network).quote(case.ask()).result) == core(case)[0]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_route_with_its_payload_is_the_cores(url: str, case: Case) -> None:
    answer, payload = source(url, case.network).quote_and_build(case.ask(), case.terms())
    result, expected = core(case)
    assert payload == expected
    assert gasless(answer.result) == gasless(result)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_payload_of_a_posted_route_is_the_cores(url: str, case: Case) -> None:
    asking = source(url, case.network)
    assert asking.build(asking.quote(case.ask()).result, case.terms()) == core(case)[1]


@pytest.mark.parametrize("name", network_names())
def test_every_network_is_healthy(url: str, name: str) -> None:
    health = source(url, name).health()
    assert (health.status, health.network) == (HEALTHY, name)
    assert health.message


@pytest.mark.parametrize("name", network_names())
def test_a_token_that_only_the_market_holds_is_found(url: str, name: str) -> None:
    held, known = embedded_source(name).market.tokens, {token.address for token in network(name).tokens}
    asking = source(url, name)
    for token in [each for each in held.values() if each.address not in known][:3] or list(held.values())[:1]:
        found = asking.token(token.address)
        assert (found.address, found.symbol, found.decimals) == (token.address, token.symbol, token.decimals)


def test_a_token_that_nobody_knows_is_unknown(url: str) -> None:
    with pytest.raises(UnknownToken):
        source(url, "base").token("0x" + "66" * 20)


def test_where_there_is_no_route_the_service_says_so(url: str) -> None:
    ask = SELL_V2.ask()
    alone = ask.order.token_out._replace(address="0x" + "66" * 20)
    with pytest.raises(NoRoute):
        source(url, "base").quote(ask._replace(order=replace(ask.order, token_out=alone)))


def test_an_integrator_without_a_key_is_unauthorized(url: str) -> None:
    with pytest.raises(Unauthorized):
        source(url, "base").quote(SELL_V2.ask()._replace(integrator=Integrator(RECEIVER, fee_bps=1)))


def test_an_old_route_is_refused(url: str) -> None:
    asking = source(url, "base")
    old = asking.quote(SELL_V2.ask()).result
    stale = old._replace(timestamp_ms=old.timestamp_ms - 3_600_000)
    with pytest.raises(InvalidRoute, match="seconds old"):
        asking.build(stale, SELL_V2.terms())


def test_a_service_that_is_asked_by_many_at_once_answers_each(url: str) -> None:
    cases = [case for case in CASES if case.api_version is ApiVersion.V2][:4]
    told: dict[Case, object] = {}

    def ask(case: Case) -> None:
        told[case] = timeless(source(url, case.network).quote(case.ask()).result)

    threads = [threading.Thread(target=ask, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {case: core(case)[0] for case in cases}
