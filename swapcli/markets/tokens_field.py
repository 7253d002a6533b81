"""The `tokens` list of a market file."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.errors import InvalidAddress
from swapcli.markets.addresses import read_address
from swapcli.markets.document import as_object, list_in, member, refuse, text_in, uint_in
from swapcli.model.network import Kind
from swapcli.model.token import Token
from swapcli.networks.address import is_native
from swapcli.pools.fields import shown

MAX_DECIMALS = 77
"""10**77 is the greatest power of ten below 2^256."""

_MAX_PRICE_USD = 1e300


def read_tokens(entry: Mapping[str, object], kind: Kind) -> dict[str, Token]:
    """The tokens of the document `entry` by address. Raises `MarketError`."""
    tokens: dict[str, Token] = {}
    for index, item in enumerate(list_in(entry, "tokens")):
        where = f"tokens[{index}]"
        token = _read_token(as_object(item, where), where + ".", kind)
        if token.address in tokens:
            refuse(where + ".address", f"{token.address} is listed twice")
        tokens[token.address] = token
    return tokens


def rendered(token: Token) -> dict[str, object]:
    """One entry of the list, JSON-ready."""
    entry: dict[str, object] = {
        "address": token.address,
        "symbol": token.symbol,
        "name": token.name,
        "decimals": token.decimals,
    }
    if token.price_usd is not None:
        entry["price_usd"] = token.price_usd
    return entry


def _read_token(item: Mapping[str, object], where: str, kind: Kind) -> Token:
    return Token(
        address=_read_address(item, where + "address", kind),
        symbol=text_in(item, "symbol", where),
        name=text_in(item, "name", where),
        decimals=uint_in(item, "decimals", where, maximum=MAX_DECIMALS),
        price_usd=_read_price(item.get("price_usd"), where + "price_usd"),
    )


def _read_address(item: Mapping[str, object], field: str, kind: Kind) -> str:
    try:
        address = read_address(member(item, "address", field.removesuffix("address")), kind)
    except InvalidAddress as error:
        refuse(field, error.message)
    if kind is Kind.EVM and is_native(address):
        refuse(field, f"{address} stands for the native token; list the wrapped one")
    return address


def _read_price(price: object, field: str) -> float | None:
    if price is None:
        return None
    # The upper bound keeps out infinity (JSON's 1e999) and integers that no float holds.
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < _MAX_PRICE_USD:
        refuse(field, f"expected a number of dollars, 0 or more, not {shown(price)}")
    return float(price)
