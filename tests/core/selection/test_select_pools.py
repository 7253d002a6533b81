"""The pools that a quote reads from a large store: few, and nearly as good as all."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.routing.router import Router
from swapcli.state.store import Store
from tests.examples import examples
from tests.state.store.build import imported
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
    """Return orders of `share` of the sold token's reserves in all pools, between hubs and others."""
    rng = random.Random(5)
    reserves_by_token = {each.address: 0 for each in TOKENS}
    for pool in WIDE.pools.values():
        if pool.family == "constant_product":
            for address, reserve in zip(pool.tokens, pool.state()["reserves"], strict=True):  # type: ignore[call-overload]
                reserves_by_token[address] += int(reserve)
    generated: list[Order] = []
    while len(generated) < count:
        a, b = (rng.choice(TOKENS[:5] if rng.random() < 0.5 else TOKENS) for _ in range(2))
        if a != b and reserves_by_token[a.address] and reserves_by_token[b.address]:
            generated.append(Order(a, b, max(int(reserves_by_token[a.address] * share), 10**5)))
    return generated


def gap_bps(store: Store, router: Router, order: Order) -> float:
    part = store.read_candidates(order, LIMIT)
    assert len(part.pools) <= LIMIT + 20
    whole = router.quote(order, gas_price_wei=0)
    if order.reverse:
        return (Router(part).quote(order, gas_price_wei=0).amount_in / whole.amount_in - 1.0) * 1e4
    return (1.0 - Router(part).quote(order, gas_price_wei=0).amount_out / whole.amount_out) * 1e4


@pytest.mark.parametrize(("share", "bound", "worst"), [(1e-4, 0.05, 1.0), (1e-2, 5.0, 12.0)])
def test_a_quote_over_selected_pools_is_nearly_optimal(
    store: Store, router: Router, share: float, bound: float, worst: float
) -> None:
    gaps = [gap_bps(store, router, order) for order in orders(share, examples(3, full=12))]
    assert median(gaps) <= bound
    assert max(gaps) <= worst


@pytest.mark.slow
def test_an_exact_output_reads_enough_pools(store: Store, router: Router) -> None:
    for order in orders(1e-3, examples(2, full=4)):
        amount_out = router.quote(order, gas_price_wei=0).amount_out
        back = order._replace(amount=amount_out, reverse=True)
        assert gap_bps(store, router, back) <= gap_bps(store, router, order) + 1.0


@pytest.mark.slow
def test_small_orders_read_less_than_large_ones(store: Store) -> None:
    small, large = ([len(store.read_candidates(o, POOLS // 3).pools) for o in orders(share)] for share in (1e-5, 0.1))
    assert sum(small) < sum(large) / 2


def test_selected_pools_are_as_in_the_whole_market(store: Store) -> None:
    part = store.read_candidates(orders(1e-3)[0], LIMIT)
    assert part.pools.items() <= WIDE.pools.items()
    assert part.tokens.items() <= WIDE.tokens.items()
    assert [*part.pools] == [key for key in WIDE.pools if key in part.pools]
    rest = WIDE._replace(pools=part.pools, tokens=part.tokens, placeholder_pools=part.placeholder_pools)
    assert part == rest


def test_prices_and_gas_are_as_over_the_whole_market(store: Store, router: Router) -> None:
    for order in orders(1e-3, 6):
        part = Router(store.read_candidates(order, LIMIT))
        tokens = (order.token_in, order.token_out, TOKENS[0])
        assert part.index.usd_prices(*tokens) == pytest.approx(router.index.usd_prices(*tokens), rel=0.01)
        quote, whole = (each.quote(order, gas_price_wei=10**9) for each in (part, router))
        assert quote.gas_usd is not None
        assert whole.gas_usd is not None
        assert quote.gas_usd / quote.gas_units == pytest.approx(whole.gas_usd / whole.gas_units, rel=0.01)


def test_a_direct_order_reads_only_pools_of_its_pair(store: Store, router: Router) -> None:
    order = Order(TOKENS[0], TOKENS[1], 10**18, direct=True)
    part = store.read_candidates(order, LIMIT)
    # The pools that give the price of the native token are of the same pair here.
    assert all({*pool.tokens} == {TOKENS[0].address, TOKENS[1].address} for pool in part.pools.values())
    whole = router.quote(order, gas_price_wei=0).amount_out
    assert Router(part).quote(order, gas_price_wei=0).amount_out >= whole * (1 - 1e-6)


def test_other_pools_replace_those_of_excluded_protocols(store: Store, router: Router) -> None:
    order = orders(1e-3)[0]._replace(excluded_protocols=frozenset({"v3"}))
    assert gap_bps(store, router, order) <= 0.5


def test_the_native_token_selects_pools_of_its_wrapped_form(store: Store) -> None:
    native = WIDE.network.native
    assert native.address == ZERO_ADDRESS
    order = Order(native, TOKENS[1], 10**18)
    assert store.read_candidates(order, LIMIT) == store.read_candidates(order._replace(token_in=TOKENS[0]), LIMIT)


def test_a_small_store_is_read_whole(tmp_path: Path) -> None:
    written = build_wide_market(100)
    with imported(tmp_path / "store", written) as opened:
        first, second, *_ = written.tokens.values()
        order = Order(first, second, 10**18)
        assert opened.read_candidates(order) == written
        assert len(opened.read_candidates(order, 20).pools) < 40


def test_unknown_tokens_have_no_pools(store: Store) -> None:
    part = store.read_candidates(Order(TOKENS[0], build_token(10**6), 10**18), LIMIT)
    assert part.pools == {}
    assert TOKENS[0].address in part.tokens
    only_sold = store.read_candidates(Order(build_token(10**6), TOKENS[0], 10**18), LIMIT)
    assert only_sold.pools == {}


def test_an_illiquid_token_behind_others_is_reached(tmp_path: Path) -> None:
    tokens = [build_token(number) for number in range(60)]
    deep = 10**24
    pools = [build_constant_product(k, tokens[k], tokens[k + 1], deep, deep) for k in range(40)]
    pools += [build_constant_product(100 + k, tokens[0], tokens[k], deep, deep) for k in range(2, 40)]
    pools += [build_constant_product(200 + k, tokens[40 + k], tokens[41 + k], 10 * UNIT, 10 * UNIT) for k in range(3)]
    written = build_market(pools, tokens)
    order = Order(tokens[43], tokens[1], UNIT // 100)
    with imported(tmp_path / "store", written) as opened:
        part = opened.read_candidates(order, 30)
    assert len(part.pools) <= 40
    best = Router(written).quote(order, gas_price_wei=0).amount_out
    assert Router(part).quote(order, gas_price_wei=0).amount_out >= best * (1 - 1e-4)


def test_an_order_that_pays_less_than_its_gas_is_quoted(router: Router) -> None:
    dust = orders(1e-5, 6)[0]
    assert router.quote(dust, gas_price_wei=10**9).amount_out > 0
