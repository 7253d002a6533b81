"""Stores that follow a busy chain with pools of every family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

from bench.chain.crowd import Crowd, amount_of
from bench.running import BenchmarkFailed
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.stored import StoreSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import follow, import_pools
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.sync.expected_state import fresh
from tests.state.store.build import create
from tests.support.chain import connected

EVERY = (1, 10)
"""One store follows every block, another every tenth."""

_LIVE_CENTS = (10**5, 10**8)


@dataclass
class Followed:
    """A store that followed every `every` blocks. `changed` and `changed_without_event` sum the counts of its advances;
    `wrong` counts the pools that finally differ from a fresh read."""

    every: int
    seconds: list[float] = field(default_factory=list)
    changed: int = 0
    changed_without_event: int = 0
    wrong: int = 0


class FollowFigures(NamedTuple):
    """The blocks to follow, the stores that followed them, and the round trips of live quotes on such a store."""

    blocks: int
    swaps: int
    pools: Counter[str]
    followed: Sequence[Followed]
    round_trips: Sequence[int]


def measure_following(blocks: int, swaps: int, folder: Path) -> FollowFigures:
    """Follow `blocks` blocks of `swaps` swaps each with stores in `folder`. Raises `BenchmarkFailed`."""
    with ExitStack() as stack:
        chain = stack.enter_context(running_anvil())
        node, fixture = stack.enter_context(connected(chain)), open_fixture(chain)
        market = read_market(fixture)
        crowd = Crowd(chain, fixture, market, Random("a crowd"))
        followers = [(Followed(every), stack.enter_context(_adopted(folder, every, node, market))) for every in EVERY]
        for number in range(1, blocks + 1):
            crowd.trade(swaps)
            for followed, store in followers:
                if number % followed.every == 0 or number == blocks:
                    _follow(followed, store, node)
        for followed, store in followers:
            followed.wrong = _wrong(store, node, len(market.pools))
        crowd.trade(swaps)
        round_trips = list(_round_trips(followers[0][1], chain, fixture))
        protocols = Counter(pool.protocol for pool in market.pools.values())
        return FollowFigures(blocks, swaps, protocols, [followed for followed, _ in followers], round_trips)


def open_fixture(chain: AnvilChain) -> ContractFixture:
    """Deploy pools of every family, with a Multicall."""
    fixture = ContractFixture(chain)
    fixture.network = fixture.network._replace(multicall=deploy_multicall(chain))
    return fixture


def _adopted(folder: Path, every: int, node: RpcNode, market: MarketState) -> Store:
    file = folder / f"every_{every}.sqlite"
    for left in folder.glob(f"{file.name}*"):
        left.unlink()
    store = create(file, market.network)
    if [progress.pools for progress in import_pools(store, node, market)][-1:] != [len(market.pools)]:
        raise BenchmarkFailed("a store did not take in all pools of the world")
    return store


def _follow(followed: Followed, store: Store, node: RpcNode) -> None:
    started_s = perf_counter()
    advance = follow(store, node)
    followed.seconds.append(perf_counter() - started_s)
    if advance is None:
        raise BenchmarkFailed("a new block was not followed")
    followed.changed += len(advance.changed)
    followed.changed_without_event += len(advance.changed_without_event)


def _wrong(store: Store, node: RpcNode, pools: int) -> int:
    """Count the pools that differ from an independent read at the latest block. Raises `BenchmarkFailed` unless the
    store is at that block with `pools` pools."""
    number, stored = node.read_head().block.number, store.read_market()
    true = fresh(node, stored.pools.values(), number)
    if (stored.block, len(true)) != (number, pools):
        raise BenchmarkFailed(f"a store has {len(true)} pools at block {stored.block}, there are {pools} at {number}")
    return sum(stored.pools[key] != pool for key, pool in true.items())


def _round_trips(store: Store, chain: AnvilChain, fixture: ContractFixture) -> Iterator[int]:
    """Yield the round trips of a small and a large live quote between all tokens, each on a new connection."""
    for sold, bought in permutations(fixture.tokens.values(), 2):
        for cents in _LIVE_CENTS:
            order = Order(sold, bought, amount_of(fixture, sold.address, cents))
            with connected(chain) as node:
                LiveSource(StoreSource(store, SYSTEM_CLOCK), node, SYSTEM_CLOCK).quote(
                    QuoteRequest(order, ApiVersion.V2)
                )
                yield node.round_trips
