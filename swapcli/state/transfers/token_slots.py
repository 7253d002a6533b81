"""Find the storage slot of a token balance or allowance by trying known layouts, because tokens do not report it.

A mapping's entry is stored at a hash of the key and the mapping's own slot:

| layout               | hash of                                                   | slots             |
|----------------------|-----------------------------------------------------------|-------------------|
| Solidity             | key, slot: a word each                                    | 0 to 63           |
| OpenZeppelin 4       | the same, behind contracts that keep 50 slots each        | 101, 151, ... 351 |
| OpenZeppelin 5       | the same, at the slot that ERC-7201 assigns to `ERC20`    | that one          |
| Vyper                | slot, key: a word each                                    | 0 to 63           |
| Solady               | key, 8 zero bytes, a seed of 4 bytes                      |                   |

Allowances are mappings of the owner to mappings of the spender; OpenZeppelin's are in the slot after that of balances.
Solady hashes the spender behind its seed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_word
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.transaction import Approval
from swapcli.core.networks.permit2 import AMOUNT_BITS, PERMIT2
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.state.rpc.node import BlockId, HypotheticalCall, StateOverride, StateOverrideNode
from swapcli.state.transfers.erc20_calls import ALLOWANCE, BALANCE

_FIRST_SLOTS: Final = range(64)
_BEHIND_GAPS: Final = range(101, 352, 50)
_NAMESPACED: Final = 0x52C63247E1F47DB19D5CE0460030C497F067CA4CEBF71BA98EEADABE20BACE00
_SOLADY_BALANCES: Final = bytes.fromhex("87a211a2")
_SOLADY_ALLOWANCES: Final = bytes.fromhex("7f5e9f20")
_PERMIT2_ALLOWANCES: Final = 1
"""The slot of Permit2's mapping from owner to token to spender."""


class SlotSearch(NamedTuple):
    """A search for the slot to overwrite with `target` so that `probe` returns at least `target`.

    `marked` overrides all candidate slots at once, each with a different value, so the returned value identifies the
    slot. A second call has the values in reverse order, because the returned value may be a function of the stored one.
    If it is, `separate` tries each slot alone.
    """

    probe: HypotheticalCall
    candidates: tuple[int, ...]
    target: int

    @property
    def marked(self) -> tuple[HypotheticalCall, HypotheticalCall]:
        """The calls of the first round trip."""
        rising, falling = (self._marked(slots) for slots in (self.candidates, self.candidates[::-1]))
        return rising, falling

    def _marked(self, candidates: Sequence[int]) -> HypotheticalCall:
        slots = tuple((slot, self.target + mark) for mark, slot in enumerate(candidates))
        return self.probe._replace(overrides=(StateOverride(self.probe.call.to, slots=slots),))

    @property
    def separate(self) -> tuple[HypotheticalCall, ...]:
        """The calls of the second round trip."""
        token = self.probe.call.to
        overrides = (StateOverride(token, slots=((slot, self.target),)) for slot in self.candidates)
        return tuple(self.probe._replace(overrides=(each,)) for each in overrides)

    def slot_of_marks(self, answers: Sequence[ReturnData]) -> int | None:
        """Return the slot that the results of `marked` identify; None if they do not identify one."""
        rising, falling = map(_number, answers)
        for mark, slot in enumerate(self.candidates):
            if (rising, falling) == (self.target + mark, self.target + len(self.candidates) - 1 - mark):
                return slot
        return None

    def find_slot(
        self, marks: Sequence[ReturnData], present: int
    ) -> Generator[Sequence[HypotheticalCall], Sequence[ReturnData], int | None]:
        """Return the slot that the results of `marked` identify. If they only narrow it down, one more round of calls
        finds it.

        `present` is the probe's result without overrides. Return None if the slot is unknown.
        """
        found = self.slot_of_marks(marks)
        if found is not None or not self._is_promising(marks, present):
            return found
        return self._slot_of_separate((yield self.separate))

    def _is_promising(self, answers: Sequence[ReturnData], present: int) -> bool:
        """Return whether any of the slots affects a probe that returns `present` without overrides."""
        return any(_number(answer) != present for answer in answers)

    def _slot_of_separate(self, answers: Sequence[ReturnData]) -> int | None:
        """Return the slot with which the probe returns the smallest sufficient value; None if there is none."""
        numbers = zip(map(_number, answers), self.candidates, strict=True)
        enough = [(reported, slot) for reported, slot in numbers if reported is not None and reported >= self.target]
        return min(enough)[1] if enough else None


def balance_search(token: str, owner: str, target: int) -> SlotSearch:
    """Return the search for the slot of the owner's token balance."""
    probe = HypotheticalCall(owner, ContractCall(token, encode_call(BALANCE, owner)), ())
    return SlotSearch(probe, tuple(_balance_slots(owner)), target)


def allowance_search(token: str, owner: str, spender: str, target: int) -> SlotSearch:
    """Return the search for the slot of the allowance that the owner has given to the spender."""
    probe = HypotheticalCall(owner, ContractCall(token, encode_call(ALLOWANCE, owner, spender)), ())
    return SlotSearch(probe, tuple(_allowance_slots(owner, spender)), target)


def permit2_grant(owner: str, token: str, spender: str, amount: int, expiration_s: int) -> StateOverride:
    """Return the state override for Permit2 in which the owner has granted an allowance."""
    slot = _solidity_slot(_solidity_slot(_solidity_slot(_PERMIT2_ALLOWANCES, owner), token), spender)
    return StateOverride(PERMIT2, slots=((slot, amount | expiration_s << AMOUNT_BITS),))


def find_balance_slot(
    node: StateOverrideNode, at: BlockId, token: str, owner: str, balance: int, target: int
) -> int | None:
    """Return the slot to overwrite with `target` so that the owner's balance is at least `target`; None if it is
    unknown.

    `balance` is the current balance, less than `target`. Raises the same errors as `_find_slot`.
    """
    return _find_slot(node, at, balance_search(token, owner, target), balance)


def find_grants(
    node: StateOverrideNode, at: BlockId, owner: str, approvals: Sequence[Approval], allowances: Sequence[int]
) -> list[StateOverride] | None:
    """Return the state overrides in which the owner has granted all approvals; None if a token's storage is unknown.

    `allowances` are the current allowances. Raises the same errors as `_find_slot`.
    """
    missing = [each for each in zip(approvals, allowances, strict=True) if each[1] < each[0].amount]
    grants = [_find_grant(node, at, owner, approval, allowance) for approval, allowance in missing]
    found = [grant for grant in grants if grant]
    return found if len(found) == len(missing) else None


def _find_grant(
    node: StateOverrideNode, at: BlockId, owner: str, approval: Approval, allowance: int
) -> StateOverride | None:
    if approval.expiration_s is not None:
        return permit2_grant(owner, approval.token, approval.spender, approval.amount, approval.expiration_s)
    search = allowance_search(approval.token, owner, approval.spender, approval.amount)
    found = _find_slot(node, at, search, allowance)
    return None if found is None else StateOverride(approval.token, slots=((found, approval.amount),))


def _find_slot(node: StateOverrideNode, at: BlockId, search: SlotSearch, present: int) -> int | None:
    """Return the slot found by a search in one or two round trips; None if it is unknown.

    `present` is the probe's current result, which is less than the target. Raises `UpstreamError`.
    """
    reading = search.find_slot(node.simulate(search.marked, at), present)
    try:
        reading.send(node.simulate(next(reading), at))
    except StopIteration as end:
        found: int | None = end.value
        return found
    raise AssertionError("a search takes at most one more round")


def _balance_slots(owner: str) -> Iterator[int]:
    for slot in (*_FIRST_SLOTS, *_BEHIND_GAPS, _NAMESPACED):
        yield _solidity_slot(slot, owner)
    yield _hash(_address_bytes(owner) + bytes(8) + _SOLADY_BALANCES)
    for slot in _FIRST_SLOTS:
        yield _vyper_slot(slot, owner)


def _allowance_slots(owner: str, spender: str) -> Iterator[int]:
    for slot in (*_FIRST_SLOTS, *(each + 1 for each in (*_BEHIND_GAPS, _NAMESPACED))):
        yield _solidity_slot(_solidity_slot(slot, owner), spender)
    yield _hash(_address_bytes(owner) + bytes(8) + _SOLADY_ALLOWANCES + _address_bytes(spender))
    for slot in _FIRST_SLOTS:
        yield _vyper_slot(_vyper_slot(slot, owner), spender)


def _solidity_slot(mapping: int, key: str) -> int:
    return _hash(encode_word(key) + encode_word(mapping))


def _vyper_slot(mapping: int, key: str) -> int:
    return _hash(encode_word(mapping) + encode_word(key))


def _hash(content: bytes) -> int:
    return int.from_bytes(keccak256(content))


def _address_bytes(address: str) -> bytes:
    return bytes.fromhex(address[2:])


def _number(answer: ReturnData) -> int | None:
    return int.from_bytes(answer[:WORD]) if answer is not None and len(answer) >= WORD else None
