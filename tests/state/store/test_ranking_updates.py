"""The ranking: dollar prices of tokens and depths of pools, current after every block, and hard to inflate."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from swapcli.core.model.market import MarketState
from swapcli.core.routing.router import Router
from swapcli.state.store import Store
from tests.state.store.build import create, imported, is_sound, rows
from tests.support.pools import UNIT, build_constant_product, build_market, build_token, build_wide_market

RANKED = "SELECT address, worth, width, transit FROM tokens ORDER BY address"


def ranked(path: Path, column: int) -> dict[str, float]:
    """Return a column of `RANKED` by address."""
    return {str(row[0]): float(str(row[column])) for row in rows(path, RANKED)}


def fill(store: Store, market: MarketState, size: int) -> None:
    """Write the market in blocks of `size` pools."""
    pools = [*market.pools.values()]
    for number, start in enumerate(range(0, len(pools), size), 1):
        with store.write_block(number) as writer:
            some = pools[start : start + size]
            addresses = dict.fromkeys(address for pool in some for address in pool.tokens)
            writer.put_tokens(market.tokens[address] for address in addresses)
            writer.put_pools(some)


def test_ranked_prices_agree_with_those_of_quotes(tmp_path: Path) -> None:
    market = build_wide_market(400)
    imported(tmp_path / "store", market).close()
    router = Router(market)
    ranked_prices = ranked(tmp_path / "store", 1)
    tokens = [market.tokens[address] for address in ranked_prices]
    priced = dict(zip(ranked_prices, router.index.usd_prices(*tokens), strict=True))
    for each in tokens:
        price, ranked_price = priced[each.address], ranked_prices[each.address]
        assert price is not None
        assert ranked_price * 10**each.decimals == pytest.approx(price, rel=0.02)


def test_incremental_and_full_ranking_agree(tmp_path: Path) -> None:
    market = build_wide_market(400)
    imported(tmp_path / "once", market).close()
    with create(tmp_path / "blocks", market.network) as store:
        fill(store, market, 7)
    at_once, by_blocks = (ranked(tmp_path / name, 1) for name in ("once", "blocks"))
    assert at_once.keys() == by_blocks.keys()
    assert [at_once[address] for address in at_once] == pytest.approx([by_blocks[a] for a in at_once], rel=0.05)
    assert is_sound(tmp_path / "blocks")


def test_a_full_ranking_does_not_change_a_current_one(tmp_path: Path) -> None:
    with imported(tmp_path / "store", build_wide_market(200)) as store:
        before = rows(tmp_path / "store", RANKED)
        store.rebuild_ranking()
    assert rows(tmp_path / "store", RANKED) == before


def test_links_and_transit_follow_every_block(tmp_path: Path) -> None:
    market, rng = build_wide_market(300), random.Random(3)
    pools = [*market.pools.values()]
    with create(tmp_path / "store", market.network) as store:
        fill(store, market, 300)
        for number in range(2, 12):
            with store.write_block(number) as writer:
                writer.remove_pools(pool.key for pool in rng.sample(pools, 20))
                writer.put_pools(rng.sample(pools, 20))
        assert is_sound(tmp_path / "store")
        store.rewind_to(4)
        assert is_sound(tmp_path / "store")
    second = (
        "SELECT sum(abs(transit - min(coalesce(width, 0.0), coalesce((SELECT depth FROM links WHERE token = id "
        "ORDER BY depth DESC LIMIT 1 OFFSET 1), 0.0)))) FROM tokens"
    )
    assert rows(tmp_path / "store", second) == [(0.0,)]


def test_pools_among_worthless_tokens_never_look_deep(tmp_path: Path) -> None:
    honest, fakes = [build_token(number) for number in range(4)], [build_token(number) for number in range(10, 14)]
    pools = [
        build_constant_product(k, a, b, 10**6 * UNIT, 10**6 * UNIT)
        for k, (a, b) in enumerate([(honest[0], honest[1]), (honest[0], honest[2]), (honest[1], honest[2])])
    ]
    pools.append(build_constant_product(8, honest[0], fakes[0], UNIT, UNIT))  # a dollar or so prices the first fake
    pools += [
        build_constant_product(10 * i + j + 20, fakes[i], fakes[j], 10**30, 10**30) for i in range(4) for j in range(i)
    ]
    imported(tmp_path / "store", build_market(pools, [*honest, *fakes])).close()
    found = ranked(tmp_path / "store", 3)
    assert all(found[each.address] < 10 for each in fakes)
    assert all(found[each.address] > 10**5 for each in honest[:3])
    deepest = rows(tmp_path / "store", "SELECT address FROM tokens ORDER BY transit DESC LIMIT 3")
    assert {address for (address,) in deepest} == {each.address for each in honest[:3]}


def test_pools_without_a_dollar_price_are_ranked(tmp_path: Path) -> None:
    tokens = [build_token(number) for number in range(6)]
    pools = [build_constant_product(k, tokens[3], tokens[4 + k], 10 ** (18 + k), 10 ** (18 + k)) for k in range(2)]
    imported(tmp_path / "store", build_market(pools, tokens)).close()
    depths = [float(str(depth)) for (depth,) in rows(tmp_path / "store", "SELECT depth FROM legs ORDER BY pool")]
    assert depths[1] == pytest.approx(10 * depths[0], rel=0.01)
