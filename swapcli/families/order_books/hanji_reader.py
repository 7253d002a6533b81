"""Order books of Hanji: the best prices of both sides, which a helper contract assembles, and the fee."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.order_books.hanji import Hanji
from swapcli.families.order_books.rows import HanjiConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_list, read_words, to_address
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.swap_fees import FEE_PER_PPM

REACH: Final = 48
"""Prices of each side that are read. A swap that would need others is refused as if there were no more orders."""
_BOOK: Final = "assembleOrderbookFromOrders(address,bool,uint24)"
_CONFIG: Final = "getConfig()"
_CONFIG_WORDS: Final = 13
_CREATED: Final = "OnchainCLOBCreated"
_CREATED_WORDS: Final = 14


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a book in one round."""
    lens = ref.constants_as(HanjiConstants).lens
    if not lens:
        raise invalid_response(_BOOK, "the catalogue knows no contract that assembles its orders")
    config, bids, asks = yield [
        ContractCall(ref.address, encode_call(_CONFIG)),
        ContractCall(lens, encode_call(_BOOK, ref.address, 0, REACH)),
        ContractCall(lens, encode_call(_BOOK, ref.address, 1, REACH)),
    ]
    words = read_words(config, _CONFIG_WORDS, _CONFIG)
    # The commission of aggressive orders, and what passive ones are paid of it on top.
    fee_wad = words[9] + words[11]
    state: dict[str, object] = {
        "scaling_factors": list(words[:2]),
        "fee": fee_wad,
        "asks": _read_levels(asks),
        "bids": _read_levels(bids),
    }
    return build_pool(ref, fee_wad // FEE_PER_PPM, state)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode the event of a book's creation, without a call. Books trade the native token in its wrapped form."""
    yield from ()
    del wrapped_native
    book, token_x, token_y = (
        to_address(word, "address") for word in read_words(log.data, _CREATED_WORDS, _CREATED)[:3]
    )
    return factory.new_ref(book, (token_x, token_y))._replace(constants=HanjiConstants(factory.lens))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return the reference: the fee is read with the orders."""
    assert isinstance(pool, Hanji)
    return ref._replace(fee_ppm=0)


def _read_levels(answer: ReturnData) -> list[list[int]]:
    prices, shares = read_list(answer, _BOOK), read_list(answer, _BOOK, 1)
    if len(prices) != len(shares):
        raise invalid_response(_BOOK, f"{len(prices)} prices and {len(shares)} sizes")
    return [list(level) for level in zip(prices, shares, strict=True)]
