"""Read iZiSwap pools: the current point, and the marked points around it with their liquidity and limit orders.

As with Uniswap V3's ticks, only some words of the bitmap of points are read, and liquidity that extends beyond them is
closed at their ends: a swap that would leave them is rejected as if the pool had no more liquidity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.model.pool import Pool
from swapcli.families.iziswap.iziswap import IziSwap
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import (
    encode_call,
    invalid_response,
    read_address,
    read_signed,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall, Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.tick_bitmap import REACH, PriceState, close_liquidity, initialized_ticks, words_around
from swapcli.families.row import TickConstants

_STATE: Final = "state()"
"""Price, point, three numbers of the oracle, the lock, the liquidity, and the liquidity of X."""
_FEE: Final = "fee()"
_DELTA: Final = "pointDelta()"
_BITMAP: Final = "pointBitmap(int16)"
_MARK: Final = "orderOrEndpoint(int24)"
"""For each point by number: 1 if liquidity begins or ends there, plus 2 if there are orders."""
_POINT: Final = "points(int24)"
_ORDERS: Final = "limitOrderData(int24)"
_TOKENS: Final = ("tokenX()", "tokenY()")
_CREATED: Final = "NewPool(address,address,uint24,uint24,address)"
_SELLING_Y: Final = 5
"""The word of `limitOrderData` after the five for orders that sell X."""
_CALLS_PER_MARK: Final = 3


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds of calls, or in one if its point and marks are close to those of the last read."""
    delta = ref.constants_as(TickConstants).tick_spacing
    guesses: list[ContractCall] = []
    if ref.last_ticks and delta:
        words = words_around(ref.last_ticks.tick, delta, REACH)
        guesses = _word_calls(ref.address, words.numbers())
        guesses += _mark_calls(ref.address, ref.last_ticks.initialized, delta)
    return (yield from with_prefetch(_load(ref, delta), guesses))


def _load(ref: PoolRef, delta: int) -> BatchRead[Pool]:
    names = (_STATE, _FEE) if delta else (_STATE, _FEE, _DELTA)
    answer, fee, *constant = yield [ContractCall(ref.address, encode_call(name)) for name in names]
    delta = delta or max(read_signed(constant[0], _DELTA), 1)
    state = read_words(answer, 8, _STATE)
    point, liquidity, liquidity_x = to_signed(state[1]), state[6], state[7]
    words = words_around(point, delta, REACH)
    answers = yield _word_calls(ref.address, words.numbers())
    bitmap = {number: read_word(each, _BITMAP) for number, each in zip(words.numbers(), answers, strict=True)}
    marks = initialized_ticks(bitmap, delta)
    nets: dict[int, int] = {}
    orders: list[list[int]] = []
    if marks:
        answers = yield _mark_calls(ref.address, marks, delta)
        for k, mark in enumerate(marks):
            kind, endpoint, order = answers[_CALLS_PER_MARK * k : _CALLS_PER_MARK * (k + 1)]
            bits = read_word(kind, _MARK)
            if bits & 1:
                nets[mark] = to_signed(read_words(endpoint, 2, _POINT)[1])
            selling = read_words(order, _SELLING_Y + 1, _ORDERS)
            if bits & 2 and (selling[0] or selling[_SELLING_Y]):
                orders.append([mark, selling[0], selling[_SELLING_Y]])
    position = PriceState(state[0], point, liquidity, read_word(fee, _FEE))
    endpoints = close_liquidity(nets, position, words, delta)
    fields: dict[str, object] = {
        "point": point,
        "liquidity": liquidity,
        "liquidity_x": liquidity_x,
        "point_delta": delta,
        "points": [[each, endpoints[each]] for each in sorted(endpoints)],
        "orders": orders,
    }
    return build_pool(ref, position.fee_ppm, fields)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens and the point distance of a pool in one round of calls."""
    *tokens, delta = yield [ContractCall(address, encode_call(name)) for name in (*_TOKENS, _DELTA)]
    token_x, token_y = (read_address(answer, name) for answer, name in zip(tokens, _TOKENS, strict=True))
    ref = factory.new_ref(address, (token_x, token_y))
    return ref._replace(constants=TickConstants(read_signed(delta, _DELTA)))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event, which takes no call."""
    yield from ()
    del wrapped_native
    if len(log.topics) < 4:
        raise invalid_response(factory.address, "an event of a different kind")
    token_x, token_y = (to_address(int(topic, 16), _CREATED) for topic in log.topics[1:3])
    delta, pool = read_words(log.data, 2, _CREATED)
    ref = factory.new_ref(to_address(pool, _CREATED), (token_x, token_y))
    return ref._replace(constants=TickConstants(delta))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the point distance, the point and the marks of a known pool."""
    assert isinstance(pool, IziSwap)
    last = LastTicks(pool.point, pool.marks.points)
    return ref._replace(constants=TickConstants(pool.marks.point_delta), last_read=last)


def _word_calls(pool: str, words: Sequence[int]) -> list[ContractCall]:
    return [ContractCall(pool, encode_call(_BITMAP, number)) for number in words]


def _mark_calls(pool: str, marks: Sequence[int], delta: int) -> list[ContractCall]:
    """Return the calls for each mark: its kind, its liquidity, and its orders."""
    return [
        ContractCall(pool, encode_call(name, argument))
        for mark in marks
        for name, argument in ((_MARK, mark // delta), (_POINT, mark), (_ORDERS, mark))
    ]
