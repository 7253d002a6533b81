"""Alerts of `swapcli route --watch`: a condition on a field of the quote, reported once when it is first met.

A thread delivers alerts, so a slow receiver does not delay quotes. It retries each delivery until it succeeds or the
alert's quote is too old. Quotes on old state are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from operator import ge, gt, le, lt
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Protocol

from swapcli import InvalidOption, SwapcliError, UpstreamError, UpstreamRejected
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.json_field import select_field
from swapcli.state.backoff import backoff_s
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli import SwapQuote, WatchedQuote
    from swapcli.faces.cli.commands.route.watch import WatchDisplay

_CONDITION = re.compile(r"\s*([\w.-]+)\s*(<=|>=|<|>)\s*(-?[\d.]+(?:[eE][+-]?\d{1,3})?)\s*")
_OPERATORS: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_EXAMPLE: Final = "write FIELD OP NUMBER, as in --when 'outputAmount >= 4700000000'; OP is <, <=, > or >="

FIRST_RETRY_S: Final = 1.0
MAX_RETRY_S: Final = 15.0
_JOIN_S: Final = 2.0
"""Time that a delivery in progress gets when the watch ends. The thread is a daemon."""


class Condition(NamedTuple):
    """A comparison of a JSON field, given by its dotted path, with a number."""

    text: str
    field: str
    operator: str
    limit: Decimal

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parse FIELD OP NUMBER. Raises `InvalidOption`."""
        match = _CONDITION.fullmatch(text)
        try:
            limit = Decimal(match[3]) if match else None
        except InvalidOperation:
            limit = None
        if match is None or limit is None:
            raise InvalidOption(f'--when: "{printable(text[:80])}" is not a condition', hint=_EXAMPLE)
        return cls(f"{match[1]} {match[2]} {match[3]}", match[1], match[2], limit)

    def value(self, document: Mapping[str, Any]) -> Decimal | None:
        """Return the value of the field, or None if it is unknown. Raises `InvalidOption` if it is not a number."""
        text = select_field(document, self.field, option="--when")
        if text == "null":
            return None
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite():
            raise InvalidOption(f'--when: {self.field} is not a number but "{printable(text[:40])}"', hint=_EXAMPLE)
        return value

    def holds(self, value: Decimal) -> bool:
        """Return whether `value` meets the condition."""
        return _OPERATORS[self.operator](value, self.limit)


class Alert(NamedTuple):
    """An alert: the condition, the value that met it, and the quote's document.

    `clock_offset_s` is the same as in the quote's `StateSource`.
    """

    when: str
    field: str
    value: Decimal
    quote: Mapping[str, Any]
    clock_offset_s: int = 0

    def document(self) -> dict[str, Any]:
        """Return the alert as JSON."""
        return {"when": self.when, "field": self.field, "value": f"{self.value:f}", "quote": self.quote}


class Receiver(Protocol):
    """A receiver of alerts."""

    def deliver(self, alert: Alert) -> None:
        """Deliver an alert once. Raises `UpstreamError`, or `UpstreamRejected` if trying again would not help."""


class AlertQueue:
    """A queue of alerts, which a thread delivers. A failed delivery is retried until the quote's state is older than
    `max_age_s`."""

    def __init__(self, receiver: Receiver, note: Callable[[str], object], clock: Clock, max_age_s: int) -> None:
        self._receiver, self._note, self._clock, self._max_age_s = receiver, note, clock, max_age_s
        self._alerts: SimpleQueue[Alert | None] = SimpleQueue()
        self._is_ended = Event()
        self._thread = Thread(target=self._deliver_all, name="alerts", daemon=True)

    def add(self, alert: Alert) -> None:
        """Queue an alert for delivery."""
        self._alerts.put(alert)

    @contextmanager
    def delivering(self) -> Iterator[None]:
        """Deliver alerts while the context is open. At its end, a delivery in progress gets `_JOIN_S` seconds to
        finish."""
        self._thread.start()
        try:
            yield
        finally:
            self._is_ended.set()
            self._alerts.put(None)
            self._thread.join(_JOIN_S)

    def _deliver_all(self) -> None:
        while (alert := self._alerts.get()) is not None:
            self._deliver(alert)

    def _deliver(self, alert: Alert) -> None:
        failures = 0
        while True:
            try:
                return self._receiver.deliver(alert)
            except UpstreamError as error:
                failures += 1
                if failures == 1 or isinstance(error, UpstreamRejected):
                    self._note(f"the alert {alert.when} was not delivered: {error.message}")
                if isinstance(error, UpstreamRejected) or self._is_ended.is_set():
                    return None
            pause_s = backoff_s(failures, FIRST_RETRY_S, MAX_RETRY_S)
            if self._is_too_old(alert, pause_s):
                self._note(f"the alert {alert.when} was dropped after {failures} tries: its quote is too old")
                return None
            self._is_ended.wait(pause_s)

    def _is_too_old(self, alert: Alert, pause_s: float) -> bool:
        timestamp = alert.quote["state"]["timestamp"]
        network_s = self._clock.now_s() + alert.clock_offset_s
        return timestamp is None or network_s + pause_s - timestamp > self._max_age_s


class AlertingDisplay:
    """A display that passes the quotes of a watch on to another display, and checks each quote against a condition.

    An alert is sent when the condition becomes true, also at the first quote. Quotes on state that is older than
    `max_age_s` or of unknown age are not checked.
    """

    def __init__(
        self, display: WatchDisplay, condition: Condition, tell: Callable[[Alert], object],
        note: Callable[[str], object], max_age_s: int,
    ) -> None:  # fmt: skip
        self._display, self._condition, self._tell, self._note = display, condition, tell, note
        self._max_age_s = max_age_s
        self._holds = False
        self._was_old = False

    def show(self, watched: WatchedQuote) -> None:
        """Show a quote, and send an alert if the condition has become true. Raises `InvalidOption` for an unknown
        field."""
        document = watched.document()
        value = self._condition.value(document)
        self._display.show(watched)
        state = watched.quote.state
        age_s = state.age_s
        is_old = age_s is None or age_s > self._max_age_s
        if is_old and not self._was_old:
            age = "of unknown age" if age_s is None else f"{age_s} seconds old"
            self._note(f"the state is {age}, so {self._condition.text} is not checked")
        self._was_old = is_old
        if is_old or value is None:
            return
        held, self._holds = self._holds, self._condition.holds(value)
        if self._holds and not held:
            self._tell(Alert(self._condition.text, self._condition.field, value, document, state.clock_offset_s))

    def show_failure(self, error: SwapcliError, last: SwapQuote, age_s: float) -> None:
        """Show that a refresh failed."""
        self._display.show_failure(error, last, age_s)


def alert_json(alert: Alert) -> bytes:
    """Return the JSON of an alert, in the form in which it is posted."""
    return to_json(alert.document()).encode()
