"""Starknet batches."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAddress, InvalidAmount, InvalidInput, InvalidSlippage, SameToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.address import display_address
from swapcli.interface import json_types
from swapcli.interface.fields import parse_felts
from swapcli.interface.requests import PAYLOAD_V1, ROUTE_V1, OrderRequest
from swapcli.interface.route import parse_result
from swapcli.interface.slippage import format_percent
from swapcli.interface.starknet_batch import (
    parse_batch,
    render_batch_felts,
    render_batch_routes,
)
from tests.interface.build import STARKNET, accounts, addresses, amounts, payloads, results
from tests.interface.conform import conforms

RECIPIENT = "0x0" + "5" * 63
X, Y, Z = (f"0x{n:064x}" for n in (1, 2, 3))
QUERY = [
    ("amounts", "10,20"), ("tokenInAddresses", "0x1,0x2"), ("tokenOutAddresses", "0x3"),
    ("slippage", "1"), ("destination", RECIPIENT),
]  # fmt: skip
ORDERS = tuple(
    OrderRequest(amount, token, Z, slippage_ppm=10_000, recipient=RECIPIENT) for amount, token in [(10, X), (20, Y)]
)


@st.composite
def batches(draw: st.DrawFn) -> tuple[OrderRequest, ...]:
    token_out, *tokens_in = draw(st.lists(addresses(STARKNET.kind), min_size=3, max_size=4, unique=True))
    shared = OrderRequest(
        0, "", token_out,
        values=draw(st.sampled_from([(), (("direct", True),)])),
        excluded=tuple(draw(st.lists(st.text("123", min_size=1, max_size=2), max_size=3))),
        slippage_ppm=draw(st.integers(1_000, 1_000_000)),
        recipient=draw(accounts(STARKNET.kind)),
    )  # fmt: skip
    return tuple(shared._replace(amount=draw(amounts), token_in=token) for token in tokens_in)


def batch_query(orders: Sequence[OrderRequest]) -> list[tuple[str, str]]:
    """The query of a batch of orders with the same output token and options."""
    first, kind = orders[0], STARKNET.kind
    return [
        ("amounts", ",".join(str(order.amount) for order in orders)),
        ("tokenInAddresses", ",".join(display_address(order.token_in, kind) for order in orders)),
        ("tokenOutAddresses", display_address(first.token_out, kind)),
        ("direct", str(dict(first.values).get("direct", False)).lower()),
        ("excludeProtocols", ",".join(first.excluded)),
        ("slippage", format_percent(first.slippage_ppm)),
        ("destination", display_address(first.recipient or "", kind)),
    ]


@given(batches())
def test_a_batch_is_read_as_it_was_written(orders: tuple[OrderRequest, ...]) -> None:
    assert parse_batch(batch_query(orders), STARKNET, PAYLOAD_V1) == orders


@pytest.mark.parametrize(
    "given_as",
    [
        QUERY,
        [("amounts", "10"), ("amounts", "20"), *QUERY[1:]],
        [("amounts[]", "10"), ("amounts[]", "20"), *QUERY[1:]],
        [("amounts", '["10","20"]'), *QUERY[1:]],
        [*QUERY, ("tokenOutAddresses", "0x03")],
    ],
)
def test_lists_may_be_written_in_any_form(given_as: list[tuple[str, str]]) -> None:
    assert parse_batch(given_as, STARKNET, PAYLOAD_V1) == ORDERS


def test_routes_need_no_terms() -> None:
    bare = parse_batch(QUERY[:3], STARKNET, ROUTE_V1)
    assert [order.recipient for order in bare] == [None, None]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("amounts", "10", InvalidInput),
        ("amounts", "", InvalidInput),
        ("amounts", "1,2,3,4", InvalidInput),
        ("amounts", "10,0", InvalidAmount),
        ("amounts", "10,-5", InvalidAmount),
        ("tokenInAddresses", "0x1,x", InvalidAddress),
        ("tokenInAddresses", "0x1,0x3", SameToken),
        ("tokenOutAddresses", "0x3,0x4", InvalidInput),
        ("tokenOutAddresses", "", InvalidInput),
        ("slippage", "0", InvalidSlippage),
        ("destination", "0x0", InvalidAddress),
    ],
)
def test_a_bad_parameter_is_refused_by_name(name: str, value: str, error: type[InvalidInput]) -> None:
    query = [(key, value if key == name else valid) for key, valid in QUERY]
    with pytest.raises(error) as caught:
        parse_batch(query, STARKNET, PAYLOAD_V1)
    assert caught.value.details["field"] == name


def test_as_many_tokens_as_amounts() -> None:
    with pytest.raises(InvalidInput, match="same number of entries"):
        parse_batch([("amounts", "1,2,3"), *QUERY[1:]], STARKNET, PAYLOAD_V1)


def test_one_pair_is_no_batch() -> None:
    with pytest.raises(InvalidInput, match="2 or 3"):
        parse_batch([("amounts", "1"), ("tokenInAddresses", "0x1"), *QUERY[2:]], STARKNET, PAYLOAD_V1)


@given(st.lists(results(STARKNET, ApiVersion.V1), min_size=2, max_size=3))
def test_routes_are_read_as_they_were_written(routes: list[RouteResult]) -> None:
    document = json.loads(json.dumps(render_batch_routes(routes, STARKNET)))
    assert all(conforms(entry, json_types.RouteV1Json) for entry in document)
    assert tuple(parse_result(entry, STARKNET) for entry in document) == tuple(routes)


@given(st.lists(payloads(STARKNET), min_size=2, max_size=3))
def test_felts_are_read_as_they_were_written(calls: list[UnsignedTransaction]) -> None:
    document = json.loads(json.dumps(render_batch_felts(calls)))
    assert tuple(map(parse_felts, document)) == tuple(payload.felts for payload in calls)
