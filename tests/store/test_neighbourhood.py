"""The part of a market that a quote reads: small, and nearly as good as the whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from swapcli.model.order import ZERO_ADDRESS, Order
from swapcli.routing import Router
from swapcli.store import Store
from tests.examples import examples
from tests.store.build import imported
from tests.support.pools import UNIT, build_constant_product, build_market, build_token, build_wide_market

POOLS, LIMIT = 3_000, 400
WIDE = build_wide_market(POOLS)
TOKENS = [*WIDE.tokens.values()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with imported(tmp_path_factory.mktemp("wide") / "store", WIDE) as opened:
        yield opened


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(WIDE)


def orders(share: float, count: int = 12) -> list[Order]:
    """Orders of `share` of what the token sold has in its pools, between hubs and others."""
    rng = random.Random(5)
    held = {each.address: 0 for each in TOKENS}
    for pool in WIDE.pools.values():
        if pool.family == "constant_product":
            for address, reserve in zip(pool.tokens, pool.state()["reserves"], strict=True):  # type: ignore[call-overload]
                held[address] += int(reserve)
    found: list[Order] = []
    while len(found) < count:
        a, b = (rng.choice(TOKENS[:5] if rng.random() < 0.5 else TOKENS) for _ in range(2))
        if a != b and held[a.address] and held[b.address]:
            found.append(Order(a, b, max(int(held[a.address] * share), 10**5)))
    return found


def gap_bps(store: Store, router: Router, order: Order) -> float:
    part = store.neighbourhood(order, LIMIT)
    assert len(part.pools) <= LIMIT + 20
    whole = router.quote(order, gas_price_wei=0)
    if order.reverse:
        return (Router(part).quote(order, gas_price_wei=0).amount_in / whole.amount_in - 1.0) * 1e4
    return (1.0 - Router(part).quote(order, gas_price_wei=0).amount_out / whole.amount_out) * 1e4


@pytest.mark.parametrize(("share", "bound", "worst"), [(1e-4, 0.05, 1.0), (1e-2, 5.0, 12.0)])
def test_a_quote_over_the_part_loses_next_to_nothing(
    store: Store, router: Router, share: float, bound: float, worst: float
) -> None:
    gaps = [gap_bps(store, router, order) for order in orders(share, examples(6, full=12))]
    assert median(gaps) <= bound
    assert max(gaps) <= worst


def test_wanting_an_output_reads_what_it_takes_to_have_it(store: Store, router: Router) -> None:
    for order in orders(1e-3, examples(2, full=4)):
        wanted = router.quote(order, gas_price_wei=0).amount_out
        back = replace(order, amount=wanted, reverse=True)
        assert gap_bps(store, router, back) <= gap_bps(store, router, order) + 1.0


def test_small_orders_read_less_than_large_ones(store: Store) -> None:
    small, large = ([len(store.neighbourhood(o, POOLS - 1).pools) for o in orders(share)] for share in (1e-5, 0.1))
    assert sum(small) < sum(large) / 2


def test_what_the_part_holds_is_as_in_the_whole(store: Store) -> None:
    part = store.neighbourhood(orders(1e-3)[0], LIMIT)
    assert part.pools.items() <= WIDE.pools.items()
    assert part.tokens.items() <= WIDE.tokens.items()
    assert [*part.pools] == [key for key in WIDE.pools if key in part.pools]
    rest = {"pools": part.pools, "tokens": part.tokens, "placeholder_pools": part.placeholder_pools}
    assert part == replace(WIDE, **rest)  # type: ignore[arg-type]


def test_prices_and_gas_are_told_as_over_the_whole_market(store: Store, router: Router) -> None:
    for order in orders(1e-3, 6):
        part = Router(store.neighbourhood(order, LIMIT))
        tokens = (order.token_in, order.token_out, TOKENS[0])
        assert part.usd_prices(*tokens) == pytest.approx(router.usd_prices(*tokens), rel=0.01)
        quote, whole = (each.quote(order, gas_price_wei=10**9) for each in (part, router))
        assert quote.gas_usd is not None
        assert whole.gas_usd is not None
        assert quote.gas_usd / quote.gas_units == pytest.approx(whole.gas_usd / whole.gas_units, rel=0.01)


def test_a_direct_order_reads_only_pools_of_its_pair(store: Store, router: Router) -> None:
    order = Order(TOKENS[0], TOKENS[1], 10**18, direct=True)
    part = store.neighbourhood(order, LIMIT)
    # Those that tell the price of the native token are of the same pair here.
    assert all({*pool.tokens} == {TOKENS[0].address, TOKENS[1].address} for pool in part.pools.values())
    whole = router.quote(order, gas_price_wei=0).amount_out
    assert Router(part).quote(order, gas_price_wei=0).amount_out >= whole * (1 - 1e-6)


def test_excluded_protocols_make_room_for_others(store: Store, router: Router) -> None:
    order = replace(orders(1e-3)[0], excluded_protocols=frozenset({"v3"}))
    assert gap_bps(store, router, order) <= 0.5


def test_the_native_token_stands_for_its_wrapped_form(store: Store) -> None:
    native = WIDE.network.native
    assert native.address == ZERO_ADDRESS
    asked = Order(native, TOKENS[1], 10**18)
    assert store.neighbourhood(asked, LIMIT) == store.neighbourhood(replace(asked, token_in=TOKENS[0]), LIMIT)


def test_a_store_that_is_small_enough_is_read_whole(tmp_path: Path) -> None:
    given = build_wide_market(100)
    with imported(tmp_path / "store", given) as opened:
        first, second, *_ = given.tokens.values()
        order = Order(first, second, 10**18)
        assert opened.neighbourhood(order) == given
        assert len(opened.neighbourhood(order, 20).pools) < 40


def test_tokens_that_are_not_held_lead_to_no_pools(store: Store) -> None:
    part = store.neighbourhood(Order(TOKENS[0], build_token(10**6), 10**18), LIMIT)
    assert part.pools == {}
    assert TOKENS[0].address in part.tokens
    only_sold = store.neighbourhood(Order(build_token(10**6), TOKENS[0], 10**18), LIMIT)
    assert only_sold.pools == {}


def test_a_thin_token_behind_others_is_found(tmp_path: Path) -> None:
    tokens = [build_token(number) for number in range(60)]
    deep = 10**24
    pools = [build_constant_product(k, tokens[k], tokens[k + 1], deep, deep) for k in range(40)]
    pools += [build_constant_product(100 + k, tokens[0], tokens[k], deep, deep) for k in range(2, 40)]
    pools += [build_constant_product(200 + k, tokens[40 + k], tokens[41 + k], 10 * UNIT, 10 * UNIT) for k in range(3)]
    given = build_market(pools, tokens)
    order = Order(tokens[43], tokens[1], UNIT // 100)
    with imported(tmp_path / "store", given) as opened:
        part = opened.neighbourhood(order, 30)
    assert len(part.pools) <= 40
    best = Router(given).quote(order, gas_price_wei=0).amount_out
    assert Router(part).quote(order, gas_price_wei=0).amount_out >= best * (1 - 1e-4)


def test_an_order_that_brings_less_than_its_gas_is_quoted_all_the_same(router: Router) -> None:
    dust = orders(1e-5, 6)[0]
    assert router.quote(dust, gas_price_wei=10**9).amount_out > 0
