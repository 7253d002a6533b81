"""Orders that several processes answer: each once and in order, even if processes end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from swapcli.cli.order_processes import answer_in_processes
from swapcli.errors import InputOutputError

WORKERS = 3
ORDERS = 5_000
"""So many that processes take several at once."""


def open_double() -> Callable[[int], int]:
    return lambda order: 2 * order


@pytest.mark.parametrize("are_at_hand", [False, True])
def test_each_order_has_its_answer_in_order(are_at_hand: bool) -> None:
    number = ORDERS if are_at_hand else 200
    answers = answer_in_processes(range(number), WORKERS, open_double, are_at_hand=are_at_hand)
    assert list(answers) == list(range(0, 2 * number, 2))


@pytest.mark.parametrize("length", [0, 1, ORDERS - 1])
def test_an_error_comes_after_the_answers_before_it(length: int) -> None:
    def orders() -> Iterator[int]:
        yield from range(length)
        raise ValueError("a malformed line")

    answers = answer_in_processes(orders(), WORKERS, open_double, are_at_hand=True)
    assert [next(answers) for _ in range(length)] == list(range(0, 2 * length, 2))
    with pytest.raises(ValueError, match="a malformed line"):
        next(answers)


def test_no_answer_is_lost_before_a_killed_process() -> None:
    def open_fatal() -> Callable[[int], int]:
        def answer(order: int) -> int:
            if order == ORDERS:
                os.kill(os.getpid(), signal.SIGKILL)
            return 2 * order

        return answer

    found: list[int] = []
    with pytest.raises(InputOutputError, match="a worker process has died"):
        found.extend(answer_in_processes(count(), WORKERS, open_fatal, are_at_hand=True))
    assert found == list(range(0, 2 * len(found), 2))
    assert len(found) <= ORDERS
