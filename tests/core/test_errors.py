"""The documented tree of errors matches the classes, and every error has a code, a message and JSON details."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from swapcli.core import errors
from swapcli.core.errors import AmbiguousToken, InvalidPoolState, SameToken, SwapcliError
from swapcli.state.rpc.refusals import Refusal

TREE_LINE = re.compile(r"^([│ ]*)[├└]── (\w+)", re.MULTILINE)


def tree(root: type[SwapcliError], depth: int = 0) -> Iterator[tuple[int, str]]:
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield depth, child.__name__
            yield from tree(child, depth + 1)


def test_the_documented_tree_matches_the_classes() -> None:
    documented = [(len(lines) // 4, name) for lines, name in TREE_LINE.findall(errors.__doc__)]
    assert documented == list(tree(SwapcliError))


def test_every_error_has_its_own_code() -> None:
    classes = [getattr(errors, name) for _, name in tree(SwapcliError)]
    assert len({each.code for each in classes}) == len(classes)
    assert all(re.fullmatch(r"[A-Z_]+", each.code) for each in classes)


def test_details_are_json_and_messages_are_printable() -> None:
    raised = [
        SameToken(),
        AmbiguousToken("X", "base", ("0x1", "0x2")),
        InvalidPoolState("reserves[0]", "missing", pool="0x3"),
        SwapcliError("plain", hint="do that", details={"a": 1}),
    ]
    for error in raised:
        assert json.loads(json.dumps(error.details)) == error.details
        assert str(error) == error.message
        assert error.message.isprintable()
    assert raised[2].message == "pool 0x3: reserves[0]: missing"


def test_errors_that_pass_by_themselves_are_retryable() -> None:
    retryable = {name for _, name in tree(SwapcliError) if issubclass(getattr(errors, name), errors.PASSING_ERRORS)}
    assert retryable == {
        "Unreachable", "LiveUnavailable", "UpstreamTimeout", "RequestBudgetSpent", "ChainReorganized", "BlockMismatch",
        "NotMined", "StaleNode", "PartNotDue", "OutsidePriceBand", "MarketUnavailable", "RateLimited", "Overloaded",
        "Cancelled", "Interrupted",
    }  # fmt: skip
    assert errors.StaleNode("behind").is_retryable
    assert not SameToken().is_retryable


def test_a_refusal_is_retryable_if_it_passes() -> None:
    by_refusal = {}
    for kind in Refusal:
        refused = errors.UpstreamRejected("refused")
        refused.refusal = kind
        by_refusal[kind] = refused.is_retryable
    passing = {Refusal.TRANSIENT, Refusal.RATE, Refusal.TIMEOUT, Refusal.EDGE}
    assert {kind for kind, is_retryable in by_refusal.items() if is_retryable} == passing


def test_a_status_of_a_service_that_passes_is_retryable() -> None:
    statuses = (400, 404, 429, 500, 501, 502, 503, 504)
    rejected = {each: errors.UpstreamRejected("no", details={"status": each}).is_retryable for each in statuses}
    assert {status for status, is_retryable in rejected.items() if is_retryable} == {429, 500, 502, 503, 504}
