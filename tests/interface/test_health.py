"""Health responses in both API versions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.interface import json_types
from swapcli.interface.health import HEALTHY, HealthResponse, parse_health, render_health_v1, render_health_v2
from tests.interface.conform import conforms

messages = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=50)


@given(st.integers(100, 599), messages)
def test_v1_is_read_as_it_was_written(status: int, message: str) -> None:
    document = render_health_v1(status, message)
    assert list(document) == ["staus", "message"]
    assert conforms(document, json_types.HealthV1Json)
    assert parse_health(json.loads(json.dumps(document))) == HealthResponse(status, message)


@given(st.integers(100, 599), messages, st.integers(0, 4 * 10**12))
def test_v2_is_read_as_it_was_written(status: int, message: str, now_ms: int) -> None:
    document = render_health_v2(status, message, now_ms)
    assert list(document) == ["status", "message", "meta"]
    assert conforms(document, json_types.HealthV2Json)
    assert parse_health(json.loads(json.dumps(document))) == HealthResponse(status, message, now_ms)


def test_v1_is_understood_in_the_other_spelling_too() -> None:
    assert parse_health({"status": 200, "message": "alive"}) == HealthResponse(HEALTHY, "alive")


def test_a_message_is_fit_for_a_terminal() -> None:
    assert parse_health({"staus": 200, "message": "al\x1b[31mive\n\u202eok"}).message == "al [31mive ok"


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"staus": "200", "message": "x"}, {"staus": True, "message": "x"}, {"staus": 200},
     {"staus": 10**9, "message": "x"}, {"status": 200, "message": 5}, {"status": 200, "message": "x", "meta": {}},
     {"status": 200, "message": "x", "meta": {"timestamp": "now"}}],
)  # fmt: skip
def test_another_answer_is_refused(document: object) -> None:
    with pytest.raises(InvalidInput):
        parse_health(document)
