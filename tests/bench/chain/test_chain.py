"""Benchmarks on chains find all pools and detect wrong results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from bench.chain.block_to_quote import SERVE, WATCH, measure_block_to_quote
from bench.chain.crowd import Crowd, amount_of
from bench.chain.first_sync import measure_first_sync
from bench.chain.following import _adopted, _wrong, measure_following
from bench.chain.live import measure_live
from bench.chain.many_pools import NETWORK, TICKS, V2, V3, ManyPools, open_many_pools
from bench.chain.received import Mined, measure_received
from bench.running import BenchmarkFailed
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.evm import RevertedError
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.market_reader import read_market
from tests.chain.settings import url_of, write_settings
from tests.chain.trader import Trader
from tests.state.store.build import reopen
from tests.support.chain import connected

PAIRS, POOLS = 12, 7


@pytest.fixture(scope="module")
def chain() -> Iterator[AnvilChain]:
    with running_anvil() as made:
        yield made


@pytest.fixture(scope="module")
def many(chain: AnvilChain) -> ManyPools:
    return open_many_pools(chain, PAIRS, POOLS)


@pytest.fixture
def settings(chain: AnvilChain, many: ManyPools, tmp_path: Path) -> Path:
    (tmp_path / "stores").mkdir()
    return write_settings(tmp_path, many.network, url_of(chain))


def test_a_first_sync_finds_all_pools_with_their_ticks(settings: Path, many: ManyPools) -> None:
    file, protocols = settings.parent / "stores" / f"{NETWORK}.sqlite", (V2.amm_name, V3.amm_name)
    found = measure_first_sync(settings, file, protocols, PAIRS + POOLS, 2)
    assert [each.pools for each in found.syncs] == [PAIRS + POOLS] * 2
    assert found.pools_per_s > 0
    assert 10e6 < found.peak_bytes < 200e6
    assert all(each.tokens == len(many.coins) and each.round_trips > each.steps > 0 for each in found.syncs)
    with reopen(file, many.network) as store:
        pools = list(store.read_market().pools.values())
    assert Counter(type(pool) for pool in pools) == {ConstantProduct: PAIRS, Concentrated: POOLS}
    assert all(len(pool.tick_list.ticks) == TICKS for pool in pools if isinstance(pool, Concentrated))
    dollars = {coin.address: coin.dollars / 10**coin.decimals for coin in many.coins}
    for pool in pools:
        a, b = pool.tokens
        rate = pool.curve(a, b).start_rate / (1 - pool.fee_ppm / 1e6)
        assert rate * dollars[b] == pytest.approx(dollars[a], rel=2e-3)


def test_a_sync_that_finds_too_few_pools_fails(settings: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFailed, match=f"found {PAIRS} pools, there are {PAIRS + 1}"):
        measure_first_sync(settings, tmp_path / "short.sqlite", (V2.amm_name,), PAIRS + 1, 1)


@pytest.mark.slow
def test_live_quotes_alternate_with_quotes_without_a_node(settings: Path, many: ManyPools, chain: AnvilChain) -> None:
    file = settings.parent / "stores" / f"{NETWORK}.sqlite"
    measure_first_sync(settings, file, (V2.amm_name, V3.amm_name), PAIRS + POOLS, 1)
    quotes = measure_live(many.coins, settings, chain.node.port, 1)
    assert len({quote.what for quote in quotes}) == len(quotes) == 3
    for quote in quotes:
        assert 0 < quote.pools <= PAIRS + POOLS
        assert 2 <= quote.round_trips <= 3
        runs = quote.live, quote.offline, quote.embedded
        assert all(len(each.times_s) == 1 and each.times_s[0] > 0 for each in runs)
        assert quote.more_ms(quote.live) == 0


def test_a_quote_without_a_node_is_not_live(tmp_path: Path, many: ManyPools, chain: AnvilChain) -> None:
    settings = write_settings(tmp_path, many.network, url_of(chain))
    with pytest.raises(BenchmarkFailed):
        measure_live(many.coins, settings, chain.node.port, 1)


@pytest.mark.slow
def test_a_crowd_uses_half_of_the_pools_in_each_block(trader: Trader) -> None:
    chain, fixture = trader.chain, trader.world
    before = read_market(fixture)
    crowd = Crowd(chain, fixture, before, Random("test"))
    used: Counter[str] = Counter()
    height = int(chain.node.ask("eth_blockNumber"), 16)
    for _ in range(16):
        crowd.trade(30)
        after = read_market(fixture)
        changed = {key for key, pool in after.pools.items() if pool != before.pools[key]}
        assert 0 < len(changed) <= len(after.pools) // 2
        used.update(changed)
        before = after
    assert int(chain.node.ask("eth_blockNumber"), 16) == height + 16
    assert used.keys() == before.pools.keys()


def test_a_failed_swap_of_a_crowd_is_an_error(trader: Trader) -> None:
    chain, fixture, market = trader.chain, trader.world, trader.market
    nowhere = {key: replace(pool, address="0x" + "ab" * 20) for key, pool in market.pools.items()}
    crowd = Crowd(chain, fixture, market._replace(pools=nowhere), Random("test"))
    with pytest.raises((BenchmarkFailed, RevertedError)):
        crowd.trade(5)


def test_orders_have_the_intended_values(trader: Trader) -> None:
    fixture = trader.world
    assert amount_of(fixture, fixture.address("USDC"), 100) == 10**6
    assert amount_of(fixture, fixture.address("WETH"), 250_000) == 10**18
    assert amount_of(fixture, fixture.address("WBTC"), 0) == 1


@pytest.mark.slow
def test_followed_stores_match_the_chain_in_the_end(tmp_path: Path) -> None:
    found = measure_following(7, 12, tmp_path)
    assert (found.blocks, found.swaps) == (7, 12)
    assert len(found.pools) >= 9
    each, tenth = found.followed
    assert (len(each.seconds), len(tenth.seconds)) == (7, 1)
    assert each.changed >= tenth.changed > 0
    assert [(followed.changed_without_event, followed.wrong) for followed in found.followed] == [(0, 0), (0, 0)]
    assert 0 < max(found.round_trips) <= 3
    assert len(found.round_trips) == 2 * 6 * 5


def test_a_wrong_pool_is_counted(trader: Trader, tmp_path: Path) -> None:
    chain, market = trader.chain, trader.market
    pair = next(pool for pool in market.pools.values() if isinstance(pool, ConstantProduct))
    count = len(market.pools)
    with connected(chain) as node, _adopted(tmp_path, 1, node, market) as store:
        assert _wrong(store, node, count) == 0
        head = store.read_blocks()[0]
        with store.write_block(head.number, head.hash, head.timestamp) as writer:
            writer.put_pools([replace(pair, reserves=(pair.reserves[0] + 1, pair.reserves[1]))])
        assert _wrong(store, node, count) == 1
        with store.write_block(head.number, head.hash, head.timestamp) as writer:
            writer.remove_pools([pair.key])
        with pytest.raises(BenchmarkFailed, match=f"has {count - 1} pools"):
            _wrong(store, node, count)
        chain.node.ask("anvil_mine", "0x1")
        with pytest.raises(BenchmarkFailed, match=f"at block {head.number}, there are"):
            _wrong(store, node, count - 1)


@pytest.mark.slow
def test_announced_blocks_are_shown_soon(tmp_path: Path) -> None:
    found = measure_block_to_quote(3, 5, tmp_path, block_times_s=(2.0,))
    assert [(each.command, each.blocks, each.missed) for each in found] == [(SERVE, 3, 0), (WATCH, 3, 0)]
    assert all(0 < delay_s < 2 for each in found for delay_s in each.delays_s)


@pytest.mark.slow
def test_mined_routes_match_their_quotes() -> None:
    mined = measure_received(6)
    assert len(mined) == 6
    assert all(each.is_exact and each.received > 0 for each in mined)
    assert all(each.gas_error < 0.5 for each in mined)


def test_a_missing_unit_and_a_gas_error_are_detected() -> None:
    assert Mined(100, 100, 1_000, 1_099).is_exact
    assert not Mined(100, 99, 1_000, 1_099).is_exact
    assert [Mined(100, 100, 1_000, estimate).is_gas_known for estimate in (899, 901, 1_099, 1_101)] == [
        False,
        True,
        True,
        False,
    ]
