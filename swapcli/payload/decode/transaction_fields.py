"""The fields of a transaction in JSON, under the names used by wallets, nodes and libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import describe
from swapcli.payload.decode.given_transaction import (
    AUTHORIZES_CONTRACTS,
    HINT,
    REFUNDS_GAS,
    RUNS_AS_SAFE,
    GivenTransaction,
    parse_calldata,
)
from swapcli.payload.decode.quantities import find_chain_id, parse_chain_id, parse_quantity
from swapcli.payload.decode.safe_methods import METHOD, VALUES, encode_method
from swapcli.payload.starknet.account_transactions import entrypoint_name
from swapcli.payload.starknet.decode_felts import parse_felts

CALLDATA_NAMES: Final = ("calldata", "data", "input")
TO_NAMES: Final = ("to", "contractaddress")
"""The names of the called contract; calls on Starknet use the second one."""
SPENDER_NAMES: Final = ("spender", "spenders")
OPERATION_NAMES: Final = ("operation",)
AUTHORIZATION_NAMES: Final = ("authorizationlist", "authorizations", "authorization")

_ENTRYPOINT_NAMES: Final = ("entrypoint", "entrypointselector", "selector")
_SENDER_NAMES: Final = ("from", "account", "senderaddress")
"""The names of the sender; viem uses the second one, Starknet the third."""
_CHAIN_ID_NAMES: Final = ("chainid",)
_CHAIN_NAMES: Final = ("chain", "networkid", "caip2", "network")
_GAS_NAMES: Final = ("gas", "gaslimit")
_PRICE_NAMES: Final = ("maxfeepergas", "gasprice")
"""The names of the gas price. A node returns the price that was paid as `gasPrice`, next to the maximum."""
_TOTAL_FEE_NAMES: Final = ("maxfee",)
_RESOURCE_NAMES: Final = ("resourcebounds",)
"""The names of a Starknet account's resources: the fee of a whole transaction, and the bounds of each resource."""
_SAFE_REFUND_NAMES: Final = ("refundreceiver", "gastoken", "basegas", "safetxgas")
_SENT_NAMES: Final = (*_SENDER_NAMES, "nonce", *_GAS_NAMES, *_PRICE_NAMES, "maxpriorityfeepergas", "accesslist")
"""Fields that only a whole transaction has."""
_SIGNED_NAMES: Final = (*_SENT_NAMES, "type", *_CHAIN_ID_NAMES)
"""Fields that make an object with `data` or `input` a whole transaction."""
_USER_OPERATION_NAMES: Final = ("initcode", "callgaslimit", "verificationgaslimit", "paymasteranddata", "factorydata")
_DELEGATE_CALL: Final = 1
"""The `operation` of a Safe transaction that runs foreign code as the Safe itself."""
_AUTHORIZING_TYPES: Final = ("4", "0x4", "0x04", "eip7702")
_NO_CONTRACT: Final = ("", "0x", "0X")
"""The values that some libraries write if the transaction deploys a contract."""

_T = TypeVar("_T")


class Chains(NamedTuple):
    """The chains that an object names, by ID and by name."""

    ids: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def __or__(self, other: Chains) -> Chains:
        """Return the chains of both."""
        return Chains(tuple(dict.fromkeys((*self.ids, *other.ids))), tuple(dict.fromkeys((*self.names, *other.names))))


def parse_transaction(entry: Mapping[str, object], path: str, *, is_sent: bool = False) -> GivenTransaction:
    """Parse a transaction; `path` is the path of its fields. Raises `InvalidInput` for content that cannot be read.

    `is_sent` means that a wallet would sign this object unchanged; otherwise its fields show whether it is more than
    calldata.
    """
    found = one_of(entry, CALLDATA_NAMES, path, _parse_content)
    calldata, felts = found[1] if found else ("0x", None)
    if entry.get(METHOD) is not None:
        calldata = _calldata_of_method(entry, calldata, path)
    prices = [parse_quantity(value, f"{path}{name}") for name, value in named(entry, _PRICE_NAMES)]
    to = _value(entry, TO_NAMES, path, _parse_contract) or None
    # Documents may have a chain and a type next to `calldata`; next to `data` or `input`, only transactions have them.
    names = _SENT_NAMES if found is None or normalized(found[0]) == "calldata" else _SIGNED_NAMES
    is_whole = is_sent or to is not None or any(True for _ in named(entry, names))
    value = _value(entry, ("value",), path, parse_quantity)
    return GivenTransaction(
        calldata,
        felts,
        to=to,
        value=0 if value is None and is_whole and felts is None else value,
        chain_id=_value(entry, _CHAIN_ID_NAMES, path, parse_chain_id),
        sender=find_sender(entry, path),
        nonce=_value(entry, ("nonce",), path, parse_quantity),
        gas=_value(entry, _GAS_NAMES, path, parse_quantity),
        max_fee_wei=max(prices, default=None),
        max_priority_fee_wei=_value(entry, ("maxpriorityfeepergas",), path, parse_quantity),
        entrypoint=_value(entry, _ENTRYPOINT_NAMES, path, _parse_entrypoint),
        oddities=tuple(_oddities(entry, path)),
        purpose=_value(entry, ("what",), path, parse_text),
        is_whole=is_whole,
        max_total_fee_fri=_resource_fee(entry, path),
        max_total_fee_wei=_value(entry, _TOTAL_FEE_NAMES, path, parse_quantity),
    )


def _calldata_of_method(entry: Mapping[str, object], calldata: str, path: str) -> str:
    """Return the calldata of a transaction that names a method; Safe's Transaction Builder prefers the data.

    Raises `InvalidInput` if the data does not match the method.
    """
    encoded = encode_method(entry[METHOD], entry.get(VALUES), path)
    if calldata not in ("0x", encoded):
        raise InvalidInput(
            f"{path}{METHOD}: the data does not call this method with these inputs",
            details={"field": f"{path}{METHOD}"},
        )
    return encoded


def _resource_fee(entry: Mapping[str, object], path: str) -> int | None:
    """Return the most that a Starknet account pays for its resources and the tip, or None if it is not given."""
    total, units, is_known = 0, 0, False
    for name, bounds in named(entry, _RESOURCE_NAMES):
        for resource, each in parse_object(bounds, f"{path}{name}").items():
            place = f"{path}{name}.{resource}."
            bound = parse_object(each, place.removesuffix("."))
            amount = _value(bound, ("maxamount",), place, parse_quantity) or 0
            total += amount * (_value(bound, ("maxpriceperunit",), place, parse_quantity) or 0)
            units, is_known = max(units, amount), True
    if not is_known:
        return None
    return total + units * (_value(entry, ("tip",), path, parse_quantity) or 0)


def find_sender(entry: Mapping[str, object], path: str) -> str | None:
    """Return the sender named in an object. Raises `InvalidInput` if it names two different senders."""
    return _value(entry, _SENDER_NAMES, path, _parse_sender)


def find_chains(entry: Mapping[str, object], path: str) -> Chains:
    """Return the chains that an object names, in any form used by wallets and libraries. Raises `InvalidInput`."""
    chain_id = _value(entry, _CHAIN_ID_NAMES, path, parse_chain_id)
    ids, names = [] if chain_id is None else [chain_id], []
    for value in (_chain_of(each) for _, each in named(entry, _CHAIN_NAMES)):
        found = find_chain_id(value)
        if found is not None:
            ids.append(found)
        elif isinstance(value, str) and value.strip():
            names.append(value.strip())
    return Chains(tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(names)))


def _chain_of(value: object) -> object:
    """Return the ID of a chain given as an object, or its name if it has no ID."""
    if not isinstance(value, Mapping):
        return value
    found = next((each for name, each in value.items() if normalized(name) in ("id", "chainid")), None)
    return value.get("name") if found is None else found


def normalized(name: str) -> str:
    """Return the letters and digits of a field's name, in lower case.

    Some libraries write `chain_id`, and others read `ChainID` as `chainId`. Hidden characters do not change a name.
    """
    return "".join(character for character in name.lower() if character.isascii() and character.isalnum())


def named(entry: Mapping[str, object], names: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield each field that has a value and whose normalized name is in `names`, with its name as written."""
    for name, value in entry.items():
        if value is not None and normalized(name) in names:
            yield name, value


def one_of(
    entry: Mapping[str, object], names: Sequence[str], path: str, parse: Callable[[object, str], _T]
) -> tuple[str, _T] | None:
    """Return the name and the value of a field that may have any of `names`, or None if the field is absent.

    Raises `InvalidInput` if two of the names have different values.
    """
    found = [(name, parse(value, f"{path}{name}")) for name, value in named(entry, names)]
    for name, value in found[1:]:
        if value != found[0][1]:
            raise InvalidInput(
                f"{path}{name}: {found[0][0]} and {name} mean the same but differ", details={"field": f"{path}{name}"}
            )
    return found[0] if found else None


def parse_object(value: object, path: str) -> Mapping[str, object]:
    """Return `value` as a JSON object. Raises `InvalidInput` for anything else."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path}: expected an object, not {describe(value)}", hint=HINT, details={"field": path})
    return value


def parse_text(value: object, path: str) -> str:
    """Return `value` as a non-empty text, stripped. Raises `InvalidInput` for anything else."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{path}: expected a text, not {describe(value)}", details={"field": path})
    return value.strip()


def runs_foreign_code(operation: object) -> bool:
    """Return whether the `operation` of a Safe transaction is a delegate call."""
    if isinstance(operation, str) and "delegate" in operation.lower():
        return True
    if operation is True:
        return True
    try:
        return parse_quantity(operation, "operation") == _DELEGATE_CALL
    except InvalidInput:
        return False


def _value(
    entry: Mapping[str, object], names: Sequence[str], path: str, parse: Callable[[object, str], _T]
) -> _T | None:
    found = one_of(entry, names, path, parse)
    return None if found is None else found[1]


def _parse_content(content: object, path: str) -> tuple[str, tuple[int, ...] | None]:
    """Parse calldata, or the felts of a call."""
    if isinstance(content, list):
        return "0x", parse_felts(json.dumps(content))
    if not isinstance(content, str):
        raise InvalidInput(f"{path}: expected calldata, not {describe(content)}", hint=HINT, details={"field": path})
    joined = "".join(content.split())
    return ("0x" if joined in _NO_CONTRACT else parse_calldata(joined)), None


def _parse_contract(value: object, path: str) -> str:
    """Return the called contract; empty if there is none."""
    return "" if isinstance(value, str) and value.strip() in _NO_CONTRACT else parse_text(value, path)


def _parse_sender(value: object, path: str) -> str:
    return parse_text(value.get("address") if isinstance(value, Mapping) else value, path)


def _parse_entrypoint(value: object, path: str) -> str:
    return entrypoint_name(parse_text(value, path))


def _oddities(entry: Mapping[str, object], path: str) -> Iterator[str]:
    """Yield a sentence for each effect of a transaction besides its call."""
    types = [str(value).lower() for _, value in named(entry, ("type",))]
    if any(value for _, value in named(entry, AUTHORIZATION_NAMES)) or any(
        each in _AUTHORIZING_TYPES for each in types
    ):
        yield AUTHORIZES_CONTRACTS
    for name, operation in named(entry, OPERATION_NAMES):
        if not isinstance(operation, str) or operation[:1].isdigit():
            parse_quantity(int(operation) if isinstance(operation, bool) else operation, f"{path}{name}")
        if runs_foreign_code(operation):
            yield RUNS_AS_SAFE
    if any(parse_quantity(value, f"{path}{name}") for name, value in named(entry, ("gasprice",))) and any(
        True for _ in named(entry, _SAFE_REFUND_NAMES)
    ):
        yield REFUNDS_GAS
    if any(True for _ in named(entry, _USER_OPERATION_NAMES)):
        yield "this is an operation of a smart account (ERC-4337), and decode does not read its other fields"
    if any(value for _, value in named(entry, ("accountdeploymentdata",))):
        yield "the transaction also deploys the account (account_deployment_data)"
