"""Pools read from a node of Starknet equal those of the chain."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.networks.explorer import contract_page
from swapcli.families.ekubo.ekubo import Ekubo
from swapcli.families.ekubo.ekubo_twamm import EkuboTwamm
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.state.discovery.pool_discovery import (
    FactoryPools,
    creation_filter,
    find_factories,
    read_created_pools,
    read_listed_pools,
    read_pool_lists,
)
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.multicall import MulticallReader
from tests.families.ekubo.random_ekubo import FEE_30_BPS
from tests.payload.starknet.ekubo_core import PoolKey, PoolState
from tests.payload.starknet.fake_node import (
    EkuboCore,
    FakeChain,
    JediClPool,
    SithPair,
    StarkDefiPair,
    i129,
    running_node,
    u256,
)
from tests.payload.starknet.pools_on_chain import (
    BY_ORDERS,
    CORE,
    ETH,
    LIMIT_ORDERS,
    NATIVE_USDC,
    PLAIN,
    STARKNET,
    STRK,
    TICK,
    build_chain,
    swap_on_chain,
)
from tests.state.rpc.test_starknet_node import connected
from tests.support.outside_ids import ekubo_id

RUNS_WITH_SWAPS = "runs on each swap and may change its amounts"
LIVE = {
    "JediSwap": ConstantProduct,
    "10kSwap": ConstantProduct,
    "SithSwapV2": ConstantProduct,
    "SithSwapStable": SolidlyStable,
    "StarkDefiV2": ConstantProduct,
    "StarkDefiStable": SolidlyStable,
    "NostraV2": ConstantProduct,
    "Circle": StablecoinBridge,
    "JediSwapCL": Concentrated,
    "Ekubo": Ekubo,
    "EkuboOracle": Ekubo,
    "EkuboLimitOrder": Ekubo,
    "EkuboTWAMM": EkuboTwamm,
}


def discover(reader: MulticallReader) -> tuple[list[PoolRef], list[SkippedItem]]:
    """Return all pools of the network, by the lists and the events of its factories."""
    factories = find_factories(STARKNET)[0]
    found: list[PoolRef | SkippedItem] = []
    for listing in read_pool_lists(reader, [each for each in factories if each.is_enumerable]):
        assert isinstance(listing, FactoryPools), listing
        found += read_listed_pools(reader, listing, 0, listing.length)
    query = creation_filter(factories, 0, reader.block)
    assert query
    by_address: dict[str, Factory] = {factory.address: factory for factory in factories}
    for scanned in scan_logs(reader.node, query):
        found += read_created_pools(reader, by_address, scanned.logs, None)
    native = Token(f"0x{NATIVE_USDC:064x}", "USDC", "USDC", 6)
    tokens = {each.address: each for each in (*STARKNET.tokens, native)}
    known = [with_decimals(ref, tokens) if isinstance(ref, PoolRef) else ref for ref in found]
    return [ref for ref in known if isinstance(ref, PoolRef)], [ref for ref in known if isinstance(ref, SkippedItem)]


def read_all(chain: FakeChain) -> tuple[dict[str, Pool], list[SkippedItem]]:
    """Return the readable pools of a chain by protocol, and the others."""
    with running_node(chain) as fake, connected(fake) as node:
        reader = MulticallReader(node, node.read_head().block, None)
        refs, skipped = discover(reader)
        pools = list(load_pools(reader, refs))
        again = [ref for pool in pools if isinstance(pool, Pool) and (ref := ref_of_pool(pool, STARKNET))]
        assert list(load_pools(reader, again)) == [pool for pool in pools if isinstance(pool, Pool)]
    read = {pool.protocol: pool for pool in pools if isinstance(pool, Pool)}
    return read, skipped + [pool for pool in pools if isinstance(pool, SkippedItem)]


def core_of(chain: FakeChain) -> EkuboCore:
    core = chain.contracts[CORE]
    assert isinstance(core, EkuboCore)
    return core


def test_pools_of_every_live_protocol_are_found_and_read() -> None:
    chain = build_chain()
    pools, skipped = read_all(chain)
    assert {name: type(pool) for name, pool in pools.items()} == LIVE
    assert skipped == []
    jedi, stark, sith = pools["JediSwap"], pools["StarkDefiV2"], pools["SithSwapStable"]
    assert (jedi.fee_ppm, stark.fee_ppm, sith.fee_ppm) == (3_000, 3_000, 100)
    assert jedi.state()["reserves"] == [str(10**24), str(10**20)]
    assert stark.state()["variant"] == "solidly"
    concentrated, on_chain = pools["JediSwapCL"], chain.contracts[0xA7]
    assert isinstance(concentrated, Concentrated)
    assert isinstance(on_chain, JediClPool)
    assert dict(zip(concentrated.tick_list.ticks, concentrated.tick_list.liquidity_nets, strict=True)) == on_chain.nets


@pytest.mark.parametrize(("token_in", "token_out"), [(STRK, ETH), (ETH, STRK)])
def test_a_swap_in_a_read_ekubo_pool_is_that_of_the_core(token_in: int, token_out: int) -> None:
    chain = build_chain()
    pools, _ = read_all(chain)
    for name, key in (("Ekubo", PLAIN), ("EkuboLimitOrder", BY_ORDERS)):
        amount = 10**20 if token_in == STRK else 10**16
        swapped = core_of(chain).pools[key].swap(amount, token_in == ETH, key.fee)
        amount_out, after = pools[name].swap(f"0x{token_in:064x}", f"0x{token_out:064x}", amount)
        assert amount_out == -(swapped.amount0 if token_in == ETH else swapped.amount1)
        assert isinstance(after, Ekubo)
        assert (after.sqrt_ratio, after.tick, after.liquidity) == swapped[2:]


@pytest.mark.parametrize("seed", range(6))
def test_ticks_of_crowded_ekubo_pools_are_all_found(seed: int) -> None:
    """Up to 300 ticks, some beyond the range that is read."""
    random, chain = Random(seed), FakeChain()
    chain.mine()
    spacing = random.choice([1, 20, 200, 1_000, 19_802, 354_892])
    pool = PoolState(spacing, random.randint(-5_000_000, 5_000_000))
    own, reach = pool.tick // spacing, 3_000_000 // spacing
    for _ in range(random.choice([1, 20, 150])):
        lower, upper = sorted(random.sample(range(own - reach - 2, own + reach + 2), 2))
        pool.update(lower * spacing, upper * spacing, random.randint(1, 10**24))
    key = PoolKey(STRK, ETH, FEE_30_BPS, spacing)
    chain.contracts[CORE] = EkuboCore({key: pool})
    chain.emit(CORE, "PoolInitialized", *key, *i129(pool.tick), *u256(pool.ratio))
    chain.mine()
    with running_node(chain) as fake, connected(fake) as node:
        reader = MulticallReader(node, node.read_head().block, None)
        factory = next(each for each in find_factories(STARKNET, ["Ekubo"])[0])
        query = creation_filter([factory], 0, reader.block)
        assert query
        (ref,) = read_created_pools(reader, {factory.address: factory}, node.read_logs(query), None)
        assert isinstance(ref, PoolRef)
        (read,) = load_pools(reader, [ref._replace(decimals=(18, 18))])
        assert isinstance(read, Ekubo), read
        rounds = len(fake.posts)
        (second,) = load_pools(reader, [ref_of_pool(read, STARKNET)])  # type: ignore[list-item]
        assert second == read
        assert max(fake.posts[rounds:]) <= 1_000
    inside = [tick for tick in sorted(pool.deltas) if abs(tick - pool.tick) <= 1_000_000]
    assert [tick for tick in read.pool_key.ticks if abs(tick - pool.tick) <= 1_000_000] == inside
    for token1 in (False, True):
        token_in, token_out = read.tokens[::-1] if token1 else read.tokens
        amount = int(read.curve(token_in, token_out).capacity * random.random())
        try:
            amount_out, _ = read.swap(token_in, token_out, amount)
        except PoolError:
            continue
        changed = chain.blocks[-1].contracts[CORE]
        assert isinstance(changed, EkuboCore)
        swapped = PoolState.swap(clone(changed.pools[key]), amount, token1, FEE_30_BPS)
        assert amount_out == -(swapped.amount0 if token1 else swapped.amount1)


def clone(pool: PoolState) -> PoolState:
    copy = PoolState(pool.spacing, pool.tick, pool.ratio, pool.version)
    copy.liquidity, copy.words, copy.deltas = pool.liquidity, dict(pool.words), dict(pool.deltas)
    return copy


def test_an_unchanged_ekubo_pool_takes_one_round() -> None:
    chain = build_chain()
    with running_node(chain) as fake, connected(fake) as node:
        reader = MulticallReader(node, node.read_head().block, None)
        refs, _ = discover(reader)
        (pool,) = load_pools(reader, [ref for ref in refs if ref.protocol == "Ekubo"])
        assert isinstance(pool, Ekubo)
        swapped = swap_on_chain(chain, 10**19, token1=False)
        chain.mine()
        reader = MulticallReader(node, node.read_head().block, None)
        before = len(fake.posts)
        (changed,) = load_pools(reader, [ref_of_pool(pool, STARKNET)])  # type: ignore[list-item]
        assert len(fake.posts) == before + 1
        assert isinstance(changed, Ekubo)
        assert (changed.sqrt_ratio, changed.tick, changed.liquidity) == swapped[2:]


@pytest.mark.parametrize(
    ("class_hash", "version"),
    [
        (0x0577604A2611C851E9CFC4DA2BA7F7FC1D44A9327CC734D68B2B271340A6551C, 4),
        (0x0423DF19E032F2D9BF9BB5BC1EA96DB2B06D4C752C8C130CBA7D577EED1DE20A, 5),
        (0x123, None),
    ],
)
def test_the_class_of_the_core_decides_its_maths(class_hash: int, version: int | None) -> None:
    chain = build_chain()
    core_of(chain).class_hash = class_hash
    chain.mine()
    pools, skipped = read_all(chain)
    if version is None:
        assert "Ekubo" not in pools
        assert sum("upgraded to an unknown class" in each.reason for each in skipped) == 4
    else:
        assert isinstance(pools["Ekubo"], Ekubo)
        assert pools["Ekubo"].pool_key.version == version


def test_an_unknown_extension_is_quoted_only_if_it_ignores_swaps() -> None:
    chain = build_chain()
    harmless, harmful = (PoolKey(STRK, ETH, 0, 100, extension) for extension in (0xE1, 0xE2))
    for key, points in ((harmless, [1, 1, 0, 0, 1, 1, 1, 1]), (harmful, [0, 0, 0, 1, 0, 0, 0, 0])):
        pool = PoolState(100, TICK)
        pool.update(TICK // 100 * 100 - 10_000, TICK // 100 * 100 + 10_000, 10**20)
        core_of(chain).pools[key] = pool
        core_of(chain).call_points[key.extension] = points
        chain.emit(CORE, "PoolInitialized", *key, *i129(TICK), *u256(pool.ratio))
    chain.mine()
    _, skipped = read_all(chain)
    assert sum(RUNS_WITH_SWAPS in each.reason for each in skipped) == 1
    core_of(chain).call_points[0xE1][2] = 1
    chain.mine()
    _, skipped = read_all(chain)
    assert sum(RUNS_WITH_SWAPS in each.reason for each in skipped) == 2


def test_a_stable_pair_that_may_overflow_is_left_out() -> None:
    chain = build_chain()
    pair = chain.contracts[0xA6]
    assert isinstance(pair, StarkDefiPair)
    pair.reserves[1] = 9 * 10**12
    chain.mine()
    pools, skipped = read_all(chain)
    assert "StarkDefiStable" not in pools
    assert any("may overflow" in each.reason for each in skipped)


def test_the_id_of_an_ekubo_pool_is_no_address() -> None:
    pool = read_all(build_chain())[0]["Ekubo"]
    token0, token1 = pool.tokens
    assert pool.key == ekubo_id(token0, token1, PLAIN.fee, PLAIN.tick_spacing, "0x0")
    assert contract_page(STARKNET, pool.key) is None
    assert contract_page(STARKNET, pool.address)


def test_a_limit_order_pool_needs_the_extension_of_ekubo() -> None:
    pools, _ = read_all(build_chain())
    pool = pools["EkuboLimitOrder"]
    assert isinstance(pool, Ekubo)
    assert int(pool.pool_key.extension, 16) == LIMIT_ORDERS


def test_a_pair_with_a_fee_by_direction_is_left_out() -> None:
    chain = build_chain()
    pair = chain.contracts[0xA3]
    assert isinstance(pair, SithPair)
    pair.do_getFee1 = lambda: [1]  # type: ignore[method-assign]
    chain.mine()
    pools, skipped = read_all(chain)
    assert "SithSwapV2" not in pools
    assert any("depends on the sold token" in each.reason for each in skipped)
