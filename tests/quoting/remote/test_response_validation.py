"""A changed response is rejected, or its transaction still matches the order."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidUpstreamResponse, NoRoute
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import min_received
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.quoting.remote.cases import CASES, Case, expected_quote
from tests.support.fake_service import FakeService, unchanged
from tests.support.markets import embedded_source

UNTRUSTED_ADDRESS = "0x" + "66" * 20
Path = tuple[str | int, ...]

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2**64),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2**256 - 1).map(str),
    st.sampled_from(
        [UNTRUSTED_ADDRESS, "0x" + "0" * 40, "0x" + "6" * 63, "0x", "", "100%", "1%", "0", "1000000", "-1", "1e3"]
    ),
    st.text(max_size=10),
    st.just([]),
    st.just({}),
)


def list_paths(document: Any, at: Path = ()) -> Iterator[Path]:
    """Return the paths of all values in a document, containers included."""
    yield at
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inside:
        yield from list_paths(value, (*at, key))


def change_document(document: Any, at: Path, value: object) -> Any:
    """Return the document with another value at a path; `...` deletes it."""
    if not at:
        return None if value is ... else value
    document = copy.deepcopy(document)
    holder = document
    for step in at[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    return document


class RecordedTransport(httpx.BaseTransport):
    """Returns the same document for every request."""

    def __init__(self, document: Any) -> None:
        self._body = json.dumps(document).encode()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self._body), request=request)


class FakeServiceTransport(httpx.BaseTransport):
    """Responds like `FakeService`, without a socket, and remembers the last response."""

    def __init__(self, name: str) -> None:
        self._service = FakeService(embedded_source(name), unchanged)
        self.document: Any = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.split("/", 2)[2]
        body = json.loads(request.content) if request.content else None
        self.document = self._service.respond(path, list(request.url.params.multi_items()), body)
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps(self.document).encode()), request=request)


def open_source(name: str, transport: httpx.BaseTransport) -> RemoteSource:
    return RemoteSource(
        "http://service.test", find_network(name), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, transport=transport
    )


@cache
def unchanged_response(case: Case, *, with_route: bool) -> Any:
    live = FakeServiceTransport(case.network)
    source = open_source(case.network, live)
    if with_route:
        quote_and_build(source, case.build_request(), case.terms())
    else:
        source.build(expected_quote(case)[0]._replace(timestamp_ms=int(SYSTEM_CLOCK.now_s() * 1000)), case.terms())
    return live.document


def read_response(case: Case, document: Any, *, with_route: bool) -> tuple[RouteResult, UnsignedTransaction]:
    source = open_source(case.network, RecordedTransport(document))
    if not with_route:
        return expected_quote(case)[0], source.build(expected_quote(case)[0], case.terms())
    answer, payload = quote_and_build(source, case.build_request(), case.terms())
    return answer.result, payload


def check_only_the_order_is_signed(case: Case, result: RouteResult, payload: UnsignedTransaction) -> None:
    expected, terms, route = expected_quote(case)[1], case.terms(), payload.call.route
    assert payload.to == expected.to
    assert payload.value == (payload.call.route.amount_in if expected.value else 0)
    assert route.recipient == terms.recipient
    assert (route.token_in, route.token_out, route.swap_type) == expected.call.route[:2] + expected.call.route[-1:]
    if case.reverse:
        assert case.amount <= result.output_amount <= case.amount * 102 // 100
    else:
        assert route.amount_in == case.amount
    assert route.amount_in == result.input_amount
    assert route.min_received >= min_received(route.amount_out, terms.slippage_ppm)
    assert route.amount_out >= min_received(result.output_amount, terms.slippage_ppm)
    assert payload.router_call.integrator_data == b""


@pytest.mark.parametrize("with_route", [True, False], ids=["with route", "posted"])
@given(data=st.data())
def test_no_changed_response_makes_a_user_sign_another_swap(with_route: bool, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    document = unchanged_response(case, with_route=with_route)
    at = data.draw(st.sampled_from(list(list_paths(document))))
    changed = change_document(document, at, data.draw(st.just(...) | values))
    try:
        result, payload = read_response(case, changed, with_route=with_route)
    except (InvalidUpstreamResponse, NoRoute):
        return
    check_only_the_order_is_signed(case, result, payload)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_unchanged_response_is_accepted(case: Case) -> None:
    result, payload = read_response(case, unchanged_response(case, with_route=True), with_route=True)
    check_only_the_order_is_signed(case, result, payload)
    assert payload == expected_quote(case)[1]


@given(data=st.data())
def test_the_response_to_another_order_is_rejected(data: st.DataObject) -> None:
    requested, answered = data.draw(st.lists(st.sampled_from(CASES), min_size=2, max_size=2, unique=True))
    document = unchanged_response(answered, with_route=True)
    with pytest.raises(InvalidUpstreamResponse):
        read_response(requested, document, with_route=True)
