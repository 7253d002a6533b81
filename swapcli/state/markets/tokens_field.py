"""The `tokens` list in a market file."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.model.network import Kind
from swapcli.core.model.token import MAX_TOKEN_DECIMALS, Token
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour, TransferKind, behaviour_document
from swapcli.core.model.units import PPM
from swapcli.core.networks.address import is_native
from swapcli.core.validation.values import parse_choice, parse_integer, parse_number
from swapcli.state.markets.fields import MarketFields

_MAX_PRICE_USD = 1e300  # excludes infinity (1e999 in JSON) and integers too large for a float
_FEES = TransferBehaviour._fields[1:]


def parse_tokens(document: MarketFields, kind: Kind) -> dict[str, Token]:
    """Return the tokens of the document by address. Raises `MarketError`."""
    tokens: dict[str, Token] = {}
    for fields in document.objects("tokens"):
        token = _parse_token(fields, kind)
        if token.address in tokens:
            raise fields.failure(fields.path_of("address"), f"{token.address} is listed twice")
        tokens[token.address] = token
    return tokens


def parse_transfers(document: MarketFields, kind: Kind) -> dict[str, TransferBehaviour]:
    """Return the transfer behaviour of each token whose entry states it, by address. Raises `MarketError`.

    An entry's `transfers` is `{"kind": ...}`. For a token with a fee, it also has `buy_fee_ppm`, `sell_fee_ppm` and
    `transfer_fee_ppm`; a missing rate is 0.
    """
    return dict(_transfers(document, kind))


def _transfers(document: MarketFields, kind: Kind) -> Iterator[tuple[str, TransferBehaviour]]:
    for index, entry in enumerate(document.values["tokens"]):  # type: ignore[arg-type, var-annotated]
        if entry.get("transfers") is not None:
            fields = MarketFields(entry, f"tokens[{index}]")
            yield _parse_address(fields, kind), _parse_behaviour(fields.nested("transfers"))


def _parse_behaviour(fields: MarketFields) -> TransferBehaviour:
    kind = TransferKind(fields.read("kind", parse_choice, tuple(TransferKind)))
    fees = [fields.read(key, parse_integer, 0, PPM) if key in fields.values else 0 for key in _FEES]
    if any(fees) != (kind is TransferKind.FEE):
        raise fields.failure(fields.path_of("kind"), f"{kind} with fees of {', '.join(map(str, fees))}")
    return TransferBehaviour(kind, *fees)


def token_to_json(token: Token, transfers: TransferBehaviour = UNKNOWN) -> dict[str, object]:
    """Return a token as an entry of the `tokens` list, ready for JSON."""
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


def _parse_token(fields: MarketFields, kind: Kind) -> Token:
    price_usd = fields.read_optional(
        "price_usd", parse_number, "an amount in dollars, 0 or more", lambda price: 0 <= price < _MAX_PRICE_USD
    )
    return Token(
        address=_parse_address(fields, kind),
        symbol=fields.text("symbol"),
        name=fields.text("name"),
        decimals=fields.read("decimals", parse_integer, 0, MAX_TOKEN_DECIMALS),
        price_usd=price_usd,
    )


def _parse_address(fields: MarketFields, kind: Kind) -> str:
    address = fields.address("address", kind)
    if is_native(address, kind):
        problem = f"{address} stands for the native token; list the wrapped one"
        raise fields.failure(fields.path_of("address"), problem)
    return address
