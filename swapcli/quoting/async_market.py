"""The twin of `Market` for programs on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Container, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, Unpack

from swapcli.quoting.market import Market, closed_market

if TYPE_CHECKING:
    from types import TracebackType

    from swapcli.core.model.depth import Depth
    from swapcli.core.model.network import Network
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.token import Token
    from swapcli.interface.document_types import PoolDocumentJson
    from swapcli.quoting.account_holdings import Allowance, Holdings
    from swapcli.quoting.alternatives import Comparison
    from swapcli.quoting.amounts import Amount
    from swapcli.quoting.health import Health
    from swapcli.quoting.many_quotes import ManyQuote
    from swapcli.quoting.ordered_answers import Executors
    from swapcli.quoting.pool_listing import PoolList
    from swapcli.quoting.prepared_payload import PreparedRoute
    from swapcli.quoting.quote_keywords import QuoteKeywords, TransactionKeywords
    from swapcli.quoting.swap_check import SwapCheck
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote
    from swapcli.quoting.token_prices import PriceList

P = ParamSpec("P")
T = TypeVar("T")


def _opened_later(open_market: Callable[P, Market]) -> Callable[P, AsyncMarket]:
    """Return a function with the same parameters whose market opens when it is first awaited."""

    @wraps(open_market)
    def create(*arguments: P.args, **keywords: P.kwargs) -> AsyncMarket:
        return AsyncMarket(partial(open_market, *arguments, **keywords))

    return create


class AsyncMarket:
    """Quotes on one network for programs on asyncio: the names and types of `Market`, and every call is awaited.

    Example:

        async with AsyncMarket.live("base", rpc_url="http://127.0.0.1:8545") as market:
            quote = await market.quote("ETH", "USDC", "1.5")

    Each market has a thread of its own, which does the work of its calls in turn, so the event loop never waits; use
    several markets to quote in parallel. It opens when it is first awaited, and raises the errors of opening there. A
    call that is cancelled before its turn does nothing; one whose turn has come ends in the thread, without effect.
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

    async def quote(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount | None = None,
        *,
        amount_out: Amount | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> SwapQuote:
        """As `Market.quote`."""
        return await self._call(
            lambda market: market.quote(token_in, token_out, amount, amount_out=amount_out, **options)
        )

    async def quote_many(
        self,
        orders: Iterable[tuple[str | Token, str | Token, Amount] | Mapping[str, Any]],
        executor: Executors | None = None,
        *,
        answered: Container[object] = (),
        **options: Unpack[QuoteKeywords],
    ) -> AsyncIterator[ManyQuote]:
        """As `Market.quote_many`, by `async for`."""
        answers = await self._call(lambda market: market.quote_many(orders, executor, answered=answered, **options))
        while (answer := await self._call(lambda _: next(answers, None))) is not None:
            yield answer

    async def depth(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amounts: Sequence[Amount] = (),
        **options: Unpack[QuoteKeywords],
    ) -> Depth:
        """As `Market.depth`."""
        return await self._call(lambda market: market.depth(token_in, token_out, amounts, **options))

    async def compare(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount,
        *,
        aggregators: str | Sequence[str] = (),
        sender: str | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> Comparison:
        """As `Market.compare`."""
        return await self._call(
            lambda market: market.compare(
                token_in, token_out, amount, aggregators=aggregators, sender=sender, **options
            )
        )

    async def pool_list(self, *tokens: str | Token, limit: int | None = None) -> PoolList:
        """As `Market.pool_list`."""
        return await self._call(lambda market: market.pool_list(*tokens, limit=limit))

    async def pool_rows(self, *tokens: str | Token, limit: int | None = None) -> list[PoolDocumentJson]:
        """As `Market.pool_rows`."""
        return await self._call(lambda market: market.pool_rows(*tokens, limit=limit))

    async def balance(self, owner: str, *tokens: str | Token) -> Holdings:
        """As `Market.balance`."""
        return await self._call(lambda market: market.balance(owner, *tokens))

    async def allowance(self, owner: str, token: str | Token, spender: str | None = None) -> Allowance:
        """As `Market.allowance`."""
        return await self._call(lambda market: market.allowance(owner, token, spender))

    async def transactions(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """As `Market.transactions`."""
        return await self._call(lambda market: market.transactions(quote, **terms))

    async def transaction(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """As `Market.transaction`."""
        return await self._call(lambda market: market.transaction(quote, **terms))

    async def prepare(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """As `Market.prepare`."""
        return await self._call(lambda market: market.prepare(quote, **terms))

    async def check(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> SwapCheck:
        """Return the verdict on the transactions of a quote, with its warnings and figures. See `Market.check`."""
        return await self._call(lambda market: market.check(quote, **terms))

    async def execute(self, route: Mapping[str, object], **terms: Unpack[TransactionKeywords]) -> PreparedRoute:
        """Return the transactions of a route that was found earlier, on the present state. See `Market.execute`."""
        return await self._call(lambda market: market.execute(route, **terms))

    async def permit(self, quote: SwapQuote, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """As `Market.permit`."""
        return await self._call(lambda market: market.permit(quote, owner=owner, deadline=deadline))

    async def prices(self, *tokens: str | Token, unit: str | Token | None = None) -> PriceList:
        """As `Market.prices`."""
        return await self._call(lambda market: market.prices(*tokens, unit=unit))

    async def token(self, name: str) -> Token:
        """As `Market.token`."""
        return await self._call(lambda market: market.token(name))

    async def network(self) -> Network:
        """As `Market.network`."""
        return await self._call(lambda market: market.network)

    async def state(self) -> StateSource:
        """As `Market.state`."""
        return await self._call(lambda market: market.state)

    async def pools(self) -> Mapping[str, Pool]:
        """As `Market.pools`."""
        return await self._call(lambda market: market.pools)

    async def tokens(self) -> Mapping[str, Token]:
        """As `Market.tokens`."""
        return await self._call(lambda market: market.tokens)

    async def health(self) -> Health:
        """As `Market.health`."""
        return await self._call(lambda market: market.health())

    async def refresh(self) -> None:
        """As `Market.refresh`."""
        await self._call(lambda market: market.refresh())

    @asynccontextmanager
    async def pinned(self) -> AsyncIterator[Self]:
        """As `Market.pinned`."""
        await self._call(lambda market: market.source.pin(pinned=True))
        try:
            yield self
        finally:
            await self._call(lambda market: market.source.pin(pinned=False))

    async def close(self) -> None:
        """As `Market.close`, after the calls before it. A market that was never awaited just ends."""
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
        """Return what `action` returns for the market, in the market's thread."""
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
    """As `quote`, for programs on asyncio."""
    return await AsyncMarket.open(network).quote(token_in, token_out, amount, amount_out=amount_out, **options)
