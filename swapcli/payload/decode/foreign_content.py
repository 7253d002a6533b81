"""Find content in a document that could be signed but is not decoded, so that none of it goes unnoticed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import SELECTOR_CHARACTERS
from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidInput
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.decode.envelopes import RAW_NAMES, JsonPath
from swapcli.payload.decode.given_transaction import parse_calldata, shorten_places
from swapcli.payload.decode.raw_transactions import parse_raw
from swapcli.payload.decode.safe_methods import METHOD, VALUES
from swapcli.payload.decode.shell_forms import is_shell
from swapcli.payload.decode.transaction_fields import (
    AUTHORIZATION_NAMES,
    CALLDATA_NAMES,
    OPERATION_NAMES,
    SPENDER_NAMES,
    TO_NAMES,
    named,
    normalized,
    runs_foreign_code,
)
from swapcli.payload.evm import permit2_allowance, transactions

_MORE_CALLDATA_NAMES: Final = ("txdata", "calldatas")
_MORE_TO_NAMES: Final = ("txto", "txtarget")
"""Services' names for `to` in transactions that decode does not read."""
_CONTENT: Final = re.compile(r"\s*(?:0[xX][0-9a-fA-F]|[0-9])")
"""The beginning of calldata or of a felt; other text is for people."""
_ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}")
_BYTES: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F]{80,}")
"""The bytes of a transaction, which are longer than any hash."""
_APPROVED: Final = re.compile(r"^operator$|^(?!.*token).*(?:approv|allowance)")
"""The names of a spender in some services' responses."""
_FUNCTION_NAMES: Final = (
    "method", "methodname", "function", "functionname", "func", "fn", "entrypoint", "entrypointselector", "abi",
)  # fmt: skip
_ARGUMENT_NAMES: Final = ("args", "arguments", "params", "parameters", "inputs", "functionargs")
"""The names of the arguments for a call that a library encodes."""
_TYPED_NAMES: Final = ("primarytype",)
"""The names that mark a message inside a text."""
_DESCRIPTION: Final = "dataDecoded"
"""The description of the calldata next to it, in the responses of Safe's service."""
_LINK: Final = re.compile(
    r"\s*(?:(?:ethereum|starknet):(?:pay-)?0x[0-9a-f]+[@/?]|wc:[0-9a-f]+@|(?!(?:https?|wss?|ipfs|data):)[a-z][a-z0-9+.-]*://"
    r"|https?://\S*/(?:send|transfer)\b\S*0x)",
    re.IGNORECASE,
)
"""The beginning of a link that a wallet opens: a payment (EIP-681), a session, or the scheme of an application."""
_TAKES: Final = re.compile(
    r"\s*(?:approve|increaseAllowance|permit|transfer|transferFrom|setApprovalForAll|send)\s*(?:\(.*)?", re.DOTALL
)
"""Functions that give tokens away, in text form."""
_FILL_KEYS: Final = frozenset({"from", "to", "source", "proportionBps", "name", "tokenIn", "tokenOut"})
"""The fields of a step in an aggregator's route, in which `to` is a token."""
_APPROVALS: Final = (*transactions.ALLOWANCES, permit2_allowance.APPROVE)
_SHOWN_CHARACTERS: Final = 60  # of a path in a document


def find_foreign(
    document: object,
    read: Collection[JsonPath],
    openings: Mapping[JsonPath, str],
    contract: str | None,
    messages: Collection[JsonPath] = (),
) -> tuple[str, ...]:
    """Return a sentence for each object that is not decoded and could be signed, or could make a signature more
    dangerous.

    `read` are the paths of the decoded transactions, and `openings` the paths of the envelopes around them with the key
    that leads further. `messages` are the paths of messages, which are judged as a whole. `contract` is the contract
    that the payload calls: like Permit2, it may be the spender of an approval.
    """
    return shorten_places(list(dict.fromkeys(_walk(document, (), read, openings, contract, messages))))


def _walk(
    value: object,
    path: JsonPath,
    read: Collection[JsonPath],
    openings: Mapping[JsonPath, str],
    contract: str | None,
    messages: Collection[JsonPath],
) -> Iterator[str]:
    if isinstance(value, str) and path not in read:
        yield from _text(value, path, contract)
    if isinstance(value, list):
        yield from _positional_call(value, path)
        for number, each in enumerate(value):
            yield from _walk(each, (*path, number), read, openings, contract, messages)
    if not isinstance(value, Mapping) or path in messages:
        return
    followed = openings.get(path)
    if path in read:
        if names := list(_encoded_call(value)):
            yield f"{_shown(path)} also has the {_fields(names)}, which decode does not read"
    else:
        rest = {name: each for name, each in value.items() if name != followed}
        names = list(_signable(rest, contract))
        is_step = len(path) > 1 and "fills" in path and rest.keys() <= _FILL_KEYS
        if names and not is_step and path[-1:] != (_DESCRIPTION,):
            yield f"{_shown(path)} has the {_fields(names)}, which decode does not read"
        yield from _dangers(rest, path)
    for name, each in named(value, RAW_NAMES):
        if name != followed and isinstance(each, str) and _BYTES.fullmatch(each.strip()):
            yield f"{_shown((*path, name))} is a further transaction, which decode does not read"
    for name, each in value.items():
        yield from _text(name, (*path, name), contract)
        if path in read and _is_read(name, value):
            continue
        yield from _walk(each, (*path, name), read, openings, contract, messages)


def _is_read(name: str, transaction: Mapping[str, object]) -> bool:
    """Return whether a field of a decoded transaction contains its calldata, or its fully decoded method."""
    if isinstance(transaction[name], str) and normalized(name) in CALLDATA_NAMES:
        return True
    return name in (METHOD, VALUES) and isinstance(transaction.get(METHOD), Mapping)


def _text(text: str, path: JsonPath, contract: str | None) -> Iterator[str]:
    """Yield the signable content of a text: a link, a transaction or an approval, commands, or JSON."""
    if _LINK.match(text):
        yield f"{_shown(path)} is a link that a wallet opens, which decode does not read"
    stripped = text.strip()
    if _BYTES.fullmatch(stripped) and len(stripped) % 2 == 0:
        calldata = parse_calldata(stripped)
        if calldata[2:SELECTOR_CHARACTERS] in _APPROVALS:
            yield f"{_shown(path)} is an approval, which decode does not read"
        elif parse_raw(calldata) is not None:
            yield f"{_shown(path)} is a further transaction, which decode does not read"
    if is_shell(text):
        yield f"{_shown(path)} is shell text, which decode does not read here"
    if stripped[:1] not in ("{", "[", '"'):
        return
    try:
        content = parse_json(text.encode(errors="replace"), "the text")
    except InvalidInput:
        if _BYTES.search(text) or _ADDRESS.search(text):
            yield f"{_shown(path)} has an address or calldata in a form that decode does not read"
        return
    yield from _walk(content, path, (), {}, contract, ())


def _positional_call(entries: list[object], path: JsonPath) -> Iterator[str]:
    texts = [each for each in entries if isinstance(each, str)]
    if any(map(_TAKES.fullmatch, texts)) and any(map(_ADDRESS.fullmatch, texts)):
        yield f"{_shown(path)} is a call to encode, which decode does not read"


def _signable(entry: Mapping[str, object], contract: str | None) -> Iterator[str]:
    """Yield the field names that belong to a transaction or an approval."""
    for name, value in named(entry, (*CALLDATA_NAMES, *_MORE_CALLDATA_NAMES)):
        contents = value if isinstance(value, list) else [value]
        if contents and all(
            (isinstance(each, str) and _CONTENT.match(each)) or (isinstance(each, int) and each is not True)
            for each in contents
        ):
            yield name
    for name, value in named(entry, (*TO_NAMES, *_MORE_TO_NAMES)):
        if isinstance(value, str) and value.strip():
            yield name
    own = {PERMIT2, (contract or "").lower()}
    for name, value in named(entry, SPENDER_NAMES):
        if not isinstance(value, str) or value.strip().lower() not in own:
            yield name
    for name, value in entry.items():
        if _APPROVED.search(normalized(name)) and not own | {ZERO_ADDRESS} >= set(_addresses(value)):
            yield name
    yield from (name for name, value in named(entry, _TYPED_NAMES) if value)
    yield from _encoded_call(entry)


def _addresses(value: object) -> Iterator[str]:
    """Yield the addresses in a text or a list of texts."""
    if isinstance(value, str):
        yield from (found.lower() for found in _ADDRESS.findall(value))
    for each in value if isinstance(value, list) else ():
        yield from _addresses(each)


def _encoded_call(entry: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of a function and of its arguments, which a library would encode."""
    functions = [name for name, value in named(entry, _FUNCTION_NAMES) if value]
    arguments = [name for name, value in named(entry, _ARGUMENT_NAMES) if isinstance(value, list | Mapping) and value]
    if functions and arguments:
        yield from (functions[0], arguments[0])


def _dangers(entry: Mapping[str, object], path: JsonPath) -> Iterator[str]:
    for name, value in named(entry, OPERATION_NAMES):
        if runs_foreign_code(value):
            yield f"{_shown((*path, name))} is a delegate call: foreign code would run as the account itself"
    for name, value in named(entry, AUTHORIZATION_NAMES):
        if isinstance(value, list | Mapping) and value:
            yield f"{_shown((*path, name))} lets contracts act as the sender's account"


def _fields(names: Sequence[str]) -> str:
    return f"field{'s' if len(names) > 1 else ''} {' and '.join(names)}"


def _shown(path: JsonPath) -> str:
    if not path:
        return "the document"
    text = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
    return printable(truncate(text.removeprefix("."), _SHOWN_CHARACTERS))
