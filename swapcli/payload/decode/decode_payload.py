"""Decode a payload and guess its network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from swapcli.core.encoding.text import SHOWN_CHARACTERS, printable, truncate
from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.model.decoded_call import DecodedCall, DecodedMessage
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.dialects import known_contracts
from swapcli.payload.evm.decoding.decode import decode_calldata
from swapcli.payload.starknet.decode_felts import FUNCTIONS, decode_felts


def decode_payload(given: GivenTransaction, wrapped: str | None) -> DecodedCall:
    """Decode a transaction; `wrapped` is the wrapped native token of its network.

    For an unknown function, or none, the call has no name. Raises `InvalidInput`.
    """
    if not given.has_content:
        return DecodedCall("")
    if given.message is not None:
        return _decode_message(given, given.message, wrapped)
    if given.felts is None:
        return decode_calldata(given.calldata, wrapped, given.value)
    call = decode_felts(given.felts) if given.entrypoint in (None, *FUNCTIONS) else None
    if call is None or given.entrypoint not in (None, call.function):
        return DecodedCall("", given.entrypoint or "")
    return call


def _decode_message(given: GivenTransaction, message: DecodedMessage, wrapped: str | None) -> DecodedCall:
    """Return the call of a message: a Safe transaction's call, otherwise a call with the message's name."""
    if given.calldata != "0x":
        return decode_calldata(given.calldata, wrapped, given.value)._replace(message=message)
    if message.is_judged and not message.approvals:
        return DecodedCall("", message=message)  # a Safe sends a value
    name = "permit" if message.approvals else printable(truncate(message.primary_type, SHOWN_CHARACTERS))
    return DecodedCall(name or "a message", approval=next(iter(message.approvals), None), message=message)


def guess_network(
    given: PayloadInput, meant: Collection[str], others: Iterable[str], open_market: Callable[[str], MarketState]
) -> str | None:
    """Return the network that has the most of the payload's tokens, pools and routers, or None if no network has any.

    If several networks have equally many, the result is the only one of them in `meant`, the default networks, if there
    is exactly one. Networks without a market are ignored.
    """
    scores: dict[str, int] = {}
    for name in (*meant, *others):
        try:
            market = open_market(name)
        except SwapcliError:
            continue
        if not describes_other(market.network, given):
            scores[name] = _count_known(given, market)
    best = max(scores.values(), default=0)
    found = [name for name, score in scores.items() if score == best]
    if len(found) > 1:
        found = [name for name in found if name in meant]
    return found[0] if best and len(found) == 1 else None


def _count_known(given: PayloadInput, market: MarketState) -> int:
    payload = given.payload
    call = decode_payload(payload, market.network.wrapped_native_address)
    addresses: set[str | None] = {payload.to and payload.to.lower(), call.router}
    if call.order:
        addresses |= {call.order.token_in, call.order.token_out}
    for approval in call.approvals:
        addresses |= {approval.token, approval.spender}
    addresses |= {each for swap in call.swaps for each in (swap.token_in, swap.token_out, swap.pool.key)}
    known = market.tokens.keys() | market.pools.keys() | known_contracts(market.network)
    return len(addresses & known)


def parse_value(text: str, label: str = "value") -> int:
    """Parse a value in wei, in decimal or in hex with 0x. Raises `InvalidInput` with `label` before its message."""
    digits = text.strip().replace("_", "")
    try:
        value = int(digits, 16 if digits[:2].lower() == "0x" else 10)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 256 or not digits.isascii():
        raise InvalidInput(f'{label}: "{truncate(text, SHOWN_CHARACTERS)}" is not an amount in wei')
    return value


def describes_other(network: Network, given: PayloadInput) -> bool:
    """Return whether a payload cannot belong to `network`, because it is for a different kind of network."""
    return network.kind.traits.has_felts != (given.payload.felts is not None)
