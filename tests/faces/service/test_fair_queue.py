"""The queue of orders: bounded and fair; no client can lock out the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.service.fair_queue import CLIENT_SHARE, FairQueue, QueueFull

CLIENTS = ("a", "b", "c", "d", "e", "f")
EVENTS = st.lists(st.one_of(st.sampled_from(CLIENTS), st.just("pop"), st.integers(0, 200)), max_size=120)


@given(max_items=st.integers(1, 40), events=EVENTS)
def test_it_stays_within_its_bounds_and_loses_nothing(max_items: int, events: list[str | int]) -> None:
    """Compare with a plain list; a number n removes the n-th pushed item."""
    queue: FairQueue[tuple[str, int]] = FairQueue(max_items)
    waiting: list[tuple[str, int]] = []
    for number, event in enumerate(events):
        if event == "pop":
            item = queue.pop()
            assert (item is None) == (not waiting)
            if item is not None:
                assert item == next(each for each in waiting if each[0] == item[0])
                waiting.remove(item)
        elif isinstance(event, int):
            gone = next((each for each in waiting if each[1] == event), ("a", event))
            assert queue.remove(gone[0], gone) == (gone in waiting)
            waiting = [each for each in waiting if each != gone]
        else:
            counts = {client: sum(each[0] == client for each in waiting) for client in CLIENTS}
            try:
                evicted = queue.push(event, (event, number))
            except QueueFull:
                is_share_used = counts[event] >= max(1, max_items // CLIENT_SHARE)
                assert is_share_used or (len(waiting) >= max_items and max(counts.values()) <= counts[event] + 1)
            else:
                waiting.append((event, number))
                assert (evicted is not None) == (len(waiting) > max_items)
                if evicted is not None:
                    assert counts[evicted[0]] == max(counts.values())
                    assert evicted == [each for each in waiting if each[0] == evicted[0]][-1]
                    waiting.remove(evicted)
        assert len(queue) == len(waiting) <= max_items
        for client in CLIENTS:
            assert sum(each[0] == client for each in waiting) <= max(1, max_items // CLIENT_SHARE)


@given(st.lists(st.sampled_from(CLIENTS), max_size=40))
def test_clients_take_turns(order: list[str]) -> None:
    """Between two items of a client, every other waiting client is served once."""
    queue: FairQueue[str] = FairQueue(1_000)
    for client in order:
        queue.push(client, client)
    served = list(iter(queue.pop, None))
    assert sorted(served) == sorted(order)
    left = {client: order.count(client) for client in CLIENTS}
    while served:
        present = [client for client in dict.fromkeys(order) if left[client]]
        turn, served = served[: len(present)], served[len(present) :]
        assert sorted(turn) == sorted(present)
        for client in turn:
            left[client] -= 1


def test_a_client_alone_waits_with_a_quarter_at_most() -> None:
    queue: FairQueue[int] = FairQueue(64)
    for number in range(16):
        queue.push("greedy", number)
    with pytest.raises(QueueFull):
        queue.push("greedy", 16)
    assert queue.push("modest", 1) is None


def test_a_new_client_evicts_the_last_item_of_the_longest_lane() -> None:
    queue: FairQueue[str] = FairQueue(8)
    for client in "abcd":
        queue.push(client, f"{client}1")
        queue.push(client, f"{client}2")
    assert queue.push("newcomer", "n1") == "a2"
    with pytest.raises(QueueFull):
        queue.push("newcomer", "n2")
    assert [queue.pop() for _ in range(8)] == ["a1", "b1", "c1", "d1", "n1", "b2", "c2", "d2"]


def test_clients_that_are_passed_over_keep_their_turn() -> None:
    queue: FairQueue[str] = FairQueue(8)
    for client in ("long", "short"):
        queue.push(client, client)
    assert queue.pop(lambda client: client == "short") == "short"
    assert queue.pop(lambda client: client == "short") is None
    assert queue.pop() == "long"
