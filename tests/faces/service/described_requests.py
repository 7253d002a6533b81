"""Every request that the OpenAPI document allows, and many that it does not, get a documented response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import settings
from jsonschema_rs import Draft202012Validator
from schemathesis import Case, CheckContext, Config, Response
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.examples import IS_FULL, examples
from tests.faces.service.openapi_operations import Operation, list_operations, openapi_document
from tests.support.markets import embedded_market
from tests.support.service import build_app, serve_app

QUERIES, BODIES, KNOWN = examples(4, full=130), examples(2, full=30), examples(2, full=25)
"""Examples for each operation that takes a query, that takes a body, and of values that are known, beside the hundreds
that schemathesis makes of every limit that is described: more than 5,000 together where all examples are run. Bodies
are nested deep and take long to make; `test_fuzz_bodies` makes better ones of real routes."""

ACCEPTANCE = positive_data_acceptance
"""Asked for separately, of values that are known: no schema can say that an address carries its right checksum, that
two tokens differ, that an integrator has a key, that a route was found less than a minute ago and still pays."""


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serve_app(build_app()) as url:
        yield url


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


def described() -> dict[str, Any]:
    """The document, with routes to post that are small, and without their fields that may hold anything: they are
    allowed all the same, but hypothesis would spend its time on them."""
    document = _without_streams()
    schemas = document["components"]["schemas"]
    posted, segment = schemas["PostedRoute"]["properties"], deepcopy(schemas["RouteSegment"])
    segment["properties"]["swaps"] = _at_most_two(_at_most_two({"$ref": "#/components/schemas/Swap"}))
    posted["route"] = _at_most_two(segment)
    for properties in (posted, schemas["PostedMeta"]["properties"]):
        for name in [name for name, each in properties.items() if not each.keys() - {"description"}]:
            del properties[name]
    return document


def _without_streams() -> dict[str, Any]:
    """The document without responses that do not end: `test_quote_stream` has requests for them."""
    document = deepcopy(openapi_document())
    document["paths"] = {path: each for path, each in document["paths"].items() if not path.endswith("/events")}
    return document


def _at_most_two(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": 2}


def known() -> dict[str, Any]:
    """The document with values instead of schemas, so that every matching request has to be accepted.

    Operations that need a key or a route are omitted, and repetitions unless all tests are run.
    """
    document = _without_streams()
    for path, method in [(each.path, each.method) for each in list_operations(document) if not _is_knowable(each)]:
        del document["paths"][path][method]
    for operation in list_operations(document):
        for each in operation.parameters:
            each["schema"].update(_values(operation, each["name"]))
            each["schema"].pop("pattern", None)
        left = [each for each in operation.definition.get("parameters", ()) if "integrator" not in each["name"]]
        operation.definition["parameters"] = left  # type: ignore[index]
    return document


def _is_knowable(operation: Operation) -> bool:
    if f"{operation.method.upper()} {operation.path}" in REPEATED and not IS_FULL:
        return False
    return "requestBody" not in operation.definition and not operation.path.endswith("{address}")


def _values(operation: Operation, name: str) -> dict[str, Any]:
    """Valid values only; for a shared path, of the first network."""
    network = operation.networks()[0] if operation.networks() else "base"
    if name == "network":
        return {"enum": [network]}
    tokens = sorted(embedded_market(network).tokens)
    amounts = ["1", "1000000", "123456789012345678901"]
    protocols = ["1", "2,3"] if network != "hyperevm" or "/v2/" in operation.path else ["gliquid"]
    values: dict[str, list[Any]] = {
        "tokenInAddress": tokens[::2],
        "tokenOutAddress": tokens[1::2],
        "amount": amounts,
        "amounts": [",".join(amounts), ",".join(reversed(amounts))],
        "tokenInAddresses": [",".join(tokens[:6:2]), ",".join([tokens[0]] * 3)],
        "tokenOutAddresses": tokens[1::2],
        "slippage": [0.1, 0.5, 1, 48.9999],
        "destination": ["0x" + "12" * (30 if network == "starknet" else 20)],
        "excludeProtocols": protocols,
        "onlyProtocols": protocols,
    }
    return {"enum": values[name]} if name in values else {}


OPERATIONS = {f"{each.method.upper()} {each.path}": each for each in list_operations(openapi_document())}
WITH_BODY = [label for label, each in OPERATIONS.items() if "requestBody" in each.definition]
schema = schemathesis.openapi.from_dict(described())
REPEATED = {
    "POST /hyperevm/execute",
    "POST /starknet/execute",
    "POST /{network}/calldata",
    "POST /citrea/calldata",
    "GET /citrea/calldata",
    "POST /hyperevm/calldata",
    "GET /hyperevm/route",
    "GET /starknet/route",
    "GET /{network}/route.svg",
    "GET /hyperevm/route.svg",
    "GET /starknet/route.svg",
    "GET /hyperevm/calldata",
    "GET /starknet/calldata",
    "POST /starknet/calldata",
    "GET /starknet/executeBatch",
    "GET /hyperevm/routeAndCalldata",
    "GET /{network}/routeAndCalldata",
    "GET /{network}/healthcheck",
}
"""Operations that differ little from another: by the network, or by the version of the interface."""
with_query = schema.exclude(name=[*WITH_BODY, *REPEATED])
with_body = schema.include(name=[label for label in WITH_BODY if label not in REPEATED])
repeated_with_query = schema.include(name=[label for label in REPEATED if label not in WITH_BODY])
repeated_with_body = schema.include(name=[label for label in WITH_BODY if label in REPEATED])
good = schemathesis.openapi.from_dict(known(), config=Config.from_dict({"generation": {"mode": "positive"}}))


def closed() -> dict[str, Any]:
    """The document without additional properties."""
    document = deepcopy(openapi_document())
    for each in document["components"]["schemas"].values():
        each["additionalProperties"] = False
    return document


CLOSED = closed()
VALIDATORS: dict[tuple[str, int], Draft202012Validator] = {}


def no_field_is_undescribed(_context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that a response has only documented fields."""
    operation, status = case.operation, response.status_code
    documented = CLOSED["paths"][operation.path][operation.method]["responses"].get(str(status), {})
    content = documented.get("content", {}).get("application/json")
    is_json = any(each.startswith("application/json") for each in response.headers.get("content-type", ()))
    if content is None or not is_json:
        return
    if (operation.label, status) not in VALIDATORS:
        whole = {**content["schema"], "components": CLOSED["components"]}
        VALIDATORS[operation.label, status] = Draft202012Validator(whole)
    VALIDATORS[operation.label, status].validate(response.json())


REQUEST_COUNTS: Counter[str] = Counter()


def least(label: str) -> int:
    """Minimum number of requests of an operation. Most of them test its limits, independent of the examples."""
    operation = OPERATIONS[label]
    if operation.path.endswith("/decode"):  # its body has few fields
        return examples(40, full=50)
    if "requestBody" in operation.definition or len(operation.parameters) > 2:
        return examples(150, full=250)
    return examples(10, full=60) if operation.parameters else 5


def test_there_are_thousands_of_requests() -> None:
    """The repeated operations are slow tests, which only the full profile runs."""
    tested = OPERATIONS if IS_FULL else set(OPERATIONS) - REPEATED
    assert sum(map(least, tested)) >= examples(1_000, full=5_000)


@pytest.fixture(autouse=True)
def enough() -> Iterator[None]:
    """Check that each tested operation got its minimum number of requests."""
    REQUEST_COUNTS.clear()
    yield
    assert all(number >= least(label) for label, number in REQUEST_COUNTS.items()), REQUEST_COUNTS


def check(case: Case[Any], service: str, session: requests.Session) -> None:
    """Run all checks: no 5xx, only documented statuses, types, headers and bodies, no invalid request accepted."""
    REQUEST_COUNTS[case.operation.label] += 1
    response = case.call(base_url=service, session=session)
    case.validate_response(response, additional_checks=[no_field_is_undescribed], excluded_checks=[ACCEPTANCE])


@with_query.parametrize()
@settings(max_examples=QUERIES)
def test_any_query_gets_an_answer_that_is_described(case: Case[Any], service: str, session: requests.Session) -> None:
    check(case, service, session)


@with_body.parametrize()
@settings(max_examples=BODIES)
def test_any_body_gets_an_answer_that_is_described(case: Case[Any], service: str, session: requests.Session) -> None:
    check(case, service, session)


@pytest.mark.slow
@repeated_with_query.parametrize()
@settings(max_examples=QUERIES)
def test_any_query_of_repeated_operations(case: Case[Any], service: str, session: requests.Session) -> None:
    check(case, service, session)


@pytest.mark.slow
@repeated_with_body.parametrize()
@settings(max_examples=BODIES)
def test_any_body_of_repeated_operations(case: Case[Any], service: str, session: requests.Session) -> None:
    check(case, service, session)


@good.parametrize()
@settings(max_examples=KNOWN)
def test_a_good_query_is_accepted(case: Case[Any], service: str, session: requests.Session) -> None:
    response = case.call(base_url=service, session=session)
    case.validate_response(response, additional_checks=[no_field_is_undescribed])
    assert response.status_code == 200
