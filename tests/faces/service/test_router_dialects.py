"""A service for a router whose calls have no swap parameters gives its transactions to clients that expect them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.routing.replay import replay
from swapcli.faces.cli.options import OutputOptions
from swapcli.faces.cli.session import open_session
from swapcli.faces.service.service_sources import open_service_sources
from swapcli.interface.route import parse_result
from swapcli.payload.dialects import execution_of
from tests.support.markets import embedded_market
from tests.support.service import (
    RECIPIENT,
    ROUTER,
    InProcessService,
    build_order_query,
    build_swap_terms,
    in_process_service,
)

DIALECTS = (UNIVERSAL_ROUTER, SETTLER)
HALF_PERCENT = 5_000


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    """A network for each dialect, with the pools of base."""
    market = embedded_market("base")
    markets = {
        dialect: market._replace(network=market.network.for_dialect(dialect)._replace(name=dialect, router=ROUTER))
        for dialect in DIALECTS
    }
    served = InProcessService({name: partial(markets.__getitem__, name) for name in DIALECTS})
    try:
        yield served
    finally:
        served.close()


def query(*, sells_native: bool = False) -> dict[str, str]:
    native_sold = build_order_query("base", 10**19)
    if sells_native:
        return native_sold
    wrapped = embedded_market("base").network.wrapped_native_address
    return {**native_sold, "tokenInAddress": str(wrapped)}


@pytest.mark.parametrize("sells_native", [False, True])
@pytest.mark.parametrize("name", DIALECTS)
def test_transactions_are_those_of_the_library(service: InProcessService, name: str, sells_native: bool) -> None:
    order, terms = query(sells_native=sells_native), {**build_swap_terms("base"), "dialect": name}
    route = service.get_json(f"/{name}/v2/route", order)
    apart = service.post(f"/{name}/v2/calldata", {"route": route, **terms}).json()
    at_once = service.get_json(f"/{name}/v2/routeAndCalldata", {**order, **terms})
    source = service.registry.open_source(name)
    result = parse_result(route, source.network)
    expected = source.build(result, SwapTerms(HALF_PERCENT, RECIPIENT))
    assert apart["calldata"] == expected.calldata == at_once["calldata"]["calldata"]
    assert apart["to"].lower() == apart["router_address"].lower() == expected.to
    assert apart["value"] == str(expected.value) == (order["amount"] if sells_native else "0")
    assert apart["dialect"] == name
    *approvals, swap = apart["transactions"]
    assert swap == {"what": "swap", **{key: apart[key] for key in ("to", "calldata", "value")}}
    assert len(approvals) == len(expected.approvals) == (0 if sells_native else 2 if name == UNIVERSAL_ROUTER else 1)
    assert apart["deadline"] == int(service.fake_clock.now_s) + 60
    assert apart["route"]["amount_out"] == route["outputAmount"]
    done = replay(source.market.pools, result.route, result.input_amount, execution_of(source.network))
    assert abs(done.amount_out - int(route["outputAmount"])) <= len(done.steps)
    assert {key: at_once["calldata"][key] for key in ("to", "value", "route", "transactions", "deadline")} == {
        key: apart[key] for key in ("to", "value", "route", "transactions", "deadline")
    }
    for absent in ("swap_parameters", "integrator_data"):
        assert absent not in apart


@pytest.mark.parametrize("name", DIALECTS)
def test_a_client_that_expects_no_dialect_is_told_of_it(service: InProcessService, name: str) -> None:
    order, terms = query(), build_swap_terms("base")
    message = (
        f"transactions on {name} are for the router {name}, whose calls have no swap parameters: "
        f"request them from V2 with dialect={name}"
    )
    first, second = (service.get_json(f"/{name}/{version}route", order) for version in ("", "v2/"))
    answers = [
        service.get(f"/{name}/v2/routeAndCalldata", {**order, **terms}),
        service.get(f"/{name}/routeAndCalldata", {**order, **terms}),
        service.post(f"/{name}/v2/calldata", {"route": second, **terms}),
        service.post(f"/{name}/execute", {"route": first, **terms}),
        service.post(f"/{name}/calldata", {"route": first, **terms}),
        service.post(f"/{name}/calldata", {**order, **terms, "dialect": name}),
    ]
    for answer in answers:
        document = answer.json()
        assert answer.status_code == 400
        assert message in (document.get("message"), document.get("details"))


def test_another_dialect_than_the_routers_is_refused(service: InProcessService) -> None:
    extra = {**build_swap_terms("base"), "dialect": SETTLER}
    for path in ("route", "routeAndCalldata"):
        answer = service.get(f"/{UNIVERSAL_ROUTER}/v2/{path}", {**query(), **extra})
        assert answer.status_code == 400
        assert answer.json()["message"] == (
            f"transactions on {UNIVERSAL_ROUTER} are for the router {UNIVERSAL_ROUTER}, not {SETTLER}"
        )


def test_naming_the_public_router_changes_nothing() -> None:
    with in_process_service("base") as served:
        plain, named = (
            served.get_json("/base/v2/routeAndCalldata", {**query(), **build_swap_terms("base"), **extra})
            for extra in ({}, {"dialect": "fibrous"})
        )
    assert plain["calldata"] == named["calldata"]


def test_serve_takes_the_router_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPCLI_ROUTER_DIALECT", UNIVERSAL_ROUTER)
    session = open_session(OutputOptions(), offline=True)
    registry = open_service_sources(session.sources, ["base"], print).registry
    assert registry.open_source("base").network.router_dialect == UNIVERSAL_ROUTER
    with pytest.raises(InvalidOption, match="the Universal Router is not known on hyperevm") as caught:
        open_service_sources(session.sources, ["hyperevm"], print)
    assert caught.value.hint == "set networks.hyperevm.router_dialect to fibrous, or list the networks to serve"
