"""A chain for benchmarks: blocks that change some pools by small swaps, written to a store and published as a feed."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from math import exp

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.feed.feed_stream import FeedWriter
from swapcli.state.feed.publisher import FeedPublisher
from swapcli.state.store import Store
from tests.support.redis_server import RedisServer

TIMEOUT_S = 300.0
_SEED = 5
_PRICE_MOVE = 1e-6
"""A pool's price move in a block, in logarithms: arbitrage keeps prices within the fees of the fair ones."""


class PublishedChain:
    """Writes blocks to a store, and publishes them. Each block changes `changed_pools` pools."""

    def __init__(self, store: Store, market: MarketState, server: RedisServer, changed_pools: int) -> None:
        self._store, self._market, self._changed_pools = store, market, changed_pools
        self._pools, self._rng = dict(market.pools), random.Random(_SEED)
        writer = FeedWriter(server.server, market.network.name, TIMEOUT_S)
        self.publisher = FeedPublisher(store, writer, SYSTEM_CLOCK, snapshot_interval_s=TIMEOUT_S)
        self.block = 0
        self.publish_ms: list[float] = []

    def mine(self, pools: Sequence[Pool] | None = None) -> float:
        """Write a block with these pools, or with some changed ones, and publish it.

        Return when the publication began, in monotonic seconds.
        """
        self.block += 1
        pools = self._trade() if pools is None else pools
        with self._store.write_block(self.block, hex(self.block), int(time.time())) as writer:
            if self.block == 1:
                writer.put_tokens(self._market.tokens.values())
            writer.put_pools(pools)
            writer.update_description(source="a node", gas_price_wei=1, pinned=True)
        began_s, started_s = time.monotonic(), time.thread_time()
        self.publisher.publish()
        if self.block > 1:
            self.publish_ms.append((time.thread_time() - started_s) * 1e3)
        return began_s

    def _trade(self) -> list[Pool]:
        """Return some pools after swaps that hardly move the price, so that no arbitrage arises, which would slow
        quotes."""
        changed = []
        for key in self._rng.sample(list(self._pools), min(self._changed_pools, len(self._pools))):
            pool = self._pools[key]
            sold, bought = self._rng.sample(pool.tokens[:2], 2)
            curve = pool.curve(sold, bought)
            amount = int(curve.trade_to_marginal_rate(curve.start_rate * exp(-_PRICE_MOVE))[0])
            try:
                self._pools[key] = pool.swap(sold, bought, max(amount, 1))[1]
            except PoolError:
                continue
            changed.append(self._pools[key])
        return changed
