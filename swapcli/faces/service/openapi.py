"""The service's OpenAPI 3.1 document, generated from the endpoint table and the types of the JSON API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from swapcli import __version__
from swapcli.core.model.network import Network
from swapcli.faces.service.access_policy import EXPIRY_HEADER
from swapcli.faces.service.endpoint_table import (
    DISCOVERY,
    ENDPOINTS,
    JSON,
    LIVE,
    METRICS,
    NETWORK_PREFIX,
    READY,
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
from swapcli.interface.json_schemas import build_components, one_of
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER, WITNESSES_HEADER

_ABOUT = """\
Finds the best route for swapping one token for another over the liquidity pools of a network, and builds the
transaction for it. Nothing is sent: the client signs and sends the transaction itself.

Amounts are decimal integer strings in base units. Paths are case-insensitive.
V2 responses contain `meta`; V1 responses do not."""

_KEY = "Identifies the integrator, allows integrator fees, and raises the rate limit."
_TAGS = {
    V1: "Routes and transactions on every network.",
    V2: "Routes and transactions on EVM networks, with integrator fees.",
    STARKNET: "Starknet only.",
    DISCOVERY: "Networks, tokens and protocols.",
    SERVICE: "The service itself.",
}
_ERRORS = {
    401: "The API key is unknown, revoked or expired; or the service or an integrator parameter requires one.",
    403: "The API key is not valid for this network.",
    404: "No such network or path.",
    408: "The body did not arrive in time.",
    413: "The body is larger than 1 MiB.",
    429: "Too many requests or open streams, or the key's quota is used up; `Retry-After` gives the seconds to wait.",
    500: "Internal error; `requestId` identifies it in the log.",
    503: "The pool state is not loaded or too old, or too many orders are waiting (`Retry-After` gives the wait).",
}
_PAGE_RESPONSES = {
    LIVE: {200: "The page.", UNHEALTHY: "Several searches are stuck: restart the process."},
    READY: {
        200: "Every network was tried and at least one can be quoted; or the requested network can be quoted.",
        UNHEALTHY: "Some networks have not been tried yet, none has pools, or the requested network cannot be quoted.",
    },
}
_BAD_REQUEST = "The request is invalid, or the price has moved."
_RATE_HEADERS = {
    "RateLimit-Limit": "Requests per minute.",
    "RateLimit-Remaining": "Requests left.",
    "RateLimit-Reset": "Seconds until the full limit is available again.",
}
_KEY_EXPIRY = "When the API key expires, as an HTTP date; present in its last 14 days."
_COUNT = {"type": "integer", "minimum": 0}
_STATE_HEADERS = {
    STATE_HEADER: (
        "The pool state behind the response: `live`, `synced`, `recorded`, `modelled` or `synthetic`, with its block"
        " number, its age in seconds and its block tag if known.",
        r"^[a-z]+(;block=[0-9]+)?(;age=[0-9]+)?(;tag=[a-z]+)?$",
        "synced;block=23456789;age=12;tag=latest",
    ),
    WARNINGS_HEADER: (
        "Warning codes separated by commas; absent if there are none. `PRICE_IMPACT_HIGH` includes the price impact"
        " as a fraction, and `PARAMETER_UNKNOWN` the name of a parameter that does not exist and the closest name."
        " Warnings never reject a request.",
        r"^[A-Z0-9_]+(;[a-z]+=[A-Za-z0-9_.-]+)*(, [A-Z0-9_]+(;[a-z]+=[A-Za-z0-9_.-]+)*)*$",
        "PRICE_IMPACT_HIGH;impact=0.0731, STATE_MODELLED",
    ),
    WITNESSES_HEADER: (
        "The number of nodes that agree on the transaction's pool state; absent for routes, and if no second node "
        "confirms it.",
        r"^[0-9]+$",
        "2",
    ),
}
_WIDTHS = {"integer": "int64", "number": "double"}
_NO_EXAMPLES: Mapping[str, RequestExample] = MappingProxyType({})


def build_document(
    networks: Sequence[Network],
    examples: Mapping[str, RequestExample] = _NO_EXAMPLES,
    *,
    has_metrics: bool = True,
    requires_key: bool = False,
) -> dict[str, Any]:
    """Return the OpenAPI document for a service with `networks`, JSON-ready. `examples` are keyed by network name.

    `has_metrics` tells whether metrics are on the same port, and `requires_key` whether each request needs an API key.
    """
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "swapcli",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        # Unless the service requires a key, "no key" is one of the alternatives.
        "security": [*([] if requires_key else [{}]), {"ApiKey": []}, {"Bearer": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": _network_paths(networks, examples)
        | {
            each.path: {"get": _describe_operation(each, each.parameters(networks[0]))}
            for each in ENDPOINTS
            if each.networks is None and (has_metrics or each.path != METRICS)
        },
        "components": {
            "schemas": build_components(_used_types(networks)),
            "headers": {
                **{name: {"description": text, "schema": _COUNT} for name, text in _RATE_HEADERS.items()},
                EXPIRY_HEADER: {"description": _KEY_EXPIRY, "schema": {"type": "string"}},
                **{
                    name: {"description": text, "schema": {"type": "string", "pattern": pattern}, "example": example}
                    for name, (text, pattern, example) in _STATE_HEADERS.items()
                },
            },
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": _KEY},
                "Bearer": {"type": "http", "scheme": "bearer", "description": "The same key."},
            },
        },
    }
    return cast(dict[str, Any], _with_widths(document))


def _with_widths(value: Any) -> Any:
    """Return a document with the widths of its numbers, which Java and Go otherwise take to be 32 bits."""
    if isinstance(value, list):
        return [_with_widths(each) for each in value]
    if not isinstance(value, dict):
        return value
    width = None if "enum" in value else _WIDTHS.get(str(value.get("type")))
    return {key: _with_widths(each) for key, each in value.items()} | ({"format": width} if width else {})


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
    the others have separate paths.
    """
    groups: dict[str, dict[str, list[Network]]] = {}
    for network in networks:
        for path in dict.fromkeys(each.path for each in endpoints_of(network)):
            groups.setdefault(path, {}).setdefault(repr(_operations(path, network)), []).append(network)
    paths: dict[str, Any] = {}
    for path, by_operations in groups.items():
        shared = max(by_operations.values(), key=len)
        if len(shared) > 1:
            names = {"type": "string", "enum": [network.name for network in shared]}
            place = Parameter("network", names, "A network.", is_required=True, is_path=True)
            parameters = {"parameters": [_describe_parameter(place, shared[0].name)]}
            paths[path] = _describe_path(path, shared[0], "", examples) | parameters
        for members in by_operations.values():
            for network in members if members is not shared or len(members) == 1 else ():
                own = f"/{network.name}{path.removeprefix(NETWORK_PREFIX)}"
                paths[own] = _describe_path(path, network, network.name.capitalize(), examples)
    return paths


def _operations(path: str, network: Network) -> list[tuple[Endpoint, tuple[Parameter, ...]]]:
    return [(each, each.parameters(network)) for each in endpoints_of(network) if each.path == path]


def _describe_path(
    path: str, network: Network, id_suffix: str, examples: Mapping[str, RequestExample]
) -> dict[str, Any]:
    return {
        endpoint.method.lower(): _describe_operation(endpoint, parameters, id_suffix, examples.get(network.name))
        for endpoint, parameters in _operations(path, network)
    }


def _describe_operation(
    endpoint: Endpoint, parameters: Sequence[Parameter], id_suffix: str = "", example: RequestExample | None = None
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": endpoint.operation_id + id_suffix,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
    }
    if endpoint.description:
        described["description"] = endpoint.description
    if parameters:
        values = example.query(parameters) if example else {}
        described["parameters"] = [_describe_parameter(each, values.get(each.name)) for each in parameters]
    if endpoint.body:
        body = example.body(endpoint) if example else None
        content = {"schema": one_of(endpoint.body)} | ({} if body is None else {"example": body})
        described["requestBody"] = {"required": True, "content": {JSON: content}}
    if endpoint.tag == SERVICE:
        return described | {"responses": _describe_page_responses(endpoint), "security": []}
    return described | {"responses": _describe_responses(endpoint, has_input=bool(parameters or endpoint.body))}


def _describe_parameter(parameter: Parameter, example: object) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "path" if parameter.is_path else "query",
        "description": parameter.description,
        "required": parameter.is_required,
        "schema": parameter.schema,
    }
    return described if example is None else {**described, "example": example}


def _describe_responses(endpoint: Endpoint, *, has_input: bool) -> dict[str, Any]:
    responses = {
        "200": _json_response("The response.", endpoint.responses, _STATE_HEADERS if endpoint.is_quote else ())
    }
    if endpoint.content_type != JSON and endpoint.is_quote:
        text, *failures = endpoint.responses
        failed = {JSON: {"schema": one_of(failures)}} if failures else {}
        responses["200"]["content"] = {endpoint.content_type: {"schema": text}, **failed}
    if has_input:
        responses["400"] = _json_response(_BAD_REQUEST, (_error_type(endpoint),))
    for status, text in _ERRORS.items():
        if endpoint.body or status not in (408, 413):
            # An unhealthy network is reported in the same format as a healthy one.
            is_report = endpoint.request_class is RequestClass.HEALTH and status == UNHEALTHY
            types = (*(endpoint.responses if is_report else ()), _status_error_type(endpoint))
            responses[str(status)] = _json_response(text, types)
    return responses


def _describe_page_responses(endpoint: Endpoint) -> dict[str, Any]:
    page, errors = one_of(endpoint.responses), (401, 404, 429) if endpoint.path == READY else (401, 429)
    texts = _PAGE_RESPONSES.get(endpoint.path, {200: "The page."})
    return {
        **{str(status): _content(text, endpoint.content_type, page) for status, text in texts.items()},
        **{str(status): _json_response(_ERRORS[status], (json_types.StatusErrorJson,)) for status in errors},
    }


def _json_response(text: str, types: Iterable[object], own_headers: Iterable[str] = ()) -> dict[str, Any]:
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in (*_RATE_HEADERS, EXPIRY_HEADER, *own_headers)}
    return {**_content(text, JSON, one_of(types)), "headers": headers}


def _content(text: str, media_type: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {media_type: {"schema": schema}}}
