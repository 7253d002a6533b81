"""Read Kuru's markets: the best prices of both sides, which the market lists in one call, and the vault's orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM_PER_BPS
from swapcli.families.order_books.book_tokens import book_tokens
from swapcli.families.order_books.kuru import Kuru, VaultOrders
from swapcli.families.order_books.rows import KuruConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_words, to_address
from swapcli.families.reading.calls import Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_views, view, words

REACH: Final = 64
"""The number of prices read per side. A swap that would need more is rejected as if there were no more orders."""
_BOOK: Final = "getL2Book(uint32,uint32)"
_REGISTERED: Final = "MarketRegistered"
_REGISTERED_WORDS: Final = 12  # words of the event's data
_VAULT_WORDS: Final = 1 + len(VaultOrders._fields)
"""The number of words that `getVaultParams()` returns: the address of the vault, then its orders."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a market in one round of calls."""
    values = yield from read_views(
        view("book", ref.address, _BOOK, REACH, REACH, decode=_decode_sides),
        view("vault", ref.address, "getVaultParams()", decode=words(_VAULT_WORDS)),
        view("state", ref.address, "marketState()"),
    )
    if values["state"]:
        raise InvalidPoolState("market_state", "the market is paused")
    bids, asks = values["book"]
    constants = ref.constants_as(KuruConstants)
    orders = VaultOrders(*values["vault"][1:])
    fields: dict[str, object] = {
        "size_precision": constants.size_precision,
        "price_precision": constants.price_precision,
        "asks": asks,
        "bids": bids,
        "vault": orders._asdict() if orders.ask_size or orders.bid_size else None,
        "cut": [len(asks) == REACH, len(bids) == REACH],
        "native": constants.native or None,
    }
    return build_pool(ref, constants.taker_fee_bps * PPM_PER_BPS, fields)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a market registration event, which takes no call."""
    yield from ()
    event = read_words(log.data, _REGISTERED_WORDS, _REGISTERED)
    base, quote, market, _, price_precision, size_precision, _, _, _, taker_fee_bps, *_ = event
    tokens, native = book_tokens((base, quote), wrapped_native)
    constants = KuruConstants(price_precision, size_precision, taker_fee_bps, native)
    return factory.new_ref(to_address(market, "market"), tokens)._replace(constants=constants)


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the constants of a known market."""
    assert isinstance(pool, Kuru)
    fee_bps = pool.fee_ppm // PPM_PER_BPS
    return ref._replace(
        fee_ppm=0, constants=KuruConstants(pool.price_precision, pool.size_precision, fee_bps, pool.native)
    )


def _decode_sides(answer: ReturnData, function: str) -> tuple[list[list[int]], list[list[int]]]:
    """Return [price, size] of the bids and of the asks, each with the best first.

    The bytes are words: the block's number, the bids, a zero, and the asks.
    """
    start, length = read_words(answer, 2, function)
    if start != WORD or length % WORD:
        raise invalid_response(function, f"{length} bytes at {start}")
    rest = iter(read_words(answer, 2 + min(length, len(answer or b"")) // WORD, function)[3:])
    return list(_read_side(rest)), list(_read_side(rest))


def _read_side(words: Iterator[int]) -> Iterator[list[int]]:
    """Yield the levels of one side, up to a zero or the end of the bytes."""
    for price in words:
        if not price:
            return
        size = next(words, None)
        if size is None:
            raise invalid_response(_BOOK, "a price without a size")
        yield [price, size]
