"""Quote many orders on one market, in this process or with any standard library executor.

Each worker receives the market only once. Orders refer to the market by its hash. If a worker does not have that
market, it receives the orders again together with the market.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from decimal import Decimal
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import describe
from swapcli.quoting.order_amount_values import base_units, whole_tokens
from swapcli.quoting.order_keys import (
    AMOUNT,
    INPUT_AMOUNT,
    LABELS,
    TOKEN_IN,
    TOKEN_OUT,
    other_spelling,
    with_current_keys,
)
from swapcli.quoting.ordered_answers import Executors, answer_in_order
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

_KEPT_MARKETS: Final = 2  # in each worker
_MAX_EXPONENT: Final = 99  # no amount in base units has as many digits
_KEYS: Final = frozenset(("id", TOKEN_IN, TOKEN_OUT, AMOUNT, INPUT_AMOUNT, *LABELS))


class ManyQuote(NamedTuple):
    """The result of one order among many: its quote, or the error that `Market.quote` would raise.

    `id` is the order's own id, or its number, counted from 0.
    """

    id: object
    quote: SwapQuote | None
    error: SwapcliError | None


class PreparedOrder(NamedTuple):
    """An order in base units with the terms of its quote, or the error if the order is invalid."""

    id: object
    request: QuoteRequest | None
    terms: SwapTerms
    error: SwapcliError | None = None


def read_order(order: object) -> tuple[Any, Any, Any]:
    """Return the tokens and the amount of an order, given in a form that `Market.quote_many` accepts.

    The amount in a tuple is read as in `Market.quote`, and the amount in a mapping as in a batch file. Raises
    `InvalidInput`.
    """
    if not isinstance(order, Mapping):
        parts = list(order) if _is_sequence(order) else None
        if parts is None:
            raise InvalidInput(f"an order must be (token_in, token_out, amount) or a mapping, not {describe(order)}")
        if len(parts) != 3:
            raise InvalidInput(f"an order must have three parts (token_in, token_out and amount), not {len(parts)}")
        return parts[0], parts[1], parts[2]
    order = with_current_keys(order)
    other = other_spelling(order)
    if other is not None:
        raise InvalidInput(f"the order has the key {other[0]}, which must be named {other[1]}")
    unknown = next((key for key in order if key not in _KEYS), None)
    if unknown is not None:
        raise InvalidInput(f"the order has the unknown key {describe(unknown)}")
    amounts = [name for name in (AMOUNT, INPUT_AMOUNT) if name in order]
    if TOKEN_IN not in order or TOKEN_OUT not in order or len(amounts) != 1:
        raise InvalidInput(f"an order must have {TOKEN_IN}, {TOKEN_OUT}, and either {AMOUNT} or {INPUT_AMOUNT}")
    return order[TOKEN_IN], order[TOKEN_OUT], _read_amount(amounts[0], order[amounts[0]])


def _read_amount(key: str, amount: object) -> object:
    """Return the amount of an order with keys, which means the same as in a batch file: an int under `amount` is in
    whole tokens. Raises `InvalidInput`."""
    if isinstance(amount, Decimal):
        # The digits of 1E+900000000 would fill the memory.
        is_short = amount.is_finite() and abs(amount.adjusted()) <= _MAX_EXPONENT
        return amount if key == AMOUNT else base_units(key, f"{amount:f}" if is_short else str(amount))
    return whole_tokens(amount) if key == AMOUNT else base_units(key, amount)


def is_answered(order_id: object, answered: Container[object]) -> bool:
    """Return whether the order with the given id already has a result. Raises `InvalidInput` for an id that is not
    hashable."""
    try:
        return order_id in answered
    except TypeError:
        raise InvalidInput(f"an id must be a string or an integer, not {describe(order_id)}") from None


def _is_sequence(order: object) -> TypeGuard[Iterable[Any]]:
    """Return whether an object is an ordered sequence, such as a tuple, list or array; text and sets are not."""
    return hasattr(order, "__getitem__") and hasattr(order, "__iter__") and not isinstance(order, str | bytes)


class _SentQuote(NamedTuple):
    """A `LocalQuote` without the data that its market has, and its figures."""

    order: Order
    result: RouteResult
    state_source: StateSource
    timestamp_ms: int
    quote: Quote
    placeholder_pools: frozenset[str]
    transfers: Mapping[str, TransferBehaviour]
    figures: QuoteFigures


class _Bug(NamedTuple):
    """An unexpected error: it ends the whole call, and no other worker is tried."""

    traceback: str


_Answer: TypeAlias = _SentQuote | SwapcliError | _Bug
_Sent: TypeAlias = tuple[QuoteRequest, SwapTerms] | SwapcliError
"""An order, or the error that it has already caused."""


def quote_in_executor(
    source: InMemorySource, market: PreparesSwaps, orders: Iterable[PreparedOrder], executors: Executors
) -> Iterator[ManyQuote]:
    """Yield the results for `orders`, in order, as `market` would. `source` is the source of `market`. Raises the same
    errors as `answer_in_order`."""
    sent: deque[PreparedOrder] = deque()

    def send() -> Iterator[_Sent]:
        for order in orders:
            sent.append(order)
            if order.error is not None:
                yield order.error
            else:
                assert order.request is not None
                yield order.request, order.terms

    for answer in answer_in_order(send(), executors, _Workers(source)):
        yield _finish(sent.popleft(), answer, source, market)


class _Workers:
    """Workers, which are sent the market of `source` if they lack it."""

    def __init__(self, source: InMemorySource) -> None:
        self._source = source
        self._market = pickle.dumps(source.market, pickle.HIGHEST_PROTOCOL)
        self._name = sha256(self._market).hexdigest()

    def submit(
        self, executor: Executor, items: Sequence[_Sent], *, has_asked: bool
    ) -> Future[Sequence[_Answer] | None]:
        return executor.submit(_answer_chunk, self._name, self._market if has_asked else None, items)

    def answer(self, items: Sequence[_Sent]) -> Sequence[_Answer]:
        return [_answer(self._source, each) for each in items]


def _finish(order: PreparedOrder, answer: _Answer, source: InMemorySource, market: PreparesSwaps) -> ManyQuote:
    """Complete a result with the data that the market has."""
    if isinstance(answer, _Bug):
        raise RuntimeError(f"an order failed in a worker: {answer.traceback}")
    if not isinstance(answer, _SentQuote):
        return ManyQuote(order.id, None, answer)
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
    return ManyQuote(order.id, SwapQuote(found, order.terms, answer.figures, market), None)


_sources: dict[str, InMemorySource] = {}
_lock = Lock()
"""Guards this worker's markets by hash, newest last; threads of one process take turns."""


def _answer_chunk(name: str, market: bytes | None, sent: Sequence[_Sent]) -> list[_Answer] | None:
    """Quote orders on the market called `name`; None if this worker lacks it and was not sent it."""
    with _lock:
        if name not in _sources:
            if market is None:
                return None
            state = pickle.loads(market)
            assert isinstance(state, MarketState)
            _sources[name] = InMemorySource(state, SYSTEM_CLOCK)
            while len(_sources) > _KEPT_MARKETS:
                del _sources[next(iter(_sources))]
        return [_answer_or_bug(_sources[name], each) for each in sent]


def _answer_or_bug(source: InMemorySource, sent: _Sent) -> _Answer:
    try:
        return _answer(source, sent)
    except Exception:
        from traceback import format_exc

        return _Bug(format_exc())


def _answer(source: InMemorySource, sent: _Sent) -> _Answer:
    if not isinstance(sent, tuple):
        return sent
    request, terms = sent
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
