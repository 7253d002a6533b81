"""Orders that several processes answer: each once and in order, even if processes end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Semaphore

import pytest

from swapcli.core.errors import InputOutputError
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.process_workers import answer_in_processes
from tests.examples import few
from tests.support.command import clean_environment

WORKERS = 3
READ_ONLY = ("unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o ro none /dev/shm && eval "$0"')
"""Runs a command with a /dev/shm that cannot be written to, where users may have namespaces of their own."""
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


def test_without_semaphores_the_error_names_folder_and_option() -> None:
    if subprocess.run([*READ_ONLY, "true"], capture_output=True, check=False).returncode:
        pytest.skip("on this system users cannot mount a read-only /dev/shm")
    command = [*READ_ONLY, f"{sys.executable} -m swapcli route base --offline --batch - --workers 2"]
    line = b'{"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1000000000000000000"}\n'
    ran = subprocess.run(command, input=2 * line, capture_output=True, check=False, env=clean_environment())
    assert ran.returncode == exit_codes.IO_ERROR
    assert b"error: --workers needs semaphores, which are files in /dev/shm: Read-only file system" in ran.stderr


@pytest.mark.parametrize("are_at_hand", few([False, True], 1))
def test_killed_processes_cost_no_answer(are_at_hand: bool, tmp_path: Path) -> None:
    """Two processes kill themselves: each at an order that it answers the next time."""

    def open_frail() -> Callable[[int], int]:
        def answer(order: int) -> int:
            if order in (3, ORDERS // 2) and not (mark := tmp_path / str(order)).exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return 2 * order

        return answer

    number = ORDERS if are_at_hand else ORDERS // 2 + 9
    answers = answer_in_processes(range(number), WORKERS, open_frail, are_at_hand=are_at_hand)
    assert list(answers) == list(range(0, 2 * number, 2))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_an_order_that_always_kills_its_process_ends_the_batch() -> None:
    def open_fatal() -> Callable[[int], int]:
        def answer(order: int) -> int:
            if order == ORDERS:
                os.kill(os.getpid(), signal.SIGKILL)
            return 2 * order

        return answer

    found: list[int] = []
    with pytest.raises(InputOutputError, match="failed 8 times in a row"):
        found.extend(answer_in_processes(count(), WORKERS, open_fatal, are_at_hand=True))
    assert found == list(range(0, 2 * len(found), 2))
    assert len(found) <= ORDERS


def test_an_order_is_answered_before_the_next_one_arrives() -> None:
    """As a program talks to a batch: it writes an order and waits for its answer."""
    answered = Semaphore(0)

    def orders() -> Iterator[int]:
        for order in range(20):
            yield order
            assert answered.acquire(timeout=30)

    answers = []
    for answer in answer_in_processes(orders(), WORKERS, open_double, are_at_hand=False):
        answers.append(answer)
        answered.release()
    assert answers == list(range(0, 40, 2))
