"""Show the prices of order books, which no route can use, alongside a live quote.

HyperCore's spot books are not contracts. An order on a book is placed by a separate transaction and filled later, at
prices and fees that nothing guarantees. So routes never use the books, and only the best prices at the quote's block
are shown. The prices are read after the quote, and omitted if reading fails.
"""

from __future__ import annotations

from contextlib import suppress

from swapcli.core.errors import UpstreamError
from swapcli.core.model.book_prices import BookPrices
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.families.order_books.hypercore_books import NAME, SpotBook, read_spot_book
from swapcli.families.reading.lockstep_reads import run_batched
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.snapshot_reader import BlockSnapshot


def read_book_prices(snapshot: BlockSnapshot, order: Order, registry: str) -> BookPrices | None:
    """Return the best bid and ask between an order's tokens; None if no order book trades them, or if it cannot be
    read."""
    network = snapshot.network
    native = (ZERO_ADDRESS, network.wrapped_native_address or ZERO_ADDRESS)
    read = read_spot_book(registry, order.token_in.address, order.token_out.address, native)
    found = None
    with suppress(UpstreamError):
        reader = MulticallReader(snapshot.node, snapshot.head.block, network.multicall)
        (found,) = run_batched([(NAME, read)], reader.call)
    if not isinstance(found, SpotBook):
        return None
    base, quote = order.token_in, order.token_out
    if not found.base_is_first:
        base, quote = quote, base
    return BookPrices(NAME, base, quote, found.bid, found.ask, found.decimals)
