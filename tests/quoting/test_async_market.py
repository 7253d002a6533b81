"""The asyncio twin: the same answers, while the event loop goes on, calls are cancelled, and others wait."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from swapcli import AsyncMarket, Market, SwapQuote, aquote, quote
from swapcli.core.errors import InvalidAmount, MarketUnavailable, UnknownNetwork

ETHER = 10**18
LOWER_LEVEL = {
    "settings", "source", "resolve_amount", "quote_order", "quote_and_build", "bind", "advise", "check_swap",
    "check_route", "compare_order", "watch_order", "past_quotes", "plan_order", "choose_aggregators",
}  # fmt: skip
"""What the command line uses below a quote; it has no twin."""
RECIPIENT = "0x" + "11" * 20


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_the_twin_has_every_name_and_parameter_of_market() -> None:
    public = {name for name in vars(Market) if not name.startswith("_")} - LOWER_LEVEL
    for name in public:
        twin = getattr(AsyncMarket, name)
        original = getattr(Market, name)
        if isinstance(original, property):
            assert inspect.iscoroutinefunction(twin)
        else:
            assert set(inspect.signature(twin).parameters) == set(inspect.signature(original).parameters), name


def test_concurrent_quotes_are_those_of_the_market() -> None:
    async def ask() -> list[SwapQuote]:
        async with AsyncMarket.embedded("base") as market:
            return await asyncio.gather(*(market.quote("ETH", "USDC", each * ETHER) for each in range(1, 9)))

    with Market.embedded("base") as market:
        expected = [market.quote("ETH", "USDC", each * ETHER).amount_out for each in range(1, 9)]
    assert [found.amount_out for found in asyncio.run(ask())] == expected


def test_the_shortcut_quotes_as_its_twin() -> None:
    found = asyncio.run(aquote("base", "ETH", "USDC", "1.5"))
    assert found.amount_out == quote("base", "ETH", "USDC", "1.5").amount_out


def test_the_event_loop_never_waits() -> None:
    """While a quote is computed, which takes some milliseconds, other tasks run many times."""

    async def ask() -> float:
        async with AsyncMarket.embedded("base") as market:
            task = asyncio.ensure_future(market.quote("ETH", "USDC", "5000", certify=True))
            longest_s, last_s = 0.0, time.perf_counter()
            while not task.done():
                await asyncio.sleep(0)
                now_s = time.perf_counter()
                longest_s, last_s = max(longest_s, now_s - last_s), now_s
            assert (await task).amount_out
            return longest_s

    assert asyncio.run(ask()) < 1


def test_a_cancelled_call_ends_at_once_and_the_next_is_right() -> None:
    started, release = Event(), Event()

    def wait(_: Market) -> None:
        started.set()
        release.wait(20)

    async def cancel() -> SwapQuote:
        async with AsyncMarket.embedded("base") as market:
            running = asyncio.ensure_future(market._call(wait))
            waiting = asyncio.ensure_future(market.quote("ETH", "USDC", "1"))
            await asyncio.to_thread(started.wait, 20)
            for task in (running, waiting):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            following = asyncio.ensure_future(market.quote("ETH", "USDC", "2"))
            await asyncio.sleep(0)
            assert not following.done()
            release.set()
            return await following

    assert asyncio.run(cancel()).amount_in == 2 * ETHER


def test_a_time_limit_ends_the_wait() -> None:
    release = Event()

    async def ask() -> None:
        async with AsyncMarket.embedded("base") as market:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await market._call(lambda _: release.wait(20))
            release.set()
            assert (await market.quote("ETH", "USDC", "1")).amount_out

    asyncio.run(ask())


def test_errors_arrive_where_the_call_is_awaited() -> None:
    async def ask() -> None:
        nowhere = AsyncMarket.embedded("nowhere")
        for _ in range(2):
            with pytest.raises(UnknownNetwork):
                await nowhere
        await nowhere.close()
        market = await AsyncMarket.embedded("base")
        with pytest.raises(InvalidAmount):
            await market.quote("ETH", "USDC", 1.5)  # type: ignore[arg-type]
        assert (await market.token("eth")).symbol == "ETH"
        assert (await market.network()).name == "base"
        assert len(await market.pools()) > len(await market.tokens()) > 2
        assert (await market.state()).block is None
        await market.refresh()
        await market.close()
        await market.close()
        with pytest.raises(MarketUnavailable):
            await market.quote("ETH", "USDC", "1")

    asyncio.run(ask())


def test_a_quote_of_the_twin_builds_transactions_in_any_thread() -> None:
    async def ask(build: Callable[[AsyncMarket, SwapQuote], object]) -> object:
        async with AsyncMarket.embedded("base") as market:
            found = await market.quote("ETH", "USDC", "1.5")
            awaited = await market.transaction(found, destination=RECIPIENT)
            assert awaited == found.transaction(destination=RECIPIENT)
            return build(market, found)

    assert asyncio.run(ask(lambda _, found: found.transactions(destination=RECIPIENT)))
