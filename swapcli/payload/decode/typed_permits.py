"""Permits to sign (EIP-712): the messages that `swapcli calldata --permit` prints, and others of the same types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import DecodedApproval
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import parse_address
from swapcli.core.validation.values import describe
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.decode.quantities import parse_chain_id, parse_quantity
from swapcli.payload.evm.permit import PERMIT2_TYPES, TOKEN_TYPES

_METHODS: Final = ("eth_signTypedData_v4", "eth_signTypedData")
_DOMAIN: Final = "EIP712Domain"
_HINT: Final = "decode reads permits of tokens (EIP-2612) and of Permit2; sign no other message that you cannot read"


def find_typed_data(document: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the typed data of a document, also of a request to a wallet; None if it is no such document.

    Raises `InvalidInput`.
    """
    if document.get("method") in _METHODS:
        params = document.get("params")
        if not isinstance(params, list) or len(params) != 2:
            raise InvalidInput("params: expected an address and typed data", details={"field": "params"})
        found = parse_json(params[1].encode(), "the typed data") if isinstance(params[1], str) else params[1]
        return _object(found, "params[1]")
    return document if {"types", "primaryType", "domain", "message"} <= document.keys() else None


def parse_permit(typed: Mapping[str, object]) -> GivenTransaction:
    """Parse typed data as the permit that it is. Raises `InvalidInput` for any other message."""
    name = typed.get("primaryType")
    domain, message = _object(typed.get("domain"), "domain"), _object(typed.get("message"), "message")
    expected: Mapping[str, Any] = {"Permit": TOKEN_TYPES, "PermitSingle": PERMIT2_TYPES}.get(str(name), {})
    if not expected or _structs(typed) != expected:
        raise InvalidInput(f"decode cannot read the message {str(name)[:40]}", hint=_HINT)
    given = GivenTransaction(
        to=_address(domain, "verifyingContract", "domain"),
        chain_id=parse_chain_id(_field(domain, "chainId", "domain"), "domain.chainId"),
    )
    _require_fields(message, expected[str(name)], "message")
    spender = _address(message, "spender", "message")
    if name == "Permit":
        amount, deadline_s = (_number(message, each, "message") for each in ("value", "deadline"))
        permit = DecodedApproval(None, spender, amount, deadline_s=deadline_s)
        return given._replace(sender=_address(message, "owner", "message"), permit=permit)
    details = _object(message["details"], "message.details")
    _require_fields(details, expected["PermitDetails"], "message.details")
    token = _address(details, "token", "message.details")
    amount, expiration_s = (_number(details, each, "message.details") for each in ("amount", "expiration"))
    deadline_s = _number(message, "sigDeadline", "message")
    return given._replace(permit=DecodedApproval(token, spender, amount, expiration_s, deadline_s))


def _structs(typed: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Return the types of the fields of each struct but the domain's, by name."""
    types = _object(typed.get("types"), "types")
    structs: dict[str, dict[str, str]] = {}
    for name, fields in types.items():
        if name == _DOMAIN:
            continue
        if not isinstance(fields, list):
            raise InvalidInput(f"types.{name}: expected a list of fields", details={"field": f"types.{name}"})
        entries = [_object(field, f"types.{name}[{number}]") for number, field in enumerate(fields)]
        structs[name] = {str(each.get("name")): str(each.get("type")) for each in entries}
    return structs


def _require_fields(values: Mapping[str, object], types: Mapping[str, str], path: str) -> None:
    if values.keys() != types.keys():
        raise InvalidInput(f"{path}: the fields are not those of its type", details={"field": path})


def _field(values: Mapping[str, object], name: str, path: str) -> object:
    if values.get(name) is None:
        raise InvalidInput(f"{path}.{name}: missing", details={"field": f"{path}.{name}"})
    return values[name]


def _number(values: Mapping[str, object], name: str, path: str) -> int:
    return parse_quantity(_field(values, name, path), f"{path}.{name}")


def _address(values: Mapping[str, object], name: str, path: str) -> str:
    value = _field(values, name, path)
    if not isinstance(value, str):
        raise InvalidInput(f"{path}.{name}: expected an address", details={"field": f"{path}.{name}"})
    return parse_address(value, Kind.EVM)


def _object(value: object, path: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path}: expected an object, not {describe(value)}", details={"field": path})
    return value
