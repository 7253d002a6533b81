"""Batches of starknet: two or three orders for the same token, with a route or the arguments of a call for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from swapcli.api.felts import parse_felts, render_felts
from swapcli.api.fields import entries
from swapcli.api.request_parameters import Parameters, checked_amount, checked_token
from swapcli.api.requests import ROUTE_V1, OrderQuery, Query, check_distinct, read_shared, render_terms
from swapcli.api.route import parse, render_v1
from swapcli.api.route_result import RouteResult
from swapcli.errors import InvalidInput
from swapcli.model.network import Network
from swapcli.model.payload import Payload
from swapcli.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.api.schemas import RouteV1

PAIRS = range(2, 4)

_MAX_ANSWERS = 16


def parse_batch(query: Query, network: Network, *, needs_terms: bool) -> tuple[OrderQuery, ...]:
    """The two or three orders of a batch, all for the same token; with slippage and receiver where needed."""
    parameters = Parameters.of_query(query, network.kind)
    amounts = [checked_amount("amounts", entry) for entry in parameters.listed("amounts")]
    tokens_in = [checked_token("tokenInAddresses", t, network.kind) for t in parameters.listed("tokenInAddresses")]
    tokens_out = {checked_token("tokenOutAddresses", t, network.kind) for t in parameters.listed("tokenOutAddresses")}
    if len(amounts) not in PAIRS or len(tokens_in) != len(amounts):
        raise _fault("amounts", "amounts and tokenInAddresses must have the same number of entries, 2 or 3")
    if len(tokens_out) != 1:
        raise _fault("tokenOutAddresses", "tokenOutAddresses must name one token")
    token_out = tokens_out.pop()
    for token_in in tokens_in:
        check_distinct(token_in, token_out, "tokenInAddresses")
    shared = read_shared(parameters, network, ROUTE_V1._replace(needs_terms=needs_terms))
    pairs = zip(amounts, tokens_in, strict=True)
    return tuple(shared._replace(amount=amount, token_in=token_in, token_out=token_out) for amount, token_in in pairs)


def render_batch(orders: Sequence[OrderQuery], network: Network) -> list[tuple[str, str]]:
    """The query that gives a batch of orders with the same output token and the same terms."""
    shared = orders[0]
    query = [
        ("amounts", ",".join(str(order.amount) for order in orders)),
        ("tokenInAddresses", ",".join(display_address(order.token_in, network.kind) for order in orders)),
        ("tokenOutAddresses", display_address(shared.token_out, network.kind)),
    ]
    if shared.direct:
        query.append(("direct", "true"))
    if shared.excluded:
        query.append(("excludeProtocols", ",".join(shared.excluded)))
    return query + render_terms(shared, network)


def render_batch_routes(results: Sequence[RouteResult], network: Network) -> list[RouteV1]:
    """`routeBatch`: a route for each pair."""
    return [render_v1(result, network) for result in results]


def parse_batch_routes(document: object, network: Network) -> tuple[RouteResult, ...]:
    """`routeBatch`. Raises `NoRoute` where one of them was not found."""
    return tuple(parse(entry, network, at) for at, entry in entries(document, "document", _MAX_ANSWERS))


def render_batch_felts(payloads: Iterable[Payload]) -> list[list[str]]:
    """`executeBatch`: the arguments of a call for each pair."""
    return [render_felts(payload.felts) for payload in payloads]


def parse_batch_felts(document: object) -> tuple[tuple[int, ...], ...]:
    """`executeBatch`."""
    return tuple(parse_felts(entry, at) for at, entry in entries(document, "document", _MAX_ANSWERS))


def _fault(name: str, problem: str) -> InvalidInput:
    return InvalidInput(problem, details={"field": name})
