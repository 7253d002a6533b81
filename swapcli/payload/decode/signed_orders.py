"""Describe messages that `decode` cannot check: signed orders, transfers, and permissions to act as the account.

The contract that executes an order chooses its price within the limits of the message, so a decoded order has only its
tokens, amounts and recipients. Values come from strangers, so values that cannot be read are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import DecodedMessage
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import parse_address
from swapcli.core.records import NamedTuple
from swapcli.payload.decode.quantities import parse_quantity

_MAX_ITEMS: Final = 32  # a bound against hostile input; chosen


class _OrderKind(NamedTuple):
    """A protocol's orders: the names of their types and domains, and the paths of their fields.

    Dots in a path lead into structs; a list on the path means all its entries.
    """

    title: str
    primary_types: tuple[str, ...]
    domains: tuple[str, ...]
    sells: tuple[str, str]
    buys: tuple[str, str]
    recipient: str
    deadline: str
    owner: str


_ORDER_KINDS: Final = (
    _OrderKind(
        "an order of CoW Protocol", ("Order",), ("Gnosis Protocol",),
        ("sellToken", "sellAmount"), ("buyToken", "buyAmount"), "receiver", "validTo", "",
    ),
    _OrderKind(
        "an order of 1inch", ("Order", "LimitOrder"),
        ("1inch Aggregation Router", "1inch Limit Order Protocol", "1inch Router"),
        ("makerAsset", "makingAmount"), ("takerAsset", "takingAmount"), "receiver", "", "maker",
    ),
    _OrderKind(
        "an order of 0x", ("LimitOrder", "RfqOrder", "OtcOrder", "TakerSignedOtcOrder"), ("ZeroEx",),
        ("makerToken", "makerAmount"), ("takerToken", "takerAmount"), "maker", "expiry", "maker",
    ),
    _OrderKind(
        "an order of 0x", ("Order",), ("0x Protocol",),
        ("makerAssetData", "makerAssetAmount"), ("takerAssetData", "takerAssetAmount"), "makerAddress",
        "expirationTimeSeconds", "makerAddress",
    ),
    _OrderKind(
        "an order of Seaport", ("OrderComponents", "BulkOrder"), ("Seaport", "OpenSea"),
        ("offer.token", "offer.startAmount"), ("consideration.token", "consideration.endAmount"),
        "consideration.recipient", "endTime", "offerer",
    ),
    *(
        _OrderKind(
            title, ("PermitWitnessTransferFrom", "PermitBatchWitnessTransferFrom"), ("Permit2",),
            ("permitted.token", "permitted.amount"), (f"witness.{outputs}.token", f"witness.{outputs}.{amount}"),
            f"witness.{outputs}.recipient", "deadline", "witness.info.swapper",
        )
        for title, outputs, amount in (
            ("an order of UniswapX", "outputs", "endAmount"),
            ("an order of UniswapX", "outputs", "minAmount"),
            ("an order of UniswapX", "outputs", "amount"),
            ("an order of UniswapX", "baseOutputs", "endAmount"),
            ("an order of UniswapX", "baseOutputs", "minAmount"),
            ("a conditional transfer permit of Permit2", "none", "none"),
        )
    ),
)  # fmt: skip
"""Sources: GPv2Order of CoW Protocol, the limit order protocol of 1inch, LibNativeOrder and LibOrder of 0x, Seaport's
ConsiderationStructs, UniswapX's order types, and PermitHash of permit2. If several kinds fit, the first one whose
bought tokens can be read counts; the last one always fits."""

_NAMED: Final[Mapping[str, str]] = {
    "TransferWithAuthorization": "a transfer by signature (EIP-3009)",
    "ReceiveWithAuthorization": "a transfer by signature (EIP-3009)",
    "ForwardRequest": "a call that a relayer makes as the account (EIP-2771)",
    "MetaTransaction": "a call that a relayer makes as the account",
    "Delegation": "a delegation of the account or of its votes",
    "OutsideExecution": "calls that others make as the account (SNIP-9)",
    "SafeMessage": "a message that a Safe signs",
    "SafeOp": "a user operation of a Safe (ERC-4337)",
    "UserOperation": "a user operation (ERC-4337)",
    "PackedUserOperation": "a user operation (ERC-4337)",
    "PermitForAll": "a permit for all tokens of a collection",
}
_TRANSFERS: Final = ("TransferWithAuthorization", "ReceiveWithAuthorization")


def describe_unjudged(primary_type: str, domain: Mapping[str, object], message: Mapping[str, object]) -> DecodedMessage:
    """Describe a message that `decode` cannot check. The title is empty if the kind of message is unknown."""
    name = domain.get("name")
    orders = [
        _read_order(kind, primary_type, message)
        for kind in _ORDER_KINDS
        if primary_type in kind.primary_types and name in kind.domains
    ]
    if orders:
        return next((order for order in orders if order.buys), orders[-1])
    contract = optional_address(domain.get("verifyingContract"))
    if primary_type in _TRANSFERS:
        amount, recipient = _number(message.get("value")), optional_address(message.get("to"))
        return DecodedMessage(
            _NAMED[primary_type],
            primary_type,
            owner=optional_address(message.get("from")),
            sells=((contract, amount),) if contract and amount is not None else (),
            recipients=(recipient,) if recipient else (),
            deadline_s=_number(message.get("validBefore")),
        )
    return DecodedMessage(_NAMED.get(primary_type, ""), primary_type)


def _read_order(kind: _OrderKind, primary_type: str, message: Mapping[str, object]) -> DecodedMessage:
    recipients = tuple(filter(None, map(optional_address, _find(message, kind.recipient))))
    return DecodedMessage(
        kind.title,
        primary_type,
        owner=next(filter(None, map(optional_address, _find(message, kind.owner))), None),
        sells=tuple(_amounts(message, *kind.sells)),
        buys=tuple(_amounts(message, *kind.buys)),
        recipients=tuple(dict.fromkeys(recipients)),
        deadline_s=next((each for each in map(_number, _find(message, kind.deadline)) if each is not None), None),
    )


def _amounts(message: Mapping[str, object], tokens: str, amounts: str) -> Iterator[tuple[str, int]]:
    for token, amount in zip(_find(message, tokens), _find(message, amounts), strict=False):
        address, number = optional_address(token), _number(amount)
        if address is not None and number is not None:
            yield address, number


def _find(value: object, path: str) -> Sequence[object]:
    """Return the values at a path (at most 32); none for an empty path."""
    found: list[object] = [value] if path else []
    for name in path.split("."):
        nested = [each.get(name) for each in found if isinstance(each, Mapping)]
        found = [entry for each in nested for entry in (each if isinstance(each, list) else [each])][:_MAX_ITEMS]
    return [each for each in found if each is not None]


def optional_address(value: object) -> str | None:
    """Return the canonical form of an EVM address, or None for any other value."""
    if isinstance(value, str):
        try:
            return parse_address(value, Kind.EVM)
        except InvalidInput:
            return None
    return None


def _number(value: object) -> int | None:
    try:
        return parse_quantity(value, "amount")
    except InvalidInput:
        return None
