"""The loop of `sync --watch`: pauses, transient and lasting failures, and signals."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ChainReorganized, ConfigError, SwapcliError, Unreachable, UpstreamError
from swapcli.faces.cli.signals import SIGNALS, GracefulInterrupt, graceful_interrupts
from swapcli.quoting.syncing.watch_chain import MAX_FAILING_S, watch_chain


class Chain:
    """Fails where the test says so, and raises `KeyboardInterrupt` after the last step. A block takes a minute."""

    def __init__(self, outcomes: list[SwapcliError | None]) -> None:
        self._outcomes: Iterator[SwapcliError | None] = iter(outcomes)
        self.pauses = 0
        self.failures: list[UpstreamError] = []

    def step(self) -> None:
        try:
            error = next(self._outcomes)
        except StopIteration:
            raise KeyboardInterrupt from None
        if error:
            raise error

    def pause(self) -> None:
        self.pauses += 1

    def watch(self) -> None:
        watch_chain(self.step, self.failures.append, self.pause, lambda: 60.0 * self.pauses)


MAX_FAILING_BLOCKS = int(MAX_FAILING_S / 60) + 1


@given(st.lists(st.booleans(), max_size=3 * MAX_FAILING_BLOCKS))
def test_the_first_failures_are_reported_and_they_end_it_if_they_go_on(fails: list[bool]) -> None:
    errors = [ChainReorganized(f"it turned, {number}") if fail else None for number, fail in enumerate(fails)]
    chain = Chain([*errors])
    longest = max(map(len, "".join("x" if fail else " " for fail in fails).split()), default=0)
    with pytest.raises(UpstreamError if longest >= MAX_FAILING_BLOCKS else KeyboardInterrupt) as ended:
        chain.watch()
    given_up_at = errors.index(ended.value) if isinstance(ended.value, ChainReorganized) else len(errors)
    firsts = [each for before, each in zip([None, *errors], errors[:given_up_at], strict=False) if each and not before]
    assert chain.failures == firsts


def test_what_is_no_failure_of_the_node_ends_it_at_once() -> None:
    chain = Chain([None, ConfigError("another process is writing to it"), None])
    with pytest.raises(ConfigError):
        chain.watch()
    assert (chain.pauses, chain.failures) == (2, [])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_breaks_a_pause_off(number: signal.Signals) -> None:
    def pause() -> None:
        os.kill(os.getpid(), number)
        time.sleep(30)

    started_s = time.monotonic()
    with graceful_interrupts(), pytest.raises(KeyboardInterrupt):
        pause()
    assert time.monotonic() - started_s < 10


class Stretch:
    """Send signals to this process, with some work after each."""

    def __init__(self, *signals: signal.Signals, error: SwapcliError | None = None) -> None:
        self._signals, self._error = signals, error
        self.done = 0

    def run(self, interruption: GracefulInterrupt) -> None:
        with interruption.uninterrupted():
            for each in self._signals:
                os.kill(os.getpid(), each)
                self.done += 1
            if self._error:
                raise self._error


@pytest.mark.parametrize("number", SIGNALS)
def test_a_whole_stretch_is_ended_first_and_then_it_stops(number: signal.Signals) -> None:
    stretch = Stretch(number)
    with graceful_interrupts() as interruption, pytest.raises(KeyboardInterrupt):
        stretch.run(interruption)
    assert stretch.done == 1


def test_a_failing_uninterrupted_block_still_stops() -> None:
    with graceful_interrupts() as interruption, pytest.raises(KeyboardInterrupt):
        Stretch(signal.SIGTERM, error=Unreachable("the node is silent")).run(interruption)


def test_who_is_told_twice_does_not_wait() -> None:
    stretch = Stretch(signal.SIGINT, signal.SIGTERM)
    with graceful_interrupts() as interruption, pytest.raises(KeyboardInterrupt):
        stretch.run(interruption)
    assert stretch.done == 1


class Finalizer:
    """Sends a signal to this process when it is collected, where Python cannot raise."""

    def __init__(self, number: signal.Signals) -> None:
        self._number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self._number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_lost_in_a_finalizer_stops_quietly(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)

    def lose_interrupt() -> None:
        Finalizer(number)
        time.sleep(30)

    started_s = time.monotonic()
    with graceful_interrupts(), pytest.raises(KeyboardInterrupt):
        lose_interrupt()
    assert time.monotonic() - started_s < 10
    assert reported == []


def test_a_lost_second_signal_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", print)

    def lose_second(interruption: GracefulInterrupt) -> None:
        with interruption.uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            Finalizer(signal.SIGTERM)
            time.sleep(30)

    started_s = time.monotonic()
    with graceful_interrupts() as interruption, pytest.raises(KeyboardInterrupt):
        lose_second(interruption)
    assert time.monotonic() - started_s < 10


class Faulty:
    """Fails when it is collected."""

    def __del__(self) -> None:
        raise ZeroDivisionError


def test_other_errors_of_finalizers_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))
    with graceful_interrupts():
        Faulty()
    Faulty()
    assert reported == [ZeroDivisionError] * 2


def test_signals_are_what_they_were_afterwards() -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with graceful_interrupts():
        assert all(signal.getsignal(each) != known for each, known in zip(SIGNALS, before, strict=True))
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_without_a_signal_a_whole_stretch_is_nothing_special() -> None:
    with graceful_interrupts() as interruption:
        Stretch().run(interruption)
        with pytest.raises(Unreachable):
            Stretch(error=Unreachable("the node is silent")).run(interruption)
