"""Worlds are the same in every run, and differ from the real state as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.optimum.real_market import REAL_MARKET, read_orders
from bench.worlds.changed_pools import drained_market
from bench.worlds.random_pairs import dollar_units, read_market
from bench.worlds.world import KINDS, RANDOM_MAX_USD, World, make_world, make_worlds
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from tests.support.pools import UNIT, build_concentrated, build_market, build_token


@pytest.fixture(scope="module")
def worlds() -> dict[str, World]:
    return {kind: make_world(kind, REAL_MARKET, 20, 3) for kind in KINDS}


@pytest.mark.slow
def test_a_seed_makes_the_same_world_again(worlds: dict[str, World]) -> None:
    for kind in ("random", "pushed"):
        assert make_world(kind, REAL_MARKET, 20, 3) == worlds[kind]
    assert make_world("random", REAL_MARKET, 20, 4).orders != worlds["random"].orders


def test_worlds_differ_from_the_real_state_as_they_say(worlds: dict[str, World]) -> None:
    real = worlds["real"]
    recorded = {
        (row["token_in"].lower(), row["token_out"].lower(), int(row["amount_in"])) for row in read_orders(REAL_MARKET)
    }
    assert {order[:3] for order in real.orders} <= recorded
    assert len(real.orders) == 20
    for kind in ("random", "hundredfold"):
        assert worlds[kind].market == real.market
    for kind in ("pushed", "drained"):
        pools = worlds[kind].market.pools
        changed = sum(pools[key] != pool for key, pool in real.market.pools.items())
        assert 0.2 < changed / len(pools) <= 0.3
        assert worlds[kind].orders == real.orders
    units = dollar_units(real.market)
    assert {(*order[:2], order.amount // 100) for order in worlds["hundredfold"].orders} <= recorded
    assert all(order.amount / units[order.token_in] >= 1e8 for order in worlds["hundredfold"].orders)
    assert all(order.amount / units[order.token_in] <= RANDOM_MAX_USD for order in worlds["random"].orders)


def test_a_written_market_is_the_same_market(worlds: dict[str, World], tmp_path: Path) -> None:
    file = worlds["pushed"].write_market(tmp_path)
    read = open_market("ethereum", find_network, document=file.read_bytes()).market
    assert read.pools == worlds["pushed"].market.pools
    assert read_market(file).tokens == worlds["pushed"].market.tokens


def test_drained_pools_lose_most_of_their_price() -> None:
    tokens = [build_token(0), build_token(1)]
    market = build_market([build_concentrated(0, tokens[0], tokens[1], 10**6 * UNIT, 1.0, 800_000)], tokens)
    (pool,) = drained_market(market, 1, 1.0).pools.values()
    first, second = (pool.curve(a, b).start_rate for a, b in (pool.tokens, pool.tokens[::-1]))
    assert 0.9 * 1e-4 < min(first, second) < 0.1


def test_generated_worlds_have_large_and_huge_orders(tmp_path: Path) -> None:
    (world,) = make_worlds(["100"], REAL_MARKET, 50, 7, tmp_path)
    assert (world.kind, world.title) == ("generated", "100 generated pools")
    assert 0 < len(world.orders) < 50
