"""The endpoints of a service on one network: which one answers what, in which form, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from swapcli.api.errors import parse_error
from swapcli.api.fields import plain
from swapcli.api.health import HEALTHY, HealthResponse, parse_health
from swapcli.api.listings import ListedToken, SupportedChain, parse_chains, parse_token, parse_tokens
from swapcli.api.network_variants import NetworkCalldata, network_variant
from swapcli.api.payload_bodies import (
    ParsedTransaction,
    parse_calldata_v1,
    parse_calldata_v2,
    parse_execute,
    parse_network_calldata,
    parse_route_and_calldata,
)
from swapcli.api.requests import (
    CALLDATA_V2,
    EXECUTE_V1,
    PAYLOAD_HYPEREVM,
    PAYLOAD_V1,
    PAYLOAD_V2,
    ROUTE_V1,
    ROUTE_V2,
    ExecuteRequest,
    OrderParameters,
    OrderRequest,
    render_calldata_body,
    render_execute_body,
    render_order,
)
from swapcli.api.route import parse_result
from swapcli.api.route_result import RouteResult
from swapcli.encoding.strict_json import parse_json
from swapcli.errors import (
    ConfigError,
    InvalidInput,
    InvalidUpstreamResponse,
    NoRoute,
    SwapcliError,
    Unauthorized,
    UpstreamRejected,
)
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Network
from swapcli.remote.client import Client, Question, Reply, Stated
from swapcli.remote.errors import nonsense
from swapcli.remote.response_validation import Disagreement
from swapcli.remote.service_url import ServiceAddress

Answered = TypeVar("Answered")
Parse = Callable[[object, Network], Answered]

NOT_FOUND = 404


class Way(NamedTuple):
    """An endpoint that finds a route and its payload in one call. `posts` says that the order goes in a body."""

    path: tuple[str, ...]
    form: OrderParameters
    parse: Parse[ParsedTransaction]
    posts: bool = False


_ROUTE_AND_CALLDATA = Way(("v2", "routeAndCalldata"), PAYLOAD_V2, parse_route_and_calldata)
_CALLDATA = Way(("calldata",), PAYLOAD_V1, parse_calldata_v1, posts=True)
_OWN_CALLDATA = {
    NetworkCalldata.ORDER: Way(("calldata",), PAYLOAD_HYPEREVM, parse_network_calldata),
    NetworkCalldata.FELTS: Way(("calldata",), PAYLOAD_V1, parse_network_calldata),
}


class ServiceIndex:
    """What a service says of itself as a whole."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def chains(self) -> tuple[SupportedChain, ...] | None:
        """Return the networks that it serves; None where it does not list them. Raises `UpstreamError`."""
        reply = self._client.ask(Question("GET", ("supported-chains",)))
        if reply.status == NOT_FOUND:
            return None
        if reply.status >= 300:
            raise UpstreamRejected(f"{self._client.address.shown} answered with status {reply.status}")
        try:
            return parse_chains(parse_json(reply.body))
        except InvalidInput as error:
            raise nonsense(
                self._client.address, f"answered what cannot be understood: {error.message}", field="supported-chains"
            ) from None


class Service:
    """A service, asked about one network. Every method raises `UpstreamError` where it gives no proper answer, and the
    errors of our tree that its own ones tell."""

    def __init__(self, client: Client, network: Network) -> None:
        self._client, self._network = client, network
        self.stated = Stated()
        """Of the newest route or payload."""

    @property
    def address(self) -> ServiceAddress:
        """Where it is."""
        return self._client.address

    def route(self, order: OrderRequest, api_version: ApiVersion) -> RouteResult:
        """The best route for an order."""
        v2 = api_version is ApiVersion.V2
        query = render_order(order, self._network, ROUTE_V2 if v2 else ROUTE_V1)
        return self._read(self._question("GET", *_versioned(api_version), "route", query=query), parse_result)

    def route_and_payload(self, order: OrderRequest, api_version: ApiVersion) -> ParsedTransaction:
        """The best route for an order and its payload, found in one call. Raises `InvalidSlippage`."""
        way = self._way(api_version)
        assert way.form.slippage is not None
        way.form.slippage.check(order.slippage_ppm)
        if way.posts:
            question = self._question("POST", *way.path, body=render_calldata_body(order, self._network))
        else:
            question = self._question("GET", *way.path, query=render_order(order, self._network, way.form))
        return self._read(question, way.parse)

    def payload(self, body: ExecuteRequest) -> ParsedTransaction:
        """The payload of a route that was found before. Raises `InvalidSlippage`."""
        v2 = body.result.api_version is ApiVersion.V2
        (CALLDATA_V2 if v2 else EXECUTE_V1).slippage.check(body.slippage_ppm)
        path, read = (("v2", "calldata"), parse_calldata_v2) if v2 else (("execute",), parse_execute)
        return self._read(self._question("POST", *path, body=render_execute_body(body, self._network)), read)

    def tokens(self) -> tuple[ListedToken, ...] | None:
        """The tokens that it knows; None where it does not list them."""
        return self._discover(("tokens",), parse_tokens)

    def token(self, address: str) -> ListedToken | None:
        """The token at an address; None where it does not know it."""
        return self._discover(("tokens", address), parse_token)

    def health(self, api_version: ApiVersion) -> HealthResponse:
        """What it says of its health, whatever the status of the answer that says so."""
        reply = self._client.ask(self._question("GET", *_versioned(api_version), "healthcheck"))
        try:
            told = parse_health(parse_json(reply.body))
        except InvalidInput as error:
            if reply.status < 300:
                raise self._not_understood(error) from None
            return HealthResponse(reply.status, self._refusal(reply).message)
        status = reply.status if reply.status >= 300 and told.status == HEALTHY else told.status
        return HealthResponse(status, plain(told.message), told.timestamp_ms)

    @contextmanager
    def held_to(self) -> Iterator[None]:
        """Where an answer is compared with what was asked: what it says otherwise is `InvalidUpstreamResponse`."""
        try:
            yield
        except Disagreement as error:
            failure = nonsense(self.address, f"answered with {error}")
            failure.hint = error.hint or "nothing was made of it; do not sign what such a service gives"
        except ConfigError:
            raise
        except InvalidInput as error:
            failure = self._not_understood(error)
        else:
            return
        raise failure

    def _way(self, api_version: ApiVersion) -> Way:
        if api_version is ApiVersion.V2:
            return _ROUTE_AND_CALLDATA
        own = network_variant(self._network.name).network_calldata
        return _OWN_CALLDATA.get(own, _CALLDATA) if own else _CALLDATA

    def _question(
        self, method: str, *path: str, query: list[tuple[str, str]] | None = None, body: object = None
    ) -> Question:
        return Question(method, (self._network.name, *path), query or (), body)

    def _discover(self, path: tuple[str, ...], read: Parse[Answered]) -> Answered | None:
        try:
            return self._read(self._question("GET", *path), read)
        except UpstreamRejected as error:
            if error.details.get("status") != NOT_FOUND:
                raise
            return None

    def _read(self, question: Question, read: Parse[Answered]) -> Answered:
        reply = self._client.ask(question)
        if reply.status >= 300:
            raise self._refusal(reply)
        try:
            document = parse_json(reply.body)
            if isinstance(document, dict) and document.get("success") is False:
                raise parse_error(reply.status, document)
            answered = read(document, self._network)
            self.stated = reply.stated
            return answered
        except NoRoute:
            raise
        except InvalidInput as error:
            raise self._not_understood(error) from None

    def _refusal(self, reply: Reply) -> SwapcliError:
        """The error that an answer with an error status tells; what is not one of ours is told with the status."""
        try:
            document = parse_json(reply.body)
        except InvalidInput:
            document = None
        error = parse_error(reply.status, document, reply.retry_after_s)
        error.details["service"] = self.address.base
        if isinstance(error, Unauthorized) and error.hint is None:
            error.hint = "set SWAPCLI_API_KEY or api_key_file"
        if isinstance(error, UpstreamRejected):
            said = "" if document is None else f": {error.message}"
            return UpstreamRejected(
                f"{self.address.shown} answered with status {reply.status}{said}", details=error.details
            )
        return error

    def _not_understood(self, error: InvalidInput) -> InvalidUpstreamResponse:
        return nonsense(
            self.address, f"answered what cannot be understood: {error.message}", field=error.details.get("field")
        )


def _versioned(api_version: ApiVersion) -> tuple[str, ...]:
    return ("v2",) if api_version is ApiVersion.V2 else ()
