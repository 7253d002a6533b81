"""Where a token keeps an owner's balance in its storage: tried out, since no token tells.

A mapping's entry is at a hash of the key and of the mapping's own place:

| who writes so        | hash of                                                   | places            |
|----------------------|-----------------------------------------------------------|-------------------|
| Solidity             | key, place: a word each                                   | 0 to 63           |
| OpenZeppelin 4       | the same, behind contracts that keep 50 slots each        | 101, 151, ... 351 |
| OpenZeppelin 5       | the same, at the place that ERC-7201 gives `ERC20`        | that one          |
| Vyper                | place, key: a word each                                   | 0 to 63           |
| Solady               | key, 8 zero bytes, a seed of 4 bytes                      |                   |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.chain.contract_functions import encode_call
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
    """The slot to write `target` to, so that the owner, who holds less (`balance`), holds enough; None where unknown.

    All places are tried at once, each with a value of its own, so that the balance tells which counts; and once more
    with the values in the opposite order, for the balance may be some function of what is kept. There, each is tried
    alone, in a second round trip. Raises `UpstreamError`.
    """
    places = list(_candidate_slots(owner))
    rising, falling = _balances(
        node, at, owner, [_with_marked_slots(token, target, each) for each in (places, places[::-1])]
    )
    for mark, slot in enumerate(places):
        if (rising, falling) == (target + mark, target + len(places) - 1 - mark):
            return slot
    if rising == falling == balance:
        return None
    separately = _balances(node, at, owner, [StateOverride(token, slots=((slot, target),)) for slot in places])
    enough = [
        (reported, slot)
        for reported, slot in zip(separately, places, strict=True)
        if reported is not None and reported >= target
    ]
    return min(enough)[1] if enough else None


def _with_marked_slots(token: str, target: int, places: list[int]) -> StateOverride:
    return StateOverride(token, slots=tuple((slot, target + mark) for mark, slot in enumerate(places)))


def _candidate_slots(owner: str) -> Iterator[int]:
    key = encode_word(owner)
    for slot in (*_FIRST_SLOTS, *_BEHIND_GAPS, _NAMESPACED):
        yield int.from_bytes(keccak256(key + encode_word(slot)))
    yield int.from_bytes(keccak256(key[12:] + bytes(8) + _SOLADY_SEED))
    for slot in _FIRST_SLOTS:
        yield int.from_bytes(keccak256(encode_word(slot) + key))


def _balances(node: StateOverrideNode, at: BlockId, owner: str, tokens: list[StateOverride]) -> list[int | None]:
    """What each token, so changed, says that the owner holds."""
    call_data = encode_call(BALANCE, owner)
    calls = [HypotheticalCall(owner, ContractCall(each.address, call_data), (each,)) for each in tokens]
    return [_number(answer) for answer in node.simulate(calls, at)]


def _number(answer: ReturnData) -> int | None:
    return int.from_bytes(answer[:WORD]) if answer is not None and len(answer) >= WORD else None
