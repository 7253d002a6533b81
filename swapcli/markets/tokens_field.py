"""The `tokens` list of a market file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swapcli.errors import InvalidAddress
from swapcli.markets.addresses import read_address
from swapcli.markets.document import as_object, list_in, member, refuse, text_in, uint_in
from swapcli.model.network import Kind
from swapcli.model.token import Token
from swapcli.model.transfer_behaviour import PPM, UNKNOWN, TransferBehaviour, TransferKind, behaviour_document
from swapcli.networks.address import is_native
from swapcli.pools.state_fields import shown

MAX_DECIMALS = 77
"""10**77 is the greatest power of ten below 2^256."""

_MAX_PRICE_USD = 1e300
_FEES = TransferBehaviour._fields[1:]


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


def read_transfers(entry: Mapping[str, object], kind: Kind) -> dict[str, TransferBehaviour]:
    """Return how the tokens transfer that say so, by address. Raises `MarketError`.

    An entry's `transfers` is `{"kind": ...}`; that of a fee also has `buy_fee_ppm`, `sell_fee_ppm`, `transfer_fee_ppm`,
    of which those that are missing are 0.
    """
    return dict(_marked(entry, kind))


def _marked(entry: Mapping[str, object], kind: Kind) -> Iterator[tuple[str, TransferBehaviour]]:
    for index, item in enumerate(list_in(entry, "tokens")):
        if isinstance(item, dict) and item.get("transfers") is not None:
            where = f"tokens[{index}]."
            mark = as_object(item["transfers"], where + "transfers")
            yield _read_address(item, where + "address", kind), _read_behaviour(mark, where + "transfers.")


def _read_behaviour(mark: Mapping[str, object], where: str) -> TransferBehaviour:
    name = text_in(mark, "kind", where)
    if name not in tuple(TransferKind):
        refuse(where + "kind", f"expected one of {', '.join(TransferKind)}, not {shown(name)}")
    fees = [uint_in(mark, key, where, maximum=PPM) if key in mark else 0 for key in _FEES]
    behaviour = TransferBehaviour(TransferKind(name), *fees)
    if any(fees) != (behaviour.kind is TransferKind.FEE):
        refuse(where + "kind", f"{name} with fees of {', '.join(map(str, fees))}")
    return behaviour


def token_to_json(token: Token, transfers: TransferBehaviour = UNKNOWN) -> dict[str, object]:
    """One entry of the list, JSON-ready."""
    entry: dict[str, object] = {
        "address": token.address,
        "symbol": token.symbol,
        "name": token.name,
        "decimals": token.decimals,
    }
    if token.price_usd is not None:
        entry["price_usd"] = token.price_usd
    if transfers.kind is not TransferKind.UNKNOWN:
        entry["transfers"] = behaviour_document(transfers)
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
