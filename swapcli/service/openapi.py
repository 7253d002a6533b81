"""The service's description in OpenAPI 3.1, generated from the table of operations and the types of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from swapcli import __version__
from swapcli.api.state_headers import STATE_HEADER, WARNINGS_HEADER
from swapcli.model.network import Network
from swapcli.service.examples import RequestExample
from swapcli.service.json_schemas import BOOLEAN, FELTS_NAME, STRINGS, Schema, any_of, build_components
from swapcli.service.operations import DISCOVERY, GLOBAL, SERVICE, STARKNET, V1, V2, Operation, Parameter, operations_of

CONTENT_TYPE = "application/json"
UNHEALTHY = 503

_ABOUT = """\
Finds the best way to swap one token for another over the liquidity pools of a network, and makes the call that
carries it out. Nothing is sent: the client signs and sends the transaction itself.

Amounts are decimal integer strings in the smallest unit of their token. Paths match in any letter case.
Answers of the second generation carry `meta`; those of the first do not."""

_KEY = "Names the integrator who may earn on a swap, and gives a higher rate of requests."
_TAGS = {
    V1: "Routes and payloads on every network.",
    V2: "Routes and payloads on EVM networks, with integrator fees.",
    STARKNET: "What only Starknet has.",
    DISCOVERY: "Networks, tokens and protocols.",
    SERVICE: "The service itself.",
}
_FAULTS = {
    401: "The key is unknown or revoked, or one is needed for an integrator to earn.",
    404: "There is no such network, or nothing at this path.",
    408: "The body did not arrive in time.",
    413: "The body is longer than 1 MiB.",
    429: "Too many requests; `Retry-After` says in how many seconds to try again.",
    500: "A defect of the service; `requestId` finds it in the log.",
    503: "The state of the pools is not loaded or too old, or too many orders wait.",
}
_READY = {
    200: "Every network was tried, and some can be quoted on; or the one that was asked for can be.",
    401: _FAULTS[401],
    404: "There is no such network here.",
    429: _FAULTS[429],
    503: "Some networks are still to be tried, none has pools, or the one that was asked for cannot be quoted on.",
}
_REFUSED = "What was sent cannot be used, or the market no longer allows it."
_RATE_HEADERS = {
    "RateLimit-Limit": "Requests a minute.",
    "RateLimit-Remaining": "Requests left at once.",
    "RateLimit-Reset": "Seconds until all are there again.",
}
_STATE_HEADERS = {
    STATE_HEADER: (
        "Which state of the pools the answer rests on: `live`, `synced`, `recorded`, `modelled` or `synthetic`, with"
        " the number of its block and its age in seconds where they are known.",
        r"^[a-z]+(;block=[0-9]+)?(;age=[0-9]+)?$",
        "synced;block=23456789;age=12",
    ),
    WARNINGS_HEADER: (
        "Codes of warnings, with commas between them; absent where there are none. `PRICE_IMPACT_HIGH` carries the"
        " price impact as a fraction. Nothing is refused for them.",
        r"^[A-Z0-9_]+(;impact=-?[0-9.]+)?(, [A-Z0-9_]+(;impact=-?[0-9.]+)?)*$",
        "PRICE_IMPACT_HIGH;impact=0.0731, STATE_MODELLED",
    ),
}
_NO_EXAMPLES: Mapping[str, RequestExample] = MappingProxyType({})


def build_document(
    networks: Sequence[Network], examples: Mapping[str, RequestExample] = _NO_EXAMPLES
) -> dict[str, Any]:
    """The description of a service of these networks, JSON-ready; `examples` by the network's name."""
    paths = {**_paths(networks, examples), **_global_paths(), **_service_paths()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "swapcli", "version": __version__, "description": _ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": build_components(_names(networks)),
            "headers": {
                **{name: _header(text) for name, text in _RATE_HEADERS.items()},
                **{name: _text_header(*described) for name, described in _STATE_HEADERS.items()},
            },
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": _KEY},
                "Bearer": {"type": "http", "scheme": "bearer", "description": "The same key."},
            },
        },
    }


def _header(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "integer", "minimum": 0}}


def _text_header(text: str, pattern: str, example: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string", "pattern": pattern}, "example": example}


def _names(networks: Sequence[Network]) -> Iterator[str]:
    """The types that are used."""
    for operation in (*GLOBAL.values(), *(op for network in networks for op in operations_of(network))):
        for name in (*operation.answers, *operation.body, *operation.refusals):
            if (alone := name.removesuffix("[]")) != FELTS_NAME:
                yield alone


def _paths(networks: Sequence[Network], examples: Mapping[str, RequestExample]) -> dict[str, Any]:
    """By path: `/{network}` and the rest for the networks that most have in common, else the network's own name."""
    alike: dict[str, dict[str, list[Network]]] = {}
    for network in networks:
        for rest, operations in _by_rest(network).items():
            alike.setdefault(rest, {}).setdefault(repr(operations), []).append(network)
    paths: dict[str, Any] = {}
    for rest, groups in alike.items():
        most = max(groups.values(), key=len)
        shared = most if len(most) > 1 else []
        if shared:
            paths["/{network}" + rest] = _path(rest, shared, examples, is_shared=True)
        for own in (network for group in groups.values() if group is not shared for network in group):
            paths[f"/{own.name}{rest}"] = _path(rest, [own], examples, is_shared=False)
    return paths


def _by_rest(network: Network) -> dict[str, list[Operation]]:
    """The operations of a network by what follows its name in their path."""
    by_rest: dict[str, list[Operation]] = {}
    for operation in operations_of(network):
        by_rest.setdefault(operation.path, []).append(operation)
    return by_rest


def _path(
    rest: str, networks: Sequence[Network], examples: Mapping[str, RequestExample], *, is_shared: bool
) -> dict[str, Any]:
    """What can be asked at a path of networks that are alike."""
    first = networks[0]
    own = "" if is_shared else first.name.capitalize()
    item: dict[str, Any] = {
        operation.method: _operation(operation, own, examples.get(first.name)) for operation in _by_rest(first)[rest]
    }
    if is_shared:
        names = {"type": "string", "enum": [network.name for network in networks]}
        network = Parameter("network", names, "A network.", is_required=True, is_path=True)
        item["parameters"] = [_parameter(network, first.name)]
    return item


def _global_paths() -> dict[str, Any]:
    return {path: {operation.method: _operation(operation, "", None)} for path, operation in GLOBAL.items()}


def _operation(operation: Operation, own: str, example: RequestExample | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id + own,
        "tags": [operation.tag],
        "summary": operation.summary,
    }
    if operation.description:
        described["description"] = operation.description
    if operation.parameters:
        given = example.query(operation) if example else {}
        described["parameters"] = [_parameter(each, given.get(each.name)) for each in operation.parameters]
    if operation.body:
        described["requestBody"] = _body(operation, example)
    described["responses"] = _responses(operation)
    # A key is never needed for all of an operation, so none is an alternative.
    described["security"] = [{}, {"ApiKey": []}, {"Bearer": []}]
    return described


def _parameter(parameter: Parameter, example: object) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "path" if parameter.is_path else "query",
        "description": parameter.description,
        "required": parameter.is_required,
        "schema": parameter.schema,
    }
    return described if example is None else {**described, "example": example}


def _body(operation: Operation, example: RequestExample | None) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": any_of(operation.body)}
    given = example.body(operation) if example else None
    if given is not None:
        content["example"] = given
    return {"required": True, "content": {CONTENT_TYPE: content}}


def _responses(operation: Operation) -> dict[str, Any]:
    own_headers = tuple(_STATE_HEADERS) if operation.is_quote else ()
    responses = {"200": _response("The answer.", operation.answers, own_headers)}
    if operation.parameters or operation.body:
        responses["400"] = _response(_REFUSED, operation.refusals)
    for status, text in _FAULTS.items():
        if status in _statuses(operation):
            responses[str(status)] = _response(text, _answers(operation, status))
    return responses


def _statuses(operation: Operation) -> Iterable[int]:
    return set(_FAULTS) if operation.body else set(_FAULTS) - {408, 413}


def _answers(operation: Operation, status: int) -> tuple[str, ...]:
    """An unhealthy service says so in the form of a healthy one."""
    own = operation.answers if operation.may_be_unhealthy and status == UNHEALTHY else ()
    return (*own, "StatusFault")


def _response(text: str, names: Iterable[str], own_headers: Iterable[str] = ()) -> dict[str, Any]:
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in (*_RATE_HEADERS, *own_headers)}
    return {**_content(text, CONTENT_TYPE, any_of(names)), "headers": headers}


def _service_paths() -> dict[str, Any]:
    """How the service is, and what describes it."""
    ready = {"type": "object", "properties": {"ready": BOOLEAN, "missing": STRINGS}, "required": ["ready", "missing"]}
    live = {"type": "object", "properties": {"live": BOOLEAN}, "required": ["live"]}
    page = {"type": "string"}
    network = Parameter("network", {"type": "string"}, "One network; without it, the service as a whole.")
    readiness = {
        str(status): _content(text, CONTENT_TYPE, ready) if status in (200, 503) else _response(text, ("StatusFault",))
        for status, text in _READY.items()
    }
    return {
        "/livez": {"get": _page("live", "Does the service answer?", CONTENT_TYPE, live)},
        "/readyz": {
            "get": _page("ready", "Was every market tried, and which are missing?", CONTENT_TYPE, ready)
            | {"parameters": [_parameter(network, None)], "responses": readiness}
        },
        "/metrics": {"get": _page("metrics", "Counters in the format of Prometheus", "text/plain", page)},
        "/openapi.json": {"get": _page("openapi", "This description", CONTENT_TYPE, {"type": "object"})},
        "/docs": {"get": _page("docs", "This description as a page to try it out", "text/html", page)},
    }


def _page(id_: str, summary: str, media: str, schema: Schema) -> dict[str, Any]:
    responses = {"200": _content("The page.", media, schema)}
    for status in (401, 429):
        responses[str(status)] = _response(_FAULTS[status], ("StatusFault",))
    return {"operationId": id_, "tags": [SERVICE], "summary": summary, "responses": responses}


def _content(text: str, media: str, schema: Schema) -> dict[str, Any]:
    return {"description": text, "content": {media: {"schema": schema}}}
