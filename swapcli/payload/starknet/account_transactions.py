"""The calls inside a Starknet account's transaction: the arguments of its `__execute__`.

Accounts in Cairo 1 take `Array<Call>`: the number of calls, then for each its contract, its selector, the number of its
felts and the felts. Accounts in Cairo 0 take a table of calls (contract, selector, offset, number), then the number of
all calls' felts and the felts. The nonce that followed them in version 0 transactions is not read: the network no
longer accepts such transactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.errors import InvalidInput
from swapcli.core.model.transaction import Transaction
from swapcli.payload.starknet.account_calls import APPROVE, SWAP
from swapcli.payload.starknet.felts import (
    APPROVE_SELECTOR,
    SWAP_SELECTOR,
    address_of_felt,
    felt_of_address,
    from_felt_text,
)

_NAMES: Final = {SWAP_SELECTOR: SWAP, APPROVE_SELECTOR: APPROVE}
_SELECTORS: Final = {name: selector for selector, name in _NAMES.items()}
_MAX_CALLS: Final = 256  # a bound against hostile input; chosen
_CALL_FELTS: Final = 3  # to, selector, length
_TABLE_FELTS: Final = 4  # to, selector, offset, length


def entrypoint_name(text: str) -> str:
    """Return the name of an entry point given by its name or selector; an unknown selector is returned unchanged."""
    try:
        return _NAMES.get(from_felt_text(text), text)
    except InvalidInput:
        return text


def serialise_account_calls(calls: Sequence[Transaction]) -> tuple[int, ...]:
    """Return the arguments of a Cairo 1 account's `__execute__` for `calls` of `swap` and `approve`."""
    felts = [len(calls)]
    for call in calls:
        felts += (felt_of_address(call.to), _SELECTORS[call.entrypoint or SWAP], len(call.felts), *call.felts)
    return tuple(felts)


def parse_account_calls(felts: Sequence[int]) -> tuple[Transaction, ...]:
    """Return the calls that an account executes, from the arguments of its `__execute__`.

    Raises `InvalidInput` for felts that do not completely match either encoding, or that match both with different
    calls.
    """
    found = {calls for parse in (_parse_array, _parse_table) if (calls := parse(felts)) is not None}
    if len(found) != 1:
        problem = "valid as two different lists of calls" if found else "not only calls of an account"
        raise InvalidInput(f"calldata: {problem}", details={"field": "calldata"})
    return found.pop()


def _parse_array(felts: Sequence[int]) -> tuple[Transaction, ...] | None:
    """Parse the encoding of Cairo 1. Return None if the felts do not match it."""
    if not felts or not 0 < felts[0] <= _MAX_CALLS:
        return None
    calls, at = [], 1
    for _ in range(felts[0]):
        head = felts[at : at + _CALL_FELTS]
        if len(head) < _CALL_FELTS or head[2] > len(felts) - at - _CALL_FELTS:
            return None
        at += _CALL_FELTS + head[2]
        calls.append((head[0], head[1], felts[at - head[2] : at]))
    return _transactions(calls) if at == len(felts) else None


def _parse_table(felts: Sequence[int]) -> tuple[Transaction, ...] | None:
    """Parse the encoding of Cairo 0. Return None if the felts do not match it."""
    if not felts or not 0 < felts[0] <= _MAX_CALLS:
        return None
    end = 1 + felts[0] * _TABLE_FELTS
    if end >= len(felts) or len(felts) - end - 1 != felts[end]:
        return None
    content = felts[end + 1 : end + 1 + felts[end]]
    calls, expected = [], 0
    for at in range(1, end, _TABLE_FELTS):
        to, selector, offset, count = felts[at : at + _TABLE_FELTS]
        if offset != expected:
            return None
        expected += count
        calls.append((to, selector, content[offset:expected]))
    return _transactions(calls) if expected == len(content) else None


def _transactions(calls: Sequence[tuple[int, int, Sequence[int]]]) -> tuple[Transaction, ...] | None:
    try:
        return tuple(
            Transaction(
                address_of_felt("contract", to), felts=tuple(felts), entrypoint=_NAMES.get(selector, hex(selector))
            )
            for to, selector, felts in calls
        )
    except InvalidInput:
        return None
