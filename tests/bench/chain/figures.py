"""Figures of a chain that meet every bar."""

from __future__ import annotations

from collections import Counter

from bench.chain.block_to_quote import Announced
from bench.chain.first_sync import SyncFigures
from bench.chain.following import Followed, FollowFigures
from bench.chain.live import LiveQuote
from bench.chain.measure import ChainFigures
from bench.chain.one_sync import Synced
from bench.chain.received import Mined
from bench.speed.whole_process import Runs


def chain_figures() -> ChainFigures:
    """Return chain figures that meet every threshold."""
    v2, v3 = Synced(0.5, 1_000, 700, 2, 18, 40_000_000), Synced(0.5, 200, 40, 1, 9, 50_000_000)
    syncs = [SyncFigures(("uniswapV2",), (v2, v2)), SyncFigures(("uniswapV3",), (v3,))]
    syncs.append(SyncFigures(("uniswapV2", "uniswapV3"), (v2._replace(pools=1_200),)))
    mined = [Mined(100, 100, 1_000, 1_050)] * 20
    return ChainFigures("anvil/v1", syncs, [live_quote(0.2)], follow_figures(), [announced_figures()], mined)


def announced_figures(delay_s: float = 0.1, blocks: int = 20) -> Announced:
    """Return figures of 20 announced blocks that were shown after the delay, out of `blocks`."""
    return Announced("serve", 0.3, blocks, [delay_s] * 20)


def live_quote(live_s: float, round_trips: int = 3) -> LiveQuote:
    live, offline, embedded = (Runs((seconds,) * 3, 40_000_000) for seconds in (live_s, 0.15, 0.1))
    return LiveQuote("one for another", 64, round_trips, live, offline, embedded)


def follow_figures(*, changed_without_event: int = 0, wrong: int = 0, round_trips: int = 3) -> FollowFigures:
    stores = [Followed(1, [0.02] * 100, 1_000), Followed(10, [0.03] * 10, 230, changed_without_event, wrong)]
    return FollowFigures(100, 50, Counter({"uniswapV2": 4, "algebra": 2}), stores, [2, round_trips])
