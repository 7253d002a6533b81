"""Answers by an executor: in order, each once, whatever the executor does with the chunks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Semaphore
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InputOutputError
from swapcli.quoting.ordered_answers import answer_in_order


class Doubles:
    """Doubles numbers; lacks something at the first call of each of its executors if it `asks`."""

    def __init__(self, *, asks: bool = False) -> None:
        self.asks = asks

    def submit(self, executor: Executor, items: Sequence[int], *, has_asked: bool) -> Future[Sequence[int] | None]:
        return executor.submit(lambda: None if self.asks and not has_asked else self.answer(items))

    def answer(self, items: Sequence[int]) -> Sequence[int]:
        return [2 * item for item in items]


class UnreliableThreads(ThreadPoolExecutor):
    """Threads that answer in any order, cancel chunks, fail, and break as a pool of processes does: so many `faults`
    in all. They do not break before their first response unless they `break_at_once`."""

    def __init__(self, random: Random, chance: float, faults: list[int], *, break_at_once: bool = False) -> None:
        super().__init__(3)
        self._random, self._chance, self._faults = random, chance, faults
        self._is_broken, self._can_break = False, break_at_once

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._is_broken:
            raise BrokenExecutor("a worker has died")
        if not self._faults or self._random.random() >= self._chance:
            found = super().submit(fn, *args, **kwargs)
            self._can_break = self._can_break or found.result() is not None
            return found
        self._faults.pop()
        future: Future[Any] = Future()
        match self._random.randrange(2 + self._can_break):
            case 0:
                future.cancel()
                future.set_running_or_notify_cancel()
            case 1:
                future.set_exception(OSError("lost"))
            case _:
                self._is_broken = True
                future.set_exception(BrokenExecutor("a worker has died"))
        return future


@given(
    st.integers(0, 300),
    st.booleans(),
    st.booleans(),
    st.sampled_from((0.0, 0.02, 0.5)),
    st.booleans(),
    st.integers(0, 9999),
)
def test_each_item_has_its_answer_in_order(
    count: int, asks: bool, fails: bool, chance: float, one_by_one: bool, seed: int
) -> None:
    random, faults = Random(seed), [0] * 7

    def items() -> Iterator[int]:
        yield from range(count)
        if fails:
            raise ValueError("a malformed line")

    answers = answer_in_order(
        items(), lambda: UnreliableThreads(random, chance, faults), Doubles(asks=asks), arrive_one_by_one=one_by_one
    )
    found: list[int] = []
    if fails:
        with pytest.raises(ValueError, match="a malformed line"):
            found.extend(answers)
    else:
        found.extend(answers)
    assert found == list(range(0, 2 * count, 2))


def test_without_another_executor_the_rest_is_answered_here() -> None:
    executor = UnreliableThreads(Random(0), 0.0, [])
    answers = answer_in_order(iter(range(500)), executor, Doubles())
    first = [next(answers) for _ in range(5)]
    executor._is_broken = True
    assert [*first, *answers] == list(range(0, 1000, 2))


class Failing(Doubles):
    """Items that no worker can answer because a module is missing there."""

    def submit(self, executor: Executor, items: Sequence[int], *, has_asked: bool) -> Future[Sequence[int] | None]:
        del items, has_asked
        return executor.submit(__import__, "no_such_module")  # type: ignore[arg-type]


def test_failures_in_a_row_name_the_last_one() -> None:
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(InputOutputError, match=r"8 times in a row, .* ModuleNotFoundError: .*no_such_module"),
    ):
        list(answer_in_order(range(1), executor, Failing()))


def test_early_losses_hint_at_the_guard() -> None:
    def start() -> Executor:
        return UnreliableThreads(Random(2), 1.0, [0] * 99, break_at_once=True)

    with pytest.raises(
        InputOutputError, match="first order; your program may lack `if __name__ == '__main__':`"
    ) as caught:
        list(answer_in_order(range(9), start, Doubles()))
    assert "__main__" in str(caught.value.hint)


UNGUARDED = """
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from swapcli.quoting.ordered_answers import answer_in_order
class Doubles:
    def submit(self, executor, items, *, has_asked):
        return executor.submit(sorted, items)
    def answer(self, items):
        return items
pool = partial(ProcessPoolExecutor, 1, get_context({method!r}))
print(*answer_in_order([2, 1], pool if {makes} else pool(), Doubles()))
"""


@pytest.mark.parametrize("makes_executors", [True, False])
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_script_without_a_guard(method: str, makes_executors: bool, tmp_path: Path) -> None:
    """Its workers print nothing: they end with Python's error, and the script with ours, or it answers by itself."""
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.format(method=method, makes=makes_executors))
    done = subprocess.run([sys.executable, script], check=False, capture_output=True, text=True, timeout=60)
    if method == "fork" or not makes_executors:
        assert (done.returncode, done.stdout) == (0, "2 1\n")
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert (
            "a worker exited before its first order; your program may lack `if __name__ == '__main__':`" in done.stderr
        )


@pytest.mark.parametrize("one_by_one", [False, True])
def test_items_are_read_only_so_far_ahead(one_by_one: bool) -> None:
    """An endless iterator costs bounded memory; how far a chunk may wait is no reason to read on for ever."""
    taken, limit = [0], Semaphore(0)

    def items() -> Iterator[int]:
        while True:
            taken[0] += 1
            yield taken[0]

    with ThreadPoolExecutor(2) as executor:
        answers = answer_in_order(items(), executor, Doubles(), arrive_one_by_one=one_by_one)
        assert [next(answers) for _ in range(50)] == list(range(2, 102, 2))
        assert not limit.acquire(timeout=0.2)  # time for a reader that would go on
        assert taken[0] <= 600
        answers.close()  # type: ignore[attr-defined]
