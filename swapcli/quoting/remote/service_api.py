"""The endpoints of a service for one network: render requests, parse responses, translate errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import (
    ConfigError,
    InvalidInput,
    InvalidUpstreamResponse,
    NoRoute,
    SwapcliError,
    Unauthorized,
    UpstreamRejected,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.records import NamedTuple
from swapcli.interface.errors import parse_error
from swapcli.interface.fields import plain
from swapcli.interface.health import HEALTHY, HealthResponse, parse_health
from swapcli.interface.interface_by_network import NetworkCalldata, network_variant
from swapcli.interface.listings import InterfaceToken, SupportedChain, parse_chains, parse_token, parse_tokens
from swapcli.interface.requests import (
    CALLDATA_V2,
    EXECUTE_V1,
    PAYLOAD_HYPEREVM,
    PAYLOAD_V1,
    PAYLOAD_V2,
    ROUTE_V1,
    ROUTE_V2,
    OrderParameters,
    OrderRequest,
)
from swapcli.interface.route import parse_result
from swapcli.interface.sent_requests import render_calldata_body, render_execute_body, render_order
from swapcli.interface.transaction_responses import (
    ParsedTransaction,
    RouteAndTransaction,
    parse_calldata_v1,
    parse_calldata_v2,
    parse_execute,
    parse_network_calldata,
    parse_route_and_calldata,
)
from swapcli.quoting.remote.client import ServiceClient, ServiceRequest, ServiceResponse, StateHeaders
from swapcli.quoting.remote.response_validation import ResponseMismatch
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.remote.transport_errors import CHECK_URL, invalid_response

Parsed = TypeVar("Parsed")
Parser = Callable[[object, Network], Parsed]

NOT_FOUND = 404


class EndpointSpec(NamedTuple):
    """An endpoint that returns a route together with its transaction. With `order_in_body`, the order is POSTed."""

    path: tuple[str, ...]
    parameters: OrderParameters
    parse: Parser[RouteAndTransaction]
    order_in_body: bool = False


_ROUTE_AND_CALLDATA = EndpointSpec(("v2", "routeAndCalldata"), PAYLOAD_V2, parse_route_and_calldata)
_CALLDATA = EndpointSpec(("calldata",), PAYLOAD_V1, parse_calldata_v1, order_in_body=True)
_NETWORK_CALLDATA = {
    NetworkCalldata.ORDER: EndpointSpec(("calldata",), PAYLOAD_HYPEREVM, parse_network_calldata),
    NetworkCalldata.FELTS: EndpointSpec(("calldata",), PAYLOAD_V1, parse_network_calldata),
}


class ServiceIndex:
    """The endpoints of a service that do not belong to a network."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def chains(self) -> tuple[SupportedChain, ...] | None:
        """Return the networks that the service lists, or None if it has no such list. Raises `UpstreamError`."""
        response = self._client.send(ServiceRequest("GET", ("supported-chains",)))
        if response.status == NOT_FOUND:
            return None
        if response.status >= 300:
            raise UpstreamRejected(f"{self._client.url.netloc} responded with status {response.status}")
        try:
            return parse_chains(parse_json(response.body))
        except InvalidInput as error:
            raise invalid_response(
                self._client.url, f"sent an unreadable response: {error.message}", field="supported-chains"
            ) from None


class NetworkApi:
    """The endpoints of a service for one network.

    Every method raises `UpstreamError` if no valid response arrives, and the error in the response if it has one, such
    as `NoRoute`.
    """

    def __init__(self, client: ServiceClient, network: Network) -> None:
        self._client, self._network = client, network
        self.state_headers = StateHeaders()
        """The headers of the latest route, transaction or health check."""
        self.proof: Mapping[str, Any] | None = None
        """The proof that came with the latest route, if any."""

    @property
    def url(self) -> ServiceUrl:
        """The URL of the service."""
        return self._client.url

    def route(self, order: OrderRequest, api_version: ApiVersion) -> RouteResult:
        """Return the best route for an order."""
        v2 = api_version is ApiVersion.V2
        query = render_order(order, self._network, ROUTE_V2 if v2 else ROUTE_V1)
        return self._send(self._build_request("GET", *_versioned(api_version), "route", query=query), parse_result)

    def route_and_payload(self, order: OrderRequest, api_version: ApiVersion) -> RouteAndTransaction:
        """Return the best route for an order, with its transaction. Raises `InvalidSlippage`."""
        endpoint = self._payload_endpoint(api_version)
        assert endpoint.parameters.slippage is not None
        endpoint.parameters.slippage.check(order.slippage_ppm)
        if endpoint.order_in_body:
            request = self._build_request("POST", *endpoint.path, body=render_calldata_body(order, self._network))
        else:
            request = self._build_request(
                "GET", *endpoint.path, query=render_order(order, self._network, endpoint.parameters)
            )
        return self._send(request, endpoint.parse)

    def payload(self, result: RouteResult, terms: SwapTerms) -> ParsedTransaction:
        """Return the transaction for an earlier route. Raises `InvalidSlippage`."""
        v2 = result.api_version is ApiVersion.V2
        (CALLDATA_V2 if v2 else EXECUTE_V1).slippage.check(terms.slippage_ppm)
        path, parser = (("v2", "calldata"), parse_calldata_v2) if v2 else (("execute",), parse_execute)
        body = render_execute_body(result, terms, self._network)
        return self._send(self._build_request("POST", *path, body=body), parser)

    def tokens(self) -> tuple[InterfaceToken, ...] | None:
        """Return the tokens that the service lists, or None if it has no such list."""
        return self._find(("tokens",), parse_tokens)

    def token(self, address: str) -> InterfaceToken | None:
        """Return the token at an address, or None if the service does not know it."""
        return self._find(("tokens", address), parse_token)

    def health(self, api_version: ApiVersion) -> HealthResponse:
        """Return the health that the service reports, even if the response has an error status."""
        self.state_headers = StateHeaders()
        response = self._client.send(self._build_request("GET", *_versioned(api_version), "healthcheck"))
        self.state_headers = response.state_headers
        try:
            health = parse_health(parse_json(response.body))
        except InvalidInput as error:
            if response.status < 300:
                raise self._unreadable_response(error) from None
            return HealthResponse(response.status, self._error_from(response).message)
        # An error status counts even if the document claims that the service is healthy.
        is_contradicted = response.status >= 300 and health.status == HEALTHY
        status = response.status if is_contradicted else health.status
        return HealthResponse(status, plain(health.message), health.timestamp_ms)

    @contextmanager
    def mismatch_as_upstream_error(self) -> Iterator[None]:
        """Turn a `ResponseMismatch`, or invalid input in a response, into `InvalidUpstreamResponse` while the context
        is open."""
        try:
            yield
        except ResponseMismatch as error:
            failure = invalid_response(self.url, f"responded with {error}")
            failure.hint = error.hint or "the response was discarded; do not sign transactions from this service"
        except ConfigError:
            raise
        except InvalidInput as error:
            failure = self._unreadable_response(error)
        else:
            return
        raise failure

    def _payload_endpoint(self, api_version: ApiVersion) -> EndpointSpec:
        if api_version is ApiVersion.V2:
            return _ROUTE_AND_CALLDATA
        variant = network_variant(self._network.name).network_calldata
        return _NETWORK_CALLDATA.get(variant, _CALLDATA) if variant else _CALLDATA

    def _build_request(
        self, method: str, *path: str, query: list[tuple[str, str]] | None = None, body: object = None
    ) -> ServiceRequest:
        return ServiceRequest(method, (self._network.name, *path), query or (), body)

    def _find(self, path: tuple[str, ...], parser: Parser[Parsed]) -> Parsed | None:
        try:
            return self._send(self._build_request("GET", *path), parser)
        except UpstreamRejected as error:
            if error.details.get("status") != NOT_FOUND:
                raise
            return None

    def _send(self, request: ServiceRequest, parser: Parser[Parsed]) -> Parsed:
        response = self._client.send(request)
        if response.status >= 300:
            raise self._error_from(response)
        try:
            document = parse_json(response.body)
            if isinstance(document, dict) and document.get("success") is False:
                raise parse_error(response.status, document)
            parsed = parser(document, self._network)
            self.state_headers, self.proof = response.state_headers, _find_proof(document)
            return parsed
        except NoRoute:
            raise
        except InvalidInput as error:
            raise self._unreadable_response(error) from None

    def _error_from(self, response: ServiceResponse) -> SwapcliError:
        """Return the error that a response reports; an unknown one is `UpstreamRejected` with the status."""
        try:
            document = parse_json(response.body)
        except InvalidInput:
            document = None
        error = parse_error(response.status, document, response.retry_after_s)
        error.details["service"] = self.url.base_url
        if isinstance(error, Unauthorized) and (error.hint is None or not self._client.has_key):
            # The service's hint is for HTTP clients.
            error.hint = "set SWAPCLI_API_KEY, or give --api-key-file FILE"
        if isinstance(error, UpstreamRejected):
            reported = "" if document is None else f": {error.message}"
            return UpstreamRejected(
                f"{self.url.netloc} responded with status {response.status}{reported}",
                hint=error.hint or (CHECK_URL if response.status == NOT_FOUND else None),
                details=error.details,
            )
        return error

    def _unreadable_response(self, error: InvalidInput) -> InvalidUpstreamResponse:
        return invalid_response(
            self.url, f"sent an unreadable response: {error.message}", field=error.details.get("field")
        )


def _find_proof(document: object) -> Mapping[str, Any] | None:
    """Return the proof in a response, which is next to the fields of the route or of its transaction."""
    found = document.get("proof", document.get("route")) if isinstance(document, dict) else None
    if isinstance(found, dict) and "format" not in found:
        found = found.get("proof")
    return found if isinstance(found, dict) else None


def _versioned(api_version: ApiVersion) -> tuple[str, ...]:
    return ("v2",) if api_version is ApiVersion.V2 else ()
