"""The table of all endpoints of the service. Both dispatch and the OpenAPI document are made from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, get_type_hints

from swapcli.core.model.api_version import ApiVersion, version_of_path
from swapcli.core.model.network import Kind, Network
from swapcli.core.records import NamedTuple
from swapcli.faces.service import endpoints
from swapcli.faces.service.endpoint_messages import EndpointRequest, EndpointWork
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.parameter_descriptions import (
    Parameter,
    describe_batch,
    describe_order,
    describe_picture,
    describe_protocol_list,
    describe_token,
    no_parameters,
)
from swapcli.faces.service.rate_limits import RequestClass
from swapcli.interface import document_types, json_types, requests
from swapcli.interface.errors import ErrorFormat
from swapcli.interface.interface_by_network import NetworkCalldata, network_variant
from swapcli.interface.json_schemas import BOOLEAN, STRINGS, Felts
from swapcli.quoting.price_policy import PriceUse

Handler = Callable[[MarketRegistry, EndpointRequest], EndpointWork]
"""Parses a request for one network, and returns the work for it. Raises `SwapcliError`."""

V1: Final = "First generation"
V2: Final = "Second generation"
STARKNET: Final = "Starknet"
DISCOVERY: Final = "Discovery"
SERVICE: Final = "Service"

JSON: Final = "application/json"
HTML: Final = "text/html"
SVG: Final = "image/svg+xml"
PLAIN_TEXT: Final = "text/plain"
EVENT_STREAM: Final = "text/event-stream"

CHAINS: Final = "/supported-chains"
LIVE: Final = "/livez"
READY: Final = "/readyz"
METRICS: Final = "/metrics"
OPENAPI: Final = "/openapi.json"
DOCS: Final = "/docs"
DOCS_FOLDER: Final = "/docs/"
QUOTE_FORM: Final = "/"

NETWORK_PREFIX: Final = "/{network}"


class Endpoint(NamedTuple):
    """One operation of the API.

    `path` is spelled as in the API; requests match case-insensitively. Paths below a network start with `/{network}`,
    and exist on the networks for which `networks` returns True.

    `content_type` is the type of a successful response. Errors are always JSON.

    If `handler` is None, the service responds on the event loop itself (health checks and pages). `responses` and
    `body` are types from `interface.json_types`, lists of them, or JSON schemas. A response has exactly one of the
    types, recognizable by its required fields. `summary` and `description` are published in the OpenAPI document.

    `use` is how the response uses prices: by default as a transaction does.

    An endpoint that `is_own` is not part of the published API, so it refuses parameters that do not exist.
    """

    operation_id: str
    method: str
    path: str
    tag: str
    summary: str
    responses: tuple[object, ...]
    handler: Handler | None = None
    networks: Callable[[Network], bool] | None = None
    parameters: Callable[[Network], tuple[Parameter, ...]] = no_parameters
    body: tuple[type, ...] = ()
    error_format: ErrorFormat = ErrorFormat.STATUS
    request_class: RequestClass = RequestClass.WORK
    content_type: str = JSON
    description: str = ""
    use: PriceUse = PriceUse.PAYLOAD
    is_own: bool = False

    @property
    def is_v2(self) -> bool:
        """Whether the endpoint belongs to API V2."""
        return self.api_version is ApiVersion.V2

    @property
    def api_version(self) -> ApiVersion:
        """The API version that the endpoint belongs to."""
        return version_of_path(self.path)

    @property
    def is_quote(self) -> bool:
        """Whether the endpoint returns routes or transactions."""
        return self.tag in (V1, V2, STARKNET) and self.request_class is RequestClass.WORK

    def exists_on(self, network: Network) -> bool:
        """Return whether the endpoint exists on a network."""
        return self.networks is not None and self.networks(network)


def _all_networks(_network: Network) -> bool:
    return True


def _is_evm(network: Network) -> bool:
    return network.kind is Kind.EVM


def _is_starknet(network: Network) -> bool:
    return network.kind is Kind.STARKNET


def _has_v2(network: Network) -> bool:
    return network.has_v2 and _is_evm(network)


def _executes_transaction(network: Network) -> bool:
    return _is_evm(network) and network_variant(network.name).execute_has_transaction


def _executes_call_only(network: Network) -> bool:
    return _is_evm(network) and not network_variant(network.name).execute_has_transaction


def _has_calldata(kind: NetworkCalldata, network: Network) -> bool:
    return network_variant(network.name).network_calldata is kind


_REPLAYED = (
    "The route is recomputed on the current state, then encoded. A route that now pays less than its slippage "
    "allows is rejected."
)
_DETAILED = " With `details`, the response includes a verdict on the transaction if a node responds in time."
_CHECKED = (
    " If a node of the network is configured, a route is also rejected when the wallet `destination` (as the sender)"
    " holds less than the input."
)

# Java clients do not compile with a list of lists in a union.
_FELTS_OF_EACH_CALL = {"type": "array", "items": {"description": "The felts of a call: an array of decimal strings."}}

_NETWORK_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "route", "GET", "/{network}/route", V1, "Find the best route",
        (json_types.DetailedRouteV1Json, json_types.RouteNotFoundJson),
        partial(endpoints.route, requests.ROUTE_V1), _all_networks, partial(describe_order, requests.ROUTE_V1),
        description="If there is no route, `success` is false and `errorMessage` gives the reason.",
        use=PriceUse.SHOWN,
    ),
    Endpoint(
        "routePicture", "GET", "/{network}/route.svg", V1, "Draw the best route",
        ({"type": "string"}, json_types.RouteNotFoundJson),
        endpoints.route_picture, _all_networks, describe_picture, content_type=SVG, is_own=True,
        description="The route that `route` finds for the same parameters, as a picture. Its colors follow the"
        " reader's light or dark mode.",
        use=PriceUse.SHOWN,
    ),
    *(
        Endpoint(
            "execute", "POST", "/{network}/execute", V1, "Build calldata from a route", (form,), endpoints.execute,
            networks, body=(json_types.ExecuteRequestJson,), error_format=errors, description=_REPLAYED + more,
        )
        for form, networks, errors, more in (
            (json_types.ExecuteJson, _executes_transaction, ErrorFormat.EXECUTE, _DETAILED),
            (json_types.JudgedCallJson, _executes_call_only, ErrorFormat.EXECUTE_DETAILED, _CHECKED + _DETAILED),
            (json_types.StarknetExecuteJson, _is_starknet, ErrorFormat.EXECUTE, ""),
        )
    ),
    *(
        Endpoint(
            "calldata", "POST", "/{network}/calldata", V1, "Find a route and build its transaction",
            (*responses, json_types.RouteNotFoundJson), endpoints.calldata_v1, networks,
            body=(json_types.CalldataRequestJson, json_types.ExecuteRequestJson),
            description="If the body has a field `route`, calldata is built from that route." + more,
        )
        for responses, networks, more in (
            ((json_types.CalldataV1Json, json_types.ExecuteJson), _is_evm, _DETAILED),
            ((json_types.StarknetCalldataV1Json, Felts), _is_starknet, ""),
        )
    ),
    Endpoint(
        "ownCalldata", "GET", "/{network}/calldata", V1, "Build encoded calldata from a route",
        (json_types.CitreaCalldataJson,), endpoints.signer_calldata, partial(_has_calldata, NetworkCalldata.SIGNER),
        body=(json_types.SignerRequestJson,), error_format=ErrorFormat.NETWORK_CALLDATA,
        description="A GET request with a JSON body, which some proxies and clients drop; prefer "
        "`POST /{network}/execute`.",
    ),
    Endpoint(
        "ownCalldata", "GET", "/{network}/calldata", V1, "Find a route and build its call",
        (json_types.HyperevmCalldataJson, json_types.HyperevmNoRouteJson),
        partial(endpoints.network_calldata, requests.PAYLOAD_HYPEREVM), partial(_has_calldata, NetworkCalldata.ORDER),
        partial(describe_order, requests.PAYLOAD_HYPEREVM), error_format=ErrorFormat.NETWORK_CALLDATA,
    ),
    Endpoint(
        "ownCalldata", "GET", "/{network}/calldata", V1, "Find a route and build its call",
        (json_types.StarknetCalldataJson, json_types.RouteNotFoundJson),
        partial(endpoints.network_calldata, requests.PAYLOAD_V1), partial(_has_calldata, NetworkCalldata.FELTS),
        partial(describe_order, requests.PAYLOAD_V1),
    ),
    Endpoint(
        "routeAndCalldata", "GET", "/{network}/routeAndCalldata", V1, "Find a route and build its call",
        (json_types.RouteAndCalldataV1Json, json_types.RouteNotFoundJson),
        partial(endpoints.route_and_calldata, requests.PAYLOAD_V1), _is_evm,
        partial(describe_order, requests.PAYLOAD_V1),
        description="For clients that do not specify a version.",
    ),
    *(
        Endpoint(
            "decode", "POST", "/{network}/decode", V1, "Decode a transaction before you sign it",
            (document_types.DecodedDocumentJson,), partial(endpoints.decode, parse), networks, body=(body,),
            is_own=True,
            description="Returns the call that the bytes make and the dangers of signing it. A swap is compared with a"
            " fresh quote, so the response is 503 if the service has no prices for transactions. No node checks or"
            " simulates the transaction.",
        )
        for body, parse, networks in (
            (json_types.DecodeRequestJson, requests.parse_decode_body, _is_evm),
            (json_types.StarknetDecodeRequestJson, requests.parse_decode_felts_body, _is_starknet),
        )
    ),
    Endpoint(
        "health", "GET", "/{network}/healthcheck", V1, "Check whether the network can be quoted",
        (json_types.HealthV1Json,), networks=_all_networks, request_class=RequestClass.HEALTH,
        use=PriceUse.NUMBER,
    ),
    Endpoint(
        "routeV2", "GET", "/{network}/v2/route", V2, "Find the best route",
        (json_types.DetailedRouteV2Json, json_types.RouteNotFoundV2Json),
        partial(endpoints.route, requests.ROUTE_V2), _has_v2, partial(describe_order, requests.ROUTE_V2),
        description="`inputToken` and `outputToken` contain the wrapped native token instead of the native one;"
        " `routeSwapType` gives the direction: 0 sells the native token, 1 buys it, 2 does neither.",
        use=PriceUse.SHOWN,
    ),
    Endpoint(
        "routeEventsV2", "GET", "/{network}/v2/route/events", V2, "Follow the best route, block by block",
        ({"type": "string"},),
        partial(endpoints.route, requests.ROUTE_V2), _has_v2, partial(describe_order, requests.ROUTE_V2),
        content_type=EVENT_STREAM, is_own=True,
        description="Server-sent events for the parameters of the V2 route. A `quote` event is sent at once, then at"
        " each block that changes the route. Its data is JSON: the V2 route response in `quote`, the pool state in"
        " `state` (`kind`, `block`, `ageS`, `tag`) and warning codes in `warnings`. After 15 seconds without"
        " a quote, `heartbeat` confirms the last quote and has the current `state`. `unavailable` (with"
        " `statusCode` and `message`) means that the last quote no longer holds. A client that reconnects"
        " with its last event ID in `Last-Event-ID` gets a quote at once only if it differs from the last"
        " one. A client that stops reading is disconnected. A stream ends after an hour.",
        use=PriceUse.SHOWN,
    ),
    Endpoint(
        "calldataV2", "POST", "/{network}/v2/calldata", V2, "Build calldata from a route",
        (json_types.CalldataV2Json, json_types.DialectCalldataV2Json), endpoints.calldata_v2, _has_v2,
        body=(json_types.CalldataRequestV2Json,), error_format=ErrorFormat.CALLDATA_V2,
        description="Send the complete V2 route response; it is valid for a minute after its `meta.timestamp`. If "
        "the router's calls have no swap parameters, add the router's `dialect`: the response then has the transactions"
        " instead." + _DETAILED,
    ),
    Endpoint(
        "routeAndCalldataV2", "GET", "/{network}/v2/routeAndCalldata", V2, "Find a route and build its call",
        (json_types.RouteAndCalldataV2Json, json_types.DialectRouteAndCalldataV2Json, json_types.RouteNotFoundV2Json),
        partial(endpoints.route_and_calldata, requests.PAYLOAD_V2), _has_v2,
        partial(describe_order, requests.PAYLOAD_V2),
    ),
    Endpoint(
        "healthV2", "GET", "/{network}/v2/healthcheck", V2, "Check whether the network can be quoted",
        (json_types.HealthV2Json,), networks=_has_v2, request_class=RequestClass.HEALTH,
        use=PriceUse.NUMBER,
    ),
    Endpoint(
        "routeBatch", "GET", "/{network}/routeBatch", STARKNET, "Find routes for two or three orders",
        (list[json_types.RouteV1Json], json_types.RouteNotFoundJson), endpoints.route_batch, _is_starknet,
        partial(describe_batch, requests.ROUTE_V1),
        use=PriceUse.SHOWN,
    ),
    Endpoint(
        "executeBatch", "GET", "/{network}/executeBatch", STARKNET, "Find routes and the felts of their calls",
        (_FELTS_OF_EACH_CALL, json_types.RouteNotFoundJson), endpoints.execute_batch, _is_starknet,
        partial(describe_batch, requests.PAYLOAD_V1),
    ),
    Endpoint(
        "tokens", "GET", "/{network}/tokens", DISCOVERY, "List the tokens of a network",
        (list[json_types.ListedTokenJson],), endpoints.tokens, _all_networks,
    ),
    Endpoint(
        "token", "GET", "/{network}/tokens/{address}", DISCOVERY, "Show one token of a network",
        (json_types.ListedTokenJson,), endpoints.token, _all_networks, describe_token,
        error_format=ErrorFormat.RESOURCE,
    ),
    Endpoint(
        "protocols", "GET", "/{network}/protocols", DISCOVERY, "List the protocols of a network",
        (list[json_types.ListedProtocolJson],), endpoints.protocols, _all_networks, describe_protocol_list,
    ),
)  # fmt: skip

_LIVE_SCHEMA = {"type": "object", "properties": {"live": BOOLEAN}, "required": ["live"]}
_COUNT = {"type": "integer", "minimum": 0}
_WORKERS_SCHEMA = {
    "type": "object",
    "properties": {"configured": _COUNT, "live": _COUNT, "replaced": _COUNT},
    "required": ["configured", "live", "replaced"],
    "description": "The worker processes, if there are several",
}
_READY_SCHEMA = {
    "type": "object",
    "properties": {
        "ready": BOOLEAN,
        "missing": STRINGS,
        "workers": _WORKERS_SCHEMA,
        "warnings": {
            **STRINGS,
            "description": "Warnings for the operator: UNNAMED_PROXY if a proxy is not listed in trusted_proxies",
        },
    },
    "required": ["ready", "missing"],
}
_READY_NETWORK = Parameter("network", {"type": "string"}, "Check one network; without it, the whole service.")

_PAGES: tuple[Endpoint, ...] = (
    Endpoint(
        "supportedChains", "GET", CHAINS, DISCOVERY, "List the networks served", (list[json_types.SupportedChainJson],)
    ),
    Endpoint(
        "live", "GET", LIVE, SERVICE, "Check whether the service responds", (_LIVE_SCHEMA,),
        request_class=RequestClass.HEALTH,
    ),
    Endpoint(
        "ready", "GET", READY, SERVICE, "Check whether the markets are loaded", (_READY_SCHEMA,),
        parameters=lambda _network: (_READY_NETWORK,), request_class=RequestClass.HEALTH,
    ),
    Endpoint(
        "metrics", "GET", METRICS, SERVICE, "Metrics in the Prometheus format", ({"type": "string"},),
        request_class=RequestClass.HEALTH, content_type=PLAIN_TEXT,
    ),
    Endpoint("openapi", "GET", OPENAPI, SERVICE, "This OpenAPI document", ({"type": "object"},)),
    Endpoint(
        "docs", "GET", DOCS, SERVICE, "This document as an interactive page", ({"type": "string"},), content_type=HTML
    ),
)  # fmt: skip

ENDPOINTS: tuple[Endpoint, ...] = (*_NETWORK_ENDPOINTS, *_PAGES)
PATHS: tuple[str, ...] = (*dict.fromkeys(endpoint.path for endpoint in ENDPOINTS), QUOTE_FORM, DOCS_FOLDER)
"""Every path once, as it appears in the log and the metrics."""

OPEN_PATHS = frozenset((*(each.path for each in _PAGES if each.tag == SERVICE), QUOTE_FORM, DOCS_FOLDER))
"""The paths that need no API key on a service that requires one, in lower case."""

_HEALTH_PATHS = frozenset(each.path for each in _PAGES if each.request_class is RequestClass.HEALTH)
_HEALTH_SUFFIXES = tuple(
    each.path.removeprefix(NETWORK_PREFIX) for each in _NETWORK_ENDPOINTS if each.request_class is RequestClass.HEALTH
)


def endpoints_of(network: Network) -> tuple[Endpoint, ...]:
    """Return the endpoints that exist on a network, in the order of the table."""
    return tuple(endpoint for endpoint in ENDPOINTS if endpoint.exists_on(network))


def known_names(endpoint: Endpoint, network: Network) -> frozenset[str]:
    """Return the names of an endpoint's parameters and fields, and of those of all published endpoints.

    Clients send the parameters of one version to the other, and those of a transaction to a route. An endpoint of
    swapcli's own with a body has only its own fields.
    """
    if endpoint.is_own and endpoint.body:
        return frozenset(_names(endpoint, network))
    published = (each for each in _NETWORK_ENDPOINTS if not each.is_own)
    return frozenset(name for each in (endpoint, *published) for name in _names(each, network))


def _names(endpoint: Endpoint, network: Network) -> list[str]:
    fields = [name for body in endpoint.body for name in get_type_hints(body)]
    return [*(each.name for each in endpoint.parameters(network)), *fields]


def canonical_path(path: str) -> str:
    """Return a path with single slashes and no slash at its end, because some client libraries request `//base/route`.

    The documentation's folder keeps its slash. It redirects, because the links on that page are relative.
    """
    if "//" not in path and not path.endswith("/"):
        return path
    joined = f"/{'/'.join(filter(None, path.split('/')))}"
    return DOCS_FOLDER if joined.lower() == DOCS and path.endswith("/") else joined


def classify_path(path: str) -> RequestClass:
    """Return the rate-limit class of a request by its lowercase path, even if no endpoint matches the path."""
    is_health = path in _HEALTH_PATHS or path.endswith(_HEALTH_SUFFIXES)
    return RequestClass.HEALTH if is_health else RequestClass.WORK
