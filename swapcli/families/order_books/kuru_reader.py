"""Markets of Kuru: the best prices of both sides, which the market lists in one call, and the vault's orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.order_books.kuru import NATIVE_TOKENS, PPM_PER_BPS, Kuru, VaultOrders
from swapcli.families.order_books.rows import KuruConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word, read_words, to_address
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef

REACH: Final = 64
"""Prices of each side that are read. A swap that would need others is refused as if there were no more orders."""
_BOOK: Final = "getL2Book(uint32,uint32)"
_VAULT: Final = "getVaultParams()"
_STATE: Final = "marketState()"
_REGISTERED: Final = "MarketRegistered"
_VAULT_WORDS: Final = 8
_REGISTERED_WORDS: Final = 12


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a market in one round."""
    book, vault, state = yield [
        ContractCall(ref.address, encode_call(_BOOK, REACH, REACH)),
        ContractCall(ref.address, encode_call(_VAULT)),
        ContractCall(ref.address, encode_call(_STATE)),
    ]
    if read_word(state, _STATE):
        raise InvalidPoolState("market_state", "the market is paused")
    bids, asks = _read_sides(book)
    constants = ref.constants_as(KuruConstants)
    # The first word is the address of the vault.
    orders = VaultOrders(*read_words(vault, _VAULT_WORDS, _VAULT)[1:])
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
    """Decode the event of a market's registration, without a call."""
    yield from ()
    words = read_words(log.data, _REGISTERED_WORDS, _REGISTERED)
    assets = tuple(to_address(word, "asset") for word in words[:2])
    native = dict(zip(assets, NATIVE_TOKENS, strict=True)).get(ZERO_ADDRESS, "")
    if native and wrapped_native is None:
        raise invalid_response(native, "the network has no wrapped form of the native token")
    base, quote = (wrapped_native if each == ZERO_ADDRESS and wrapped_native else each for each in assets)
    constants = KuruConstants(price_precision=words[4], size_precision=words[5], taker_fee_bps=words[9], native=native)
    return factory.new_ref(to_address(words[2], "market"), (base, quote))._replace(constants=constants)


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return a reference with what never changes about a known market."""
    assert isinstance(pool, Kuru)
    fee_bps = pool.fee_ppm // PPM_PER_BPS
    return ref._replace(
        fee_ppm=0, constants=KuruConstants(pool.price_precision, pool.size_precision, fee_bps, pool.native)
    )


def _read_sides(answer: ReturnData) -> tuple[list[list[int]], list[list[int]]]:
    """Return [price, size] of the bids and of the asks, each the best first.

    The bytes are words: the block's number, the bids, a zero, and the asks.
    """
    start, length = read_words(answer, 2, _BOOK)
    if start != WORD or length % WORD:
        raise invalid_response(_BOOK, f"{length} bytes at {start}")
    words = iter(read_words(answer, 2 + min(length, len(answer or b"")) // WORD, _BOOK)[3:])
    return list(_read_side(words)), list(_read_side(words))


def _read_side(words: Iterator[int]) -> Iterator[list[int]]:
    """Yield the levels of one side, which end with a zero or with the bytes."""
    for price in words:
        if not price:
            return
        size = next(words, None)
        if size is None:
            raise invalid_response(_BOOK, "a price without a size")
        yield [price, size]
