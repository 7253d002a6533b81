"""Read Clober V2 books: the best ticks of one side, which another contract of the deployment returns in one call."""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.core.networks.pool_addresses import clober_book_id
from swapcli.families.order_books.book_tokens import book_tokens
from swapcli.families.order_books.clober_tick_math import MAX_TICK
from swapcli.families.order_books.clober_v2 import CloberV2, FeePolicy
from swapcli.families.order_books.price_levels import currencies_of
from swapcli.families.order_books.rows import CloberConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_pairs, read_words, to_address
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_views, view

REACH: Final = 64
"""The number of ticks read. A swap that would need more is rejected as if the book had no more bids."""
_LIQUIDITY: Final = "getLiquidity(uint192,int24,uint256)"
_OPEN: Final = "Open"
_TOPICS: Final = 4
"""The event's topics: its kind, the book's ID, the base currency and the quote currency."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a book in one round of calls."""
    key = ref.constants_as(CloberConstants)
    _check_key(ref, key)
    if not key.lens:
        raise invalid_response(_LIQUIDITY, "the catalogue has no contract that reads its ticks")
    values = yield from read_views(
        view("levels", key.lens, _LIQUIDITY, key.pool_id, MAX_TICK, REACH, decode=read_pairs)
    )
    state: dict[str, object] = {
        "book_id": key.pool_id,
        "unit_size": key.unit_size,
        "maker_policy": key.maker_policy,
        "taker_policy": key.taker_policy,
        "hooks": key.hooks,
        "native": key.native or None,
        "levels": [[to_signed(tick), units] for tick, units in values["levels"]],
    }
    return build_pool(ref, max(FeePolicy.decode(key.taker_policy).rate_ppm, 0), state)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a book creation event, which takes no call."""
    yield from ()
    if len(log.topics) < _TOPICS:
        raise invalid_response(factory.address, "an event of a different kind")
    tokens, native = book_tokens([int(topic, 16) for topic in log.topics[2:_TOPICS]], wrapped_native)
    unit_size, maker, taker, hooks = read_words(log.data, 4, _OPEN)
    constants = CloberConstants(
        factory.lens, log.topics[1], unit_size, maker, taker, to_address(hooks, "hooks"), native
    )
    ref = factory.new_ref(factory.address, tokens)._replace(constants=constants)
    _check_key(ref, constants)
    return ref


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the key of a known book."""
    assert isinstance(pool, CloberV2)
    lens = ref.constants_as(CloberConstants).lens
    return ref._replace(
        fee_ppm=0,
        constants=CloberConstants(
            lens, pool.book_id, pool.unit_size, pool.maker_policy, pool.taker_policy, pool.hooks, pool.native
        ),
    )


def _check_key(ref: PoolRef, key: CloberConstants) -> None:
    """Raise `InvalidPoolState` unless the key hashes to the book's ID, by which a swap names the book."""
    base, quote = currencies_of(ref.tokens, key.native)
    book_id = clober_book_id(base, key.unit_size, quote, key.maker_policy, key.hooks, key.taker_policy)
    if book_id != key.pool_id:
        raise InvalidPoolState("book_id", "not the hash of the book's key")
