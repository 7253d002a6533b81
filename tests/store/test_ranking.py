"""What the store knows of depth and worth: from the pools, kept up to date, and not to be had for worthless tokens."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from swapcli.model.market import Market
from swapcli.routing import Router
from swapcli.store import Store
from tests.store.build import create, imported, is_sound, rows
from tests.support.pools import UNIT, build_constant_product, build_market, build_token, build_wide_market

RANKED = "SELECT address, worth, width, transit FROM tokens ORDER BY address"


def ranked(path: Path, column: int) -> dict[str, float]:
    """A column of `RANKED` by address."""
    return {str(row[0]): float(str(row[column])) for row in rows(path, RANKED)}


def fill(store: Store, given: Market, size: int) -> None:
    """Write the market in blocks of `size` pools."""
    pools = [*given.pools.values()]
    for number, start in enumerate(range(0, len(pools), size), 1):
        with store.block(number) as writer:
            some = pools[start : start + size]
            held = dict.fromkeys(address for pool in some for address in pool.tokens)
            writer.put_tokens(given.tokens[address] for address in held)
            writer.put_pools(some)


def test_worth_agrees_with_the_prices_that_quotes_show(tmp_path: Path) -> None:
    given = build_wide_market(400)
    imported(tmp_path / "store", given).close()
    router = Router(given)
    told = ranked(tmp_path / "store", 1)
    tokens = [given.tokens[address] for address in told]
    priced = dict(zip(told, router.usd_prices(*tokens), strict=True))
    for each in tokens:
        price, worth = priced[each.address], told[each.address]
        assert price is not None
        assert worth * 10**each.decimals == pytest.approx(price, rel=0.02)


def test_a_store_filled_block_by_block_ranks_about_as_one_filled_at_once(tmp_path: Path) -> None:
    given = build_wide_market(400)
    imported(tmp_path / "once", given).close()
    with create(tmp_path / "blocks", given.network) as store:
        fill(store, given, 7)
    at_once, by_blocks = (ranked(tmp_path / name, 1) for name in ("once", "blocks"))
    assert at_once.keys() == by_blocks.keys()
    assert [at_once[address] for address in at_once] == pytest.approx([by_blocks[a] for a in at_once], rel=0.05)
    assert is_sound(tmp_path / "blocks")


def test_ranking_anew_changes_nothing_that_is_up_to_date(tmp_path: Path) -> None:
    with imported(tmp_path / "store", build_wide_market(200)) as store:
        before = rows(tmp_path / "store", RANKED)
        store.rank()
    assert rows(tmp_path / "store", RANKED) == before


def test_links_and_transit_follow_every_block(tmp_path: Path) -> None:
    given, rng = build_wide_market(300), random.Random(3)
    pools = [*given.pools.values()]
    with create(tmp_path / "store", given.network) as store:
        fill(store, given, 300)
        for number in range(2, 12):
            with store.block(number) as writer:
                writer.remove(pool.key for pool in rng.sample(pools, 20))
                writer.put_pools(rng.sample(pools, 20))
        assert is_sound(tmp_path / "store")
        store.rewind_to(4)
        assert is_sound(tmp_path / "store")
    second = (
        "SELECT sum(abs(transit - min(coalesce(width, 0.0), coalesce((SELECT depth FROM links WHERE token = id "
        "ORDER BY depth DESC LIMIT 1 OFFSET 1), 0.0)))) FROM tokens"
    )
    assert rows(tmp_path / "store", second) == [(0.0,)]


def test_tokens_that_only_their_maker_trades_never_look_deep(tmp_path: Path) -> None:
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


def test_pools_out_of_reach_of_the_dollar_still_have_an_order_among_themselves(tmp_path: Path) -> None:
    tokens = [build_token(number) for number in range(6)]
    pools = [build_constant_product(k, tokens[3], tokens[4 + k], 10 ** (18 + k), 10 ** (18 + k)) for k in range(2)]
    imported(tmp_path / "store", build_market(pools, tokens)).close()
    depths = [float(str(depth)) for (depth,) in rows(tmp_path / "store", "SELECT depth FROM legs ORDER BY pool")]
    assert depths[1] == pytest.approx(10 * depths[0], rel=0.01)
