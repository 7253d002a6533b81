"""A run counts its requests over all connections; its parts share them and the time."""

from __future__ import annotations

import pytest

from swapcli.core.errors import RequestBudgetSpent
from swapcli.state.rpc.run_budget import RunBudget
from tests.state.rpc.test_request_budget import URL, Clock


def test_a_part_may_send_its_share_of_what_is_left() -> None:
    clock = Clock()
    budget = RunBudget(10, 100.0, clock)
    budget.limit(0.3, 0.5)
    assert (budget.part_left, budget.part_left_s, budget.spent) == (3, 50.0, "")
    assert [budget.spend(URL) for _ in range(2)] == [50.0, 50.0]
    clock.pause(20.0)
    budget.limit(0.5, 0.5)
    assert (budget.sent, budget.part_left, budget.part_left_s) == (2, 4, 40.0)
    budget.limit(1.0, 1.0)
    assert (budget.part_left, budget.part_left_s) == (8, 80.0)


@pytest.mark.parametrize(("requests", "waited_s", "word"), [(2, 0.0, "requests"), (0, 60.0, "time")])
def test_a_part_that_is_spent_says_what_to_change(requests: int, waited_s: float, word: str) -> None:
    clock = Clock()
    budget = RunBudget(2, 60.0, clock)
    for _ in range(requests):
        budget.spend(URL)
    clock.pause(waited_s)
    assert budget.spent == word
    with pytest.raises(RequestBudgetSpent, match=f"no {word} left") as raised:
        budget.spend(URL)
    assert raised.value.hint == f"raise --{'max-requests' if word == 'requests' else 'time'}"
    assert budget.sent == requests
