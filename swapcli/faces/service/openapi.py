"""The OpenAPI 3.1 document of the service, generated from the endpoint table and the types of the JSON interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from swapcli import __version__
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.faces.service.endpoint_table import (
    DISCOVERY,
    ENDPOINTS,
    JSON,
    LIVE,
    METRICS,
    NETWORK_PREFIX,
    READY,
    READY_NETWORK,
    SERVICE,
    STARKNET,
    V1,
    V2,
    Endpoint,
    endpoints_of,
)
from swapcli.faces.service.examples import RequestExample
from swapcli.faces.service.parameter_descriptions import Parameter
from swapcli.faces.service.rate_limits import RequestClass
from swapcli.interface import json_types
from swapcli.interface.errors import ErrorFormat
from swapcli.interface.health import UNHEALTHY
from swapcli.interface.json_schemas import any_of, build_components
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER, WITNESSES_HEADER

_ABOUT = """\
Finds the best route for swapping one token for another over the liquidity pools of a network, and builds the
transaction for it. Nothing is sent: the client signs and sends the transaction itself.

Amounts are decimal integer strings in the smallest unit of their token. Paths are case-insensitive.
Responses of the second generation contain `meta`; those of the first do not."""

_KEY = "Identifies the integrator, who may then earn on swaps, and raises the rate limit."
_TAGS = {
    V1: "Routes and transactions on every network.",
    V2: "Routes and transactions on EVM networks, with integrator fees.",
    STARKNET: "Endpoints that only Starknet has.",
    DISCOVERY: "Networks, tokens and protocols.",
    SERVICE: "The service itself.",
}
_ERRORS = {
    401: "The API key is unknown or revoked, or an integrator parameter was used without one.",
    404: "There is no such network, or nothing at this path.",
    408: "The body did not arrive in time.",
    413: "The body is larger than 1 MiB.",
    429: "Too many requests or open streams; `Retry-After` gives the seconds to wait.",
    500: "A defect of the service; `requestId` identifies it in the log.",
    503: "The pool state is not loaded or too old, or too many orders are waiting: `Retry-After` then says how long.",
}
_READY_ERRORS = {
    200: "Every network has been tried and at least one can be quoted; or the requested network can be quoted.",
    401: _ERRORS[401],
    404: "There is no such network here.",
    429: _ERRORS[429],
    503: "Some networks have not been tried yet, none has pools, or the requested network cannot be quoted.",
}
_NOT_LIVE = "Several searches are stuck: restart the process."
_BAD_REQUEST = "The request is invalid, or the price has moved."
_RATE_HEADERS = {
    "RateLimit-Limit": "Requests per minute.",
    "RateLimit-Remaining": "Requests left now.",
    "RateLimit-Reset": "Seconds until the full limit is available again.",
}
_STATE_HEADERS = {
    STATE_HEADER: (
        "The pool state behind the response: `live`, `synced`, `recorded`, `modelled` or `synthetic`, with its block"
        " number, its age in seconds and its block tag if known.",
        r"^[a-z]+(;block=[0-9]+)?(;age=[0-9]+)?(;tag=[a-z]+)?$",
        "synced;block=23456789;age=12;tag=latest",
    ),
    WARNINGS_HEADER: (
        "Warning codes separated by commas; absent if there are none. `PRICE_IMPACT_HIGH` includes the price impact"
        " as a fraction. Warnings never reject a request.",
        r"^[A-Z0-9_]+(;impact=-?[0-9.]+)?(, [A-Z0-9_]+(;impact=-?[0-9.]+)?)*$",
        "PRICE_IMPACT_HIGH;impact=0.0731, STATE_MODELLED",
    ),
    WITNESSES_HEADER: (
        "The number of nodes that agree on the pool state of a transaction; absent for routes, and if no other node"
        " confirms that state.",
        r"^[0-9]+$",
        "2",
    ),
}
_NO_EXAMPLES: Mapping[str, RequestExample] = MappingProxyType({})


class _Operation(NamedTuple):
    """An endpoint as one network has it."""

    endpoint: Endpoint
    parameters: tuple[Parameter, ...]


def build_document(
    networks: Sequence[Network], examples: Mapping[str, RequestExample] = _NO_EXAMPLES, *, has_metrics: bool = True
) -> dict[str, Any]:
    """Return the OpenAPI document of a service of these networks, JSON-ready; `examples` by network name.

    `has_metrics` is whether the metrics are at the same port.
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "swapcli", "version": __version__, "description": _ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": {**_network_paths(networks, examples), **_page_paths(has_metrics=has_metrics)},
        "components": {
            "schemas": build_components(_used_types(networks)),
            "headers": {
                **{name: _integer_header(text) for name, text in _RATE_HEADERS.items()},
                **{name: _text_header(*described) for name, described in _STATE_HEADERS.items()},
            },
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": _KEY},
                "Bearer": {"type": "http", "scheme": "bearer", "description": "The same key."},
            },
        },
    }


def _integer_header(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "integer", "minimum": 0}}


def _text_header(text: str, pattern: str, example: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string", "pattern": pattern}, "example": example}


def _used_types(networks: Sequence[Network]) -> Iterator[object]:
    """Yield the types of all requests, responses and errors."""
    pages = (endpoint for endpoint in ENDPOINTS if endpoint.networks is None and endpoint.tag != SERVICE)
    for endpoint in (*pages, *(each for network in networks for each in endpoints_of(network))):
        yield from (*endpoint.responses, *endpoint.body, _error_type(endpoint), _status_error_type(endpoint))


def _error_type(endpoint: Endpoint) -> type:
    """Return the type of an error with status 400."""
    match endpoint.error_format:
        case ErrorFormat.STATUS | ErrorFormat.RESOURCE:
            return _status_error_type(endpoint)
        case ErrorFormat.EXECUTE:
            return json_types.BriefErrorJson
        case _:
            return json_types.DetailedErrorV2Json if endpoint.is_v2 else json_types.DetailedErrorJson


def _status_error_type(endpoint: Endpoint) -> type:
    """Return the type of an error with any other status."""
    return json_types.StatusErrorV2Json if endpoint.is_v2 else json_types.StatusErrorJson


def _network_paths(networks: Sequence[Network], examples: Mapping[str, RequestExample]) -> dict[str, Any]:
    """Describe the paths of networks.

    Networks whose operations at a path are equal share the path `/{network}/...`, if they are the largest such group;
    the others have paths of their own.
    """
    groups_by_path: dict[str, list[tuple[list[_Operation], list[Network]]]] = {}
    for network in networks:
        for path, operations in _operations_by_path(network).items():
            groups = groups_by_path.setdefault(path, [])
            members = next((members for described, members in groups if described == operations), None)
            if members is None:
                groups.append((operations, [network]))
            else:
                members.append(network)
    paths: dict[str, Any] = {}
    for path, groups in groups_by_path.items():
        largest = max(groups, key=lambda group: len(group[1]))
        shared = largest if len(largest[1]) > 1 else None
        if shared:
            paths[path] = _describe_shared_path(*shared, examples)
        for operations, members in groups:
            if shared is None or members is not shared[1]:
                for network in members:
                    own = f"/{network.name}{path.removeprefix(NETWORK_PREFIX)}"
                    paths[own] = _describe_path(operations, network, examples)
    return paths


def _operations_by_path(network: Network) -> dict[str, list[_Operation]]:
    by_path: dict[str, list[_Operation]] = {}
    for endpoint in endpoints_of(network):
        by_path.setdefault(endpoint.path, []).append(_Operation(endpoint, endpoint.parameters(network)))
    return by_path


def _describe_path(
    operations: Sequence[_Operation], network: Network, examples: Mapping[str, RequestExample]
) -> dict[str, Any]:
    """Describe the operations at a path that one network has to itself."""
    suffix, example = network.name.capitalize(), examples.get(network.name)
    return {each.endpoint.method.lower(): _describe_operation(each, suffix, example) for each in operations}


def _describe_shared_path(
    operations: Sequence[_Operation], networks: Sequence[Network], examples: Mapping[str, RequestExample]
) -> dict[str, Any]:
    """Describe the operations at a path that several networks share."""
    first = networks[0].name
    names = {"type": "string", "enum": [network.name for network in networks]}
    network = Parameter("network", names, "A network.", is_required=True, is_path=True)
    item: dict[str, Any] = {
        each.endpoint.method.lower(): _describe_operation(each, "", examples.get(first)) for each in operations
    }
    return item | {"parameters": [_describe_parameter(network, first)]}


def _describe_operation(operation: _Operation, id_suffix: str, example: RequestExample | None) -> dict[str, Any]:
    endpoint = operation.endpoint
    described: dict[str, Any] = {
        "operationId": endpoint.operation_id + id_suffix,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
    }
    if endpoint.description:
        described["description"] = endpoint.description
    if operation.parameters:
        values = example.query(operation.parameters) if example else {}
        described["parameters"] = [_describe_parameter(each, values.get(each.name)) for each in operation.parameters]
    if endpoint.body:
        described["requestBody"] = _describe_body(endpoint, example)
    described["responses"] = _describe_responses(operation)
    # No operation as a whole needs a key, so "no key" is one of the alternatives.
    described["security"] = [{}, {"ApiKey": []}, {"Bearer": []}]
    return described


def _describe_parameter(parameter: Parameter, example: object) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "path" if parameter.is_path else "query",
        "description": parameter.description,
        "required": parameter.is_required,
        "schema": parameter.schema,
    }
    return described if example is None else {**described, "example": example}


def _describe_body(endpoint: Endpoint, example: RequestExample | None) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": any_of(endpoint.body)}
    body = example.body(endpoint) if example else None
    if body is not None:
        content["example"] = body
    return {"required": True, "content": {JSON: content}}


def _describe_responses(operation: _Operation) -> dict[str, Any]:
    endpoint = operation.endpoint
    own_headers = tuple(_STATE_HEADERS) if endpoint.is_quote else ()
    responses = {"200": _json_response("The response.", endpoint.responses, own_headers)}
    if endpoint.content_type != JSON and endpoint.is_quote:
        text, *failures = endpoint.responses
        content = {endpoint.content_type: {"schema": text}}
        if failures:
            content[JSON] = {"schema": any_of(failures)}
        responses["200"] = {**responses["200"], "content": content}
    if operation.parameters or endpoint.body:
        responses["400"] = _json_response(_BAD_REQUEST, (_error_type(endpoint),))
    for status, text in _ERRORS.items():
        if endpoint.body or status not in (408, 413):
            # An unhealthy network is reported in the format of a healthy one.
            is_report = endpoint.request_class is RequestClass.HEALTH and status == UNHEALTHY
            types = (*(endpoint.responses if is_report else ()), _status_error_type(endpoint))
            responses[str(status)] = _json_response(text, types)
    return responses


def _json_response(text: str, types: Iterable[object], own_headers: Iterable[str] = ()) -> dict[str, Any]:
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in (*_RATE_HEADERS, *own_headers)}
    return {**_content(text, JSON, any_of(types)), "headers": headers}


def _page_paths(*, has_metrics: bool) -> dict[str, Any]:
    """Describe the paths that belong to no network."""
    return {
        endpoint.path: {
            "get": _describe_page(endpoint)
            if endpoint.tag == SERVICE
            else _describe_operation(_Operation(endpoint, ()), "", None)
        }
        for endpoint in ENDPOINTS
        if endpoint.networks is None and (has_metrics or endpoint.path != METRICS)
    }


def _describe_page(endpoint: Endpoint) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
    }
    schema = any_of(endpoint.responses)
    if endpoint.path == READY:
        described["responses"] = {
            str(status): _content(text, JSON, schema)
            if status in (200, UNHEALTHY)
            else _json_response(text, (json_types.StatusErrorJson,))
            for status, text in _READY_ERRORS.items()
        }
        return described | {"parameters": [_describe_parameter(READY_NETWORK, None)]}
    described["responses"] = {
        "200": _content("The page.", endpoint.content_type, schema),
        **({str(UNHEALTHY): _content(_NOT_LIVE, endpoint.content_type, schema)} if endpoint.path == LIVE else {}),
        **{str(status): _json_response(_ERRORS[status], (json_types.StatusErrorJson,)) for status in (401, 429)},
    }
    return described


def _content(text: str, media_type: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {media_type: {"schema": schema}}}
