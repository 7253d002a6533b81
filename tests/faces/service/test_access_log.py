"""The access log: one JSON line per request, without client data except a well-formed request id."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.networks.catalogue import find_network
from swapcli.faces.service.access_log import AccessLog, AccessRecord, choose_request_id, classify_client, known_method
from swapcli.faces.service.keys import KeyStore
from swapcli.state.tracing import Trace
from tests.support.service import build_app, open_registry, send_requests

PLAIN = AccessRecord("id-1", "GET", "/{network}/route", "base", 200, 0.0123456, "loopback")


def lines(*written: AccessRecord) -> list[dict[str, object]]:
    stream = io.StringIO()
    log = AccessLog(stream)
    for access in written:
        log.write(access, 1_769_287_300.0004)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_says_when_who_what_and_how_long() -> None:
    assert lines(PLAIN) == [
        {
            "time": "2026-01-24T20:41:40.000Z",
            "level": "info",
            "request_id": "id-1",
            "method": "GET",
            "path": "/{network}/route",
            "network": "base",
            "status": 200,
            "duration_ms": 12.346,
            "client": "loopback",
            "key": None,
        }
    ]


@given(method=st.text(max_size=30), path=st.none() | st.sampled_from(["/metrics", "/{network}/route"]))
def test_each_request_is_one_line_whatever_its_method(method: str, path: str | None) -> None:
    (line,) = lines(PLAIN._replace(method=known_method(method), path=path))
    assert line["method"] in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "other"}
    assert line["path"] == (path or "other")


def test_a_line_says_which_key_why_rejected_and_in_which_trace() -> None:
    trace = Trace("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
    (line,) = lines(PLAIN._replace(status=503, key="0a1b2c3d", reason="queue", cpu_s=0.0042, trace=trace))
    new = {name: line[name] for name in ("level", "key", "reason", "cpu_ms", "trace_id", "span_id")}
    assert new == {
        "level": "error",
        "key": "0a1b2c3d",
        "reason": "queue",
        "cpu_ms": 4.2,
        "trace_id": trace.trace_id,
        "span_id": trace.span_id,
    }


@pytest.mark.parametrize(("status", "level"), [(None, "info"), (308, "info"), (400, "warning"), (500, "error")])
def test_the_level_follows_the_status(status: int | None, level: str) -> None:
    assert lines(PLAIN._replace(status=status))[0]["level"] == level


def test_a_client_that_left_has_no_status() -> None:
    assert lines(PLAIN._replace(status=None))[0]["status"] is None


@given(given_=st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9._-]{1,70}"))
def test_a_well_formed_request_id_of_the_client_is_used(given_: str) -> None:
    request_id = choose_request_id(given_)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", request_id)
    assert (request_id == given_) == bool(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given_))


@pytest.mark.parametrize("bad", [None, "", "a b", "a\n", "a\r\nSet-Cookie: x", "é", "x" * 65, '{"a":1}'])
def test_any_other_request_id_is_replaced_by_a_unique_one(bad: str | None) -> None:
    made = {choose_request_id(bad) for _ in range(100)}
    assert len(made) == 100
    assert bad not in made


def test_a_client_is_this_machine_or_not() -> None:
    assert [classify_client(each) for each in ("127.0.0.1", "::1", "203.0.113.7", None)] == [
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
    AccessLog(stream).log_defect("id-1", fail_with(secret), 0.0)
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


def test_the_log_of_a_whole_session_holds_nothing_that_was_sent(tmp_path: Path) -> None:
    """Requests with keys, recipients, integrators, amounts, bodies and invalid paths."""
    store, stream = KeyStore(tmp_path / "keys.json"), io.StringIO()
    good, revoked = store.create("Ada Lovelace").key, store.create("Grace Hopper").key
    store.revoke("Grace Hopper")
    base = find_network("base")
    recipient, integrator, amount = "0x" + "37" * 20, "0x" + "59" * 20, "123456789012345678"
    order = {"amount": amount, "tokenInAddress": base.native.address, "tokenOutAddress": base.stablecoins[0]}
    earning = order | {"integratorAddress": integrator, "integratorFeePercentageBps": "25"}
    terms = {"slippage": "0.5", "destination": recipient}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/base/v2/route", {"params": earning, "headers": {"X-API-Key": key}})
        for key in (good, revoked, "guess")
    ]
    requests += [
        (
            "GET",
            "/base/v2/routeAndCalldata",
            {"params": earning | terms, "headers": {"Authorization": f"Bearer {good}"}},
        ),
        ("GET", f"/base/v2/route/{good}", {"params": {"key": good}}),
        ("GET", f"/base/tokens/{recipient}", {}),
        ("POST", "/base/calldata", {"json": order | terms}),
        ("POST", "/base/execute", {"content": recipient + good, "headers": {"X-Request-Id": f"{good} {recipient}"}}),
        (
            "GET",
            "/base/healthcheck",
            {"headers": {"User-Agent": good, "Referer": recipient, "X-Forwarded-For": "203.0.113.9"}},
        ),
    ]
    answers = send_requests(build_app(open_registry(["base"]), keys=store, log=AccessLog(stream)), requests)
    assert [answer.status_code for answer in answers] == [200, 401, 401, 200, 404, 404, 200, 400, 200]
    assert answers[0].json()["integratorName"] == "Ada Lovelace"
    logged = stream.getvalue()
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [line["status"] for line in lines if "status" in line] == [each.status_code for each in answers]
    assert len(lines) == len(answers) + 1  # the note on a proxy that no setting names
    (key_id,) = {each.id for each in store.list().keys if not each.is_revoked}
    keys = [(line["key"], line.get("reason")) for line in lines if "status" in line]
    reasons = (None, "api_key", "api_key", None, None, "UNKNOWN_TOKEN", None, "INVALID_INPUT", None)
    assert keys == [(key_id if index in (0, 3) else None, reason) for index, reason in enumerate(reasons)]
    names = ("Ada Lovelace", "Grace Hopper")
    sent = (good, revoked, "guess", recipient, integrator, amount, *names, "203.0.113.9", base.stablecoins[0])
    searched = [secret.removeprefix("0x").lower() for secret in sent]
    assert [secret for secret in searched if re.fullmatch("[0-9a-f]{1,16}", secret)] == [], "a random id may hold it"
    assert [secret for secret in searched if secret in logged.lower()] == []
