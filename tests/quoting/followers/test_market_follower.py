"""A follower returns what the store has, after new blocks, reorganizations and imported markets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError, MarketUnavailable, NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.quoting.followers.market_follower import RESELECT_AFTER_S, FollowedStore, MarketFollower, open_follower
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import Clock
from swapcli.state.store import Store
from tests.examples import examples
from tests.state.store.build import NETWORK, TOKENS, create, imported, only, pool
from tests.support.pools import build_wide_market

PAIRS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (0, 5), (1, 4), (2, 5)]
CHANGE = st.dictionaries(st.integers(1, 7), st.none() | st.integers(10**5, 10**7), max_size=4)
"""Pools by number with their new reserve, None for a removed pool; pool 0 stays."""
STEP = st.one_of(CHANGE, st.integers(1, 3))
"""A block, or the number of blocks to rewind."""
START = {0: 10**6, 1: 10**6, 2: 10**6}


class Time:
    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.clock = Clock(lambda: self.now_s, lambda: self.now_s)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def write(store: Store, number: int, change: dict[int, int | None], fork: int = 0) -> None:
    with store.write_block(number, f"0x{fork:x}{number:x}", number * 10) as writer:
        writer.put_tokens(TOKENS)
        writer.remove_pools([pool(k).key for k, reserve in change.items() if reserve is None])
        writer.put_pools([pool(k, reserve, PAIRS[k]) for k, reserve in change.items() if reserve])
        writer.update_description(gas_price_wei=7)


@contextmanager
def following(path: Path, time: Time, **options: Any) -> Iterator[MarketFollower]:
    with open_follower(FollowedStore(NETWORK, only(NETWORK), path, None), time.clock, print, **options) as follower:
        yield follower


def quoted(source: InMemorySource, sold: int, bought: int) -> RouteResult | None:
    """Return the quote without its duration."""
    try:
        answer = source.quote(QuoteRequest(Order(TOKENS[sold], TOKENS[bought], 10**15), ApiVersion.V1))
    except NoRoute:
        return None
    return answer.result._replace(time_s=0)


@settings(max_examples=examples(5, full=40))
@given(st.lists(STEP, max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_follower_equals_the_store_after_any_change(
    steps: list[dict[int, int | None] | int], looks: list[bool]
) -> None:
    time = Time()
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        write(store, 1, dict(START))
        with following(Path(folder) / "store", time) as follower, following(Path(folder) / "store", time) as other:
            source, _ = follower.read(), other.read()
            for fork, (step, look) in enumerate(zip(steps, looks, strict=False)):
                if isinstance(step, int):
                    marks = store.read_blocks()
                    store.rewind_to(marks[min(step, len(marks) - 1)].number)
                else:
                    write(store, store.read_blocks()[0].number + 1, step, fork)
                if look:
                    source = follower.advance() or source
                    check_same(source.market, store)
            source = follower.advance() or source
            check_same(source.market, store)
            fresh = other.read()
            for sold, bought in ((0, 1), (1, 3), (5, 4)):
                assert quoted(source, sold, bought) == quoted(fresh, sold, bought)


def check_same(market: MarketState, store: Store) -> None:
    stored = store.read_market()
    assert dict(market.pools) == dict(stored.pools)
    assert {a for p in stored.pools.values() for a in p.tokens} <= market.tokens.keys()
    assert (market.block, market.timestamp, market.gas_price_wei) == (
        stored.block,
        stored.timestamp,
        stored.gas_price_wei,
    )


def test_a_follower_returns_nothing_without_a_new_block(path: Path, time: Time) -> None:
    with create(path) as store:
        write(store, 1, dict(START))
        with following(path, time) as follower:
            follower.read()
            assert follower.advance() is None
            write(store, 2, {})
            source = follower.advance()
            assert source
            assert source.market.block == 2
            assert follower.advance() is None


def test_only_the_deepest_pools_are_followed_and_reselected(path: Path, time: Time) -> None:
    with create(path) as store:
        write(store, 1, {k: 10**6 * (k + 1) for k in range(6)})
        with following(path, time, max_pools=3) as follower:
            deepest = set(follower.read().market.pools)
            assert deepest == set(store.read_deepest(3).pools)
            thin = next(k for k in range(6) if pool(k).key not in deepest)
            gone = next(k for k in range(6) if pool(k).key in deepest)
            write(store, 2, {thin: 10**9})
            source = follower.advance()
            assert source
            assert set(source.market.pools) == deepest, "there is no room"
            write(store, 3, {gone: None, 7: 10**9})
            source = follower.advance()
            assert source
            assert len(source.market.pools) == 3
            assert set(source.market.pools) - {pool(thin).key, pool(7).key} == deepest - {pool(gone).key}
            time.now_s += RESELECT_AFTER_S + 1
            assert follower.advance() is None, "the same block"
            write(store, 4, {})
            source = follower.advance()
            assert source
            assert set(source.market.pools) == set(store.read_deepest(3).pools) >= {pool(thin).key, pool(7).key}


def test_a_market_imported_later_replaces_all_pools(path: Path, time: Time) -> None:
    market = build_wide_market(60)._replace(block=7, timestamp=70, provenance=Provenance.RECORDED)
    with imported(path, market) as store:
        other = build_wide_market(80, seed=2)._replace(block=9, timestamp=90, provenance=Provenance.RECORDED)
        followed = FollowedStore(market.network, only(market.network), path, None)
        with open_follower(followed, time.clock, print) as follower:
            assert dict(follower.read().market.pools) == dict(market.pools)
            store.write_market(other)
            source = follower.advance()
            assert source
            assert dict(source.market.pools) == dict(other.pools)


def test_an_empty_store_is_unavailable_until_it_has_pools(path: Path, time: Time) -> None:
    with create(path) as store, following(path, time) as follower:
        with pytest.raises(MarketUnavailable, match=f"no pools of {NETWORK.name} have been read yet"):
            follower.read()
        with pytest.raises(MarketUnavailable):
            follower.advance()
        write(store, 1, dict(START))
        source = follower.advance()
        assert source
        check_same(source.market, store)


def test_a_follower_without_a_store_reports_it(path: Path, time: Time) -> None:
    with pytest.raises(ConfigError, match="no store at"), following(path, time):
        raise AssertionError
