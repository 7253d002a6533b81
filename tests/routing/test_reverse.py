"""Exact output: enough, and one unit less is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from swapcli.errors import NoRoute
from swapcli.routing import Router
from swapcli.routing.replay import replay
from tests.routing.build import amounts, constant_product, market, order, random_market, seeds, token


@given(seeds, amounts)
def test_the_input_found_is_enough_and_one_unit_less_is_not(seed: int, amount: int) -> None:
    held = random_market(seed)
    router = Router(held)
    try:
        wanted = router.quote(order(held, 0, 1, amount)).amount_out
        quote = router.quote(replace(order(held, 0, 1, wanted), reverse=True))
    except NoRoute:
        return
    assert quote.amount_out >= wanted
    assert replay(held.pools, quote.route, quote.amount_in).amount_out == quote.amount_out
    if quote.amount_in > 10**9:
        assert replay(held.pools, quote.route, quote.amount_in - 1).amount_out < wanted
        assert quote.amount_in <= amount * (1 + 1e-5) + 1


def test_more_than_the_pools_hold_has_no_route() -> None:
    a, b = token(0), token(1)
    held = market([constant_product(0, a, b, 10**24, 10**24)], [a, b])
    with pytest.raises(NoRoute):
        Router(held).quote(replace(order(held, 0, 1, 10**24), reverse=True))
