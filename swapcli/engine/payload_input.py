"""What a user gives to be decoded: calldata in hex, felts, or the JSON of a transaction; and the network it is for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from swapcli.encoding.text import truncate
from swapcli.errors import InvalidInput, SwapcliError
from swapcli.evm.decoding.decode import decode_calldata
from swapcli.model.decoded_call import DecodedCall
from swapcli.model.market import MarketState
from swapcli.model.network import Kind, Network
from swapcli.records import NamedTuple
from swapcli.starknet.decode_felts import decode_felts, parse_felts

MAX_BYTES = 1 << 20
"""More than any transaction has."""

_SHOWN_CHARACTERS = 40
_HINT = "give 0x and hexadecimal digits, felts separated by commas, or the JSON of swapcli calldata"


class PayloadInput(NamedTuple):
    """Calldata in hex, or felts, and what came with it; None for what did not."""

    calldata: str
    felts: tuple[int, ...] | None = None
    network: str | None = None
    to: str | None = None
    value: str | None = None
    sender: str | None = None


def parse_payload(text: str) -> PayloadInput:
    """Parse what a user gives. Raises `InvalidInput`."""
    stripped = text.strip()
    if not stripped:
        raise InvalidInput("no calldata given", hint=_HINT)
    if len(stripped) > MAX_BYTES * 2:
        raise InvalidInput("no transaction has so much calldata", hint=_HINT)
    if stripped.startswith("{"):
        return _parse_document(stripped)
    felts = parse_felts(stripped)
    if felts is not None:
        return PayloadInput("", felts)
    return PayloadInput(_parse_hex(stripped))


def decode_payload(given: PayloadInput, wrapped: str | None) -> DecodedCall:
    """Decode a payload; `wrapped` is the wrapped native token of its network. Raises `InvalidInput`."""
    return decode_calldata(given.calldata, wrapped) if given.felts is None else decode_felts(given.felts)


def guess_network(given: PayloadInput, names: Iterable[str], open_market: Callable[[str], MarketState]) -> str | None:
    """Return the network whose tokens, pools and routers the payload names most of; None if none of them has any.

    Networks without a market are left out.
    """
    kind = Kind.STARKNET if given.felts is not None else Kind.EVM
    scores: dict[str, int] = {}
    for name in names:
        try:
            market = open_market(name)
        except SwapcliError:
            continue
        if market.network.kind is kind:
            scores[name] = _count_known(given, market)
    best = max(scores.values(), default=0)
    found = [name for name, score in scores.items() if score == best]
    return found[0] if best and len(found) == 1 else None


def _count_known(given: PayloadInput, market: MarketState) -> int:
    from swapcli.engine.payload_review import known_contracts

    call = decode_payload(given, market.network.wrapped_native_address)
    addresses: set[str | None] = {given.to and given.to.lower(), call.router}
    if call.order:
        addresses |= {call.order.token_in, call.order.token_out}
    for approval in filter(None, (call.approval, call.permit)):
        addresses |= {approval.token, approval.spender}
    addresses |= {each for swap in call.swaps for each in (swap.token_in, swap.token_out, swap.pool.key)}
    known = market.tokens.keys() | market.pools.keys() | known_contracts(market.network)
    return len(addresses & known)


def _parse_hex(text: str) -> str:
    """Return hex digits with 0x. Raises `InvalidInput`."""
    digits = text[2:] if text[:2] in ("0x", "0X") else text
    if not digits or not all(character in "0123456789abcdefABCDEF" for character in digits):
        raise InvalidInput(f'"{truncate(text, _SHOWN_CHARACTERS)}" is not calldata', hint=_HINT)
    if len(digits) % 2:
        raise InvalidInput("the calldata has an odd number of digits", hint="check that all of it was copied")
    return f"0x{digits}"


def _parse_document(text: str) -> PayloadInput:
    """Parse the JSON of a transaction, or the swap of that of `swapcli calldata`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is not valid JSON: {error}", hint=_HINT) from None
    content = next((document[name] for name in ("calldata", "data", "input") if document.get(name)), None)
    if isinstance(content, list):
        given = PayloadInput("", parse_felts(json.dumps(content)))
    elif isinstance(content, str):
        given = PayloadInput(_parse_hex(content.strip()))
    else:
        raise InvalidInput("the JSON has no calldata or data", hint=_HINT)
    return given._replace(
        network=_text(document, "network"),
        to=_text(document, "to"),
        value=_text(document, "value"),
        sender=_text(document, "from"),
    )


def _text(document: Mapping[str, object], name: str) -> str | None:
    value = document.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def parse_value(text: str) -> int:
    """Parse a value in wei, decimal or in hex with 0x. Raises `InvalidInput`."""
    digits = text.strip().replace("_", "")
    try:
        value = int(digits, 16 if digits[:2].lower() == "0x" else 10)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 256 or not digits.isascii():
        raise InvalidInput(f'--value: "{truncate(text, _SHOWN_CHARACTERS)}" is not an amount in wei')
    return value


def describes_other(network: Network, given: PayloadInput) -> bool:
    """Return whether a payload cannot be of a network of this kind."""
    return (network.kind is Kind.STARKNET) != (given.felts is not None)
