"""Headers of routes and transactions: the state behind them, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from swapcli.core.model.market import Provenance
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.service.market_registry import ServiceRules
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER, ReportedState, parse_state, parse_warnings
from swapcli.quoting.config.settings import ServiceSettings
from tests.support.service import (
    FELT_RECIPIENT,
    ROUTER,
    FakeClock,
    InProcessService,
    build_order_query,
    build_swap_terms,
    in_process_service,
)
from tests.support.testnet import NOW_S, build_market_document, build_testnet_market

HUGE = {"base": 5 * 10**22, "starknet": 10**27}
"""More than half is lost, without a search that drains every pool."""


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service("base", "hyperevm", "citrea", "starknet", "testnet") as served:
        yield served


def stated(answer: httpx.Response) -> tuple[ReportedState | None, tuple[str, ...]]:
    assert answer.status_code == 200, answer.text
    return parse_state(answer.headers.get(STATE_HEADER)), parse_warnings(answer.headers.get(WARNINGS_HEADER)).codes


def answers(service: InProcessService, name: str, amount: int) -> Iterator[tuple[str, httpx.Response]]:
    """A valid request to every endpoint that returns a route or a transaction."""
    query = {**build_order_query(name, amount), **build_swap_terms(name)}
    v1 = service.get(f"/{name}/route", build_order_query(name, amount))
    yield "V1 route", v1
    posted = {"route": v1.json(), **build_swap_terms(name)}
    yield "V1 execute", service.post(f"/{name}/execute", posted)
    yield "V1 calldata of a route", service.post(f"/{name}/calldata", posted)
    yield "V1 calldata of an order", service.post(f"/{name}/calldata", query)
    if name in ("hyperevm", "starknet"):
        yield "own calldata", service.get(f"/{name}/calldata", query)
    if name == "citrea":
        signed = {"route_response": v1.json(), "slippage": 0.5, "signer": build_swap_terms(name)["destination"]}
        yield "own calldata", service.send("GET", f"/{name}/calldata", json=signed)
    if name == "starknet":
        pair = [str(amount), str(amount // 2)]
        batch = {
            "amounts": ",".join(pair),
            "tokenInAddresses": ",".join([build_order_query(name)["tokenInAddress"]] * 2),
            "tokenOutAddresses": build_order_query(name)["tokenOutAddress"],
        }
        yield "routeBatch", service.get(f"/{name}/routeBatch", batch)
        recipient = {"slippage": 0.5, "destination": FELT_RECIPIENT}
        yield "executeBatch", service.get(f"/{name}/executeBatch", batch | recipient)
        return
    yield "V1 routeAndCalldata", service.get(f"/{name}/routeAndCalldata", query)
    if name != "citrea":
        v2 = service.get(f"/{name}/v2/route", build_order_query(name, amount))
        yield "V2 route", v2
        yield "V2 calldata", service.post(f"/{name}/v2/calldata", {"route": v2.json(), **build_swap_terms(name)})
        yield "V2 routeAndCalldata", service.get(f"/{name}/v2/routeAndCalldata", query)


@pytest.mark.parametrize("name", ["base", "hyperevm", "citrea", "starknet"])
def test_every_route_and_payload_says_where_it_comes_from(service: InProcessService, name: str) -> None:
    amount = 10**21 if name == "starknet" else 10**15  # a STRK is worth less than ten times the gas
    for endpoint, answer in answers(service, name, amount):
        state, codes = stated(answer)
        assert state is not None, endpoint
        assert (state.provenance, codes) == (Provenance.MODELLED, ("STATE_MODELLED",)), endpoint


@pytest.mark.parametrize("name", ["base", "starknet"])
def test_a_high_price_impact_is_a_warning_with_its_figure(service: InProcessService, name: str) -> None:
    for endpoint, answer in answers(service, name, HUGE[name]):
        assert answer.status_code == 200, endpoint
        warnings = parse_warnings(answer.headers[WARNINGS_HEADER])
        assert warnings.codes == ("PRICE_IMPACT_HIGH", "STATE_MODELLED"), endpoint
        assert warnings.price_impact is not None
        assert warnings.price_impact > 0.5, endpoint


def test_what_is_not_quoted_has_no_such_headers(service: InProcessService) -> None:
    for answer in (
        service.get("/base/tokens"),
        service.get("/base/route", {}),
        service.get("/base/route", build_order_query("base", 1)),
    ):
        assert STATE_HEADER not in answer.headers
        assert WARNINGS_HEADER not in answer.headers


@pytest.mark.parametrize("path", ["/base/healthcheck", "/base/v2/healthcheck", "/starknet/healthcheck"])
def test_a_health_check_says_which_state_it_is_of(service: InProcessService, path: str) -> None:
    answer = service.get(path)
    assert answer.headers[STATE_HEADER] == "modelled"
    assert WARNINGS_HEADER not in answer.headers


@pytest.mark.parametrize(("age_s", "codes"), [(0, ()), (60, ()), (61, ("STATE_OLD",))])
def test_state_from_the_chain_says_its_block_and_age(age_s: int, codes: tuple[str, ...]) -> None:
    network = build_market_document()["network"] | {"router": ROUTER}
    market = build_testnet_market(provenance="recorded", timestamp=int(NOW_S) - age_s, network=network)
    served = InProcessService({"testnet": lambda: market}, clock=FakeClock(NOW_S))
    try:
        answer = served.get("/testnet/v2/route", build_order_query("testnet"))
        assert stated(answer) == (ReportedState(Provenance.RECORDED, 1234, age_s), codes)
        assert (WARNINGS_HEADER in answer.headers) == bool(codes)
    finally:
        served.close()


def test_browsers_may_read_the_headers() -> None:
    settings = ServiceSettings(cors_origins=("https://app.example",))
    with in_process_service("testnet", settings=settings) as served:
        answer = served.get(
            "/testnet/v2/route", build_order_query("testnet"), headers={"Origin": "https://app.example"}
        )
        assert {STATE_HEADER, WARNINGS_HEADER} <= set(answer.headers["Access-Control-Expose-Headers"].split(", "))


def test_the_description_has_the_headers_where_they_are_sent(service: InProcessService) -> None:
    paths = service.get("/openapi.json").json()["paths"]
    described = {
        (path, method)
        for path, item in paths.items()
        for method, operation in item.items()
        if method in ("get", "post") and STATE_HEADER in operation["responses"]["200"].get("headers", {})
    }
    assert ("/base/v2/route", "get") in described or ("/{network}/v2/route", "get") in described
    assert not any(path.endswith(("healthcheck", "tokens", "protocols", "metrics")) for path, _ in described)
    assert len(described) >= 12


def test_a_high_slippage_is_answered_with_a_warning(service: InProcessService) -> None:
    """The interface accepts up to 100 percent, or 49: the service warns, and the client decides."""
    route = service.get("/base/v2/route", build_order_query("base"))
    terms = {"destination": "0x" + "81" * 20}
    order = build_order_query("base") | terms
    for slippage, warned in ((3, False), (30, True), ("0.30000000000000004", False)):
        answers = (
            service.get("/base/route", order | {"slippage": str(slippage)}),
            service.get("/base/v2/routeAndCalldata", order | {"slippage": str(slippage)}),
            service.post("/base/v2/calldata", {"route": route.json(), "slippage": slippage, **terms}),
        )
        for answer in answers:
            assert answer.status_code == 200
            assert ("SLIPPAGE_HIGH" in stated(answer)[1]) == warned
    detailed = service.get("/base/route", order | {"slippage": "30", "details": "true"}).json()
    assert "SLIPPAGE_HIGH" in [each["code"] for each in detailed["warnings"]]


def test_wrapping_is_built_without_slippage(service: InProcessService) -> None:
    wrapped = find_network("base").wrapped_native_address or ""
    order = build_order_query("base") | {"tokenOutAddress": wrapped}
    terms = {"destination": "0x" + "81" * 20}
    built = service.get("/base/v2/routeAndCalldata", order | {**terms, "slippage": "30", "details": "true"})
    posted = {"route": service.get_json("/base/v2/route", order), "slippage": 30, **terms}
    for answer in (built, service.post("/base/v2/calldata", posted)):
        document = answer.json()
        call = document.get("calldata", document)
        assert (call["route"]["min_received"], stated(answer)[1]) == (str(10**18), ("STATE_MODELLED",))


def test_gas_that_outweighs_the_order_is_a_warning(service: InProcessService) -> None:
    terms = {"destination": "0x" + "81" * 20, "slippage": "0.5"}
    for amount, warned in ((10**12, True), (10**18, False)):
        order = build_order_query("base", amount) | {"details": "true"}
        route, built = service.get("/base/v2/route", order), service.get("/base/v2/routeAndCalldata", order | terms)
        for answer, figures in ((route, route.json()), (built, built.json()["route"])):
            codes = [each["code"] for each in figures["warnings"]]
            assert ("GAS_EXCEEDS_SHARE" in stated(answer)[1], "GAS_EXCEEDS_SHARE" in codes) == (warned, warned)


def test_a_slippage_of_javascript_is_rounded_down(service: InProcessService) -> None:
    query = build_order_query("base") | {"details": "true"}
    shown = service.get("/base/route", query | {"slippage": "0.30000000000000004"}).json()
    expected = service.get("/base/route", query | {"slippage": "0.3"}).json()
    assert (shown["slippage"], shown["minReceived"]) == (0.3, expected["minReceived"])


def test_the_thresholds_of_the_service_are_its_own() -> None:
    with in_process_service("testnet") as served:
        served.registry.rules = ServiceRules(terms=SwapTerms(0, impact_warning_ppm=1))
        answer = served.get("/testnet/v2/route", build_order_query("testnet"))
        assert "PRICE_IMPACT_HIGH" in stated(answer)[1]
