"""Requests of a block are counted over all nodes, and a new block gets new ones when the window is over."""

from __future__ import annotations

import pytest

from swapcli.core.errors import RequestBudgetSpent
from swapcli.state.rpc.request_budget import RequestBudget

URL = "https://node.example"


class Clock:
    """A clock that only `pause` moves."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def pause(self, seconds: float) -> None:
        self.now_s += seconds


def spend(budget: RequestBudget, requests: int) -> None:
    for _ in range(requests):
        budget.spend(URL)


def test_a_request_beyond_the_budget_is_refused() -> None:
    budget = RequestBudget(3)
    spend(budget, 3)
    with pytest.raises(RequestBudgetSpent, match="has used its 3 requests"):
        budget.spend(URL)
    assert (budget.sent, budget.left) == (3, 0)
    budget.allow(1)
    spend(budget, 1)
    assert budget.left == 0


def test_a_start_waits_for_the_window_only_if_too_few_are_left() -> None:
    clock = Clock()
    budget = RequestBudget(4, 10.0, clock)
    budget.start(clock.pause)
    spend(budget, 2)
    budget.start(clock.pause)
    assert (clock.now_s, budget.sent) == (100.0, 2)
    spend(budget, 1)
    clock.pause(4.0)
    budget.start(clock.pause)
    assert (clock.now_s, budget.sent) == (110.0, 0)
    spend(budget, 4)
    clock.pause(10.0)
    budget.start(clock.pause)
    assert (clock.now_s, budget.sent) == (120.0, 0)
