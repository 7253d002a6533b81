"""Alerts of a watch: conditions, one alert a crossing, deliveries with retries, and nothing about old state."""

from __future__ import annotations

import threading
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidOption, SwapcliError, UpstreamError, UpstreamRejected
from swapcli.faces.cli.commands.route import alert
from swapcli.faces.cli.commands.route.alert import Alert, AlertingDisplay, AlertQueue, Condition
from swapcli.quoting.market import Market
from swapcli.quoting.quote_change import QuoteChange, WatchedQuote
from swapcli.quoting.swap_quote import SwapQuote
from swapcli.state.clock import Clock
from tests.support.command import run_swapcli
from tests.support.waiting import until

NOW_S = 1_000.0
QUOTE = {"outputAmount": "5", "priceImpact": None, "state": {"block": 7, "timestamp": int(NOW_S)}, "route": [1]}
ALERT = Alert("outputAmount > 4", "outputAmount", Decimal(5), QUOTE)
NO_CHANGE = QuoteChange(0, 0, 0.0, 0)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.decimals(-1000, 1000, places=3))
def test_conditions_compare_as_numbers(value: Decimal, limit: Decimal) -> None:
    holds = {op: Condition.parse(f"a.b {op} {limit:f}").holds(value) for op in ("<", "<=", ">", ">=")}
    assert (holds["<"], holds[">"]) == (value < limit, value > limit)
    assert (holds["<="], holds[">="]) == (not holds[">"], not holds["<"])


@given(st.text("ab.<>=0-1e ", max_size=12))
def test_any_text_is_a_condition_or_an_error(text: str) -> None:
    with suppress(InvalidOption):
        condition = Condition.parse(text)
        assert Condition.parse(condition.text) == condition


class ShownQuotes:
    """A display that counts what it shows."""

    def __init__(self) -> None:
        self.shown = 0

    def show(self, _watched: WatchedQuote) -> None:
        self.shown += 1

    def show_failure(self, _error: SwapcliError, _last: SwapQuote, _age_s: float) -> None:
        self.shown += 1


class AgedQuote:
    """What a display needs of a quote."""

    def __init__(self, value: object, age_s: int | None) -> None:
        self.value, self.state = value, type("State", (), {"age_s": age_s, "clock_offset_s": 0})

    def document(self) -> dict[str, Any]:
        return {"figure": self.value}


def told(*quotes: tuple[object, int | None], condition: str = "figure > 10") -> tuple[list[Decimal], list[str]]:
    """Return the values that are told, and the notes, for quotes with these values and ages."""
    alerts: list[Alert] = []
    notes: list[str] = []
    inner = ShownQuotes()
    display = AlertingDisplay(inner, Condition.parse(condition), alerts.append, notes.append, max_age_s=60)
    for value, age_s in quotes:
        display.show(WatchedQuote(AgedQuote(value, age_s), NO_CHANGE))  # type: ignore[arg-type]
    assert inner.shown == len(quotes)
    return [each.value for each in alerts], notes


@given(st.lists(st.integers(0, 20), max_size=30))
def test_each_crossing_is_told_once(values: list[int]) -> None:
    crossings = [now for before, now in zip([0, *values], values, strict=False) if now > 10 >= before]
    assert told(*((str(each), 1) for each in values)) == ([Decimal(each) for each in crossings], [])


def test_old_or_unknown_state_is_not_told() -> None:
    values, notes = told(("11", 61), ("11", None), (None, 1), ("11", 60), ("9", 61), ("11", 2), ("9", 1), ("12", 3))
    assert values == [11, 12]
    assert [note.split(",")[0] for note in notes] == ["the state is 61 seconds old"] * 2


@pytest.mark.parametrize("field", ["nosuch", "figure.deeper"])
def test_an_unknown_field_is_refused(field: str) -> None:
    with pytest.raises(InvalidOption, match=r"--when: .* has no field"):
        told(("1", 1), condition=f"{field} > 1")


def test_a_field_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidOption, match="figure is not a number"):
        told(("ETH", 1))


def test_a_quote_of_the_library_is_told_with_its_document() -> None:
    alerts: list[Alert] = []
    condition = Condition.parse("outputAmount > 1")
    with Market.embedded("base") as market:
        quote = market.quote("ETH", "USDC", "1")
    display = AlertingDisplay(ShownQuotes(), condition, alerts.append, alerts.append, max_age_s=60)  # type: ignore[arg-type]
    display.show(WatchedQuote(quote, NO_CHANGE))
    assert "unknown age" in str(alerts), "the modelled market has no time"


class Receiver:
    """A receiver that fails a number of times."""

    def __init__(self, *errors: UpstreamError) -> None:
        self.errors, self.tries = list(errors), 0
        self.delivered = threading.Event()

    def deliver(self, _alert: Alert) -> None:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        self.delivered.set()


def test_a_failed_delivery_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alert, "FIRST_RETRY_S", 0.001)
    receiver, notes = Receiver(UpstreamError("it failed"), UpstreamError("it failed")), list[str]()
    queue = AlertQueue(receiver, notes.append, Clock(lambda: NOW_S, lambda: NOW_S), max_age_s=60)
    with queue.delivering():
        queue.add(ALERT)
        assert receiver.delivered.wait(60)
    assert receiver.tries == 3
    assert notes == ["the alert outputAmount > 4 was not delivered: it failed"]


@pytest.mark.parametrize("age_s", [0, 61])
def test_a_refused_or_old_alert_is_given_up(age_s: int) -> None:
    errors = [UpstreamRejected("no")] if age_s == 0 else [UpstreamError("no")] * 9
    receiver, notes = Receiver(*errors), list[str]()
    now_s = NOW_S + age_s
    queue = AlertQueue(receiver, notes.append, Clock(lambda: now_s, lambda: now_s), max_age_s=60)
    with queue.delivering():
        queue.add(ALERT)
        until(lambda: len(notes) == 1 + bool(age_s))
    assert receiver.tries == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--when", "a > 1", "--run", "true"), "--when, --notify and --run need --watch"),
        (("--watch", "--run", "true"), "--notify and --run need a condition"),
        (("--watch", "--when", "a > 1"), "--when needs an action"),
        (("--watch", "--when", "a > 1", "--run", "true", "--notify", "http://x"), "--when needs an action"),
    ],
)
def test_bad_alert_options_are_one_sentence(words: tuple[str, ...], message: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: {message}")
