"""Find content of a document that could be signed but is not decoded, so that none of it goes unread."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.decode.envelopes import RAW_NAMES, JsonPath
from swapcli.payload.decode.given_transaction import shorten_places
from swapcli.payload.decode.transaction_fields import (
    AUTHORIZATION_NAMES,
    CALLDATA_NAMES,
    OPERATION_NAMES,
    SPENDER_NAMES,
    TO_NAMES,
    named,
    runs_foreign_code,
)

_MORE_CALLDATA_NAMES: Final = ("txdata", "calldatas")
_MORE_TO_NAMES: Final = ("txto", "txtarget")
"""Names of services whose transactions decode does not read."""
_CONTENT: Final = re.compile(r"\s*(?:0[xX][0-9a-fA-F]|[0-9])")
"""The beginning of calldata or a felt; other text is for people."""
_BYTES: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F]{80,}")
"""The bytes of a transaction, which is longer than any hash."""
_FILL_KEYS: Final = frozenset({"from", "to", "source", "proportionBps", "name", "tokenIn", "tokenOut"})
"""The fields of a step in an aggregator's route, where `to` is a token."""
_SHOWN_CHARACTERS: Final = 60


def find_foreign(
    document: object,
    read: Collection[JsonPath],
    openings: Mapping[JsonPath, str],
    contract: str | None,
    messages: Collection[JsonPath] = (),
) -> tuple[str, ...]:
    """Return a sentence for each object that could be signed, or make a signature worse, and is not decoded.

    `read` are the paths of the decoded transactions, and `openings` those of the envelopes around them with the key
    that leads on. `messages` are the paths of messages, which are judged whole. `contract` is what the payload calls:
    it may be the spender of an approval, as may Permit2.
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
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _walk(each, (*path, number), read, openings, contract, messages)
    if not isinstance(value, Mapping) or path in messages:
        return
    followed = openings.get(path)
    if path not in read:
        rest = {name: each for name, each in value.items() if name != followed}
        names = list(_signable(rest, contract))
        if names and not (len(path) > 1 and "fills" in path and rest.keys() <= _FILL_KEYS):
            yield f"{_shown(path)} has the {_fields(names)}, which decode does not read"
        yield from _dangers(rest, path)
    for name, each in named(value, RAW_NAMES):
        if name != followed and isinstance(each, str) and _BYTES.fullmatch(each.strip()):
            yield f"{_shown((*path, name))} is another transaction, which decode does not read"
    for name, each in value.items():
        yield from _walk(each, (*path, name), read, openings, contract, messages)


def _signable(entry: Mapping[str, object], contract: str | None) -> Iterator[str]:
    """Yield the names of the fields that a transaction or an approval has."""
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
