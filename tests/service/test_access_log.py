"""The access log: a line of JSON per request, with nothing in it that a client sent but the id it chose."""

from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.service.access_log import Access, AccessLog, client_class, request_id

PLAIN = Access("id-1", "GET", "/{network}/route", "base", 200, 0.0123456, "loopback")


def lines(*written: Access) -> list[dict[str, object]]:
    stream = io.StringIO()
    log = AccessLog(stream)
    for access in written:
        log.write(access, 1_769_287_300.0004)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_says_when_who_what_and_how_long() -> None:
    assert lines(PLAIN) == [
        {
            "time": "2026-01-24T20:41:40.000Z",
            "request_id": "id-1",
            "method": "GET",
            "path": "/{network}/route",
            "network": "base",
            "status": 200,
            "duration_ms": 12.346,
            "client": "loopback",
        }
    ]


@given(method=st.text(max_size=30), path=st.none() | st.sampled_from(["/metrics", "/{network}/route"]))
def test_each_request_is_one_line_whatever_its_method(method: str, path: str | None) -> None:
    (line,) = lines(PLAIN._replace(method=method, path=path))
    assert line["method"] in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "other"}
    assert line["path"] == (path or "other")


def test_a_client_that_left_has_no_status() -> None:
    assert lines(PLAIN._replace(status=None))[0]["status"] is None


@given(given_=st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9._-]{1,70}"))
def test_a_request_id_is_the_clients_only_where_it_is_well_formed(given_: str) -> None:
    kept = request_id(given_)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", kept)
    assert (kept == given_) == bool(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given_))


@pytest.mark.parametrize("bad", [None, "", "a b", "a\n", "a\r\nSet-Cookie: x", "é", "x" * 65, '{"a":1}'])
def test_any_other_request_id_is_made_here_and_unlike_all_others(bad: str | None) -> None:
    made = {request_id(bad) for _ in range(100)}
    assert len(made) == 100
    assert bad not in made


def test_a_client_is_this_machine_or_not() -> None:
    assert [client_class(each) for each in ("127.0.0.1", "::1", "203.0.113.7", None)] == [
        "loopback",
        "loopback",
        "other",
        "other",
    ]


def fail_with(secret: str) -> Exception:
    try:
        raise KeyError(secret)
    except KeyError as error:
        return error


@given(secret=st.from_regex(r"\A[0-9a-f]{40}\Z"))
def test_a_defect_tells_where_but_nothing_of_what_was_sent(secret: str) -> None:
    stream = io.StringIO()
    AccessLog(stream).defect("id-1", fail_with(secret), 0.0)
    line = json.loads(stream.getvalue())
    assert (line["request_id"], line["defect"]) == ("id-1", "KeyError")
    assert line["where"][-1].endswith("fail_with")
    assert secret not in stream.getvalue()


class Closed(io.StringIO):
    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_log_that_cannot_be_written_costs_no_request() -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (Closed(), closed):
        AccessLog(stream).write(PLAIN, 0.0)
    assert Closed().getvalue() == ""
