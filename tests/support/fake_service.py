"""A service that responds from a market as the API requires, and lets a test change its responses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest, SharePrecision
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.interface.health import render_health_v1, render_health_v2
from swapcli.interface.listings import InterfaceToken, render_token, render_tokens
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
    parse_calldata_body,
    parse_execute_body,
    parse_order,
)
from swapcli.interface.route import render_result
from swapcli.interface.transaction_responses import (
    render_calldata_v1,
    render_calldata_v2,
    render_execute,
    render_network_calldata,
    render_route_and_calldata,
)
from swapcli.quoting.resolve import find_protocols
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.loopback_server import FakeExchange, LoopbackServer, NoSleep, http_response, loopback_server
from tests.support.markets import embedded_source

Document = Any
Mutation = Callable[[str, Document], Document]
"""Takes the path below the network and a response, and returns the response to send."""


def unchanged(_: str, document: Document) -> Document:
    """Return the response unchanged."""
    return document


class FakeService:
    """Responds to requests for one network."""

    def __init__(self, source: InMemorySource, mutation: Mutation) -> None:
        self.source, self.network, self.mutation = source, source.network, mutation

    def __call__(self, exchange: FakeExchange) -> None:
        parts = urlsplit(exchange.target)
        path = parts.path.removeprefix(f"/{self.network.name}/")
        document = json.loads(exchange.body) if exchange.body else None
        try:
            response = self.respond(path, parse_qsl(parts.query), document)
        except SwapcliError as error:
            exchange.send(
                http_response(400, json.dumps({"statusCode": 400, "message": error.message, "error": "Bad Request"}))
            )
            return
        status = 404 if response is None else 200
        exchange.send(http_response(status, json.dumps(self.mutation(path, response))))

    def respond(self, path: str, query: list[tuple[str, str]], body: Document) -> Document | None:
        served = self.network
        now_ms = int(SYSTEM_CLOCK.now_s() * 1000)
        if path == "route":
            return render_result(self.route(query, ROUTE_V1), served)
        if path == "v2/route":
            return render_result(self.route(query, ROUTE_V2), served)
        if path == "v2/routeAndCalldata":
            return render_route_and_calldata(
                *self.quote_and_build(parse_order(query, served, PAYLOAD_V2), PAYLOAD_V2), served, now_ms
            )
        if path == "v2/calldata":
            return render_calldata_v2(self.build_posted(body, v2=True), served, now_ms)
        if path == "execute":
            return render_execute(self.build_posted(body, v2=False), served)
        if path == "calldata" and body is not None:
            order = parse_calldata_body(body, served, now_ms // 1000)
            assert isinstance(order, OrderRequest)
            return render_calldata_v1(*self.quote_and_build(order, PAYLOAD_V1), served)
        if path == "calldata":
            form = PAYLOAD_HYPEREVM if served.name == "hyperevm" else PAYLOAD_V1
            return render_network_calldata(*self.quote_and_build(parse_order(query, served, form), form), served)
        return self.respond_about_itself(path, now_ms)

    def respond_about_itself(self, path: str, now_ms: int) -> Document | None:
        listed = [InterfaceToken(token, is_verified=True) for token in self.source.market.tokens.values()]
        if path == "healthcheck":
            return render_health_v1(200, "alive")
        if path == "v2/healthcheck":
            return render_health_v2(200, "alive", now_ms)
        if path == "tokens":
            return render_tokens(listed, self.network)
        address = path.removeprefix("tokens/").lower()
        return next((render_token(each, self.network) for each in listed if each.token.address == address), None)

    def route(self, query: list[tuple[str, str]], form: OrderParameters) -> RouteResult:
        return self.source.quote(self.build_request(parse_order(query, self.network, form), form)).result

    def quote_and_build(self, query: OrderRequest, form: OrderParameters) -> tuple[RouteResult, UnsignedTransaction]:
        assert query.recipient
        terms = SwapTerms(query.slippage_ppm, query.recipient)
        answer, payload = quote_and_build(self.source, self.build_request(query, form), terms)
        return answer.result, payload

    def build_posted(self, document: Document, *, v2: bool) -> UnsignedTransaction:
        posted = parse_execute_body(document, self.network, CALLDATA_V2 if v2 else EXECUTE_V1, 0)
        return self.source.build(posted.result, posted.terms)

    def build_request(self, query: OrderRequest, form: OrderParameters) -> QuoteRequest:
        order = Order(
            token_in=self.source.token(query.token_in),
            token_out=self.source.token(query.token_out),
            amount=query.amount,
            reverse=query.reverse,
            direct=dict(query.values).get("direct", False),
            excluded_protocols=find_protocols(query.excluded, self.network),
        )
        integrator = (
            Integrator(query.integrator_address or ZERO_ADDRESS, query.fee_bps, query.surplus_bps)
            if query.has_integrator
            else None
        )
        return QuoteRequest(
            order, form.api_version, integrator, shares=dict(query.values).get("shares", SharePrecision.WHOLE)
        )


@contextmanager
def fake_service(
    name: str, mutation: Mutation = unchanged, *, source: InMemorySource | None = None
) -> Iterator[LoopbackServer]:
    """Run a service of one network on loopback."""
    with loopback_server(FakeService(source or embedded_source(name), mutation)) as running:
        yield running


@contextmanager
def remote_source(
    name: str, mutation: Mutation = unchanged, *, served: Network | None = None
) -> Iterator[tuple[RemoteSource, LoopbackServer]]:
    """Run a service of one network, and yield a source that uses it."""
    with fake_service(name, mutation) as running:
        source = RemoteSource(
            running.url,
            served or find_network(name),
            SYSTEM_CLOCK,
            api_key=None,
            timeout_s=5.0,
            retry_policy=NoSleep().retry_policy(),
        )
        yield source, running
        source.close()
