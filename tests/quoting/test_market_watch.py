"""A watch yields each block once, survives failures after the first quote, and refuses markets that never change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from swapcli import InvalidOption, Market, SwapcliError, SwapQuote, UpstreamError
from swapcli.core.model.market import Provenance
from swapcli.quoting.market_watch import MarketWatch
from swapcli.quoting.openers.choose_source import open_source_chooser
from swapcli.quoting.openers.program_setup import program_setup
from swapcli.quoting.sources.stored import StoreSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.store import create_store
from tests.support.markets import embedded_market

FAILS = UpstreamError("the node is away")


@pytest.fixture
def source(tmp_path: Path) -> Iterator[StoreSource]:
    market = embedded_market("base")
    with create_store(str(tmp_path / "base.sqlite"), market.network, lambda _: market.network) as store:
        yield StoreSource(store, SYSTEM_CLOCK, route_ttl_s=60, memory=None)


@pytest.fixture
def quote() -> SwapQuote:
    with Market.embedded("base") as market:
        return market.quote("ETH", "USDC", "1")


def at_block(quote: SwapQuote, block: int) -> SwapQuote:
    figures = quote.figures
    state = figures.state._replace(block=block, provenance=Provenance.LIVE)
    return SwapQuote(quote.answer, quote.terms, figures._replace(state=state))


def watch(
    source: StoreSource, quote: SwapQuote, found: list[int | SwapcliError], failures: list[SwapcliError]
) -> MarketWatch:
    """A watch without pauses, of which each attempt finds the next of these blocks or errors."""
    attempts = iter(found)

    def quote_newest() -> SwapQuote:
        block = next(attempts)
        if isinstance(block, SwapcliError):
            raise block
        return at_block(quote, block)

    nodes = open_source_chooser(program_setup({}, offline=True)).nodes
    watched = MarketWatch(source, nodes, quote_newest, None, failures.append)
    watched.interval_s = 0.0
    return watched


def test_each_block_is_quoted_once_and_again_after_a_failure(source: StoreSource, quote: SwapQuote) -> None:
    failures: list[SwapcliError] = []
    watched = watch(source, quote, [7, 7, 8, FAILS, 8, 8, 9], failures)
    assert [each.state.block for each in islice(watched, 4)] == [7, 8, 8, 9]
    assert failures == [FAILS]


def test_no_block_is_quoted_after_a_later_one(source: StoreSource, quote: SwapQuote) -> None:
    """As when some of the nodes behind one address lag."""
    watched = watch(source, quote, [7, 9, 8, 9, 7, FAILS, 8, 9, 8, 10], [])
    assert [each.state.block for each in islice(watched, 4)] == [7, 9, 9, 10]


def test_a_chain_that_was_reset_is_followed(source: StoreSource, quote: SwapQuote) -> None:
    def at(block: int, timestamp: int) -> SwapQuote:
        made = at_block(quote, block)
        state = made.state._replace(timestamp=timestamp)
        return SwapQuote(made.answer, made.terms, made.figures._replace(state=state))

    attempts = iter([at(7, 1_000), at(2, 1_001), at(3, 1_002)])
    nodes = open_source_chooser(program_setup({}, offline=True)).nodes
    watched = MarketWatch(source, nodes, lambda: next(attempts), None, lambda _: None)
    watched.interval_s = 0.0
    assert [each.state.block for each in islice(watched, 3)] == [7, 2, 3]


def test_the_first_failure_ends_the_watch(source: StoreSource, quote: SwapQuote) -> None:
    failures: list[SwapcliError] = []
    with pytest.raises(UpstreamError, match="away"):
        next(iter(watch(source, quote, [FAILS, 7], failures)))
    assert failures == []


@pytest.mark.parametrize("every_s", [None, 2.0])
def test_a_market_that_never_changes_cannot_be_watched(every_s: float | None) -> None:
    with Market.embedded("base") as market, pytest.raises(InvalidOption, match="never changes"):
        market.watch("ETH", "USDC", "1", every_s=every_s)
