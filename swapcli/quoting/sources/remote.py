"""A source of quotes from a remote service with the published API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption, UnknownToken, UpstreamError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order, require_different_tokens
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.address import display_address, parse_address, without_chain
from swapcli.interface.fields import plain
from swapcli.interface.interface_by_network import network_variant
from swapcli.interface.quote_parameters import QUOTE_PARAMETERS, SENT, QuoteParameter
from swapcli.interface.requests import OrderRequest
from swapcli.interface.state_headers import parse_state, parse_warnings
from swapcli.payload.dialects import interface_dialect
from swapcli.quoting.health import Health
from swapcli.quoting.quote_results import QuoteResult, RemoteQuote, result_of
from swapcli.quoting.remote.client import DEFAULT_RETRIES, ServiceClient
from swapcli.quoting.remote.response_validation import (
    ExpectedPayload,
    ExpectedRoute,
    validated_payload,
    validated_result,
)
from swapcli.quoting.remote.retry import RetryPolicy
from swapcli.quoting.remote.service_api import NetworkApi, ServiceIndex
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.resolve import find_token
from swapcli.quoting.transfer_rules import check_not_blocked, check_route_not_blocked
from swapcli.state.clock import Clock
from swapcli.state.connect_failure import USER_AGENT

if TYPE_CHECKING:
    import httpx

    from swapcli.quoting.config import Secret

NO_ANSWER = 0
"""The health status of a service that did not respond."""


def served_networks(
    url: str, *, api_key: Secret | None, timeout_s: float, retries: int = DEFAULT_RETRIES
) -> tuple[str, ...] | None:
    """Return the names of the networks that the service at `url` supports; None if it does not list them.

    Raises `ConfigError` for an invalid URL, and `UpstreamError` if there is no valid response.
    """
    key = api_key.reveal if api_key else None
    client = ServiceClient(ServiceUrl.parse(url), key=key, timeout_s=timeout_s, retries=retries)
    try:
        chains = ServiceIndex(client).chains()
    finally:
        client.close()
    return None if chains is None else tuple(plain(chain.name) for chain in chains)


class RemoteSource:
    """Quotes from the service at `url` for one network.

    `timeout_s` limits each request, and each pause between two requests. GET requests are retried up to `retries`
    times. In addition to the errors of `QuoteSource`, methods raise `UpstreamError` if the service cannot be reached or
    sends an invalid response, the service's own errors as the matching `SwapcliError`, and `InvalidOption` for requests
    that its API cannot express. `check_state` raises an error if quotes on the state that the service reports may not
    be used. Raises `ConfigError` for an invalid URL. `tokens`, by address, are the catalogue's tokens and the service's
    tokens that were needed.
    """

    def __init__(
        self,
        url: str,
        network: Network,
        clock: Clock,
        *,
        api_key: Secret | None,
        timeout_s: float,
        retries: int = DEFAULT_RETRIES,
        user_agent: str = USER_AGENT,
        retry_policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - it is immutable
        transport: httpx.BaseTransport | None = None,
        check_state: Callable[[StateSource], object] = bool,
    ) -> None:
        self._network, self._check_state = network, check_state
        self._clock = clock
        self._client = ServiceClient(
            ServiceUrl.parse(url),
            key=api_key.reveal if api_key else None,
            timeout_s=timeout_s,
            retries=retries,
            user_agent=user_agent,
            retry_policy=retry_policy,
            transport=transport,
        )
        self._service = NetworkApi(self._client, network)
        self.tokens: dict[str, Token] = {token.address: token for token in network.tokens}

    @property
    def network(self) -> Network:
        """The network on which the service quotes."""
        return self._network

    @property
    def state_source(self) -> StateSource:
        """The source of the state, as the service reported it with its newest response, if any."""
        address, stated = self._service.url, self._service.state_headers
        reported = parse_warnings(stated.warnings)
        state = parse_state(stated.state)
        if state is None:
            return StateSource(None, address.netloc, service_url=address.base_url, reported=reported)
        provenance, block, age_s, tag = state
        return StateSource(provenance, address.netloc, block, None, age_s, address.base_url, reported, tag=tag)

    def refresh(self) -> None:
        """Do nothing, because the service quotes on its own state."""

    def pin(self, *, pinned: bool) -> None:
        """Do nothing, because the service quotes on its own state."""
        del pinned

    def close(self) -> None:
        """Close the connections. Garbage collection also closes them."""
        self._client.close()

    def token(self, name: str) -> Token:
        """Return a token from the catalogue or, if it has none, from the service's list of tokens."""
        name = without_chain(name, self._network)
        try:
            return find_token(name, self._network, self.tokens)
        except UnknownToken:
            if not self._learn(name):
                raise
        return find_token(name, self._network, self.tokens)

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> RemoteQuote:
        self._check_expressible(request)
        query = self._query(request)
        if terms is None:
            return self._answer(request, self._service.route(query, request.api_version))
        query = query._replace(slippage_ppm=terms.slippage_ppm, recipient=terms.recipient)
        result, parsed = self._service.route_and_payload(query, request.api_version)
        answer = self._answer(request, result)
        expected = self._expected_payload(terms, with_route=True)
        with self._service.mismatch_as_upstream_error():
            return answer._replace(payload=validated_payload(parsed, answer.result, expected))

    def build(self, quoted: QuoteResult | RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """Return the payload that the service builds on its current state, even if `quoted` is a quote on an earlier
        state."""
        result = result_of(quoted)
        self._check_api_version(result.api_version)
        check_route_not_blocked(result, self.tokens, self._network)
        if terms.permit is not None:
            raise InvalidOption("a service cannot build payloads with permits", hint="remove --service or --signature")
        expected = self._expected_payload(terms, with_route=False)
        # The router does not accept a deadline, and neither does V2 calldata.
        parsed = self._service.payload(result, terms._replace(deadline_s=None))
        self._check_state(self.state_source)
        with self._service.mismatch_as_upstream_error():
            return validated_payload(parsed, result, expected)

    def health(self) -> Health:
        """Return the health that the service reports. The status is 0 if it does not respond."""
        started_s = self._clock.monotonic_s()
        try:
            reported = self._service.health(ApiVersion.V2 if self._network.has_v2 else ApiVersion.V1)
            status, message = reported.status, reported.message
        except UpstreamError as error:
            status, message = NO_ANSWER, error.message
        time_s = round(self._clock.monotonic_s() - started_s, 6)
        return Health(self._network.name, status, message, time_s, state_source=self.state_source)

    def _expected_payload(self, terms: SwapTerms, *, with_route: bool) -> ExpectedPayload:
        dialect = interface_dialect(self._network)
        return ExpectedPayload(terms.slippage_ppm, terms.required_recipient, self._network, dialect, with_route)

    def _answer(self, request: QuoteRequest, result: RouteResult) -> RemoteQuote:
        with self._service.mismatch_as_upstream_error():
            agreed = validated_result(
                result, ExpectedRoute(request.order, request.api_version, request.integrator, self._network)
            )
        tokens = self._tokens_of(request.order, agreed)
        check_route_not_blocked(agreed, tokens, self._network)
        state = self.state_source
        self._check_state(state)
        return RemoteQuote(
            order=request.order,
            result=agreed,
            network=self._network,
            tokens=tokens,
            state_source=state,
            timestamp_ms=agreed.timestamp_ms or int(self._clock.now_s() * 1000),
            proof=self._service.proof if request.proof else None,
        )

    def _tokens_of(self, order: Order, result: RouteResult) -> dict[str, Token]:
        """Return the known tokens and the route's; an unknown intermediate token is named by its address."""
        known = dict(self.tokens)
        for token in (order.token_in, order.token_out):
            known.setdefault(token.address, token)
        on_the_way = {swap.token_out for segment in result.segments for hop in segment.hops for swap in hop}
        for address in on_the_way - known.keys():
            shown = display_address(address, self._network.kind)
            known[address] = Token(address, f"{shown[:6]}…{shown[-4:]}", shown, 0)
        return known

    def _query(self, request: QuoteRequest) -> OrderRequest:
        order, integrator = request.order, request.integrator
        return OrderRequest(
            amount=order.amount,
            token_in=order.token_in.address,
            token_out=order.token_out.address,
            reverse=order.reverse,
            excluded=self._excluded(request),
            integrator_address=integrator.address if integrator else None,
            fee_bps=integrator.fee_bps if integrator else 0,
            surplus_bps=integrator.surplus_bps if integrator else 0,
            extended=self._uses_extended(order),
            values=tuple(
                (each.field, value) for each in SENT if (value := _value(each, request)) not in (None, each.served)
            ),
        )

    def _uses_extended(self, order: Order) -> bool:
        return not self._network.extended_protocols <= order.excluded_protocols

    def _excluded(self, request: QuoteRequest) -> tuple[str, ...]:
        """Return the excluded protocols to send: protocols outside the Fibrous API's list only if some of them are
        used."""
        excluded = [info for info in self._network.protocols if info.amm_name in request.order.excluded_protocols]
        if not self._uses_extended(request.order):
            excluded = [info for info in excluded if not info.is_extended]
        by_name = request.api_version is ApiVersion.V1 and network_variant(self._network.name).excludes_by_name
        return tuple(info.amm_name if by_name else str(info.id) for info in excluded)

    def _check_expressible(self, request: QuoteRequest) -> None:
        """Raise `InvalidOption` if the API has no parameter for a part of the request, rather than omit that part.

        A proof includes what `certify` requests.
        """
        order = request.order
        require_different_tokens(order)
        check_not_blocked([order.token_in, order.token_out], self._network)
        self._check_api_version(request.api_version)
        for each in reversed(QUOTE_PARAMETERS):
            if (
                each.unsent
                and _value(each, request) != each.default
                and not (each.field == "certify" and request.proof)
            ):
                raise _unsaid(each.unsent)
        if request.integrator and request.api_version is ApiVersion.V1:
            raise _unsaid("an integrator in v1")
        if order.reverse and not (request.api_version is ApiVersion.V1 and network_variant(self._network.name).reverse):
            raise _unsaid(f"exact output on {self._network.name} in {request.api_version}")

    def _check_api_version(self, api_version: ApiVersion) -> None:
        if api_version is ApiVersion.V2 and not self._network.has_v2:
            raise InvalidOption(f"{self._network.name} does not support v2", hint="use v1")

    def _learn(self, name: str) -> bool:
        """Add the token that the service knows by this name, or all tokens it lists; return whether there are any."""
        if name[:2].lower() != "0x":
            listed = self._service.tokens() or ()
            self.tokens = {each.token.address: each.token for each in listed} | self.tokens
            return bool(listed)
        address = parse_address(name, self._network.kind)
        found = self._service.token(display_address(address, self._network.kind))
        if found is None or found.token.address != address:
            return False
        self.tokens[address] = found.token
        return True


def _value(parameter: QuoteParameter, request: QuoteRequest) -> object:
    """Return the value of a quote parameter in a request."""
    return getattr(request.order if parameter.field in Order._fields else request, parameter.field)


def _unsaid(what: str) -> InvalidOption:
    return InvalidOption(
        f"{what} cannot be sent to a service: its API has no parameter for it",
        hint="remove it, or quote without a service (--api-url)",
    )
