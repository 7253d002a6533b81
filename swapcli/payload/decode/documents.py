"""What a user gives to be decoded: calldata, felts, transactions in the forms of wallets and nodes, our own documents.

A document that carries several transactions is read whole: the last call of a router among them is the payload, and the
others are compared with what that payload needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeVar

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import describe
from swapcli.payload.decode.given_transaction import HINT, MAX_BYTES, GivenTransaction, parse_calldata
from swapcli.payload.decode.quantities import parse_chain_id, parse_quantity
from swapcli.payload.evm.decoding.decode import DECODERS
from swapcli.payload.starknet.decode_felts import parse_felts

_MAX_TRANSACTIONS: Final = 256
_SELECTOR_CHARACTERS: Final = 10
_WORD_CHARACTERS: Final = 66
"""Of a word or a felt in hex with 0x."""
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_SENDING_METHODS: Final = (
    "eth_sendTransaction", "eth_signTransaction", "wallet_sendTransaction", "wallet_sendCalls",
    "wallet_addInvokeTransaction",
)  # fmt: skip
_DELEGATE_CALL: Final = 1
"""The `operation` of a Safe's transaction that runs foreign code as the Safe itself."""


class PayloadInput(NamedTuple):
    """A payload, and what came with it.

    `payload` is the transaction to decode, `network` the name or chain id of its network. `listed` are all transactions
    of a document that lists them, in order, and `position` is that of the payload among them. `document` is the JSON
    object that has the payload itself, `chain_ids` are all that it names. `messages` are those to
    sign that the document has beside its transactions.
    """

    payload: GivenTransaction
    network: str | None = None
    listed: tuple[GivenTransaction, ...] = ()
    position: int | None = None
    document: Mapping[str, object] = MappingProxyType({})
    chain_ids: tuple[int, ...] = ()
    messages: tuple[GivenTransaction, ...] = ()


def parse_payload(text: str) -> PayloadInput:
    """Parse what a user gives. Raises `InvalidInput`."""
    stripped = text.strip()
    if not stripped:
        raise InvalidInput("no calldata given", hint=HINT)
    if len(stripped) > MAX_BYTES * 4:
        raise InvalidInput("this is more calldata than any transaction can have", hint=HINT)
    if stripped[0] in "{[":
        return _parse_json(stripped)
    from swapcli.payload.decode.printed_forms import is_printed, parse_printed
    from swapcli.payload.decode.shell_forms import is_cast, is_shell, parse_cast, parse_shell

    if is_cast(stripped):
        sent, network = parse_cast(stripped)
        return _from_list(sent, network)
    if is_shell(stripped):
        assigned, network, document = parse_shell(stripped)
        return _from_list(assigned, network)._replace(document=document)
    if is_printed(stripped):
        return _from_list(*parse_printed(stripped))
    unwrapped = _join_lines(stripped)
    if unwrapped is None and (felts := parse_felts(stripped)) is not None:
        return PayloadInput(GivenTransaction(felts=felts))
    return PayloadInput(GivenTransaction(parse_calldata(unwrapped or stripped)))


def _join_lines(text: str) -> str | None:
    """Return calldata that was wrapped over lines as one word; None if the text may as well be a list of felts."""
    lines = text.split()
    if len(lines) < 2 or "," in text:
        return None
    first = lines[0][2:] if lines[0][:2] in ("0x", "0X") else lines[0]
    if not all(_HEX.fullmatch(line) for line in (first, *lines[1:])):
        return None
    digits = first + "".join(lines[1:])
    begins_with_call = digits[: _SELECTOR_CHARACTERS - 2].lower() in DECODERS
    # Felts are short, and only a call begins with 0x and goes on without.
    is_long = lines[0] != first and any(len(line) > _WORD_CHARACTERS for line in lines)
    return f"0x{digits}" if begins_with_call or is_long else None


# --- JSON


def _parse_json(text: str) -> PayloadInput:
    documents = _load(text)
    if len(documents) > 1:
        return _from_objects(documents)
    (document,) = documents
    if isinstance(document, list):
        if document and all(isinstance(entry, Mapping) for entry in document):
            return _from_objects(document)
        felts = parse_felts(text)
        if felts is None:
            raise InvalidInput("this is not a list of felts or transactions", hint=HINT)
        return PayloadInput(GivenTransaction(felts=felts))
    found = _object(document, "the document")
    if (message := _parse_message(found)) is not None:
        return PayloadInput(message, chain_ids=_chain_ids(message))
    return _with_messages(_from_object(found), _nested_messages(found))


def _with_messages(parsed: PayloadInput, messages: Iterable[GivenTransaction]) -> PayloadInput:
    messages = tuple(messages)
    chain_ids = (*parsed.chain_ids, *(chain_id for each in messages for chain_id in _chain_ids(each)))
    return parsed._replace(messages=messages, chain_ids=tuple(dict.fromkeys(chain_ids)))


def _nested_messages(document: object) -> Iterator[GivenTransaction]:
    """Yield the messages to sign inside a document, as aggregators have them beside their transaction."""
    values = document.values() if isinstance(document, Mapping) else document if isinstance(document, list) else ()
    for value in values:
        message = _parse_message(value) if isinstance(value, Mapping) else None
        if message is not None:
            yield message
        else:
            yield from _nested_messages(value)


def _parse_message(document: Mapping[str, object]) -> GivenTransaction | None:
    """Return the message to sign that a document has; None if it has none."""
    from swapcli.payload.decode.message_requests import find_message

    request = find_message(document)
    if request is None:
        return None
    from swapcli.payload.decode.typed_messages import parse_message

    return parse_message(request)


def _load(text: str) -> Sequence[object]:
    """Return the JSON documents of a text: one, or one a line. Raises `InvalidInput`, including for repeated keys."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        if len(lines) > 1 and all(line.strip()[0] == "{" and line.strip()[-1] == "}" for line in lines):
            return [_load_one(line) for line in lines]
        return [_load_one(text)]
    except InvalidInput as error:
        error.hint = HINT
        raise


def _load_one(text: str) -> object:
    return parse_json(text.encode(errors="replace"), "the document")


def _from_objects(entries: Sequence[object]) -> PayloadInput:
    """Parse a list of transactions and messages, or of the answers of a node that have one transaction each."""
    objects = [_object(entry, f"[{number}]") for number, entry in enumerate(entries)]
    listed: list[GivenTransaction] = []
    nested: list[GivenTransaction] = []
    for number, each in enumerate(objects):
        message = _parse_message(each)
        listed.append(message or _parse_transaction(_unwrap(each), f"[{number}]"))
        nested += () if message else _nested_messages(each)
    return _with_messages(_from_list(listed), nested)


def _from_object(document: Mapping[str, object]) -> PayloadInput:
    document = _with_nested_calldata(_unwrap(document))
    listed = _find_list(document)
    network = _text_or_number(document, "network")
    own = _parse_transaction(document, "")
    if listed is None:
        if not own.has_content and own.to is None:
            raise InvalidInput("the JSON has no calldata or data", hint=HINT)
        return PayloadInput(own, network, document=document, chain_ids=_chain_ids(own))
    name, entries = listed
    parsed = [
        _parse_transaction(_object(entry, f"{name}[{number}]"), f"{name}[{number}].")
        for number, entry in enumerate(entries)
    ]
    found = _from_list(parsed, network)
    chain_ids = tuple(dict.fromkeys((*_chain_ids(own), *found.chain_ids)))
    if own.has_content:
        return found._replace(payload=own, document=document, chain_ids=chain_ids)
    if own.to is not None or own.value:
        raise InvalidInput(
            f"the document has {name} and also a transaction of its own, but that one has no calldata", hint=HINT
        )
    sender = found.payload.sender or own.sender or _safe_address(document)
    payload = found.payload._replace(sender=sender)
    return found._replace(payload=payload, document=document, chain_ids=chain_ids)


def _from_list(listed: Sequence[GivenTransaction], network: str | None = None) -> PayloadInput:
    """Return a list of transactions with its payload: the last call of a router, else the last transaction."""
    if not listed:
        raise InvalidInput("the document lists no transactions", hint=HINT)
    position = max((k for k, each in enumerate(listed) if each.calls_router), default=len(listed) - 1)
    if len(listed) == 1 and not listed[0].has_content and listed[0].to is None:
        raise InvalidInput("the transaction has no calldata or data", hint=HINT)
    chain_ids = tuple(dict.fromkeys(chain_id for each in listed for chain_id in _chain_ids(each)))
    return PayloadInput(listed[position], network, tuple(listed), position, chain_ids=chain_ids)


def _chain_ids(transaction: GivenTransaction) -> tuple[int, ...]:
    return () if transaction.chain_id is None else (transaction.chain_id,)


def _unwrap(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return the transaction in the answer of a node, or in a request to a wallet. Raises `InvalidInput`."""
    if document.get("method") in _SENDING_METHODS:
        params = document.get("params")
        if not isinstance(params, list) or len(params) != 1:
            raise InvalidInput("params: expected a list with one transaction", details={"field": "params"})
        return _object(params[0], "params[0]")
    if "jsonrpc" not in document and not isinstance(document.get("result"), Mapping):
        return document
    if document.get("error") is not None:
        raise InvalidInput("this is an error from a node, not a transaction", hint=HINT)
    if document.get("result") is None:
        raise InvalidInput(
            "the answer of the node has no transaction", hint="the node does not know it: check its hash and network"
        )
    return _object(document["result"], "result")


def _with_nested_calldata(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return a service's answer whose `calldata` is an object with the transactions as one object."""
    inner = document.get("calldata")
    if not isinstance(inner, Mapping) or "calldata" not in inner:
        return document
    outer = {"quote" if name == "route" else name: value for name, value in document.items()}
    return {**outer, **inner}


def _find_list(document: Mapping[str, object]) -> tuple[str, Sequence[object]] | None:
    """Return the list of transactions of a document, with its name. Raises `InvalidInput`."""
    found = _one(document, ("transactions", "calls"), "", lambda entries, _: entries)
    if found is None:
        return None
    name, entries = found
    if not isinstance(entries, list) or not 0 < len(entries) <= _MAX_TRANSACTIONS:
        raise InvalidInput(f"{name}: expected a list of 1 to {_MAX_TRANSACTIONS} transactions", details={"field": name})
    return name, entries


def _safe_address(document: Mapping[str, object]) -> str | None:
    """Return the Safe that a file of Safe's Transaction Builder was made for, None if it does not say."""
    meta = document.get("meta")
    found = meta.get("createdFromSafeAddress") if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) and found else None


# --- fields

_CALLDATA_NAMES: Final = ("calldata", "data", "input")
_TO_NAMES: Final = ("to", "contractaddress")
"""The second one is that of calls on Starknet."""
_ENTRYPOINT_NAMES: Final = ("entrypoint",)
_CHAIN_NAMES: Final = ("chainid",)
_GAS_NAMES: Final = ("gas", "gaslimit")
_PRICE_NAMES: Final = ("maxfeepergas", "gasprice")
"""A node gives the price that was paid as `gasPrice` beside the maximum."""
_SAFE_REFUND_NAMES: Final = ("refundreceiver", "gastoken", "basegas", "safetxgas")

_T = TypeVar("_T")


def _parse_transaction(entry: Mapping[str, object], path: str) -> GivenTransaction:
    """Parse a transaction; `path` is that of its fields. Raises `InvalidInput` for what cannot be read."""
    calldata, felts = _value(entry, _CALLDATA_NAMES, path, _parse_content) or ("0x", None)
    method = entry.get("contractMethod")
    if isinstance(method, Mapping) or (method is not None and calldata == "0x"):
        raise InvalidInput(
            f"{path}contractMethod: only calldata is decoded, and this names a method",
            hint="let the tool that wrote it encode the data, or leave contractMethod null",
            details={"field": f"{path}contractMethod"},
        )
    prices = [parse_quantity(value, f"{path}{name}") for name, value in _named(entry, _PRICE_NAMES)]
    return GivenTransaction(
        calldata,
        felts,
        to=_value(entry, _TO_NAMES, path, _parse_text),
        value=_value(entry, ("value",), path, parse_quantity),
        chain_id=_value(entry, _CHAIN_NAMES, path, parse_chain_id),
        sender=_value(entry, ("from",), path, _parse_text),
        nonce=_value(entry, ("nonce",), path, parse_quantity),
        gas=_value(entry, _GAS_NAMES, path, parse_quantity),
        max_fee_wei=max(prices, default=None),
        max_priority_fee_wei=_value(entry, ("maxpriorityfeepergas",), path, parse_quantity),
        entrypoint=_value(entry, _ENTRYPOINT_NAMES, path, _parse_text),
        oddities=tuple(_oddities(entry, path)),
        purpose=_value(entry, ("what",), path, _parse_text),
    )


def _named(entry: Mapping[str, object], names: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield the fields with one of these names that have a value, with their names as they are written.

    Case and underscores do not matter, as some libraries write `chain_id`, and others read `ChainID` as `chainId`.
    """
    for name, value in entry.items():
        if value is not None and name.replace("_", "").lower() in names:
            yield name, value


def _one(
    entry: Mapping[str, object], names: Sequence[str], path: str, parse: Callable[[object, str], _T]
) -> tuple[str, _T] | None:
    """Return the value of a field that has several names, with the name that it has; None without one.

    Raises `InvalidInput` if it has two names with two values.
    """
    found = [(name, parse(value, f"{path}{name}")) for name, value in _named(entry, names)]
    for name, value in found[1:]:
        if value != found[0][1]:
            raise InvalidInput(
                f"{path}{name}: {found[0][0]} and {name} mean the same and differ", details={"field": f"{path}{name}"}
            )
    return found[0] if found else None


def _value(
    entry: Mapping[str, object], names: Sequence[str], path: str, parse: Callable[[object, str], _T]
) -> _T | None:
    found = _one(entry, names, path, parse)
    return None if found is None else found[1]


def _parse_content(content: object, path: str) -> tuple[str, tuple[int, ...] | None]:
    """Parse calldata, or the felts of a call."""
    if isinstance(content, list):
        return "0x", parse_felts(json.dumps(content))
    if not isinstance(content, str):
        raise InvalidInput(f"{path}: expected calldata, not {describe(content)}", hint=HINT, details={"field": path})
    joined = "".join(content.split())
    return ("0x" if joined in ("", "0x", "0X") else parse_calldata(joined)), None


def _parse_text(value: object, path: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{path}: expected a text, not {describe(value)}", details={"field": path})
    return value.strip()


def _text_or_number(document: Mapping[str, object], name: str) -> str | None:
    value = document.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else _value(document, (name,), "", _parse_text)


def _oddities(entry: Mapping[str, object], path: str) -> Iterator[str]:
    """Yield what a transaction would do beside its call."""
    if any(value for _, value in _named(entry, ("authorizationlist",))):
        yield "the transaction also lets contracts act as the sender's account (authorizationList)"
    if _value(entry, ("operation",), path, parse_quantity) == _DELEGATE_CALL:
        yield "the Safe runs the called contract's code as its own (operation 1)"
    if any(parse_quantity(value, f"{path}{name}") for name, value in _named(entry, ("gasprice",))) and any(
        True for _ in _named(entry, _SAFE_REFUND_NAMES)
    ):
        yield "the Safe pays for the gas of the transaction (gasPrice), to an account that need not be its own"


def _object(value: object, path: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path}: expected an object, not {describe(value)}", hint=HINT, details={"field": path})
    return value
