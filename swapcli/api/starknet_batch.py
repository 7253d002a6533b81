"""Batches of starknet: two or three orders for the same token, with a route or the arguments of a call for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from swapcli.api.felts import parse_felts, render_felts
from swapcli.api.fields import entries
from swapcli.api.request_parameters import RequestParameters, parse_amount, parse_token_parameter
from swapcli.api.requests import ROUTE_V1, OrderRequest, Query, check_distinct, read_batch_terms, render_terms
from swapcli.api.route import parse_result, render_v1
from swapcli.api.route_result import RouteResult
from swapcli.errors import InvalidInput
from swapcli.model.network import Network
from swapcli.model.transaction import UnsignedTransaction
from swapcli.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.api.schemas import RouteV1Json

PAIR_COUNTS = range(2, 4)

_MAX_RESULTS = 16


def parse_batch(query: Query, network: Network, *, needs_terms: bool) -> tuple[OrderRequest, ...]:
    """The two or three orders of a batch, all for the same token; with slippage and receiver where needed."""
    parameters = RequestParameters.from_query(query, network.kind)
    amounts = [parse_amount("amounts", entry) for entry in parameters.string_list("amounts")]
    tokens_in = [
        parse_token_parameter("tokenInAddresses", t, network.kind) for t in parameters.string_list("tokenInAddresses")
    ]
    tokens_out = {
        parse_token_parameter("tokenOutAddresses", t, network.kind) for t in parameters.string_list("tokenOutAddresses")
    }
    if len(amounts) not in PAIR_COUNTS or len(tokens_in) != len(amounts):
        raise _fault("amounts", "amounts and tokenInAddresses must have the same number of entries, 2 or 3")
    if len(tokens_out) != 1:
        raise _fault("tokenOutAddresses", "tokenOutAddresses must name one token")
    token_out = tokens_out.pop()
    for token_in in tokens_in:
        check_distinct(token_in, token_out, "tokenInAddresses")
    shared = read_batch_terms(parameters, network, ROUTE_V1._replace(needs_terms=needs_terms))
    pairs = zip(amounts, tokens_in, strict=True)
    return tuple(shared._replace(amount=amount, token_in=token_in, token_out=token_out) for amount, token_in in pairs)


def render_batch(orders: Sequence[OrderRequest], network: Network) -> list[tuple[str, str]]:
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


def render_batch_routes(results: Sequence[RouteResult], network: Network) -> list[RouteV1Json]:
    """`routeBatch`: a route for each pair."""
    return [render_v1(result, network) for result in results]


def parse_batch_routes(document: object, network: Network) -> tuple[RouteResult, ...]:
    """`routeBatch`. Raises `NoRoute` where one of them was not found."""
    return tuple(parse_result(entry, network, at) for at, entry in entries(document, "document", _MAX_RESULTS))


def render_batch_felts(payloads: Iterable[UnsignedTransaction]) -> list[list[str]]:
    """`executeBatch`: the arguments of a call for each pair."""
    return [render_felts(payload.felts) for payload in payloads]


def parse_batch_felts(document: object) -> tuple[tuple[int, ...], ...]:
    """`executeBatch`."""
    return tuple(parse_felts(entry, at) for at, entry in entries(document, "document", _MAX_RESULTS))


def _fault(name: str, problem: str) -> InvalidInput:
    return InvalidInput(problem, details={"field": name})
