"""The views of `swapcli pools` and `swapcli price`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite

from swapcli.core.encoding.text import printable, shorten_id
from swapcli.core.model.network import Network
from swapcli.core.model.number_format import format_significant, format_usd
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import percent
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page, token_page
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, symbol
from swapcli.faces.cli.render.state_wording import describe_block, describe_origin, shown_digits, unreal_label
from swapcli.quoting.pool_listing import ListedPool
from swapcli.quoting.token_prices import PriceList, TokenPrice

ABSENT = "-"
POOL_COLUMNS = (
    Column("protocol", drop_order=4),
    Column("fee", is_whole=True, drop_order=2),
    Column("pair"),
    Column("liquidity", is_whole=True, drop_order=5),
    Column("price", drop_order=1),
    Column("left out", drop_order=3),
    Column("pool", is_whole=True),
)
_PRICE_DIGITS = 6  # mid prices are estimates: no order gets them


class PoolTable(NamedTuple):
    """Some of `total` pools that trade `names`, the tokens that are `known` by address, and the state of the pools.

    If `is_brief`, ids of pools are shortened.
    """

    listed: Sequence[ListedPool]
    total: int
    names: Sequence[str]
    known: Mapping[str, Token]
    network: Network
    state: StateSource
    is_brief: bool = False

    @property
    def title(self) -> str:
        """How many pools there are."""
        trading = f" with {' and '.join(map(printable, self.names))}" if self.names else ""
        if not self.total:
            return f"No pool of {self.network.name}{trading}"
        shown = f"{len(self.listed):,} of " if len(self.listed) < self.total else ""
        return f"{shown}{self.total:,} pool{'s' if self.total != 1 else ''} of {self.network.name}{trading}"


def build_pools_view(table: PoolTable, documents: Sequence[Mapping[str, object]]) -> DetailView:
    """Build the list of pools under their number and state; `documents` are the same rows as JSON objects."""
    listed, network = table.listed, table.network
    columns: tuple[Column, ...] = POOL_COLUMNS
    digits = _price_digits(table.state)
    rows = [_pool_row(pool, table, digits) for pool in listed]
    if not any(pool.left_out for pool in listed):
        columns, rows = (*columns[:5], columns[6]), [(*row[:5], row[6]) for row in rows]
    pages = [contract_page(network, display_address(pool.key, network.kind)) for pool in listed]
    listing = ListView(columns, tuple(rows), tuple(documents), tuple({"pool": page} if page else {} for page in pages))
    return _details(table.title, table.state, listing)


def build_price_view(found: PriceList) -> DetailView:
    """Build the list of prices under their state."""
    network = found.network
    columns = price_columns(symbol(found.unit))
    digits = _price_digits(found.state)
    rows = tuple(_price_row(price, network, digits) for price in found.prices)
    pages = [token_page(network, display_address(price.token.address, network.kind)) for price in found.prices]
    listing = ListView(
        columns, rows, tuple(found.document()["prices"]), tuple({"address": page} if page else {} for page in pages)
    )
    return _details(f"Prices on {network.name}", found.state, listing)


def _details(title: str, state: StateSource, listing: ListView) -> DetailView:
    label = unreal_label(state)
    return DetailView(title, () if label else (_state_fact(state),), lists=(listing,), label=label)


def price_columns(unit: str) -> tuple[Column, ...]:
    """Return the columns of the list of prices; `unit` is the symbol of the token that they are in."""
    return (
        Column("token"),
        Column("USD"),
        Column(unit),
        Column("based on", drop_order=1),
        Column("depth", is_whole=True, drop_order=2),
        Column("address", is_whole=True, goes_below=True),
    )


def format_price(price: float | None, digits: int = _PRICE_DIGITS) -> str:
    """Format a mid price with six significant digits, or so many; a dash if it is unknown."""
    return ABSENT if price is None else format_significant(Decimal(repr(price)), digits)


def _price_digits(state: StateSource) -> int:
    return min(_PRICE_DIGITS, shown_digits(state))


def _state_fact(state: StateSource) -> Fact:
    block = describe_block(state)
    return Fact("State", describe_origin(state), ", ".join(filter(None, [block, printable(state.description)])))


def _pool_row(pool: ListedPool, table: PoolTable, digits: int) -> tuple[str, ...]:
    known, network = table.known, table.network

    def name(address: str) -> str:
        return symbol(known[address]) if address in known else display_address(address, network.kind)

    protocol, identifier = network.protocol(pool.protocol), display_address(pool.key, network.kind)
    return (
        printable(protocol.display_name if protocol else pool.protocol),
        percent(pool.fee_ppm),
        "/".join(name(address) for address in pool.pair),
        ABSENT if pool.liquidity_usd is None else format_usd(pool.liquidity_usd),
        format_price(pool.price, digits),
        printable(pool.left_out),
        shorten_id(identifier) if table.is_brief else identifier,
    )


def _price_row(found: TokenPrice, network: Network, digits: int) -> tuple[str, ...]:
    address = display_address(found.token.address, network.kind)
    if found.basis is None or found.price_usd is None:
        return symbol(found.token), "unknown", ABSENT, "no pool gives a price", ABSENT, address
    depth = format_usd(found.basis.depth_usd) if isfinite(found.basis.depth_usd) else ABSENT
    usd = f"${format_price(found.price_usd, digits)}"
    return symbol(found.token), usd, format_price(found.price, digits), _basis(found), depth, address


def _basis(found: TokenPrice) -> str:
    """Describe what a price is based on: the path, and the number of its pools."""
    if len(found.path) < 2 or found.basis is None:
        return "prices start from it"
    count = sum(map(len, found.basis.pools))
    path = " → ".join(symbol(token) for token in found.path)
    return f"{path}, {count} pool{'s' if count != 1 else ''}"
