"""Pools of Ekubo's TWAMM, read from a node of Starknet, have the orders of the chain up to the block's time."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from swapcli.core.model.pool import Pool
from swapcli.families.ekubo.ekubo_twamm import EkuboTwamm, RateChange, VirtualOrders
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.state.rpc.multicall import MulticallReader
from tests.families.ekubo.test_ekubo_reader import discover
from tests.payload.starknet.fake_node import FakeChain, TwammExtension, running_node
from tests.payload.starknet.pools_on_chain import ETH, STRK, TWAMM, build_chain
from tests.state.rpc.test_starknet_node import connected


def read_one(chain: FakeChain) -> Pool | SkippedItem:
    """Read the chain's only pool with orders."""
    with running_node(chain) as fake, connected(fake) as node:
        reader = MulticallReader(node, node.read_head().block, None)
        (ref,) = (ref for ref in discover(reader)[0] if ref.family == EkuboTwamm.family)
        (pool,) = load_pools(reader, [ref])
    return pool


def extension_of(chain: FakeChain) -> TwammExtension:
    extension = chain.contracts[TWAMM]
    assert isinstance(extension, TwammExtension)
    return extension


def test_orders_are_read_up_to_the_time_of_the_block() -> None:
    chain = build_chain()
    extension = extension_of(chain)
    pool = read_one(chain)
    assert isinstance(pool, EkuboTwamm)
    now = chain.start_s + 6 * chain.blocks[-1].number
    ((time, (rate0, rate1)),) = extension.changes.items()
    changes = (RateChange(time, rate0, rate1),)
    assert pool.orders == VirtualOrders(extension.rates, extension.executed_at, now, changes)
    sold, bought = f"0x{STRK:064x}", f"0x{ETH:064x}"
    later = replace(pool, orders=pool.orders._replace(timestamp=now + 60))
    assert pool.swap(sold, bought, 10**20)[0] != later.swap(sold, bought, 10**20)[0]


@pytest.mark.parametrize("seed", range(4))
def test_all_times_since_the_last_execution_are_found(seed: int) -> None:
    random, chain = Random(seed), build_chain()
    now = chain.start_s + 6 * (chain.blocks[-1].number + 1)
    since = now - random.choice([0, 1, 100, 100_000])
    times = {random.randint(since - 500, now + 500) // 16 * 16 for _ in range(random.choice([0, 3, 40]))}
    changes = {time: (random.randint(-5, 10**30), random.randint(-5, 10**30)) for time in times}
    chain.contracts[TWAMM] = TwammExtension((10**30, 10**30), since, changes)
    chain.mine()
    pool = read_one(chain)
    assert isinstance(pool, EkuboTwamm)
    assert [change.at for change in pool.orders.changes] == sorted(time for time in times if since < time <= now)
    assert all(changes[change.at] == change[1:] for change in pool.orders.changes)


def test_an_upgraded_extension_is_left_out() -> None:
    chain = build_chain()
    extension_of(chain).class_hash = 7
    chain.mine()
    skipped = read_one(chain)
    assert isinstance(skipped, SkippedItem)
    assert "upgraded" in skipped.reason
