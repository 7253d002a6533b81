"""The OpenAPI document: valid, complete, exact, with working examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import Any

import httpx
import pytest
from jsonschema_rs import Draft202012Validator, meta
from openapi_spec_validator import OpenAPIV31SpecValidator

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service import openapi
from swapcli.faces.service.endpoint_table import ENDPOINTS
from swapcli.state.clock import Clock
from tests.faces.service.openapi_operations import Operation, fetch_openapi_document, list_operations, openapi_document
from tests.support.service import build_app, open_registry, send_requests

OPERATIONS = list_operations(openapi_document())
ASKABLE = [each for each in OPERATIONS if each.networks()]


def test_the_document_is_valid_openapi_3_1() -> None:
    assert openapi_document()["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(openapi_document()).iter_errors()) == []


def schemas(value: object) -> Iterator[Mapping[str, Any]]:
    """Every schema of a document."""
    if isinstance(value, dict):
        if isinstance(value.get("schema"), dict):
            yield value["schema"]
        for inner in value.values():
            yield from schemas(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from schemas(inner)


def test_every_schema_is_a_valid_one_of_draft_2020_12() -> None:
    found = [*schemas(openapi_document()), *openapi_document()["components"]["schemas"].values()]
    assert len(found) > 100
    for schema in found:
        meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def served() -> set[tuple[str, str, str]]:
    """Network, method and path of every endpoint of a network."""
    return {
        (name, each.method, each.path.removeprefix("/{network}"))
        for name, each in product(network_names(), ENDPOINTS)
        if each.exists_on(find_network(name))
    }


def test_what_is_described_is_what_is_served_on_each_network() -> None:
    described = [
        (name, each.method.upper(), re.sub(r"^/[^/]+", "", each.path)) for each in ASKABLE for name in each.networks()
    ]
    assert len(set(described)) == len(described), "nothing is described twice"
    assert set(described) == served()


def test_what_is_not_of_a_network_is_described_too() -> None:
    assert {each.path for each in OPERATIONS if not each.networks()} == {
        each.path for each in ENDPOINTS if not each.path.startswith("/{network}")
    }


def test_a_path_of_a_network_holds_all_that_can_be_asked_there() -> None:
    """A path with a network's name takes precedence over `{network}`."""
    spelled = {each.path for each in ASKABLE if "{network}" not in each.path}
    hidden = [
        each.path.replace("{network}", name) for each in ASKABLE if "{network}" in each.path for name in each.networks()
    ]
    assert not spelled & set(hidden)


def test_operations_are_called_differently() -> None:
    names = [each.definition["operationId"] for each in OPERATIONS]
    assert len(set(names)) == len(names) >= 28


def test_a_service_of_one_network_describes_that_one_alone() -> None:
    document = openapi.build_document([find_network("base")])
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert not any("{network}" in path for path in document["paths"])
    assert "Felts" not in json.dumps(document)


def example_request(operation: Operation) -> tuple[str, str, dict[str, Any]]:
    """The request of an operation's examples; that of a stream, which does not end, for its head."""
    path, query = operation.path, {}
    for each in operation.parameters:
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", str(each["example"]))
        elif "example" in each:
            query[each["name"]] = each["example"]
    given: dict[str, Any] = {"params": query}
    if "requestBody" in operation.definition:
        given["json"] = operation.definition["requestBody"]["content"]["application/json"]["example"]
    return "HEAD" if path.endswith("/events") else operation.method.upper(), path, given


def answer_schema(document: Mapping[str, Any], operation: Operation, answer: httpx.Response) -> dict[str, Any]:
    response = operation.definition["responses"][str(answer.status_code)]
    media = answer.headers["content-type"].partition(";")[0]
    return {**response["content"][media]["schema"], "components": document["components"]}


@pytest.fixture(scope="module")
def example_answers() -> list[httpx.Response]:
    app = build_app()
    return send_requests(app, [example_request(each) for each in list_operations(fetch_openapi_document(app))])


def test_every_example_works(example_answers: list[httpx.Response]) -> None:
    for operation, answer in zip(OPERATIONS, example_answers, strict=True):
        assert answer.status_code == 200, (operation.path, answer.text)
        assert '"success":false' not in answer.text, (operation.path, answer.text)


def test_every_answer_to_an_example_has_the_described_form(example_answers: list[httpx.Response]) -> None:
    for operation, answer in zip(OPERATIONS, example_answers, strict=True):
        if "json" in answer.headers["content-type"]:
            schema = answer_schema(openapi_document(), operation, answer)
            assert list(Draft202012Validator(schema).iter_errors(answer.json())) == [], operation.path


def with_each_field_null(value: object) -> Iterator[object]:
    """Copies of a JSON value, each with one field or item of it null."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {**value, key: None}
            for changed in with_each_field_null(inner):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for at, inner in enumerate(value[:2]):
            for changed in with_each_field_null(inner):
                yield [*value[:at], changed, *value[at + 1 :]]


def test_null_is_accepted_only_where_the_document_allows_it() -> None:
    app = build_app()
    bodies, requests = [], []
    for operation in list_operations(fetch_openapi_document(app)):
        method, path, given = example_request(operation)
        if "json" in given and "base" in operation.networks():
            content = operation.definition["requestBody"]["content"]["application/json"]
            for body in with_each_field_null(given["json"]):
                bodies.append((content["schema"], body))
                requests.append((method, path, {**given, "json": body}))
    accepted = 0
    for (schema, body), answer in zip(bodies, send_requests(app, requests), strict=True):
        if answer.status_code == 200:
            accepted += 1
            whole = {**schema, "components": openapi_document()["components"]}
            assert list(Draft202012Validator(whole).iter_errors(body)) == [], body
    assert accepted > len(bodies) / 5


def test_examples_have_the_described_form_themselves() -> None:
    for operation in ASKABLE:
        for each in operation.parameters:
            if "example" in each:
                Draft202012Validator(each["schema"]).validate(each["example"])
        if "requestBody" in operation.definition:
            content = operation.definition["requestBody"]["content"]["application/json"]
            schema = {**content["schema"], "components": openapi_document()["components"]}
            Draft202012Validator(schema).validate(content["example"])


def test_every_operation_on_a_network_tells_what_it_can_refuse() -> None:
    always = {"200", "401", "403", "404", "429", "500", "503"}
    for operation in ASKABLE:
        statuses = set(operation.definition["responses"])
        takes_something = bool(operation.definition.get("parameters") or operation.definition.get("requestBody"))
        assert statuses - always == ({"400"} if takes_something else set()) | (
            {"408", "413"} if "requestBody" in operation.definition else set()
        )


SLIPPAGES = {
    "/{network}/route": (0.1, 100),
    "/hyperevm/calldata": (0.1, 49),
    "/starknet/calldata": (0.1, 100),
    "/{network}/v2/routeAndCalldata": (0, 49),
    "/{network}/routeAndCalldata": (0.1, 100),
}


@pytest.mark.parametrize(("path", "bounds"), SLIPPAGES.items(), ids=SLIPPAGES)
def test_the_range_of_slippage_is_that_of_the_interface(path: str, bounds: tuple[float, float]) -> None:
    (operation,) = (each for each in OPERATIONS if each.path == path and each.method == "get")
    (schema,) = (each["schema"] for each in operation.parameters if each["name"] == "slippage")
    assert (schema["minimum"], schema["maximum"]) == bounds


def test_fields_stand_in_the_order_of_the_interface() -> None:
    fields = list(openapi_document()["components"]["schemas"]["RouteV2"]["properties"])
    assert fields[:6] == ["success", "routeSwapType", "inputToken", "inputAmount", "outputToken", "outputAmount"]


def test_the_document_is_rebuilt_before_its_examples_expire() -> None:
    registry, seconds = open_registry(["base"]), count(1_700_000_000)
    registry.clock = Clock(now_s=lambda: float(next(seconds)), monotonic_s=lambda: float(next(seconds)))
    texts = [answer.text for answer in send_requests(build_app(registry), [("GET", "/openapi.json", {})] * 20)]
    assert 2 <= len(set(texts)) <= 10
