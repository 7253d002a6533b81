"""Each bar of the figures on a chain can be missed."""

from __future__ import annotations

from bench.chain.block_to_quote import Announced
from bench.chain.chain_section import (
    announced_section,
    following_section,
    live_section,
    received_section,
    sync_section,
)
from bench.chain.first_sync import SyncFigures
from bench.chain.one_sync import Synced
from bench.chain.question import answer
from bench.chain.received import Mined
from tests.bench.chain.figures import announced_figures, chain_figures, follow_figures, live_quote
from tests.bench.support import missed, missed_rows


def test_a_first_sync_has_thresholds_for_rates_and_memory() -> None:
    slow, large = Synced(1.1, 1_000, 700, 2, 18, 40_000_000), Synced(0.1, 1_000, 700, 2, 18, 201_000_000)
    for protocols, count in ((("uniswapV2",), 1), (("uniswapV3",), 0), (("uniswapV2", "uniswapV3"), 0)):
        assert len(missed(sync_section("anvil", [SyncFigures(protocols, (slow,))]))) == count
        assert len(missed(sync_section("anvil", [SyncFigures(protocols, (large,))]))) == 1
    assert missed(sync_section("anvil", [SyncFigures(("uniswapV3",), (slow._replace(pools=200),))]))


def test_announced_blocks_have_thresholds_for_delay_and_loss() -> None:
    what = "serve, blocks every 0.3 s"
    assert missed(announced_section([announced_figures()])) == []
    assert missed(announced_section([announced_figures(0.151)])) == [f"ms from block to quote, {what}, median"]
    assert missed(announced_section([announced_figures(0.401)]))[1:] == [f"ms from block to quote, {what}, p95"]
    assert missed(announced_section([announced_figures(blocks=21)])) == [f"blocks missed, {what}"]
    assert len(missed(announced_section([Announced("serve", 0.3, 1)]))) == 3


def test_a_live_quote_has_thresholds_for_times_and_round_trips() -> None:
    assert missed(live_section([live_quote(0.251)], [3])) == ["live quote, ms more than embedded, one for another"]
    assert len(missed(live_section([live_quote(0.301)], [3]))) == 2
    assert missed(live_section([live_quote(0.2, round_trips=4)], [3])) == [
        "round trips of a live quote, one for another"
    ]
    assert missed(live_section([live_quote(0.2)], [3, 4])) == ["round trips of a live quote, every family"]


def test_changes_without_an_event_and_wrong_pools_are_misses() -> None:
    assert missed(following_section(follow_figures(changed_without_event=1))) == [
        "pools changed without an event, followed every 10 blocks"
    ]
    assert missed(following_section(follow_figures(wrong=2))) == ["wrong pools in the end, followed every 10 blocks"]


def test_a_route_that_pays_one_unit_less_is_a_miss() -> None:
    good, short = Mined(10**30, 10**30, 100, 100), Mined(10**30, 10**30 - 1, 100, 100)
    section = received_section([good] * 599 + [short])
    assert missed(section) == ["routes that paid just what was quoted, %", "largest difference, base units"]
    assert "| largest difference, base units | 1 ✗ |" in section.text
    costly = Mined(10**30, 10**30, 100, 120)
    assert len(missed(received_section([good] * 94 + [costly] * 6))) == 1
    assert not missed(received_section([good] * 95 + [costly] * 5))


def test_every_bar_on_a_chain_is_checked() -> None:
    found = chain_figures()
    by_name = {
        "sync": sync_section("anvil/v1", found.syncs),
        "live": live_section(found.live, [2, 3]),
        "following": following_section(found.following),
        "announced": announced_section(found.announced),
        "received": received_section(found.mined),
    }
    assert {name: len(section.checks) for name, section in by_name.items()} == {
        "sync": 2 + 3,
        "live": 1 + 2 + 1,
        "following": 2 * 2,
        "announced": 3,
        "received": 3,
    }
    assert all(check.is_met for section in by_name.values() for check in section.checks)
    assert missed_rows(answer(found)) == []


def test_each_figure_of_a_chain_can_miss_on_the_page() -> None:
    slow = Synced(1.1, 1_000, 700, 2, 18, 201_000_000)
    found = chain_figures()._replace(
        mined=[Mined(100, 99, 1_000, 1_200)] * 3,
        syncs=[SyncFigures(("uniswapV2",), (slow,))],
        live=[live_quote(0.301, round_trips=4)],
        following=follow_figures(wrong=2),
        announced=[announced_figures(0.401, blocks=21)],
    )
    assert missed_rows(answer(found)) == [row.figure for row in answer(found).tables[0].rows]
