"""Finds the storage slot of an owner's token balance by trying known layouts, since no token reports it.

A mapping's entry is at a hash of the key and of the mapping's own slot:

| layout               | hash of                                                   | slots             |
|----------------------|-----------------------------------------------------------|-------------------|
| Solidity             | key, slot: a word each                                    | 0 to 63           |
| OpenZeppelin 4       | the same, behind contracts that keep 50 slots each        | 101, 151, ... 351 |
| OpenZeppelin 5       | the same, at the slot that ERC-7201 assigns to `ERC20`    | that one          |
| Vyper                | slot, key: a word each                                    | 0 to 63           |
| Solady               | key, 8 zero bytes, a seed of 4 bytes                      |                   |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.chain.call_encoding import encode_call
from swapcli.chain.node import BlockId, ContractCall, HypotheticalCall, ReturnData, StateOverride, StateOverrideNode
from swapcli.chain.sender_balances import BALANCE
from swapcli.encoding.abi import WORD, encode_word
from swapcli.networks.address import keccak256

_FIRST_SLOTS: Final = range(64)
_BEHIND_GAPS: Final = range(101, 352, 50)
_NAMESPACED: Final = 0x52C63247E1F47DB19D5CE0460030C497F067CA4CEBF71BA98EEADABE20BACE00
_SOLADY_SEED: Final = bytes.fromhex("87a211a2")


def find_balance_slot(
    node: StateOverrideNode, at: BlockId, token: str, owner: str, balance: int, target: int
) -> int | None:
    """Return the slot to overwrite with `target` so that the owner holds at least that; None if it is unknown.

    `balance` is the current balance, less than `target`. The first round trip overrides all slots at once, each with a
    different value, so that the reported balance identifies the slot; and again with the values in reverse order,
    since the balance may be a function of the stored value. In that case a second round trip tries each slot alone.
    Raises `UpstreamError`.
    """
    candidates = list(_candidate_slots(owner))
    rising, falling = _balances(
        node, at, owner, [_with_marked_slots(token, target, each) for each in (candidates, candidates[::-1])]
    )
    for mark, slot in enumerate(candidates):
        if (rising, falling) == (target + mark, target + len(candidates) - 1 - mark):
            return slot
    if rising == falling == balance:
        return None
    separately = _balances(node, at, owner, [StateOverride(token, slots=((slot, target),)) for slot in candidates])
    enough = [
        (reported, slot)
        for reported, slot in zip(separately, candidates, strict=True)
        if reported is not None and reported >= target
    ]
    return min(enough)[1] if enough else None


def _with_marked_slots(token: str, target: int, candidates: list[int]) -> StateOverride:
    return StateOverride(token, slots=tuple((slot, target + mark) for mark, slot in enumerate(candidates)))


def _candidate_slots(owner: str) -> Iterator[int]:
    key = encode_word(owner)
    for slot in (*_FIRST_SLOTS, *_BEHIND_GAPS, _NAMESPACED):
        yield int.from_bytes(keccak256(key + encode_word(slot)))
    yield int.from_bytes(keccak256(key[12:] + bytes(8) + _SOLADY_SEED))
    for slot in _FIRST_SLOTS:
        yield int.from_bytes(keccak256(encode_word(slot) + key))


def _balances(node: StateOverrideNode, at: BlockId, owner: str, tokens: list[StateOverride]) -> list[int | None]:
    """Return the owner's balance that each overridden token reports."""
    call_data = encode_call(BALANCE, owner)
    calls = [HypotheticalCall(owner, ContractCall(each.address, call_data), (each,)) for each in tokens]
    return [_number(answer) for answer in node.simulate(calls, at)]


def _number(answer: ReturnData) -> int | None:
    return int.from_bytes(answer[:WORD]) if answer is not None and len(answer) >= WORD else None
