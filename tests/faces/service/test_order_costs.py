"""Costs of orders: which orders count as alike, and how measured times become expected ones."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.faces.service.order_costs import FIRST_COST_S, CostEstimate, OrderClass, OrderCosts, classify_order

PATH = "/{network}/v2/route"
USDC, WETH = "0x" + "AB" * 20, "0x" + "cd" * 20


def classify(amount: object, token_in: str = USDC, token_out: str = WETH, **options: str) -> OrderClass:
    order = {"amount": amount, "tokenInAddress": token_in, "tokenOutAddress": token_out, **options}
    return classify_order(PATH, "base", urlencode(order).encode())


def test_alike_are_orders_of_a_pair_with_amounts_of_as_many_bits() -> None:
    alike = classify(1_000_000)
    assert classify(1_048_575) == alike == classify(600_000, USDC.lower(), WETH.upper().replace("X", "x"))
    others = [
        classify(1_048_576), classify(1_000_000, WETH, USDC), classify(1_000_000, USDC, ZERO_ADDRESS),
        classify(1_000_000, direct="true"), classify(1_000_000, excludeProtocols="3"),
        classify_order(PATH, "monad", b""), classify_order("/{network}/tokens", "base", b""),
    ]  # fmt: skip
    assert len({alike, *others}) == len(others) + 1
    # Terms of the payload change nothing of the search.
    assert classify(1_000_000, slippage="0.5", destination=USDC) == alike
    assert [each.pair == alike.pair for each in others] == [True, False, False, True, True, False, False]


def test_a_body_is_read_as_a_query() -> None:
    order = {"amount": "1000000", "tokenInAddress": USDC, "tokenOutAddress": WETH, "slippage": 1}
    for amount in ("1000000", 1_000_000):
        body = json.dumps(order | {"amount": amount}).encode()
        assert classify_order(PATH, "base", b"", body) == classify(1_000_000)
    route = json.dumps({"route": {"inputToken": {}}, "slippage": 1}).encode()
    assert classify_order(PATH, "base", b"", route).tokens is None


@given(query=st.binary(max_size=300), body=st.binary(max_size=300))
def test_any_request_has_a_class_of_bounded_size(query: bytes, body: bytes) -> None:
    for found in (classify_order(PATH, "base", query), classify_order(PATH, "base", b"", body)):
        assert hash(found) == hash(found)
        assert found.size <= 300
    long = classify(1, "0x" + "a" * 100_000, excludeProtocols="1," * 1_000)
    assert long.tokens is None
    assert len(classify(1, excludeProtocols="1," * 1_000).options) <= 200
    assert classify("9" * 5_000).tokens is None
    nested = b'{"amount": ' + b"[" * 4_000
    assert classify_order(PATH, "base", b"", nested).tokens is None


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
