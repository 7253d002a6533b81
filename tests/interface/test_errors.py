"""Error bodies, and the errors that a client reads from them."""

from __future__ import annotations

from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import (
    InsufficientBalance,
    InsufficientLiquidity,
    IntegratorError,
    InvalidAddress,
    InvalidDeadline,
    InvalidInput,
    InvalidRoute,
    InvalidSlippage,
    MarketUnavailable,
    NoRoute,
    Overloaded,
    RateLimited,
    RouteExpired,
    SameToken,
    SlippageExceeded,
    SwapcliError,
    Unauthorized,
    UpstreamRejected,
)
from swapcli.core.model.swap_terms import BOTH_FEE_AND_SURPLUS
from swapcli.interface import json_types
from swapcli.interface.errors import (
    parse_error,
    reason_phrase,
    render_brief_error,
    render_detailed_error,
    render_status_error,
)
from swapcli.interface.route import render_no_route
from tests.examples import few
from tests.interface.conform import conforms

NAMED = [
    ("Invalid route", InvalidRoute),
    ("Invalid slippage", InvalidSlippage),
    ("Invalid signer", InvalidAddress),
    ("Invalid deadline", InvalidDeadline),
    ("Route expired", RouteExpired),
    ("Insufficient liquidity", InsufficientLiquidity),
    ("Slippage exceeded", SlippageExceeded),
    ("Insufficient balance", InsufficientBalance),
]


def test_the_three_forms_have_exactly_their_fields() -> None:
    assert list(render_detailed_error("Invalid route", "why").items()) == [
        ("success", False), ("error", "Invalid route"), ("details", "why"),
    ]  # fmt: skip
    assert list(render_brief_error("Route expired", "why").items()) == [("error", "Route expired"), ("message", "why")]
    assert list(render_status_error(400, ["a", "b"]).items()) == [
        ("statusCode", 400), ("message", ["a", "b"]), ("error", "Bad Request"),
    ]  # fmt: skip
    assert render_status_error(500, "sorry", request_id="4f")["requestId"] == "4f"


def test_the_forms_are_as_stated() -> None:
    assert conforms(render_detailed_error("a", "b"), json_types.DetailedErrorJson)
    assert conforms(render_brief_error("a", "b"), json_types.BriefErrorJson)
    assert all(conforms(render_status_error(status, "x"), json_types.StatusErrorJson) for status in (*HTTPStatus, 599))
    assert conforms(render_status_error(500, ["x"], request_id="1"), json_types.StatusErrorJson)


@pytest.mark.parametrize("status", few(HTTPStatus, 20))
def test_reason_phrases_are_those_of_http(status: HTTPStatus) -> None:
    assert reason_phrase(int(status)) == status.phrase == render_status_error(int(status), "x")["error"]
    assert reason_phrase(599) == ""


def test_a_hint_is_written_and_read_in_every_form() -> None:
    for document in (
        render_detailed_error("a", "b", "c"),
        render_brief_error("a", "b", "c"),
        render_status_error(400, "b", hint="c"),
    ):
        assert conforms(document, json_types.DetailedErrorJson | json_types.BriefErrorJson | json_types.StatusErrorJson)
        assert (parse_error(400, document).message, parse_error(400, document).hint) == ("b", "c")
        assert parse_error(400, {**document, "hint": ["\n", 5]}).hint is None


@pytest.mark.parametrize(("name", "error"), NAMED)
@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_named_error_is_told_in_both_forms(name: str, error: type[SwapcliError], status: int) -> None:
    for document in (
        render_detailed_error(name, "why"),
        render_brief_error(name, "why"),
        render_brief_error(name.upper(), "why"),
    ):
        reported = parse_error(status, document)
        assert type(reported) is error
        assert reported.message == "why"


@pytest.mark.parametrize(
    ("status", "retry_after_s", "error"),
    [
        (200, None, NoRoute),
        (400, None, InvalidInput),
        (401, None, Unauthorized),
        (403, None, Unauthorized),
        (404, None, UpstreamRejected),
        (413, None, UpstreamRejected),
        (302, None, UpstreamRejected),
        (429, None, RateLimited),
        (500, None, UpstreamRejected),
        (503, None, MarketUnavailable),
        (503, 7, Overloaded),
    ],
)
def test_a_status_tells_the_error(status: int, retry_after_s: int | None, error: type[SwapcliError]) -> None:
    reported = parse_error(status, render_status_error(status, "in its own words"), retry_after_s)
    assert type(reported) is error
    assert reported.message == "in its own words"


@pytest.mark.parametrize(("given_s", "reported_s"), [(30, 30), (None, 1), (0, 1)])
def test_a_limit_tells_when_to_try_again(given_s: int | None, reported_s: int) -> None:
    reported = parse_error(429, render_status_error(429, "slowly"), given_s)
    assert isinstance(reported, RateLimited)
    assert reported.retry_after_s == reported_s


def test_known_sentences_are_known_errors() -> None:
    assert type(parse_error(400, render_status_error(400, SameToken().message))) is SameToken
    assert type(parse_error(400, render_status_error(400, BOTH_FEE_AND_SURPLUS))) is IntegratorError


def test_a_route_that_was_not_found_keeps_its_reason() -> None:
    assert parse_error(200, render_no_route("nothing there")).message == "nothing there"


def test_several_messages_make_one_sentence() -> None:
    assert (
        parse_error(400, render_status_error(400, ["amount is odd", "so is direct"])).message
        == "amount is odd; so is direct"
    )


@pytest.mark.parametrize("document", [None, [], "gateway", {}, {"error": ""}, {"message": 5}, {"message": "\n\x00"}])
def test_a_service_that_says_nothing_is_told_by_its_status(document: object) -> None:
    assert parse_error(502, document).message == "the service responded with status 502 Bad Gateway"
    assert parse_error(599, document).message == "the service responded with status 599"


def test_a_message_is_one_bounded_printable_line() -> None:
    reported = parse_error(400, {"message": "a\r\nb\x1b[2J\u202ec\ud800 " + "x" * 10**6}).message
    assert reported.startswith("a b [2J c x")
    assert len(reported) == 300
    assert reported.isprintable()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "details", "errorMessage"]), inner)
    ),
    max_leaves=8,
)


@given(st.integers(200, 599), anything, st.none() | st.integers(0, 9999))
def test_whatever_is_answered_is_an_error_of_ours(status: int, document: object, retry_after_s: int | None) -> None:
    reported = parse_error(status, document, retry_after_s)
    assert isinstance(reported, SwapcliError)
    assert reported.message
    assert reported.message.isprintable()
    assert len(reported.message) <= 300
