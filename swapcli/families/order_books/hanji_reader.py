"""Read Hanji's order books: the best prices of both sides, which a helper contract assembles, and the fee."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.order_books.hanji import Hanji
from swapcli.families.order_books.rows import HanjiConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_list, read_words, to_address
from swapcli.families.reading.calls import Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_views, view, words
from swapcli.families.swap_fees import FEE_PER_PPM

REACH: Final = 48
"""The number of prices read per side. A swap that would need more is rejected as if there were no more orders."""
_BOOK: Final = "assembleOrderbookFromOrders(address,bool,uint24)"
_CONFIG_WORDS: Final = 13  # words that `getConfig()` returns
_AGGRESSIVE_FEE, _PASSIVE_PAYOUT = 9, 11
"""The positions of the commission on aggressive orders, and of the additional part that passive orders are paid."""
_CREATED: Final = "OnchainCLOBCreated"
_CREATED_WORDS: Final = 14
"""The number of words in the event's data."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a book in one round of calls."""
    lens = ref.constants_as(HanjiConstants).lens
    if not lens:
        raise invalid_response(_BOOK, "the catalogue has no contract that assembles its orders")
    values = yield from read_views(
        view("config", ref.address, "getConfig()", decode=words(_CONFIG_WORDS)),
        view("bids", lens, _BOOK, ref.address, 0, REACH, decode=_decode_levels),
        view("asks", lens, _BOOK, ref.address, 1, REACH, decode=_decode_levels),
    )
    scaling_x, scaling_y, *_ = config = values["config"]
    fee_wad = config[_AGGRESSIVE_FEE] + config[_PASSIVE_PAYOUT]
    state: dict[str, object] = {
        "scaling_factors": [scaling_x, scaling_y],
        "fee": fee_wad,
        "asks": values["asks"],
        "bids": values["bids"],
    }
    return build_pool(ref, fee_wad // FEE_PER_PPM, state)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a book creation event, which takes no call. Books trade the native token in its wrapped form."""
    yield from ()
    del wrapped_native
    # The book and its tokens come first.
    book, *tokens = (to_address(word, "address") for word in read_words(log.data, _CREATED_WORDS, _CREATED)[:3])
    return factory.new_ref(book, tuple(tokens))._replace(constants=HanjiConstants(factory.lens))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` itself: the fee is read together with the orders."""
    assert isinstance(pool, Hanji)
    return ref._replace(fee_ppm=0)


def _decode_levels(answer: ReturnData, function: str) -> list[list[int]]:
    prices, shares = read_list(answer, function), read_list(answer, function, 1)
    if len(prices) != len(shares):
        raise invalid_response(function, f"{len(prices)} prices and {len(shares)} sizes")
    return [list(level) for level in zip(prices, shares, strict=True)]
