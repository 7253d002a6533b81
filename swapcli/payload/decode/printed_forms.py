"""Read transactions in the form that `swapcli calldata` and `swapcli execute` print for people, plain or as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from swapcli.core.errors import InvalidInput
from swapcli.core.model.units import GWEI_DECIMALS
from swapcli.payload.decode.given_transaction import GivenTransaction, parse_calldata, shorten_places
from swapcli.payload.decode.quantities import parse_quantity
from swapcli.payload.starknet.decode_felts import parse_felts

_FIELD: Final = re.compile(r"(to|entrypoint|value|nonce|gas|max fee|priority fee|calldata)(?:\s+(\S.*))?")
_GWEI: Final = re.compile(rf"([0-9,]{{1,99}})(?:\.([0-9]{{1,{GWEI_DECIMALS}}}))? gwei")
_TO: Final = re.compile(r"^to\s+0x[0-9a-fA-F]+\s*$", re.MULTILINE)
_CALLDATA: Final = re.compile(r"^calldata(\s|$)", re.MULTILINE)
_TITLE: Final = re.compile(r"^.+ → .+ on ([A-Za-z0-9_-]+)(?:\s{2,}.*)?$", re.MULTILINE)
_BYTES: Final = re.compile(r"0[xX][0-9a-fA-F]{65,}")
"""The minimum length of bytes: more than an ID or a hash has."""
_SHORTENED: Final = "…"


def is_printed(text: str) -> bool:
    """Return whether a text has a transaction in the form that the commands print."""
    return _TO.search(text) is not None and _CALLDATA.search(text) is not None


def parse_printed(text: str) -> tuple[list[GivenTransaction], str | None, tuple[str, ...]]:
    """Parse the transactions in a text, the network that its title names (if any), and its other content.

    Raises `InvalidInput`.
    """
    title = _TITLE.search(text)
    transactions = [_transaction(fields) for fields in _blocks(text)]
    known = {each.calldata for each in transactions}
    oddities = [
        f"line {number} has content that the commands never print"
        for number, line in enumerate(text.splitlines(), start=1)
        if line.lstrip()[:1] in ("{", "[") or any(each.lower() not in known for each in _BYTES.findall(line))
    ]
    return transactions, title[1] if title else None, shorten_places(oddities)


def _blocks(text: str) -> Iterator[Mapping[str, str]]:
    """Yield the fields of each transaction, which begins with its contract and ends with its calldata."""
    fields: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        found = _FIELD.fullmatch(line.strip())
        if found is None:
            continue
        name, value = found[1], (found[2] or "").strip()
        if name == "calldata":
            yield {**fields, name: value or next(lines, "").strip()}
            fields = {}
        elif name in fields:
            raise InvalidInput(f"a transaction has {name} twice, or no calldata")
        elif value and (fields or name == "to"):
            fields[name] = value
    if fields:
        raise InvalidInput("the last transaction has no calldata", hint="give the command's whole output")


def _transaction(fields: Mapping[str, str]) -> GivenTransaction:
    missing = [name for name in ("to", "value", "calldata") if not fields.get(name)]
    if missing:
        raise InvalidInput(f"a transaction has no {missing[0]}", hint="give the command's whole output")
    content = fields["calldata"]
    if _SHORTENED in content:
        raise InvalidInput("the calldata was shortened", hint="print it with -v, or as JSON with --json")
    felts = parse_felts(content) if "entrypoint" in fields else None

    def quantity(name: str) -> int | None:
        return parse_quantity(fields[name], name) if name in fields else None

    def fee_wei(name: str) -> int | None:
        gwei = _GWEI.fullmatch(fields.get(name, ""))
        if gwei is None:
            return quantity(name)
        return int(gwei[1].replace(",", "") + (gwei[2] or "").ljust(GWEI_DECIMALS, "0"))

    return GivenTransaction(
        "0x" if felts is not None else parse_calldata(content),
        felts,
        to=fields["to"],
        value=quantity("value"),
        nonce=quantity("nonce"),
        gas=quantity("gas"),
        max_fee_wei=fee_wei("max fee"),
        max_priority_fee_wei=fee_wei("priority fee"),
        entrypoint=fields.get("entrypoint"),
    )
