"""Every error of the interface and of this service, with its exact body and status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from swapcli.core import errors
from swapcli.core.errors import (
    Cancelled,
    Forbidden,
    InputOutputError,
    InsufficientBalance,
    InsufficientLiquidity,
    MarketUnavailable,
    Overloaded,
    RateLimited,
    SwapcliError,
    Unauthorized,
    UnhealthyError,
    UnsafeSwap,
    UpstreamError,
)
from swapcli.core.model.swap_terms import BOTH_FEE_AND_SURPLUS
from swapcli.faces.service.error_responses import ERROR_NAMES, MAX_SHOWN_NETWORKS, error_response, network_error
from swapcli.interface.errors import ErrorFormat
from tests.faces.service.test_endpoints import OneKey
from tests.support.service import (
    RECIPIENT,
    InProcessService,
    Json,
    build_order_query,
    build_swap_terms,
    in_process_service,
)
from tests.support.testnet import DIRECT_V3, NOW_S, build_testnet_market

INTEGRATOR = "0x" + "ab" * 20


@pytest.fixture
def service() -> Iterator[InProcessService]:
    with in_process_service("testnet", "base", "hyperevm", "citrea", "starknet", "monad", keys=OneKey()) as served:
        yield served


def hinted(body: Json, hint: str | None) -> Json:
    return body if hint is None else body | {"hint": hint}


def detailed(error: str, details: str, hint: str | None = None) -> Json:
    return hinted({"success": False, "error": error, "details": details}, hint)


def dated(service: InProcessService, body: Json) -> Json:
    """The same with the `meta` of V2."""
    return body | {"meta": service.v2_metadata}


def brief(error: str, message: str, hint: str | None = None) -> Json:
    return hinted({"error": error, "message": message}, hint)


def status(code: int, message: str, error: str, hint: str | None = None) -> Json:
    return hinted({"statusCode": code, "message": message, "error": error}, hint)


def bad(message: str, hint: str | None = None) -> Json:
    return status(400, message, "Bad Request", hint)


def v2_calldata(service: InProcessService, **changes: Any) -> Any:
    route = changes.pop("route", None) or service.get_json("/base/v2/route", build_order_query("base"))
    service.fake_clock.advance(changes.pop("after_s", 0))
    return service.post("/base/v2/calldata", {"route": route, **build_swap_terms("base"), **changes})


def execute(service: InProcessService, name: str, **changes: Any) -> Any:
    route = changes.pop("route", None) or service.get_json(f"/{name}/route", build_order_query(name))
    service.fake_clock.advance(changes.pop("after_s", 0))
    return service.post(f"/{name}/execute", {"route": route, **build_swap_terms(name), **changes})


def citrea(service: InProcessService, **changes: Any) -> Any:
    route = changes.pop("route_response", None) or service.get_json("/citrea/route", build_order_query("citrea"))
    service.fake_clock.advance(changes.pop("after_s", 0))
    body = {"route_response": route, "slippage": 1, "signer": RECIPIENT}
    return service.send("GET", "/citrea/calldata", json=body | changes)


def hyperevm(service: InProcessService, **changes: Any) -> Any:
    return service.get(
        "/hyperevm/calldata", {**build_order_query("hyperevm"), **build_swap_terms("hyperevm"), **changes}
    )


OUT_OF_49 = "slippage must be between 0 and 49 percent, not 49.0001"
OUT_OF_OWN = "slippage must be between 0.1 and 49 percent, not {}"
OUT_OF_V1 = "slippage must be between 0.1 and 100 percent, not {}"
OLD = "the route is 61 seconds old, but routes are valid for 60"
FRESH = "fetch a fresh route"
NO_ADDRESS = '"{}" is not an EVM address: expected 0x and 40 hexadecimal digits'
UNIT = "write it in base units"
PATHS_HINT = "GET /openapi.json or /docs for the paths"
ONE_OF_BOTH = "give only one of them (0 means not given)"


def test_v2_calldata_invalid_slippage(service: InProcessService) -> None:
    answer = v2_calldata(service, slippage=49.0001)
    assert (answer.status_code, answer.json()) == (400, dated(service, detailed("Invalid slippage", OUT_OF_49)))


def test_v2_calldata_invalid_route(service: InProcessService) -> None:
    answer = v2_calldata(service, route={"success": True, "meta": {}})
    assert (answer.status_code, answer.json()) == (
        400,
        dated(service, detailed("Invalid route", "route.inputToken is missing")),
    )


def test_v2_calldata_expired_route(service: InProcessService) -> None:
    answer = v2_calldata(service, after_s=61)
    assert (answer.status_code, answer.json()) == (400, dated(service, detailed("Invalid route", OLD, FRESH)))


def test_v2_calldata_route_that_now_gives_too_little(service: InProcessService) -> None:
    route = service.get_json("/base/v2/route", build_order_query("base"))
    out = int(route["outputAmount"])
    promised = route | {"outputAmount": str(out * 2)}
    least = out * 2 - out * 2 * 5_000 // 1_000_000
    answer = v2_calldata(service, route=promised)
    message = f"the route now pays {out}, less than the {least} its slippage allows"
    assert (answer.status_code, answer.json()) == (400, dated(service, detailed("Invalid route", message, FRESH)))


def test_v2_calldata_wants_the_whole_v2_route(service: InProcessService) -> None:
    answer = v2_calldata(service, route=service.get_json("/base/route", build_order_query("base")))
    message = "route.meta is missing: V2 calldata takes the complete V2 route response"
    assert (answer.status_code, answer.json()) == (400, dated(service, detailed("Invalid route", message)))


def test_citrea_calldata_invalid_route(service: InProcessService) -> None:
    answer = citrea(service, route_response={"success": False, "errorMessage": "no route"})
    message = "route_response must be a route that was found"
    assert (answer.status_code, answer.json()) == (400, detailed("Invalid route", message))


def test_citrea_calldata_expired_route(service: InProcessService) -> None:
    answer = citrea(service, after_s=61)
    assert (answer.status_code, answer.json()) == (400, detailed("Invalid route", OLD, FRESH))


def test_citrea_calldata_invalid_slippage(service: InProcessService) -> None:
    answer = citrea(service, slippage=0.05)
    assert (answer.status_code, answer.json()) == (400, detailed("Invalid slippage", OUT_OF_OWN.format("0.05")))


def test_citrea_calldata_invalid_signer(service: InProcessService) -> None:
    answer = citrea(service, signer="0x12")
    message = detailed("Invalid signer", "signer must be an Ethereum address", NO_ADDRESS.format("0x12"))
    assert (answer.status_code, answer.json()) == (400, message)


def test_hyperevm_calldata_invalid_slippage(service: InProcessService) -> None:
    answer = hyperevm(service, slippage="49.5")
    assert (answer.status_code, answer.json()) == (400, detailed("Invalid slippage", OUT_OF_OWN.format("49.5")))


def test_hyperevm_calldata_invalid_signer(service: InProcessService) -> None:
    answer = hyperevm(service, destination="me")
    message = "destination must be an Ethereum address"
    assert (answer.status_code, answer.json()) == (400, detailed("Invalid signer", message, NO_ADDRESS.format("me")))


def test_hyperevm_calldata_other_faults_have_its_form_too(service: InProcessService) -> None:
    answer = hyperevm(service, amount="1.5")
    message = "amount must be a decimal integer string from 1 to 2^256 - 1"
    assert (answer.status_code, answer.json()) == (400, detailed("Bad Request", message, UNIT))


@pytest.mark.parametrize("slippage", ["0.05", 100.0001])
def test_v1_execute_invalid_slippage(service: InProcessService, slippage: object) -> None:
    answer = execute(service, "base", slippage=slippage)
    assert (answer.status_code, answer.json()) == (400, brief("Invalid slippage", OUT_OF_V1.format(slippage)))


def test_v1_execute_route_expired_by_age(service: InProcessService) -> None:
    answer = execute(service, "base", after_s=61)
    assert (answer.status_code, answer.json()) == (400, brief("Route expired", OLD, FRESH))


def test_v1_execute_route_expired_by_the_market(service: InProcessService) -> None:
    route = service.get_json("/base/route", build_order_query("base"))
    out = int(route["outputAmount"])
    answer = execute(service, "base", route=route | {"outputAmount": str(out * 2)}, slippage=50)
    assert answer.status_code == 200
    answer = execute(service, "base", route=route | {"outputAmount": str(out * 2 + 1)}, slippage=50)
    message = f"the route now pays {out}, less than the {out + 1} its slippage allows"
    assert (answer.status_code, answer.json()) == (400, brief("Route expired", message, FRESH))


def test_v1_execute_insufficient_liquidity(service: InProcessService) -> None:
    small = {**build_order_query("testnet"), "excludeProtocols": "4"}
    route = service.get_json("/testnet/route", small)
    assert route["route"][0]["swaps"][0][0]["poolAddress"].lower() == DIRECT_V3
    answer = execute(service, "testnet", route=route | {"inputAmount": str(10**30)})
    document = answer.json()
    assert (answer.status_code, document["error"]) == (400, "Insufficient liquidity")
    assert set(document) == {"error", "message"}
    assert DIRECT_V3 in document["message"]


@pytest.mark.parametrize(("per_s", "unit"), [(10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")])
def test_a_deadline_of_another_unit_is_refused(service: InProcessService, per_s: int, unit: str) -> None:
    message = f"deadline looks like {unit}: it must be a future time in whole Unix seconds"
    for meant_s in (int(NOW_S) + 1_200, int(NOW_S) - 5, int(NOW_S) + 10**8):
        hint = f"{meant_s * per_s} in seconds is {meant_s}"
        answer = execute(service, "base", deadline=meant_s * per_s)
        assert (answer.status_code, answer.json()) == (400, brief("Invalid deadline", message, hint))
        answer = execute(service, "hyperevm", deadline=meant_s * per_s)
        assert (answer.status_code, answer.json()) == (400, detailed("Invalid deadline", message, hint))
    for never in (2**53 - 1, 2**63 - 1, 253_402_300_799):
        assert execute(service, "base", deadline=never).status_code == 200


def test_v1_execute_invalid_deadline_and_route(service: InProcessService) -> None:
    answer = execute(service, "base", deadline=int(NOW_S))
    message = "deadline must be a future time in whole Unix seconds"
    assert (answer.status_code, answer.json()) == (400, brief("Invalid deadline", message))
    answer = execute(service, "base", route=[1])
    assert (answer.status_code, answer.json()) == (400, brief("Invalid route", "route must be an object"))
    answer = service.post("/base/execute", build_swap_terms("base"))
    assert (answer.status_code, answer.json()) == (400, brief("Invalid route", "route is missing"))


def test_v1_execute_other_faults_have_its_form_too(service: InProcessService) -> None:
    answer = execute(service, "base", destination="0x0")
    message = "destination must be an Ethereum address"
    assert (answer.status_code, answer.json()) == (400, brief("Bad Request", message, NO_ADDRESS.format("0x0")))


def test_hyperevm_execute_route_expired(service: InProcessService) -> None:
    answer = execute(service, "hyperevm", after_s=61)
    assert (answer.status_code, answer.json()) == (400, detailed("Route expired", OLD, FRESH))


def test_hyperevm_execute_slippage_exceeded(service: InProcessService) -> None:
    route = service.get_json("/hyperevm/route", build_order_query("hyperevm"))
    out = int(route["outputAmount"])
    answer = execute(service, "hyperevm", route=route | {"outputAmount": str(3 * out)}, slippage=50)
    message = f"the route now pays {out}, less than the {3 * out - 3 * out // 2} its slippage allows"
    assert (answer.status_code, answer.json()) == (400, detailed("Slippage exceeded", message, FRESH))


def test_hyperevm_execute_invalid_deadline(service: InProcessService) -> None:
    answer = execute(service, "hyperevm", deadline=int(NOW_S) - 5)
    message = "deadline must be a future time in whole Unix seconds"
    assert (answer.status_code, answer.json()) == (400, detailed("Invalid deadline", message))
    assert execute(service, "hyperevm", deadline=int(NOW_S) + 1).status_code == 200


def test_hyperevm_execute_insufficient_balance() -> None:
    message = "Insufficient balance: the sender holds 3 USDC, but the swap takes 5 USDC"
    reply = error_response(InsufficientBalance(message), ErrorFormat.EXECUTE_DETAILED)
    assert reply is not None
    assert (reply.status, reply.document) == (400, detailed("Insufficient balance", message))


SLIPPAGE_EDGES = [
    ("GET", "/base/route", 0.1, 100),
    ("POST", "/base/execute", 0.1, 100),
    ("POST", "/base/calldata", 0.1, 100),
    ("POST", "/base/calldata with a route", 0.1, 100),
    ("GET", "/base/routeAndCalldata", 0.1, 100),
    ("GET", "/starknet/calldata", 0.1, 100),
    ("POST", "/base/v2/calldata", 0, 49),
    ("GET", "/base/v2/routeAndCalldata", 0, 49),
    ("GET", "/hyperevm/calldata", 0.1, 49),
    ("GET", "/citrea/calldata", 0.1, 49),
]


@pytest.mark.parametrize(("method", "path", "least", "most"), SLIPPAGE_EDGES)
def test_slippage_is_taken_up_to_its_edges_and_not_beyond(
    service: InProcessService, method: str, path: str, least: float, most: float
) -> None:
    path, _, has_route = path.partition(" ")
    name = path.split("/")[1]

    def answer(slippage: object) -> Any:
        if path == "/citrea/calldata":
            return citrea(service, slippage=slippage)
        if method == "GET":
            return service.get(path, {**build_order_query(name), **build_swap_terms(name, slippage)})
        posts_route = has_route or path != "/base/calldata"
        found = "/base/v2/route" if "v2" in path else "/base/route"
        body = {"route": service.get_json(found, build_order_query(name))} if posts_route else build_order_query(name)
        return service.post(path, {**body, **build_swap_terms(name, slippage)})

    for inside in (least, most, str(least), f"{most}.0000"):
        assert answer(inside).status_code == 200
    for outside in (f"{most}.0001", most + 1, *([f"{least - 0.0001:.4f}", 0] if least else [-1, "-0.1"])):
        refused = answer(outside)
        assert refused.status_code == 400
        assert "slippage" in refused.text


BOTH = {"integratorAddress": INTEGRATOR, "integratorFeePercentageBps": 1, "integratorSurplusPercentageBps": 1}


@pytest.mark.parametrize("path", ["/base/v2/route", "/base/v2/routeAndCalldata"])
@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "good"}])
def test_fee_and_surplus_together(service: InProcessService, path: str, headers: dict[str, str]) -> None:
    answer = service.get(path, {**build_order_query("base"), **build_swap_terms("base"), **BOTH}, headers=headers)
    assert (answer.status_code, answer.json()) == (400, dated(service, bad(BOTH_FEE_AND_SURPLUS, ONE_OF_BOTH)))


@pytest.mark.parametrize(
    "integrator",
    [{"integratorAddress": INTEGRATOR}, {"integratorFeePercentageBps": 1}, {"integratorSurplusPercentageBps": 9}],
)
@pytest.mark.parametrize("path", ["/base/v2/route", "/base/v2/routeAndCalldata"])
def test_integrator_parameters_without_a_key(
    service: InProcessService, path: str, integrator: dict[str, object]
) -> None:
    answer = service.get(path, {**build_order_query("base"), **build_swap_terms("base"), **integrator})
    message = "integrator parameters need an API key in the header X-API-Key"
    assert (answer.status_code, answer.json()) == (401, dated(service, status(401, message, "Unauthorized")))


@pytest.mark.parametrize("path", ["/base/execute", "/base/calldata", "/base/v2/calldata"])
def test_a_posted_route_with_an_integrator_needs_a_key_too(service: InProcessService, path: str) -> None:
    query = {**build_order_query("base"), "integratorAddress": INTEGRATOR, "integratorFeePercentageBps": 9}
    route = service.get("/base/v2/route", query, headers={"X-API-Key": "good"}).json()
    refused = service.post(path, {"route": route, **build_swap_terms("base")})
    assert (refused.status_code, refused.json()["error"]) == (401, "Unauthorized")
    assert (
        service.post(path, {"route": route, **build_swap_terms("base")}, headers={"X-API-Key": "good"}).status_code
        == 200
    )


@pytest.mark.parametrize("version", ["1.0", "3.0", 2])
def test_a_posted_route_of_another_version(service: InProcessService, version: object) -> None:
    route = service.get_json("/base/v2/route", build_order_query("base"))
    route["meta"]["apiVersion"] = version
    body, message = {"route": route, **build_swap_terms("base")}, 'route.meta.apiVersion must be "2.0"'
    answer = service.post("/base/v2/calldata", body)
    assert (answer.status_code, answer.json()) == (400, dated(service, detailed("Invalid route", message)))
    for path in ("/base/execute", "/base/calldata"):
        answer = service.post(path, body)
        assert answer.status_code == 400
        assert answer.json()["message"] == message


LOST = "funds sent to the zero address are lost"
BROKEN_RULES = [
    (BOTH, BOTH_FEE_AND_SURPLUS, ONE_OF_BOTH),
    ({"integratorFeePercentageBps": 9}, "{}integratorAddress should not be null or undefined", None),
    ({"integratorSurplusPercentageBps": 9}, "{}integratorAddress should not be null or undefined", None),
    ({"integratorFeePercentageBps": 9, "integratorAddress": ""}, "{}integratorAddress should not be null or undefined",
     None),
    ({"integratorFeePercentageBps": 9, "integratorAddress": "0x" + "0" * 40},
     "{}integratorAddress must be an Ethereum address that can hold tokens", LOST),
    ({"integratorSurplusPercentageBps": 9, "integratorAddress": "0x" + "e" * 40},
     "{}integratorAddress must be an Ethereum address that can hold tokens", LOST),
    ({"integratorFeePercentageBps": 501, "integratorAddress": INTEGRATOR},
     "integrator fee must be between 0 and 500 basis points, not 501", None),
    ({"integratorSurplusPercentageBps": 5001, "integratorAddress": INTEGRATOR},
     "integrator surplus must be between 0 and 5000 basis points, not 5001", None),
]  # fmt: skip
"""Integrator fields that break a rule, with the error; `{}` is the path of the route in a body."""


@pytest.mark.parametrize(("integrator", "message", "hint"), BROKEN_RULES)
def test_a_posted_route_is_judged_as_a_query(
    service: InProcessService, integrator: Json, message: str, hint: str | None
) -> None:
    key = {"headers": {"X-API-Key": "good"}}
    answer = service.get("/base/v2/route", {**build_order_query("base"), **integrator}, **key)
    assert (answer.status_code, answer.json()) == (400, dated(service, bad(message.format(""), hint)))
    route = service.get_json("/base/v2/route", build_order_query("base")) | integrator
    body = {"route": route, **build_swap_terms("base")}
    error = "Bad Request" if integrator == BOTH else "Invalid route"
    answer = service.post("/base/v2/calldata", body, **key)
    refused = detailed(error, message.format("route."), hint)
    assert (answer.status_code, answer.json()) == (400, dated(service, refused))
    assert service.post("/base/execute", body, **key).json() == brief(error, message.format("route."), hint)
    assert service.post("/base/calldata", body, **key).json() == bad(message.format("route."), hint)


@pytest.mark.parametrize("fields", [{"integratorAddress": INTEGRATOR}, {"integratorFeePercentageBps": None},
                                    {"integratorAddress": "", "integratorSurplusPercentageBps": 0}])  # fmt: skip
def test_a_posted_route_whose_integrator_earns_nothing(service: InProcessService, fields: Json) -> None:
    query = {**build_order_query("base"), **{name: value for name, value in fields.items() if value is not None}}
    route = service.get_json("/base/v2/route", build_order_query("base"))
    body = {"route": route | fields, **build_swap_terms("base")}
    found, posted = service.get("/base/v2/route", query), service.post("/base/v2/calldata", body)
    assert found.status_code == posted.status_code == (401 if fields.get("integratorAddress") else 200)
    posted = service.post("/base/v2/calldata", body, headers={"X-API-Key": "good"})
    assert posted.json() == service.post("/base/v2/calldata", {"route": route, **build_swap_terms("base")}).json()


def test_nobody_can_earn_on_starknet(service: InProcessService) -> None:
    integrator = {"integratorAddress": "0x0" + "5" * 63, "integratorFeePercentageBps": 9}
    meta = {"meta": {"apiVersion": "2.0", "timestamp": "2027-01-15T08:00:00.500Z"}, "routeSwapType": 2}
    route = service.get_json("/starknet/route", build_order_query("starknet")) | integrator | meta
    answer = service.post(
        "/starknet/execute", {"route": route, **build_swap_terms("starknet")}, headers={"X-API-Key": "good"}
    )
    message = "the router on starknet cannot pay an integrator"
    assert (answer.status_code, answer.json()) == (400, brief("Invalid route", message))


def test_a_fee_without_anybody_to_earn_it(service: InProcessService) -> None:
    query = {**build_order_query("base"), "integratorFeePercentageBps": 9}
    answer = service.get("/base/v2/route", query, headers={"X-API-Key": "good"})
    assert (answer.status_code, answer.json()) == (
        400,
        dated(service, bad("integratorAddress should not be null or undefined")),
    )


@pytest.mark.parametrize(
    ("name", "bps", "most"), [("integratorFeePercentageBps", 501, 500), ("integratorSurplusPercentageBps", 5001, 5000)]
)
def test_more_than_an_integrator_may_ask(service: InProcessService, name: str, bps: int, most: int) -> None:
    integrator = {"integratorAddress": INTEGRATOR, name: bps}
    answer = service.get("/base/v2/route", {**build_order_query("base"), **integrator}, headers={"X-API-Key": "good"})
    assert answer.status_code == 400
    assert f"between 0 and {most} basis points, not {bps}" in answer.json()["message"]
    inside = {**build_order_query("base"), **integrator, name: most}
    assert service.get("/base/v2/route", inside, headers={"X-API-Key": "good"}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/base/route"),
        ("POST", "/base/execute"),
        ("GET", "/base/v2/healthcheck"),
        ("GET", "/base/tokens"),
        ("GET", "/supported-chains"),
        ("GET", "/nowhere"),
    ],
)
@pytest.mark.parametrize("header", [{"X-API-Key": "revoked"}, {"Authorization": "Bearer revoked"}])
def test_an_unknown_key_is_refused_everywhere(
    service: InProcessService, method: str, path: str, header: dict[str, str]
) -> None:
    answer = service.send(method, path, headers=header)
    if path.endswith("/healthcheck") and "Authorization" in header:  # it may be for another service
        assert answer.status_code == 200
        return
    hint = "send a valid key, or no key"
    body = status(401, "the API key is unknown or was revoked", "Unauthorized", hint)
    assert (answer.status_code, answer.json()) == (401, dated(service, body) if "/v2/" in path else body)


def test_other_authorization_and_empty_keys_are_ignored(service: InProcessService) -> None:
    for header in ({"Authorization": "Basic dTpw"}, {"X-API-Key": ""}, {"Authorization": "Bearer"}):
        assert service.get("/base/route", build_order_query("base"), headers=header).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/base",
        "/base/",
        "/nowhere",
        "/base/v3/route",
        "/base/v2/execute",
        "/starknet/v2/route",
        "/starknet/v2/healthcheck",
        "/starknet/routeAndCalldata",
        "/base/routeBatch",
        "/base/executeBatch",
        "/base/tokens/a/b",
    ],
)
def test_what_is_at_no_path(service: InProcessService, path: str) -> None:
    answer = service.send("GET", "http://service.test" + path)
    body = status(404, "no such path", "Not Found", PATHS_HINT)
    assert (answer.status_code, answer.json()) == (404, dated(service, body) if "/v2/" in path else body)


def test_v2_calldata_is_not_on_starknet(service: InProcessService) -> None:
    answer = service.post("/starknet/v2/calldata", {})
    body = dated(service, status(404, "no such path", "Not Found", PATHS_HINT))
    assert (answer.status_code, answer.json()) == (404, body)


@pytest.mark.parametrize(
    "path", ["/moon/route", "/8453/route", "/moon/v2/healthcheck", "/moon/tokens", "/%2e%2e/route"]
)
def test_a_network_that_is_not_served(service: InProcessService, path: str) -> None:
    answer = service.get(path)
    hint = "it serves base, citrea, hyperevm, monad, starknet, testnet"
    body = status(404, "no such network on this service", "Not Found", hint)
    assert (answer.status_code, answer.json()) == (404, dated(service, body) if "/v2/" in path else body)


def test_the_list_of_served_networks_is_bounded() -> None:
    names = [f"n{number:03}" for number in range(MAX_SHOWN_NETWORKS + 3)]
    document = network_error(names).document
    assert isinstance(document, dict)
    shown = ", ".join(f"n{number:03}" for number in range(20))
    assert document["hint"] == f"it serves {shown} and 3 others: GET /supported-chains"


def test_a_token_that_is_not_known(service: InProcessService) -> None:
    answer = service.get("/base/tokens/0x" + "99" * 20)
    assert (answer.status_code, answer.json()) == (404, status(404, "no such token on base", "Not Found"))
    answer = service.get("/base/tokens/weth")
    assert (answer.status_code, answer.json()["error"]) == (400, "Bad Request")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/base/route", "GET, HEAD"),
        ("GET", "/base/execute", "POST"),
        ("GET", "/base/calldata", "POST"),
        ("DELETE", "/hyperevm/calldata", "GET, HEAD, POST"),
        ("PUT", "/base/v2/calldata", "POST"),
        ("OPTIONS", "/base/v2/route", "GET, HEAD"),
        ("POST", "/base/v2/healthcheck", "GET, HEAD"),
        ("POST", "/supported-chains", "GET, HEAD"),
        ("PATCH", "/readyz", "GET, HEAD"),
        ("BREW", "/base/tokens", "GET, HEAD"),
    ],
)
def test_a_method_that_a_path_does_not_take(service: InProcessService, method: str, path: str, allowed: str) -> None:
    answer = service.send(method, path)
    use = allowed.replace("GET, HEAD", "GET").replace(", ", " or ")
    body = status(405, f"this path does not accept that method: use {use}", "Method Not Allowed")
    body = dated(service, body) if "/v2/" in path else body
    assert (answer.status_code, answer.json(), answer.headers["Allow"]) == (405, body, allowed)


def test_an_unknown_router_names_its_setting_in_the_log() -> None:
    served = InProcessService({"testnet": build_testnet_market})
    try:
        route = served.get_json("/testnet/v2/route", build_order_query("testnet"))
        answer = served.post("/testnet/v2/calldata", {"route": route, **build_swap_terms("testnet")})
        message = "no payload can be built on testnet: its router is unknown"
        hint = "the operator of the service must change its settings"
        assert (answer.status_code, answer.json()) == (400, dated(served, detailed("Bad Request", message, hint)))
        answer = served.get(
            "/testnet/v2/routeAndCalldata", {**build_order_query("testnet"), **build_swap_terms("testnet")}
        )
        assert (answer.status_code, answer.json()) == (400, dated(served, bad(message, hint)))
        *_, logged = served.log_lines()
        assert logged["message"] == f"{message}: set networks.testnet.router"
    finally:
        served.close()


@pytest.mark.parametrize("error_format", list(ErrorFormat))
def test_errors_that_are_alike_everywhere(error_format: ErrorFormat) -> None:
    for error, code, reason in (
        (Unauthorized("x"), 401, "Unauthorized"),
        (Forbidden("x"), 403, "Forbidden"),
        (RateLimited("x", retry_after_s=7), 429, "Too Many Requests"),
        (Overloaded("x", retry_after_s=7), 503, "Service Unavailable"),
        (MarketUnavailable("x"), 503, "Service Unavailable"),
    ):
        reply = error_response(error, error_format)
        assert reply is not None
        body, retry_after = status(code, "x", reason), "7" if isinstance(error, RateLimited) else None
        if isinstance(error, MarketUnavailable):
            body, retry_after = body | {"hint": "retry later", "code": "MARKET_UNAVAILABLE"}, "2"
        assert (reply.status, reply.document) == (code, body)
        assert dict(reply.headers).get("Retry-After") == retry_after


def tree(error: type[SwapcliError] = SwapcliError) -> Iterator[type[SwapcliError]]:
    for each in error.__subclasses__():
        if each.__module__ == errors.__name__:
            yield each
            yield from tree(each)


def of(kind: type[SwapcliError]) -> SwapcliError:
    error = kind.__new__(kind)
    SwapcliError.__init__(error, "message")
    if isinstance(error, RateLimited):
        error.retry_after_s = 1
    return error


@pytest.mark.parametrize("error_format", list(ErrorFormat))
def test_every_client_error_of_the_tree_has_a_response(error_format: ErrorFormat) -> None:
    for kind in tree():
        reply = error_response(of(kind), error_format)
        # The service warns about unsafe swaps but does not reject them, unless its nodes disagree; it writes no files.
        is_internal = issubclass(kind, UpstreamError | UnhealthyError | UnsafeSwap | InputOutputError | Cancelled)
        if is_internal and kind is not errors.NodesDisagree:
            assert reply is None
        else:
            assert reply is not None
            assert reply.status in (200, 400, 401, 403, 404, 429, 503)


def test_a_hint_reaches_the_client_if_the_client_can_act_on_it() -> None:
    for error, hint in (
        (errors.InvalidAmount("x", hint="smaller", details={"field": "amount"}), "smaller"),
        (errors.RouteExpired("x", hint="fetch a fresh route"), "fetch a fresh route"),
        (errors.InvalidOption("x", hint="add --destination"), None),
        (errors.MarketUnavailable("x", hint="give --rpc-url URL"), "retry later"),
        (errors.ConfigError("x", hint="set networks.y.router"), "the operator of the service must change its settings"),
        (errors.UnknownProtocol("x", hint="swapcli protocols base lists them"), None),
        (errors.InvalidAmount("x", details={"field": "amount"}), None),
    ):
        for error_format in ErrorFormat:
            reply = error_response(error, error_format)
            assert reply is not None
            assert isinstance(reply.document, dict)
            assert reply.document.get("hint") == hint


def test_every_name_in_the_table_is_one_of_the_interfaces() -> None:
    names = {name for rows in ERROR_NAMES.values() for _, name in rows}
    assert names == {
        "Invalid route",
        "Invalid slippage",
        "Invalid deadline",
        "Route expired",
        "Insufficient liquidity",
        "Insufficient balance",
        "Slippage exceeded",
    }


def test_a_pool_error_makes_a_posted_route_invalid_in_v2() -> None:
    reply = error_response(InsufficientLiquidity("dry"), ErrorFormat.CALLDATA_V2)
    assert reply is not None
    assert reply.document == detailed("Invalid route", "dry")
