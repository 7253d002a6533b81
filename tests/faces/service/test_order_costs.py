"""Costs of orders: which orders count as alike, and how measured times become expected ones."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.faces.service.order_costs import FIRST_COST_S, CostEstimate, OrderClass, OrderCosts, classify_order
from swapcli.interface.requests import OrderRequest

PATH = "/{network}/v2/route"
USDC, WETH = "0x" + "AB" * 20, "0x" + "cd" * 20


def classify(amount: int, token_in: str = USDC, token_out: str = WETH, **options: Any) -> OrderClass:
    return classify_order(PATH, "base", OrderRequest(amount, token_in, token_out, **options), 0)


def test_alike_are_orders_of_a_pair_with_amounts_of_as_many_bits() -> None:
    alike = classify(1_000_000)
    assert classify(1_048_575) == alike
    others = [
        classify(1_048_576), classify(1_000_000, WETH, USDC), classify(1_000_000, USDC, ZERO_ADDRESS),
        classify(1_000_000, values=(("single_path", True),)), classify(1_000_000, excluded=("3",)),
        classify_order(PATH, "monad", None, 0), classify_order("/{network}/tokens", "base", None, 0),
    ]  # fmt: skip
    assert len({alike, *others}) == len(others) + 1
    # Terms of the payload change nothing of the search.
    assert classify(1_000_000, slippage_ppm=5_000, recipient=USDC) == alike
    assert [each.pair == alike.pair for each in others] == [True, False, False, True, True, False, False]


def test_requests_without_an_order_are_alike_by_their_length() -> None:
    classes = [classify_order(PATH, "base", None, size) for size in (1_000, 1_023, 1_024)]
    assert classes[0] == classes[1] != classes[2]


def test_the_class_is_asked_first_then_the_pair_then_the_client() -> None:
    costs = OrderCosts()
    small, large, other = classify(1_000), classify(10**12), classify(1, WETH, USDC)
    assert costs.estimate("client", small) == CostEstimate(FIRST_COST_S, is_guess=True)
    costs.record("client", small, 0.004)
    assert costs.estimate("somebody else", small) == CostEstimate(0.004, is_guess=False)
    assert costs.estimate("somebody else", large) == CostEstimate(0.004, is_guess=False)
    guess_s, is_guess = costs.estimate("somebody else", other)
    assert is_guess
    assert FIRST_COST_S < guess_s < 0.004
    costs.record("client", large, 0.4)
    assert costs.estimate("client", small).expected_s == 0.004
    assert costs.estimate("client", large).expected_s == 0.4
    of_client = costs.estimate("client", other)
    assert of_client == costs.estimate("client", None)
    assert 0.004 < of_client.expected_s < 0.1
    for _ in range(20):
        costs.record("client", large, 0.4)
    assert costs.estimate("client", other).expected_s > 0.3
    costs.record("client", large, 0.1)
    assert costs.estimate("client", large).expected_s == 0.1


@given(st.lists(st.floats(1e-4, 10.0), min_size=1, max_size=30))
def test_an_expected_time_follows_the_measured_ones(times_s: list[float]) -> None:
    costs, order = OrderCosts(), classify(1)
    for spent_s in times_s:
        before_s, is_guess = costs.estimate("a", order)
        costs.record("a", order, spent_s)
        expected_s = costs.estimate("a", order).expected_s
        assert min(times_s) <= expected_s <= max(times_s)
        assert is_guess or abs(expected_s - spent_s) <= abs(before_s - spent_s) * 0.5000001


def test_orders_that_fail_early_do_not_make_others_look_short() -> None:
    costs, order = OrderCosts(), classify(1)
    costs.record("honest", order, 0.4)
    for _ in range(100):
        costs.record("liar", order, 0.0001, is_answered=False)
    assert costs.estimate("liar", order).expected_s == 0.4
    costs.record("honest", order, 0.8, is_answered=False)
    assert costs.estimate("liar", order).expected_s > 0.59


def test_the_records_are_bounded() -> None:
    costs = OrderCosts(max_records=10)
    for number in range(100):
        costs.record(f"client {number}", classify(2**number, token_in=f"0x{number:040x}"), 0.001)
    known = [not costs.estimate("nobody", classify(2**n, token_in=f"0x{n:040x}")).is_guess for n in range(100)]
    assert known == [False] * 90 + [True] * 10
