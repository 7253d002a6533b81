"""When a head source wakes a follower: at once on an announcement, after a pause without a subscription."""

from __future__ import annotations

import time
from random import Random
from threading import Timer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.state.rpc.head_source import FollowMode, HeadSource, PollingHeads, SubscribedHeads
from tests.examples import examples

POLL_S = 0.08
NEVER_S = 30.0
"""A pause that no test waits for."""


class RecordingConnection:
    """A connection that records how it is used."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def open(self) -> None:
        self.calls.append("open")

    def restart(self) -> None:
        self.calls.append("restart")

    def close(self) -> None:
        self.calls.append("close")


def subscribed(poll_s: float = POLL_S) -> SubscribedHeads:
    """Return heads whose connection is open, without a block so far."""
    heads = SubscribedHeads(poll_s)
    heads.record_connection(None)
    heads.wait(poll_s)
    return heads


def seconds(heads: HeadSource, pause_s: float, reached: int | None = None) -> float:
    started_s = time.monotonic()
    heads.wait(pause_s, reached)
    return time.monotonic() - started_s


def test_an_announcement_ends_the_wait_and_shows_the_mode() -> None:
    heads = subscribed(POLL_S)
    modes = [heads.mode]
    timer = Timer(0.02, heads.record_head, (7,))
    timer.start()
    heads.poll_s = NEVER_S
    assert seconds(heads, NEVER_S, 6) < 5
    timer.join()
    assert [*modes, heads.mode] == [FollowMode.POLLING, FollowMode.SUBSCRIPTION]


@pytest.mark.parametrize("make", [PollingHeads, SubscribedHeads, subscribed])
def test_without_announcements_a_wait_lasts_its_pause(make: type[PollingHeads] | type[SubscribedHeads]) -> None:
    heads = make(POLL_S)
    assert seconds(heads, POLL_S) >= POLL_S
    assert heads.mode is FollowMode.POLLING


@pytest.mark.parametrize("make", [PollingHeads, SubscribedHeads])
def test_a_stop_ends_this_and_all_later_waits(make: type[PollingHeads] | type[SubscribedHeads]) -> None:
    heads = make(1.0)
    timer = Timer(0.02, heads.stop)
    timer.start()
    assert seconds(heads, NEVER_S) < 5
    assert seconds(heads, NEVER_S) < 5
    timer.join()


@pytest.mark.parametrize("make", [PollingHeads, SubscribedHeads])
def test_a_call_of_wake_ends_one_wait(make: type[PollingHeads] | type[SubscribedHeads]) -> None:
    heads = make(POLL_S)
    heads.wake()
    assert seconds(heads, POLL_S) < POLL_S
    assert seconds(heads, POLL_S) >= POLL_S


def test_blocks_announced_during_a_step_end_the_next_wait() -> None:
    heads = subscribed(POLL_S)
    heads.poll_s = NEVER_S
    for number in (5, 6, 7):
        heads.record_head(number)
    assert seconds(heads, NEVER_S, 7) < 5


def test_a_reader_behind_the_announced_block_looks_again_soon() -> None:
    heads = subscribed(0.4)
    heads.record_head(9)
    heads.wait(0.4, 8)
    waits = [seconds(heads, 0.4, 8) for _ in range(6)]
    assert waits[0] < 0.2
    assert waits[-1] >= 0.4


def test_a_lost_connection_ends_the_wait_and_polls() -> None:
    heads = subscribed(POLL_S)
    heads.record_head(3)
    heads.wait(POLL_S, 3)
    heads.record_loss("no connection to a node")
    assert seconds(heads, POLL_S, 3) < POLL_S
    assert (heads.mode, heads.problem) == (FollowMode.POLLING, "no connection to a node")
    assert seconds(heads, POLL_S, 3) >= POLL_S
    heads.record_connection(None)
    assert seconds(heads, POLL_S, 3) < POLL_S
    assert (heads.mode, heads.problem) == (FollowMode.POLLING, None)


def test_failed_attempts_to_connect_do_not_end_a_wait() -> None:
    heads = SubscribedHeads(POLL_S)
    timers = [Timer(delay_s, heads.record_loss, ("no connection",)) for delay_s in (0.01, 0.02, 0.03)]
    for timer in timers:
        timer.start()
    assert seconds(heads, POLL_S) >= POLL_S
    for timer in timers:
        timer.join()


def test_after_a_failure_a_new_block_ends_the_pause_late() -> None:
    heads = subscribed(POLL_S)
    heads.record_head(3)
    heads.wait(POLL_S, 3)
    timer = Timer(0.01, heads.record_head, (4,))
    timer.start()
    assert POLL_S <= seconds(heads, NEVER_S, 3) < 5
    timer.join()


def test_after_a_failure_a_reconnection_does_not_end_the_pause() -> None:
    heads = subscribed(POLL_S)
    timers = [Timer(0.01, heads.record_loss, ("lost",)), Timer(0.02, heads.record_connection, (None,))]
    for timer in timers:
        timer.start()
    assert seconds(heads, 3 * POLL_S, 3) >= 3 * POLL_S
    for timer in timers:
        timer.join()


def test_a_silent_subscription_polls_and_restarts_if_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swapcli.state.rpc.head_source._MIN_SILENCE_S", 0.0)
    heads, connection = subscribed(0.02), RecordingConnection()
    heads.attach(connection)
    heads.record_head(3)
    heads.wait(0.02, 3)
    assert seconds(heads, 0.02, 3) >= 5 * 0.02
    assert heads.mode is FollowMode.POLLING
    heads.wait(0.02, 3)
    assert "restart" not in connection.calls, "the chain is as silent as the subscription"
    heads.wait(0.02, 4)
    assert connection.calls.count("restart") == 1
    heads.wait(0.02, 5)
    assert connection.calls.count("restart") == 1
    heads.close()
    assert connection.calls[-1] == "close"


events = st.lists(
    st.one_of(
        st.integers(0, 9).map(lambda number: ("head", number)),
        st.just(("open", 0)),
        st.just(("loss", 0)),
        st.integers(0, 9).map(lambda reached: ("wait", reached)),
    ),
    max_size=30,
)


@given(events)
@settings(max_examples=examples(12, full=50), deadline=None)
def test_no_announcement_is_missed_in_any_order(steps: list[tuple[str, int]]) -> None:
    """After a block is announced, the next wait returns at once, after any other events."""
    heads, has_news = SubscribedHeads(NEVER_S), False
    for kind, number in steps:
        if kind == "head":
            heads.record_head(number)
            has_news = True
        elif kind == "open":
            heads.record_connection(None)
        elif kind == "loss":
            heads.record_loss("lost")
        elif has_news:
            assert seconds(heads, NEVER_S, number) < 5
            has_news = False
    heads.record_head(10)
    assert seconds(heads, NEVER_S, 10) < 5
    assert heads.mode is FollowMode.SUBSCRIPTION


class SimulatedChain:
    """A chain with a block every `block_s`, give or take a tenth, and a follower whose looks take `look_s`.

    It stands for the event that ends waits, so that pauses pass in no time. `seen` has the block of each look, and
    `delays_s` how old each new block was.
    """

    def __init__(self, block_s: float, look_s: float, nominal_s: float) -> None:
        self.now_s, self.block_s, self.look_s = 0.0, block_s, look_s
        self.rng, self.born_s = Random(f"{block_s} {look_s}"), [0.0]
        self.seen: list[int] = []
        self.delays_s: list[float] = []
        self.heads = PollingHeads(nominal_s, timer_s=lambda: self.now_s)
        self.heads._woken = self  # type: ignore[assignment]  # an event that waits in simulated time

    def wait(self, pause_s: float) -> bool:
        self.now_s += pause_s
        return False

    def clear(self) -> None:
        pass

    def follow(self, count: int) -> None:
        """Look until the block number `count` is found."""
        while not self.seen or self.seen[-1] < count:
            while self.born_s[-1] <= self.now_s:
                self.born_s.append(self.born_s[-1] + self.block_s * self.rng.uniform(0.9, 1.1))
            number = len(self.born_s) - 2
            if not self.seen or number > self.seen[-1]:
                self.delays_s.append(self.now_s - self.born_s[number])
            self.seen.append(number)
            self.now_s += self.look_s
            self.heads.wait(self.heads.poll_s, number)

    def share_seen(self, first: int) -> float:
        """Return the part of the blocks from number `first` on that were looked at."""
        return len({number for number in self.seen if number >= first}) / (self.seen[-1] - first + 1)


@given(st.floats(0.2, 12.0), st.floats(0.0, 0.5), st.floats(1.0, 12.0))
def test_polling_follows_the_time_between_blocks(block_s: float, look_part: float, nominal_s: float) -> None:
    chain = SimulatedChain(block_s, look_part * block_s, nominal_s)
    chain.follow(200)
    warmed = int(2 * nominal_s / block_s) + 10
    chain.follow(warmed + 200)
    assert chain.heads.poll_s == pytest.approx(block_s, rel=0.1)
    assert chain.share_seen(warmed) > 0.95
    delays_s = sorted(chain.delays_s[-150:])
    assert delays_s[len(delays_s) // 2] < (0.25 + look_part) * block_s
    assert len(chain.seen) < 3 * chain.seen[-1] + 50


def test_polling_pauses_longer_while_no_block_comes() -> None:
    chain = SimulatedChain(0.25, 0.01, nominal_s=2.0)
    chain.follow(50)
    before_s = chain.now_s
    for _ in range(40):
        chain.heads.wait(chain.heads.poll_s, chain.seen[-1])
    assert chain.now_s - before_s > 30 * 2.0


def test_polling_starts_anew_after_a_shorter_branch() -> None:
    chain = SimulatedChain(0.25, 0.01, nominal_s=2.0)
    chain.follow(50)
    chain.heads.wait(chain.heads.poll_s, 10)
    assert chain.heads.poll_s == pytest.approx(0.25, rel=0.1)


def test_a_forked_follower_does_not_measure_from_the_start_of_its_parent() -> None:
    now_s = 0.0
    heads = PollingHeads(POLL_S, timer_s=lambda: now_s)
    now_s = 120.0  # a writer that was killed is replaced
    heads.wait(POLL_S, 199)
    now_s += 4 * POLL_S
    heads.wait(POLL_S, 203)
    now_s += POLL_S
    heads.wait(POLL_S, 204)
    assert heads.poll_s < 2 * POLL_S
