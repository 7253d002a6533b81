"""The queue of orders: bounded and fair; no client can lock out others, nor a client's long orders its short ones."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.service.fair_queue import MAX_PATIENCE_S, PATIENCE, FairQueue, QueueFull

CLIENTS = ("a", "b", "c", "d", "e", "f")
COSTS_S = (0.001, 0.003, 0.02, 0.5, inf)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(CLIENTS), st.sampled_from(COSTS_S)),
        st.just("pop"),
        st.sampled_from(COSTS_S),
        st.integers(0, 200),
    ),
    max_size=120,
)


@given(max_items=st.integers(1, 40), events=EVENTS)
def test_it_stays_within_its_bounds_and_loses_nothing(
    max_items: int, events: list[tuple[str, float] | str | int | float]
) -> None:
    """Compare with a plain list. A cost alone takes a cheaper item; a number n removes the n-th pushed item."""
    queue: FairQueue[tuple[str, int, float]] = FairQueue(max_items)
    waiting: list[tuple[str, int, float]] = []
    for number, event in enumerate(events):
        if event == "pop":
            item = queue.pop(float(number))
            assert (item is None) == (not waiting)
            if item is not None:
                waiting.remove(item)
        elif isinstance(event, float):
            item = queue.pop_cheaper(event)
            assert (item is None) == all(each[2] >= event for each in waiting)
            if item is not None:
                assert item[2] == min(each[2] for each in waiting if each[0] == item[0])
                waiting.remove(item)
        elif isinstance(event, int):
            gone = next((each for each in waiting if each[1] == event), ("a", event, 0.0))
            assert queue.remove(gone[0], gone) == (gone in waiting)
            waiting = [each for each in waiting if each != gone]
        elif isinstance(event, tuple):
            client, cost_s = event
            counts = {name: sum(each[0] == name for each in waiting) for name in CLIENTS}
            added = (client, number, cost_s)
            try:
                evicted = queue.push(client, added, cost_s, float(number))
            except QueueFull:
                assert len(waiting) >= max_items
                assert max(counts.values()) <= counts[client] + 1
            else:
                waiting.append(added)
                assert (evicted is not None) == (len(waiting) > max_items)
                if evicted is not None:
                    assert counts[evicted[0]] == max(counts.values())
                    assert evicted == [each for each in waiting if each[0] == evicted[0]][-1]
                    waiting.remove(evicted)
        assert len(queue) == len(waiting) <= max_items
        assert queue.cheapest_s == min((each[2] for each in waiting), default=inf)


@given(st.lists(st.sampled_from(CLIENTS), max_size=40))
def test_clients_take_turns(order: list[str]) -> None:
    """Between two items of a client, every other waiting client is served once."""
    queue: FairQueue[tuple[str, int]] = FairQueue(1_000)
    for number, client in enumerate(order):
        queue.push(client, (client, number), 0.1, 0.0)
    items = list(iter(lambda: queue.pop(0.0), None))
    for client in CLIENTS:
        assert [number for each, number in items if each == client] == sorted(n for c, n in items if c == client)
    served = [client for client, _ in items]
    assert sorted(served) == sorted(order)
    left = {client: order.count(client) for client in CLIENTS}
    while served:
        present = [client for client in dict.fromkeys(order) if left[client]]
        turn, served = served[: len(present)], served[len(present) :]
        assert sorted(turn) == sorted(present)
        for client in turn:
            left[client] -= 1


@given(
    arrivals=st.lists(st.tuples(st.floats(0, 0.1), st.sampled_from(COSTS_S[:-1])), min_size=1, max_size=60),
    pause_s=st.floats(0, 0.1),
)
def test_an_item_lets_cheaper_ones_go_first_for_a_while(arrivals: list[tuple[float, float]], pause_s: float) -> None:
    """One item is served each `pause_s`: it is the cheapest, unless the oldest has let others go first for long."""
    queue: FairQueue[int] = FairQueue(100)
    waiting: dict[int, tuple[float, float]] = {}
    now_s = 0.0
    for number, (gap_s, cost_s) in enumerate(arrivals):
        now_s += gap_s
        queue.push("a", number, cost_s, now_s)
        waiting[number] = cost_s, now_s
    while waiting:
        served = queue.pop(now_s)
        assert served is not None
        oldest = min(waiting)
        cost_s, queued_s = waiting[oldest]
        is_overdue = now_s >= queued_s + min(PATIENCE * cost_s, MAX_PATIENCE_S)
        assert served == (oldest if is_overdue else min(waiting, key=lambda each: (waiting[each][0], each)))
        del waiting[served]
        now_s += pause_s
    assert queue.pop(now_s) is None


def test_a_client_alone_has_all_places_and_gives_them_up() -> None:
    queue: FairQueue[int] = FairQueue(64)
    for number in range(64):
        assert queue.push("greedy", number, 0.1, 0.0) is None
    with pytest.raises(QueueFull):
        queue.push("greedy", 64, 0.1, 0.0)
    evicted = [queue.push("modest", 100 + number, 0.1, 0.0) for number in range(32)]
    assert evicted == list(range(63, 31, -1))
    with pytest.raises(QueueFull):
        queue.push("modest", 132, 0.1, 0.0)
    assert [queue.pop(0.0) for _ in range(4)] == [0, 100, 1, 101]


def test_a_new_client_evicts_the_last_item_of_the_longest_lane() -> None:
    queue: FairQueue[str] = FairQueue(8)
    for client in "abcd":
        queue.push(client, f"{client}1", 0.1, 0.0)
        queue.push(client, f"{client}2", 0.1, 0.0)
    assert queue.push("newcomer", "n1", 0.1, 0.0) == "a2"
    with pytest.raises(QueueFull):
        queue.push("newcomer", "n2", 0.1, 0.0)
    assert [queue.pop(0.0) for _ in range(8)] == ["a1", "b1", "c1", "d1", "n1", "b2", "c2", "d2"]


def test_clients_that_are_passed_over_keep_their_turn() -> None:
    queue: FairQueue[str] = FairQueue(8)
    queue.push("long", "long", 0.5, 0.0)
    queue.push("short", "short", 0.001, 0.0)
    assert queue.pop_cheaper(0.1, lambda _: False) is None
    assert queue.pop_cheaper(0.1) == "short"
    assert queue.pop_cheaper(0.1) is None
    assert queue.pop(0.0) == "long"


def test_a_cost_that_becomes_known_changes_only_the_turn() -> None:
    queue: FairQueue[str] = FairQueue(8)
    queue.push("a", "first", 0.1, 0.0)
    queue.push("a", "second", 0.1, 0.0)
    queue.set_costs({"second": 0.001})
    queue.set_costs({"unknown": 0.001})
    assert queue.cheapest_s == 0.001
    assert queue.pop_cheaper(0.05) == "second"
    queue.set_costs({"first": 0.5})
    queue.push("a", "third", 0.001, 0.9)
    assert queue.pop(0.9) == "third"
    queue.push("a", "fourth", 0.001, 1.0)
    assert [queue.pop(1.0), queue.pop(1.0), queue.pop(1.0)] == ["first", "fourth", None]


WAITING = st.lists(st.tuples(st.sampled_from(CLIENTS[:3]), st.sampled_from(COSTS_S[:-1]), st.floats(0, 2)), max_size=30)


@given(waiting=WAITING, client=st.sampled_from(CLIENTS[:4]), cost_s=st.sampled_from(COSTS_S[:-1]))
def test_an_expected_wait_is_the_wait_if_nothing_else_comes(
    waiting: list[tuple[str, float, float]], client: str, cost_s: float
) -> None:
    """But for who has the turn: each other client may have one item more or less before it."""
    queue: FairQueue[int] = FairQueue(100)
    for number, (other, other_s, queued_s) in enumerate(sorted(waiting, key=lambda each: each[2])):
        queue.push(other, number, other_s, queued_s)
    now_s = 2.0
    expected_s = queue.wait_s(client, cost_s, now_s)
    assert expected_s <= queue.total_s * 1.000001
    queue.push(client, -1, cost_s, now_s)
    costs = dict(enumerate(each[1] for each in sorted(waiting, key=lambda each: each[2])))
    time_s = now_s
    while (item := queue.pop(time_s)) != -1:
        assert item is not None
        time_s += costs[item]
    others = {other for other, _, _ in waiting} - {client}
    own = [each for each in waiting if each[0] == client and each[1] > cost_s]
    assert abs(expected_s - (time_s - now_s)) <= (2 * len(others) + len(own)) * max(COSTS_S[:-1]) + 1e-9
    if not others and not own:
        assert expected_s == pytest.approx(time_s - now_s)


@given(waiting=WAITING, oldest_s=st.floats(0, 2))
def test_items_that_have_waited_too_long_are_taken_out(
    waiting: list[tuple[str, float, float]], oldest_s: float
) -> None:
    queue: FairQueue[int] = FairQueue(100)
    in_order = sorted(waiting, key=lambda each: each[2])
    for number, (client, cost_s, queued_s) in enumerate(in_order):
        queue.push(client, number, cost_s, queued_s)
    queue.push(None, -1, inf, 0.0)
    old = [number for number, each in enumerate(in_order) if each[2] <= oldest_s]
    assert sorted(queue.remove_older(oldest_s)) == old
    assert queue.total_s == pytest.approx(sum(each[1] for each in in_order[len(old) :]))
    assert sorted(iter(lambda: queue.pop(3.0), None)) == [-1, *range(len(old), len(in_order))]
    assert queue.total_s == 0.0
