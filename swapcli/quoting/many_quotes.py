"""Quote many orders on one market: in this process, or by any executor of the standard library's kind.

Workers get the market once: a chunk of orders names it by its hash, and a worker that lacks it gets the chunk again
with the market. Answers come in the order of the orders.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from swapcli.core.errors import InputOutputError, InvalidInput, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.records import NamedTuple
from swapcli.quoting.amounts import parse_raw_amount
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.swap_quote import PreparesSwaps, SwapQuote
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.order import Order
    from swapcli.core.model.quote import Quote
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.transfer_behaviour import TransferBehaviour

Executors: TypeAlias = Executor | Callable[[], Executor]
"""An executor, or what makes one, such as its class."""

_CHUNK_SIZE: Final = 8
"""Orders that a worker takes at once: about 60 ms of work, against which its messages are small."""
_FIRST_WINDOW: Final = 2
_LAST_WINDOW: Final = 512
"""Chunks that are under way at a time: two at first, so that few workers are sent the market twice, and one more for
each answer."""
_MAX_TRIES: Final = 4
"""How often a chunk is sent whose worker dies: one more death has its reason in the chunk."""
_KEPT_MARKETS: Final = 2


class ManyQuote(NamedTuple):
    """The answer to one of many orders: its quote, or the error that `Market.quote` would raise.

    `id` is that of the order, or its number from 0.
    """

    id: object
    quote: SwapQuote | None
    error: SwapcliError | None


class PreparedOrder(NamedTuple):
    """An order that can be quoted, with the terms of its quote; or the error that it has already met."""

    id: object
    request: QuoteRequest | None
    terms: SwapTerms
    error: SwapcliError | None = None


def read_order(order: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return the tokens and the amount of an order as `Market.quote_many` takes it. Raises `InvalidInput`."""
    if not isinstance(order, Mapping):
        if len(order) != 3:
            raise InvalidInput("an order has three parts: token_in, token_out and amount")
        return order[0], order[1], order[2]
    amounts = [name for name in ("amount", "amount_in") if name in order]
    if "token_in" not in order or "token_out" not in order or len(amounts) != 1:
        raise InvalidInput("an order has token_in, token_out, and one of amount and amount_in")
    amount = order[amounts[0]]
    if amounts[0] == "amount_in":
        amount = parse_raw_amount(str(amount))
    return order["token_in"], order["token_out"], amount


class _SentQuote(NamedTuple):
    """A `LocalQuote` without what its market knows, and its figures."""

    order: Order
    result: RouteResult
    state_source: StateSource
    timestamp_ms: int
    quote: Quote
    placeholder_pools: frozenset[str]
    transfers: Mapping[str, TransferBehaviour]
    figures: QuoteFigures


class _Bug(NamedTuple):
    """An error that is none of ours: it ends the whole call, and is no reason to ask another worker."""

    traceback: str


_Answer: TypeAlias = _SentQuote | SwapcliError
_Sent: TypeAlias = Sequence[tuple[QuoteRequest, SwapTerms]]


class _Chunk:
    """Orders that a worker answers at once. `answers` are None until all are answered."""

    def __init__(self, orders: Sequence[PreparedOrder]) -> None:
        self.orders = orders
        self.tries = 0
        self.answers: Sequence[_Answer] | None = None

    @property
    def sent(self) -> _Sent:
        return [(each.request, each.terms) for each in self.orders if each.request is not None]


def quote_in_executor(
    source: InMemorySource, market: PreparesSwaps, orders: Iterable[PreparedOrder], executors: Executors
) -> Iterator[ManyQuote]:
    """Yield the answers in order, as those of `market`, whose source is `source`.

    Orders are read while others are answered. A chunk whose worker dies is sent again. An executor that cannot go on is
    replaced by a new one, or else its orders are answered in this process. Raises `InputOutputError` if workers die
    again and again.
    """
    crew = _Crew(source, executors)
    chunks, window = _chunks(orders), _FIRST_WINDOW
    ahead: deque[_Chunk] = deque()
    try:
        while True:
            while len(ahead) < window and (chunk := next(chunks, None)) is not None:
                ahead.append(chunk)
                crew.send(chunk)
            if not ahead:
                return
            while ahead and ahead[0].answers is not None:
                yield from _finish(ahead.popleft(), source, market)
            window = min(window + crew.collect(), _LAST_WINDOW)
    finally:
        crew.close()


class _Crew:
    """Workers and the chunks that they have."""

    def __init__(self, source: InMemorySource, executors: Executors) -> None:
        self._source = source
        self._market = pickle.dumps(source.market, pickle.HIGHEST_PROTOCOL)
        self._name = sha256(self._market).hexdigest()
        self._make = None if isinstance(executors, Executor) else executors
        self._executor: Executor | None = executors if isinstance(executors, Executor) else executors()
        self._sent: dict[Future[list[_Answer | _Bug] | None], _Chunk] = {}

    def send(self, chunk: _Chunk, *, with_market: bool = False) -> None:
        """Send a chunk to a worker, or answer it here if there is none."""
        if chunk.answers is None and not chunk.sent:
            chunk.answers = ()
        if chunk.answers is not None:
            return
        if self._executor is None:
            chunk.answers = [_answer(self._source, *each) for each in chunk.sent]
            return
        try:
            future = self._executor.submit(_answer_chunk, self._name, self._market if with_market else None, chunk.sent)
        except (BrokenExecutor, RuntimeError):
            self._replace([chunk])
        else:
            self._sent[future] = chunk

    def collect(self) -> int:
        """Wait until a chunk is answered, and return how many were."""
        if not self._sent:
            return 0
        done, _ = wait(self._sent, return_when=FIRST_COMPLETED)
        lost, lacking, answered, is_broken = list[_Chunk](), list[_Chunk](), 0, False
        for future in done:
            chunk = self._sent.pop(future)
            failure = CancelledError() if future.cancelled() else future.exception()
            if failure is not None:
                lost.append(chunk)
                is_broken = is_broken or isinstance(failure, BrokenExecutor)
            elif (answers := future.result()) is None:
                lacking.append(chunk)
            else:
                for answer in answers:
                    if isinstance(answer, _Bug):
                        raise RuntimeError(f"an order failed in a worker: {answer.traceback}")
                chunk.answers = [each for each in answers if not isinstance(each, _Bug)]
                answered += 1
        if is_broken:
            self._replace(lost)
        else:
            for chunk in lost:
                self._count(chunk)
                self.send(chunk)
        for chunk in lacking:
            self.send(chunk, with_market=True)
        return answered

    def close(self) -> None:
        """End the workers that were started here."""
        for future in self._sent:
            future.cancel()
        if self._make is not None and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def _replace(self, lost: Sequence[_Chunk]) -> None:
        """Send these and all chunks under way to new workers, or answer them here: all workers have gone."""
        lost = [*lost, *self._sent.values()]
        self._sent.clear()
        for chunk in lost:
            self._count(chunk)
        self._executor = None if self._make is None else self._make()
        for chunk in lost:
            self.send(chunk)

    def _count(self, chunk: _Chunk) -> None:
        chunk.tries += 1
        if chunk.tries >= _MAX_TRIES:
            raise InputOutputError(
                "worker processes have died again and again, perhaps for want of memory", hint="use fewer workers"
            )


def _chunks(orders: Iterable[PreparedOrder]) -> Iterator[_Chunk]:
    """Yield orders together, one at first, so that a short list is shared evenly."""
    chunk: list[PreparedOrder] = []
    for number, order in enumerate(orders):
        chunk.append(order)
        if len(chunk) >= min(_CHUNK_SIZE, 1 + number // 16):
            yield _Chunk(chunk)
            chunk = []
    if chunk:
        yield _Chunk(chunk)


def _finish(chunk: _Chunk, source: InMemorySource, market: PreparesSwaps) -> Iterator[ManyQuote]:
    """Yield the answers of a chunk, with what the market knows."""
    answers = iter(chunk.answers or ())
    for order in chunk.orders:
        answer = order.error if order.request is None else next(answers)
        if isinstance(answer, _SentQuote):
            found = LocalQuote(
                order=answer.order,
                result=answer.result,
                network=source.network,
                tokens=source.market.tokens,
                state_source=answer.state_source,
                timestamp_ms=answer.timestamp_ms,
                quote=answer.quote,
                pools=source.searchable.executable.pools,
                placeholder_pools=answer.placeholder_pools,
                transfers=answer.transfers,
            )
            yield ManyQuote(order.id, SwapQuote(found, order.terms, answer.figures, market), None)
        else:
            yield ManyQuote(order.id, None, answer)


_sources: dict[str, InMemorySource] = {}
_lock = Lock()
"""The markets of this worker by their hash, newest last; threads of one process take turns."""


def _answer_chunk(name: str, market: bytes | None, sent: _Sent) -> list[_Answer | _Bug] | None:
    """Answer orders on the market called `name`; None if this worker lacks it and has not been sent it."""
    with _lock:
        if name not in _sources:
            if market is None:
                return None
            state = pickle.loads(market)
            assert isinstance(state, MarketState)
            _sources[name] = InMemorySource(state, SYSTEM_CLOCK)
            while len(_sources) > _KEPT_MARKETS:
                del _sources[next(iter(_sources))]
        return [_answer_or_bug(_sources[name], *each) for each in sent]


def _answer_or_bug(source: InMemorySource, request: QuoteRequest, terms: SwapTerms) -> _Answer | _Bug:
    try:
        return _answer(source, request, terms)
    except Exception:
        from traceback import format_exc

        return _Bug(format_exc())


def _answer(source: InMemorySource, request: QuoteRequest, terms: SwapTerms) -> _Answer:
    try:
        found = source.quote(request)
    except SwapcliError as error:
        return error
    return _SentQuote(
        found.order,
        found.result,
        found.state_source,
        found.timestamp_ms,
        found.quote,
        found.placeholder_pools,
        found.transfers,
        compute_figures(found, terms),
    )
