"""Orders that wait for a market are taken once each, in order, and not too many at a time."""

from __future__ import annotations

from contextlib import ExitStack

from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.joined_orders import JoinedOrders


def never() -> QuoteRequest:
    raise AssertionError("nobody quotes it")


def test_reads_take_the_next_orders_once() -> None:
    orders = JoinedOrders()
    with ExitStack() as stack:
        joined = [stack.enter_context(orders.joined(never)) for _ in range(70)]
        with orders.turn(joined[0]):
            taken = [orders.take_waiting() for _ in range(4)]
        assert [each for part in taken for each in part] == joined[1:]
        assert [len(part) for part in taken] == [32, 32, 5, 0]
    assert orders.take_waiting() == []


def test_an_order_that_has_left_is_not_taken() -> None:
    orders = JoinedOrders()
    with orders.joined(never) as first:
        with orders.joined(never):
            pass
        assert orders.take_waiting() == [first]
