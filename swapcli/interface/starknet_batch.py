"""Starknet batches: two or three orders for the same output token, with routes or calls as the response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.interface.fields import render_felts
from swapcli.interface.requests import (
    OrderParameters,
    OrderRequest,
    Query,
    RequestParameters,
    check_distinct,
    parse_amount,
    parse_token_parameter,
    read_order_options,
)
from swapcli.interface.route import render_v1

if TYPE_CHECKING:
    from swapcli.interface.json_types import RouteV1Json

BATCH_SIZES = range(2, 4)


def parse_batch(query: Query, network: Network, accepted: OrderParameters) -> tuple[OrderRequest, ...]:
    """Parse two or three orders for the same output token. Raises `InvalidInput` with the field."""
    parameters = RequestParameters.from_query(query, network.kind)
    amounts = [parse_amount("amounts", entry) for entry in parameters.string_list("amounts")]
    tokens_in = _parse_tokens("tokenInAddresses", parameters)
    tokens_out = set(_parse_tokens("tokenOutAddresses", parameters))
    if len(amounts) not in BATCH_SIZES or len(tokens_in) != len(amounts):
        raise _invalid("amounts", "amounts and tokenInAddresses must have the same number of entries, 2 or 3")
    if len(tokens_out) != 1:
        raise _invalid("tokenOutAddresses", "tokenOutAddresses must name one token")
    token_out = tokens_out.pop()
    for token_in in tokens_in:
        check_distinct(token_in, token_out, "tokenInAddresses")
    options = read_order_options(parameters, network, accepted)
    pairs = zip(amounts, tokens_in, strict=True)
    return tuple(options._replace(amount=amount, token_in=token_in, token_out=token_out) for amount, token_in in pairs)


def render_batch_routes(results: Sequence[RouteResult], network: Network) -> list[RouteV1Json]:
    """Render the response of `routeBatch`: a route for each order."""
    return [render_v1(result, network) for result in results]


def render_batch_felts(payloads: Iterable[UnsignedTransaction]) -> list[list[str]]:
    """Render the response of `executeBatch`: the arguments of a call for each order."""
    return [render_felts(payload.felts) for payload in payloads]


def _parse_tokens(name: str, parameters: RequestParameters) -> list[str]:
    return [parse_token_parameter(name, entry, parameters.kind) for entry in parameters.string_list(name)]


def _invalid(name: str, problem: str) -> InvalidInput:
    return InvalidInput(problem, details={"field": name})
