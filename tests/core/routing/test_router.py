"""What defines the answer: exact, feasible, optimal within what the wire can say, and never worse than simpler ways."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import Cancelled, NoRoute, PoolError, SameToken, UnknownToken
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.single_path import best_single_path, single_route
from tests.core.routing.build import graph_of, problem_on
from tests.support.pools import (
    UNIT,
    amounts,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)


def quoted(market: MarketState, calls: Order, *, certify: bool = False) -> Quote | None:
    try:
        return Router(market).quote(calls, certify=certify)
    except NoRoute:
        return None


def rounding_slack(quote: Quote) -> float:
    """What whole percents may cost: next to nothing in a deep market, more where one percent moves the price."""
    return 2e-6 + 2e-3 * (quote.price_impact or 0.0) ** 2


@given(seeds, amounts, st.booleans())
def test_the_quote_is_what_the_replay_delivers(seed: int, amount: int, every_family: bool) -> None:
    market = build_random_market(seed, every_family=every_family)
    quote = quoted(market, build_order(market, 0, 1, amount))
    if quote is not None:
        again = replay(market.pools, quote.route, quote.amount_in)
        assert (again.amount_out, again.steps) == (quote.amount_out, quote.steps)


@given(seeds, amounts, st.booleans())
def test_shares_sum_exactly_and_paths_have_no_cycle(seed: int, amount: int, every_family: bool) -> None:
    market = build_random_market(seed, every_family=every_family)
    calls = build_order(market, 0, 1, amount)
    quote = quoted(market, calls)
    if quote is None:
        return
    assert sum(segment.share for segment in quote.route.segments) == 10_000
    for segment in quote.route.segments:
        visited = [segment.hops[0][0].token_in]
        for hop in segment.hops:
            assert sum(swap.share for swap in hop) == 10_000
            assert {swap.token_in for swap in hop} == {visited[-1]}
            assert len({swap.token_out for swap in hop}) == 1
            visited.append(hop[0].token_out)
        assert (visited[0], visited[-1]) == (calls.token_in.address, calls.token_out.address)
        assert len(set(visited)) == len(visited) <= calls.max_hops + 1


@given(seeds, amounts, st.booleans())
@example(1053, int(10**18.5), True)
def test_no_pool_serves_two_pairs(seed: int, amount: int, every_family: bool) -> None:
    market = build_random_market(seed, every_family=every_family)
    quote = quoted(market, build_order(market, 0, 1, amount))
    if quote is not None:
        assert len({step.pool for step in quote.steps}) == len(quote.steps)


@given(seeds, amounts, st.booleans())
def test_nothing_is_left_in_the_router(seed: int, amount: int, every_family: bool) -> None:
    market = build_random_market(seed, every_family=every_family)
    quote = quoted(market, build_order(market, 0, 1, amount))
    if quote is None:
        return
    balances: dict[str, int] = defaultdict(int)
    balances[quote.order.token_in.address] = quote.amount_in
    for step in quote.steps:
        balances[step.token_in] -= step.amount_in
        balances[step.token_out] += step.amount_out
    assert balances.pop(quote.order.token_out.address) == quote.amount_out
    assert set(balances.values()) <= {0}


@given(seeds, amounts, st.booleans())
def test_never_worse_than_the_best_single_path(seed: int, amount: int, every_family: bool) -> None:
    market = build_random_market(seed, every_family=every_family)
    quote = quoted(market, build_order(market, 0, 1, amount))
    if quote is not None and quote.best_single_path_out is not None:
        assert quote.amount_out >= quote.best_single_path_out


def best_over_the_market(market: MarketState, amount: int, max_hops: int) -> int:
    """What the best path over all pools delivers, one pool per hop; 0 without one that executes."""
    graph = graph_of(market)
    path = best_single_path(problem_on(graph, amount, max_hops), graph.arcs())
    try:
        return replay(market.pools, single_route(graph, path), amount).amount_out if path else 0
    except PoolError:
        return 0


@given(seeds, amounts, st.integers(1, 6), st.integers(6, 200), st.booleans())
def test_a_quote_is_never_worse_than_the_best_single_path(
    seed: int, amount: int, max_hops: int, tokens: int, every_family: bool
) -> None:
    """From dense markets to sparse ones, where most tokens are dead ends and paths are long."""
    market = build_random_market(seed, tokens=tokens, pools=max(300, tokens), every_family=every_family)
    quote = quoted(market, build_order(market, 0, 1, amount)._replace(max_hops=max_hops))
    assert (quote.amount_out if quote else 0) >= best_over_the_market(market, amount, max_hops)


@pytest.mark.parametrize(
    ("tokens", "max_hops", "seed", "amount"),
    [
        (150, 6, 111, 136726540951719870464),
        (150, 6, 20, 337441412931210772480),
        (150, 6, 68, 51091032339240140800),
        (200, 6, 27, 17477773218545811456),
        (200, 6, 86, 90704676721949376512),
        (200, 6, 115, 301655935465788997632),
        (60, 6, 94, 5420105845815382016),
        (60, 3, 56, 675454252316938207232),
        (60, 3, 188, 88780907640130076672),
        (100, 4, 46, 276274233240422481920),
        (100, 4, 143, 340295163224296914944),
        (100, 4, 23, 421042812588942884864),
    ],
)
def test_long_ways_over_thin_pools_are_not_missed(tokens: int, max_hops: int, seed: int, amount: int) -> None:
    market = build_random_market(seed, tokens=tokens, pools=300)
    quote = Router(market).quote(build_order(market, 0, 1, amount)._replace(max_hops=max_hops))
    assert quote.amount_out >= best_over_the_market(market, amount, max_hops) > 0


@given(seeds, amounts)
def test_output_never_exceeds_the_certified_bound(seed: int, amount: int) -> None:
    market = build_random_market(seed)
    quote = quoted(market, build_order(market, 0, 1, amount), certify=True)
    if quote is not None:
        assert quote.certificate is not None
        assert quote.amount_out <= quote.certificate.acyclic_bound * (1 + 1e-9)
        assert quote.certificate.acyclic_bound <= quote.certificate.bound * (1 + 1e-12)


@given(seeds, amounts, st.booleans())
def test_output_grows_with_input(seed: int, amount: int, every_family: bool) -> None:
    market = build_random_market(seed, every_family=every_family)
    smaller, larger = (quoted(market, build_order(market, 0, 1, a)) for a in (amount, amount + amount // 10))
    # Beyond half the price a path that takes less than one percent may drop out: the wire has no smaller share.
    if smaller is not None and larger is not None and (larger.price_impact or 0.0) < 0.5:
        assert larger.amount_out >= smaller.amount_out


@given(seeds, amounts)
def test_adding_a_pool_costs_at_most_the_percent_rounding(seed: int, amount: int) -> None:
    market = build_random_market(seed, pools=15)
    fewer = build_market(list(market.pools.values())[:-1], list(market.tokens.values()))
    more, less = quoted(market, build_order(market, 0, 1, amount)), quoted(fewer, build_order(fewer, 0, 1, amount))
    if more is not None and less is not None:
        assert more.amount_out >= less.amount_out * (1 - rounding_slack(less)) - 2


@given(seeds, amounts)
def test_used_paths_have_equal_marginal_prices_within_rounding(seed: int, amount: int) -> None:
    """Segments whose marginal rates differ could trade a percent with profit: what is left to gain is tiny."""
    market = build_random_market(seed)
    quote = quoted(market, build_order(market, 0, 1, amount), certify=True)
    if quote is None or quote.certificate is None or len(quote.route.segments) < 2 or quote.amount_out < 10**6:
        return
    for taken in quote.route.segments:
        for given_to in quote.route.segments:
            if taken is given_to or taken.share == 100:
                continue
            changed = tuple(
                s._replace(share=s.share + 100 * (s is given_to) - 100 * (s is taken)) for s in quote.route.segments
            )
            moved = quote.route._replace(segments=changed)
            try:
                other = replay(market.pools, moved, quote.amount_in).amount_out
            except Exception as error:  # a full pool refuses one percent more
                assert type(error).__name__ in {"InsufficientLiquidity", "SwapReverts"}  # noqa: PT017
                continue
            assert other <= quote.amount_out * (1 + rounding_slack(quote)) + 2


def test_a_dead_end_pool_changes_nothing() -> None:
    a, b, c = build_token(0), build_token(1), build_token(2)
    direct = build_constant_product(0, a, b, 10**24, 10**24)
    dead_end = build_constant_product(1, b, c, 10**30, 10**30)
    with_it, without = build_market([direct, dead_end], [a, b, c]), build_market([direct], [a, b, c])
    assert (
        Router(with_it).quote(build_order(with_it, 0, 1, UNIT)).amount_out
        == Router(without).quote(build_order(without, 0, 1, UNIT)).amount_out
    )


def test_two_equal_pools_share_equally() -> None:
    a, b = build_token(0), build_token(1)
    market = build_market([build_constant_product(k, a, b, 10**24, 10**24) for k in range(2)], [a, b])
    quote = Router(market).quote(build_order(market, 0, 1, 10**22))
    assert [swap.share for swap in quote.route.segments[0].hops[0]] == [5000, 5000]


def test_direct_orders_use_one_hop_and_fewer_hops_are_respected() -> None:
    a, b, c = build_token(0), build_token(1), build_token(2)
    pools = [
        build_constant_product(0, a, b, 10**22, 10**22),
        build_constant_product(1, a, c, 10**26, 10**26),
        build_constant_product(2, c, b, 10**26, 10**26),
    ]
    market = build_market(pools, [a, b, c])
    free = Router(market).quote(build_order(market, 0, 1, 10**22))
    direct = Router(market).quote(build_order(market, 0, 1, 10**22)._replace(direct=True))
    assert max(len(segment.hops) for segment in free.route.segments) == 2
    assert [len(segment.hops) for segment in direct.route.segments] == [1]
    assert direct.amount_out < free.amount_out


def test_an_order_whose_best_path_is_too_long_is_still_quoted() -> None:
    """A deep way of four hops, and thin short cuts that carry less than a percent of it."""
    s, t, a, b, c = known = [build_token(k) for k in range(5)]
    deep = [build_constant_product(k, i, j, 10**27, 10**27) for k, (i, j) in enumerate(pairwise([s, a, b, c, t]))]
    thin = [build_constant_product(4, s, b, 10**22, 10**22, 500), build_constant_product(5, b, t, 10**22, 10**22, 500)]
    market = build_market([*deep, *thin], known)
    quote = Router(market).quote(build_order(market, 0, 1, 10**22)._replace(max_hops=3))
    assert quote.amount_out >= (quote.best_single_path_out or 0) > 0
    assert max(len(segment.hops) for segment in quote.route.segments) <= 3


def test_excluded_protocols_are_not_used() -> None:
    a, b = build_token(0), build_token(1)
    pools = [
        build_constant_product(k, a, b, 10**24, 10**24 + k, protocol=name) for k, name in enumerate(["one", "two"])
    ]
    market = build_market(pools, [a, b])
    calls = build_order(market, 0, 1, 10**20)._replace(excluded_protocols=frozenset({"two"}))
    assert {step.pool for step in Router(market).quote(calls).steps} == {pools[0].key}


def test_gas_keeps_small_orders_in_one_pool_and_splits_big_ones() -> None:
    a, b = build_token(0), build_token(1)
    pools = [build_constant_product(k, a, b, 10**21, 10**21) for k in range(4)]
    market = build_market(pools, [a, b], gas_price_wei=10**9)
    small, large = (Router(market).quote(build_order(market, 0, 1, x)) for x in (10**16, 10**21))
    assert (len(small.steps), len(large.steps)) == (1, 4)


def test_without_a_path_the_error_says_what_was_tried() -> None:
    a, b, c = build_token(0), build_token(1), build_token(2)
    market = build_market([build_constant_product(0, a, b, 10**24, 10**24)], [a, b, c])
    with pytest.raises(NoRoute, match=r"no route from T0 to T2 in at most 8 hops: 1 pool tried"):
        Router(market).quote(build_order(market, 0, 2, UNIT))


def test_without_a_path_the_hint_names_the_limits_to_relax() -> None:
    a, b, c = build_token(0), build_token(1), build_token(2)
    pools = [
        build_constant_product(0, a, b, 10**24, 10**24),
        build_constant_product(1, b, c, 10**24, 10**24, protocol="two"),
    ]
    market = build_market(pools, [a, b, c])
    calls = build_order(market, 0, 2, UNIT)
    limits: list[tuple[dict[str, Any], str]] = [
        ({"direct": True}, "allow more hops"),
        ({"max_hops": 1}, "allow more hops"),
        ({"excluded_protocols": frozenset({"two"})}, "exclude fewer protocols"),
        ({"direct": True, "excluded_protocols": frozenset({"two"})}, "allow more hops, or exclude fewer protocols"),
    ]
    for limit, hint in limits:
        with pytest.raises(NoRoute) as caught:
            Router(market).quote(calls._replace(**limit))
        assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("amount", "reverse", "hint"),
    [
        (1, False, "try a larger amount"),
        (10**40, False, "try a smaller amount"),
        (10**25, True, "try a smaller amount"),
    ],
)
def test_where_the_amount_is_the_trouble_the_hint_says_which_way(amount: int, reverse: bool, hint: str) -> None:
    a, b = build_token(0), build_token(1)
    market = build_market([build_constant_product(0, a, b, 10**24, 10**24)], [a, b])
    with pytest.raises(NoRoute) as caught:
        Router(market).quote(build_order(market, 0, 1, amount)._replace(reverse=reverse))
    assert caught.value.hint == hint


def test_an_amount_worth_less_than_a_unit_is_called_too_small() -> None:
    a, b = build_token(0), build_token(1)
    market = build_market([build_constant_product(0, a, b, 10**24, 10**14)], [a, b])
    with pytest.raises(NoRoute, match="too small to buy even one base unit"):
        Router(market).quote(build_order(market, 0, 1, 10**9))


def test_the_same_or_an_unknown_token_is_refused() -> None:
    a, b = build_token(0), build_token(1)
    market = build_market([build_constant_product(0, a, b, 10**24, 10**24)], [a, b])
    with pytest.raises(SameToken):
        Router(market).quote(build_order(market, 0, 0, UNIT))
    with pytest.raises(UnknownToken):
        Router(market).quote(Order(a, build_token(7), UNIT))


@pytest.mark.parametrize("amount", [1, 2, 3, 5, 10, 100])
def test_dust_is_quoted_or_refused_but_never_wrong(amount: int) -> None:
    market = build_random_market(7)
    quote = quoted(market, build_order(market, 0, 1, amount))
    assert quote is None or replay(market.pools, quote.route, amount).amount_out == quote.amount_out > 0


def test_prices_in_dollars_come_from_the_pools() -> None:
    a, usd = build_token(0), build_token(1, decimals=6)
    market = build_market([build_constant_product(0, a, usd, 10**21, 3_000 * 10**9)], [a, usd])
    quote = Router(market).quote(build_order(market, 0, 1, UNIT))
    assert quote.price_out_usd == 1.0
    assert quote.price_in_usd == pytest.approx(3_000)
    assert quote.price_impact == pytest.approx(0.004, rel=0.01)  # fee and depth
    assert quote.best_single_path_out == quote.amount_out < inf


# --- cancelled


class Leaving:
    """A client that leaves at the given question, and counts what it is calls."""

    def __init__(self, at: float) -> None:
        self.at, self.calls = at, 0

    def __call__(self) -> bool:
        self.calls += 1
        return self.calls >= self.at


def test_a_quote_that_nobody_waits_for_ends_at_the_next_question() -> None:
    market = build_random_market(7, tokens=12, pools=60, every_family=True)
    for calls in (build_order(market, 0, 1, 10**24), build_order(market, 0, 1, 10**18)._replace(reverse=True)):
        stays = Leaving(inf)
        whole = Router(market).quote(calls, certify=True, is_cancelled=stays)
        assert whole == Router(market).quote(calls, certify=True)
        assert stays.calls >= 3
        for at in {1, 2, stays.calls // 2, stays.calls}:
            leaves = Leaving(at)
            with pytest.raises(Cancelled):
                Router(market).quote(calls, certify=True, is_cancelled=leaves)
            assert leaves.calls == at


def test_a_router_whose_quote_was_cancelled_quotes_on() -> None:
    market = build_random_market(7, tokens=12, pools=60)
    calls, router = build_order(market, 0, 1, 10**21), Router(market)
    with pytest.raises(Cancelled):
        router.quote(calls, is_cancelled=Leaving(5))
    assert router.quote(calls) == Router(market).quote(calls)
