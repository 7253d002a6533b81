"""The methods that compete with the search: their routes can be executed, and pay what is said."""

from __future__ import annotations

import json
import random
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.optimum.simple_methods.__main__ import main
from bench.optimum.simple_methods.compare import METHODS, compare
from bench.optimum.simple_methods.exact_paths import Hop, PathFinder, pay_along, tokens_of
from bench.optimum.simple_methods.hill_climb import hill_climb
from bench.optimum.simple_methods.routes import Judge, apportion, build_route
from bench.optimum.simple_methods.water_fill import TokenOrder, candidate_paths, fill, water_fill
from bench.worlds.changed_pools import MAX_PUSH, pushed_market
from bench.worlds.random_pairs import MAX_USD, MIN_USD, PairOrder, random_pairs, read_market
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import WHOLE_PERCENTS
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from tests.core.routing.random_routes import random_route, simple_paths
from tests.support.pools import UNIT, build_random_market, seeds
from tests.support.testnet import USDC, WETH, build_market_document

AMOUNTS = st.integers(UNIT // 1000, 100 * UNIT)


@st.composite
def arbitrage_markets(draw: st.DrawFn) -> MarketState:
    """Of every family, with pools that are out of line."""
    return build_random_market(draw(seeds), pools=12, noise=draw(st.sampled_from([0.8, 30])), every_family=True)


def finder_of(market: MarketState, max_hops: int = 4) -> PathFinder:
    source, target = list(market.tokens)[:2]
    return PathFinder(market.pools, source, target, max_hops)


def every_path(market: MarketState, max_hops: int) -> list[tuple[Hop, ...]]:
    """Every path between tokens 0 and 1, by trying them all."""
    addresses = list(market.tokens)

    def hops(i: int, j: int) -> list[Hop]:
        ends = addresses[i], addresses[j]
        return [Hop(key, *ends) for key, pool in market.pools.items() if set(ends) <= set(pool.tokens)]

    walks = simple_paths(lambda i: [j for j in range(len(addresses)) if j != i and hops(i, j)], 0, 1, max_hops)
    return [path for walk in walks for path in product(*(hops(i, j) for i, j in pairwise(walk)))]


@given(arbitrage_markets(), AMOUNTS)
def test_with_labels_for_all_the_best_path_is_found(market: MarketState, amount: int) -> None:
    paths = every_path(market, 3)
    paid = [result[0] for path in paths if (result := pay_along(path, amount, market.pools))]
    found = finder_of(market, 3).best_paths(amount, market.pools, 5, labels=10_000)
    assert [each.amount_out for each in found] == sorted(paid, reverse=True)[:5]
    assert all(pay_along(each.path, amount, market.pools) for each in found)


@given(st.lists(st.floats(0, 1e6), min_size=1).filter(any), st.integers(1, 10))
def test_apportioned_shares_are_near_their_weights(weights: list[float], step: int) -> None:
    parts = apportion(weights, 100 * step, step)
    assert sum(parts) == 100 * step
    assert all(
        part % step == 0 and abs(part - weight / sum(weights) * 100 * step) <= step * (1 + 1e-6)
        for part, weight in zip(parts, weights, strict=True)
    )


@given(arbitrage_markets(), seeds)
def test_paths_are_allowed_unless_they_close_a_cycle(market: MarketState, seed: int) -> None:
    paths, ranks = every_path(market, 4), {token: k for k, token in enumerate(market.tokens)}
    for path in random.Random(seed).sample(paths, min(len(paths), 6)):
        order = TokenOrder([path])
        for other in paths[:20]:
            edges = {pair for each in (path, other) for pair in pairwise(tokens_of(each))}
            assert order.allows(other) == (topological_order(edges, ranks) is not None)


@given(arbitrage_markets(), AMOUNTS)
def test_filled_paths_carry_every_chunk(market: MarketState, amount: int) -> None:
    paths = candidate_paths(finder_of(market), amount, market.pools)
    filled = fill(paths, amount, market.pools, 32)
    assert set(filled) <= set(paths)
    assert sum(filled.values()) <= 32
    if filled:
        judge = Judge(market.pools, amount, 0.0, WHOLE_PERCENTS)
        found = water_fill(judge, finder_of(market), 32)
        assert found is None or found.amount_out == replay(market.pools, found.route, amount).amount_out


@given(arbitrage_markets(), AMOUNTS, seeds, st.integers(0, 200))
def test_a_climb_ends_no_lower_and_within_its_bound(
    market: MarketState, amount: int, seed: int, evaluations: int
) -> None:
    start = random_route(random.Random(seed), market, segments=3)
    judge = Judge(market.pools, amount, 1.0, 1)
    before = judge.judge(start) if start else None
    if start is None or before is None:
        return
    found = hill_climb(judge, finder_of(market), start, evaluations)
    assert found is not None
    assert found.net >= before.net
    assert judge.evaluations <= 1 + evaluations
    assert found.amount_out == replay(market.pools, found.route, amount).amount_out


@pytest.mark.slow
@given(arbitrage_markets(), AMOUNTS)
def test_a_climb_from_any_path_finds_a_better_single_one(market: MarketState, amount: int) -> None:
    best = finder_of(market).best_paths(amount, market.pools, 50)
    if len(best) < 2:
        return
    judge = Judge(market.pools, amount, 0.0, WHOLE_PERCENTS)
    start = build_route({best[-1].path: 1.0}, WHOLE_PERCENTS)
    assert start is not None
    found = hill_climb(judge, finder_of(market), start, 3_000)
    assert found is not None
    assert found.amount_out >= best[0].amount_out


def rates(pool: Pool) -> list[float]:
    return [pool.curve(a, b).start_rate for a in pool.tokens for b in pool.tokens if a != b]


@given(seeds)
def test_pushed_pools_move_by_at_most_five_percent(seed: int) -> None:
    market = build_random_market(seed, pools=20, every_family=True)
    pushed = pushed_market(market, seed)
    changed = [key for key in market.pools if market.pools[key] != pushed.pools[key]]
    assert len(changed) <= 4
    for key in changed:
        before, after = (rates(pools[key]) for pools in (market.pools, pushed.pools))
        falls = [new / old for old, new in zip(before, after, strict=True)]
        assert 1.0 - MAX_PUSH - 1e-9 <= min(falls) <= 1.0 + 1e-9


@given(seeds)
def test_random_pairs_are_the_same_for_a_seed(seed: int) -> None:
    market = build_random_market(1)
    priced = {a: t._replace(price_usd=10.0**k) for k, (a, t) in enumerate(market.tokens.items())}
    orders = random_pairs(market._replace(tokens=priced), 5, seed)
    assert orders == random_pairs(market._replace(tokens=priced), 5, seed)
    assert all(MIN_USD <= order.usd <= MAX_USD and order.token_in != order.token_out for order in orders)


@pytest.mark.slow
@given(arbitrage_markets(), AMOUNTS, st.sampled_from([0.0, 1.0]), st.sampled_from(sorted(METHODS)))
def test_gains_are_over_our_own_route(market: MarketState, amount: int, gas_gwei: float, method: str) -> None:
    source, target = list(market.tokens)[:2]
    row = compare(Router(market), PairOrder(source, target, amount, 1.0), gas_gwei, [method, "climb"], 50)
    assert row.route is None or row.amount_out == replay(market.pools, row.route, amount).amount_out
    climbs = [found for found in row.found if found.method == "climb"]
    assert bool(climbs) == (row.route is not None)
    assert all(found.gain_bps >= 0.0 for found in climbs)
    assert all((found.gain_bps > 0.0) == (found.net > row.net) for found in row.found)
    assert all(found.amount_out == replay(market.pools, found.route, amount).amount_out for found in row.found)


def test_the_command_prints_tables_and_writes_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, rows = tmp_path / "market_small.json", tmp_path / "rows.json"
    document = build_market_document()
    for token in document["tokens"]:
        token["price_usd"] = 2000.0 if token["address"] == WETH else 1.0
    file.write_text(json.dumps(document))
    command = ["--market", str(file), "--json", str(rows), "--orders", "3", "--gas", "0,1", "--processes", "2"]
    assert main([*command, "--pushed", "--evaluations", "20"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("small, pushed with seed 1, 3 orders") == 2
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["gas_gwei"] for row in found] == [0.0] * 3 + [1.0] * 3
    assert found[0]["amount_out"] > 0
    assert main(["--market", str(file), "--pair", f"{WETH},{USDC},{10**18}"]) == 0
    assert "WETH -> USDC: " in capsys.readouterr().out
    assert read_market(file).pools


def test_a_state_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--market", str(tmp_path / "none.json")]) == 1
    assert "none.json: No such file" in capsys.readouterr().err
