"""Whatever a service changes in an answer: it is refused, or what would be signed is still what was asked."""

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

from swapcli.api.route_result import RouteResult
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sources.remote import RemoteSource
from swapcli.errors import InvalidUpstreamResponse, NoRoute
from swapcli.model.swap_terms import min_received
from swapcli.model.transaction import UnsignedTransaction
from swapcli.networks.catalogue import network
from tests.remote.cases import CASES, Case, core
from tests.support.fake_service import FakeService, unchanged
from tests.support.markets import embedded_source

STRANGER = "0x" + "66" * 20
Path = tuple[str | int, ...]

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2**64),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2**256 - 1).map(str),
    st.sampled_from([STRANGER, "0x" + "0" * 40, "0x" + "6" * 63, "0x", "", "100%", "1%", "0", "1000000", "-1", "1e3"]),
    st.text(max_size=10),
    st.just([]),
    st.just({}),
)


def leaves(document: Any, at: Path = ()) -> Iterator[Path]:
    """The paths of all values in a document, containers included."""
    yield at
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inside:
        yield from leaves(value, (*at, key))


def twisted(document: Any, at: Path, value: object) -> Any:
    """The document with another value there; without it where the value is `...`."""
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


class Recorded(httpx.BaseTransport):
    """Gives one answer to everything."""

    def __init__(self, document: Any) -> None:
        self._body = json.dumps(document).encode()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self._body), request=request)


class Live(httpx.BaseTransport):
    """Answers as an honest service does, without a socket, and keeps the last answer."""

    def __init__(self, name: str) -> None:
        self._honest = FakeService(embedded_source(name), unchanged)
        self.told: Any = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.split("/", 2)[2]
        body = json.loads(request.content) if request.content else None
        self.told = self._honest.respond(path, list(request.url.params.multi_items()), body)
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps(self.told).encode()), request=request)


def asking(name: str, transport: httpx.BaseTransport) -> RemoteSource:
    return RemoteSource(
        "http://service.test", network(name), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, transport=transport
    )


@cache
def honest_answer(case: Case, *, at_once: bool) -> Any:
    live = Live(case.network)
    source = asking(case.network, live)
    if at_once:
        source.quote_and_build(case.ask(), case.terms())
    else:
        source.build(core(case)[0]._replace(timestamp_ms=int(SYSTEM_CLOCK.now_s() * 1000)), case.terms())
    return live.told


def payload_of(case: Case, document: Any, *, at_once: bool) -> tuple[RouteResult, UnsignedTransaction]:
    source = asking(case.network, Recorded(document))
    if not at_once:
        return core(case)[0], source.build(core(case)[0], case.terms())
    answer, payload = source.quote_and_build(case.ask(), case.terms())
    return answer.result, payload


def check_nothing_is_signed_that_was_not_asked_for(
    case: Case, result: RouteResult, payload: UnsignedTransaction
) -> None:
    expected, terms, route = core(case)[1], case.terms(), payload.call.route
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
    assert payload.call.integrator_data == b""


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "posted"])
@given(data=st.data())
def test_no_single_change_of_an_answer_makes_anyone_sign_something_else(at_once: bool, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    document = honest_answer(case, at_once=at_once)
    at = data.draw(st.sampled_from(list(leaves(document))))
    changed = twisted(document, at, data.draw(st.just(...) | values))
    try:
        result, payload = payload_of(case, changed, at_once=at_once)
    except (InvalidUpstreamResponse, NoRoute):
        return
    check_nothing_is_signed_that_was_not_asked_for(case, result, payload)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_answer_that_nobody_changed_is_taken(case: Case) -> None:
    result, payload = payload_of(case, honest_answer(case, at_once=True), at_once=True)
    check_nothing_is_signed_that_was_not_asked_for(case, result, payload)
    assert payload == core(case)[1]


@given(data=st.data())
def test_the_answer_to_another_order_is_refused(data: st.DataObject) -> None:
    asked, answered = data.draw(st.sampled_from(CASES)), data.draw(st.sampled_from(CASES))
    document = honest_answer(answered, at_once=True)
    if asked == answered:
        return
    with pytest.raises(InvalidUpstreamResponse):
        payload_of(asked, document, at_once=True)
