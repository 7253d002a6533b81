"""`Market` for asyncio programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, cast

from swapcli.quoting.market import Market, closed_market

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from swapcli.core.model.network import Network
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.token import Token
    from swapcli.quoting.amounts import Amount
    from swapcli.quoting.quote_keywords import QuoteKeywords
    from swapcli.quoting.swap_quote import SwapQuote

P = ParamSpec("P")
T = TypeVar("T")


def _opened_later(open_market: Callable[P, Market]) -> Callable[P, AsyncMarket]:
    """Return a function with the same parameters; the market it returns opens when it is first awaited."""

    @wraps(open_market)
    def create(*arguments: P.args, **keywords: P.kwargs) -> AsyncMarket:
        return AsyncMarket(partial(open_market, *arguments, **keywords))

    return create


def _awaited(
    method: Callable[Concatenate[Market, P], T],
) -> Callable[Concatenate[AsyncMarket, P], Coroutine[Any, Any, T]]:
    """Return a method with the same parameters and documentation that is awaited."""

    @wraps(method)
    async def call(self: AsyncMarket, *arguments: P.args, **keywords: P.kwargs) -> T:
        return await self._call(lambda market: method(market, *arguments, **keywords))

    return cast("Callable[Concatenate[AsyncMarket, P], Coroutine[Any, Any, T]]", call)


def _joined(
    method: Callable[Concatenate[Market, P], SwapQuote],
) -> Callable[Concatenate[AsyncMarket, P], Coroutine[Any, Any, SwapQuote]]:
    """Same as `_awaited`, for quotes that share a read while they wait for the market's thread."""

    @wraps(method)
    async def call(self: AsyncMarket, *arguments: P.args, **keywords: P.kwargs) -> SwapQuote:
        market = self._market
        if market is None:
            return await self._call(lambda opened: method(opened, *arguments, **keywords))
        join = cast("Callable[P, AbstractContextManager[Callable[[], SwapQuote]]]", market._joined_quote)
        with join(*arguments, **keywords) as find_quote:
            return await self._call(lambda _: find_quote())

    return cast("Callable[Concatenate[AsyncMarket, P], Coroutine[Any, Any, SwapQuote]]", call)


def _yielded(
    method: Callable[Concatenate[Market, P], Iterator[T]],
) -> Callable[Concatenate[AsyncMarket, P], AsyncIterator[T]]:
    """Return a method with the same parameters and documentation for `async for`."""

    @wraps(method)
    async def call(self: AsyncMarket, *arguments: P.args, **keywords: P.kwargs) -> AsyncIterator[T]:
        found = await self._call(lambda market: method(market, *arguments, **keywords))
        while (each := await self._call(lambda _: next(found, None))) is not None:
            yield each

    return cast("Callable[Concatenate[AsyncMarket, P], AsyncIterator[T]]", call)


class AsyncMarket:
    """Quotes on one network for asyncio programs. Names and types are the same as in `Market`, but every call is
    awaited.

    Example:

        async with AsyncMarket.live("base", rpc_url="http://127.0.0.1:8545") as market:
            quote = await market.quote("ETH", "USDC", "1.5")

    Each market has a separate thread, which runs its calls one at a time, so the event loop never waits. Use several
    markets to quote in parallel. A market opens when it is first awaited, and raises its opening errors then. A call
    that is cancelled before it has started does nothing. A call that has started finishes in the thread, and its result
    is dropped.
    """

    def __init__(self, open_market: Callable[[], Market]) -> None:
        self._open = open_market
        self._market: Market | None = None
        self._thread = ThreadPoolExecutor(1, "swapcli-market")
        self._is_closed = False

    open = staticmethod(_opened_later(Market.open))
    embedded = staticmethod(_opened_later(Market.embedded))
    from_file = staticmethod(_opened_later(Market.from_file))
    store = staticmethod(_opened_later(Market.store))
    live = staticmethod(_opened_later(Market.live))
    service = staticmethod(_opened_later(Market.service))

    quote = _joined(Market.quote)
    quote_many = _yielded(Market.quote_many)
    watch = _yielded(Market.watch)
    depth = _awaited(Market.depth)
    compare = _awaited(Market.compare)
    plan = _awaited(Market.plan)
    build_part = _awaited(Market.build_part)
    pool_list = _awaited(Market.pool_list)
    pool_rows = _awaited(Market.pool_rows)
    balance = _awaited(Market.balance)
    allowance = _awaited(Market.allowance)
    prices = _awaited(Market.prices)
    token = _awaited(Market.token)
    transactions = _awaited(Market.transactions)
    transaction = _awaited(Market.transaction)
    prepare = _awaited(Market.prepare)
    check = _awaited(Market.check)
    execute = _awaited(Market.execute)
    permit = _awaited(Market.permit)
    verify = _awaited(Market.verify)
    verify_recent = _awaited(Market.verify_recent)
    record = _awaited(Market.record)
    record_recent = _awaited(Market.record_recent)
    hindsight = _awaited(Market.hindsight)
    backtest = _awaited(Market.backtest)
    health = _awaited(Market.health)
    refresh = _awaited(Market.refresh)

    async def network(self) -> Network:
        """Same as `Market.network`."""
        return await self._call(lambda market: market.network)

    async def state(self) -> StateSource:
        """Same as `Market.state`."""
        return await self._call(lambda market: market.state)

    async def pools(self) -> Mapping[str, Pool]:
        """Same as `Market.pools`."""
        return await self._call(lambda market: market.pools)

    async def tokens(self) -> Mapping[str, Token]:
        """Same as `Market.tokens`."""
        return await self._call(lambda market: market.tokens)

    @asynccontextmanager
    async def pinned(self) -> AsyncIterator[Self]:
        """Same as `Market.pinned`."""
        await self._call(lambda market: market.source.pin(pinned=True))
        try:
            yield self
        finally:
            await self._call(lambda market: market.source.pin(pinned=False))

    async def close(self) -> None:
        """Same as `Market.close`, after earlier calls have finished. A market that was never awaited need not be
        closed."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await asyncio.wrap_future(self._thread.submit(self._close))
        finally:
            self._thread.shutdown(wait=False)

    def __await__(self) -> Generator[Any, None, Self]:
        return self._opened().__await__()

    async def __aenter__(self) -> Self:
        return await self._opened()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _opened(self) -> Self:
        await self._call(lambda _: None)
        return self

    async def _call(self, action: Callable[[Market], T]) -> T:
        """Return the result of calling `action` on the market, in the market's thread."""
        if self._is_closed:
            raise closed_market()
        return await asyncio.wrap_future(self._thread.submit(self._run, action))

    def _close(self) -> None:
        if self._market is not None:
            self._market.close()

    def _run(self, action: Callable[[Market], T]) -> T:
        if self._market is None:
            self._market = self._open()
        return action(self._market)


async def aquote(
    network: str,
    token_in: str,
    token_out: str,
    amount: Amount | None = None,
    *,
    amount_out: Amount | None = None,
    **options: Unpack[QuoteKeywords],
) -> SwapQuote:
    """Return the same quote as `quote`, for asyncio programs."""
    return await AsyncMarket.open(network).quote(token_in, token_out, amount, amount_out=amount_out, **options)
