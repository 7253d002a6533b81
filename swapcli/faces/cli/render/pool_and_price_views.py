"""The views of `swapcli pools` and `swapcli price`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable, shorten_id
from swapcli.core.model.number_format import format_rough_usd, format_significant
from swapcli.core.model.transfer_behaviour import percent
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, symbol
from swapcli.faces.cli.render.state_wording import describe_origin, shown_digits, unreal_label

if TYPE_CHECKING:
    from swapcli import ListedPool, PoolList, PriceList, StateSource, TokenPrice

ABSENT = "-"
POOL_COLUMNS = (
    Column("protocol", drop_order=4),
    Column("fee", is_whole=True, drop_order=2),
    Column("pair"),
    Column("liquidity", is_whole=True, drop_order=5),
    Column("price", drop_order=1),
    Column("skipped", drop_order=3),
    Column("pool", is_whole=True),
)
_PRICE_DIGITS = 6  # mid prices are estimates: no order gets them


def build_pools_view(
    found: PoolList, names: Sequence[str], *, is_brief: bool = False, verbose: bool = False
) -> DetailView:
    """Build the list of pools that trade the tokens `names`, below the pools' number and state. With `is_brief`, ids
    are shortened."""
    columns: tuple[Column, ...] = POOL_COLUMNS
    digits = _price_digits(found.state)
    rows = [_pool_row(pool, found, digits, is_brief=is_brief) for pool in found.pools]
    if not any(pool.left_out for pool in found.pools):
        columns, rows = (*columns[:5], columns[6]), [(*row[:5], row[6]) for row in rows]
    pages = [found.page(pool) for pool in found.pools]
    listing = ListView(columns, tuple(rows), links=tuple({"pool": page} if page else {} for page in pages))
    return _details(_pools_title(found, names), found.state, listing, verbose=verbose)


def _pools_title(found: PoolList, names: Sequence[str]) -> str:
    """Return the number of pools, in words."""
    trading, network = f" with {' and '.join(map(printable, names))}" if names else "", found.network.name
    if not found.total:
        return f"No pools on {network}{trading}"
    shown = f"{len(found.pools):,} of " if len(found.pools) < found.total else ""
    return f"{shown}{found.total:,} pool{'s' if found.total != 1 else ''} on {network}{trading}"


def build_price_view(found: PriceList) -> DetailView:
    """Build the list of prices, below the state that they come from."""
    columns = price_columns(symbol(found.unit))
    digits = _price_digits(found.state)
    rows = tuple(_price_row(price, found.address(price), digits) for price in found.prices)
    pages = [found.page(price) for price in found.prices]
    listing = ListView(columns, rows, links=tuple({"address": page} if page else {} for page in pages))
    return _details(f"Prices on {found.network.name}", found.state, listing)


def _details(title: str, state: StateSource, listing: ListView, *, verbose: bool = False) -> DetailView:
    """Build the details of a list; with `verbose` they say where the state was read."""
    label = unreal_label(state)
    note = printable(state.description) if verbose else ""
    facts = () if label else (Fact("State", describe_origin(state), note),)
    return DetailView(title, facts, lists=(listing,), label=label)


def price_columns(unit: str) -> tuple[Column, ...]:
    """Return the columns of the price list; `unit` is the symbol of the token in which prices are given."""
    return (
        Column("token"),
        Column("USD"),
        Column(unit, is_symbol=True),
        Column("based on", drop_order=1),
        Column("liquidity", is_whole=True, drop_order=2),
        Column("address", is_whole=True, goes_below=True),
    )


def format_price(price: float | None, digits: int = _PRICE_DIGITS) -> str:
    """Format a mid price with `digits` significant digits, or return a dash if it is unknown."""
    return ABSENT if price is None else format_significant(Decimal(repr(price)), digits)


def _price_digits(state: StateSource) -> int:
    return min(_PRICE_DIGITS, shown_digits(state))


def _pool_row(pool: ListedPool, found: PoolList, digits: int, *, is_brief: bool) -> tuple[str, ...]:
    identifier = found.address(pool)
    return (
        printable(found.protocol(pool)),
        percent(pool.fee_ppm),
        "/".join(each if isinstance(each, str) else symbol(each) for each in found.pair(pool)),
        ABSENT if pool.liquidity_usd is None else format_rough_usd(pool.liquidity_usd),
        format_price(pool.price, digits),
        printable(pool.left_out),
        shorten_id(identifier) if is_brief else identifier,
    )


def _price_row(found: TokenPrice, address: str, digits: int) -> tuple[str, ...]:
    if found.basis is None or found.price_usd is None:
        return symbol(found.token), "unknown", ABSENT, "no pool gives a price", ABSENT, address
    depth = format_rough_usd(found.basis.depth_usd) if isfinite(found.basis.depth_usd) else ABSENT
    usd = f"${format_price(found.price_usd, digits)}"
    return symbol(found.token), usd, format_price(found.price, digits), _basis(found), depth, address


def _basis(found: TokenPrice) -> str:
    """Describe the basis of a price: the path, and the number of its pools."""
    if len(found.path) < 2 or found.basis is None:
        return "the token that prices start from"
    count = sum(map(len, found.basis.pools))
    path = " → ".join(symbol(token) for token in found.path)
    return f"{path}, {count} pool{'s' if count != 1 else ''}"
