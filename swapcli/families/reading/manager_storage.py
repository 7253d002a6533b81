"""Pools in the storage of a manager contract: Uniswap V4, PancakeSwap Infinity.

The manager has a mapping from pool ID to a struct, whose fields are at fixed offsets from a hash of the ID. `extsload`
returns any words of its storage, so each read is one call and needs no other contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import encode_word, to_signed
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.reading.call_encoding import encode_list_call, invalid_response, read_list, to_address
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.tick_bitmap import PriceState
from swapcli.families.rounding import UINT256_LIMIT

_EXTSLOAD: Final = "extsload(bytes32[])"
_LIQUIDITY_OFFSET, _TICKS_OFFSET, _BITMAP_OFFSET = 3, 4, 5
"""Offsets from the storage slot of the pool's first word, in the order of `Pool.State`."""


class ConcentratedInManager:
    """A concentrated pool in a manager's storage, for `tick_bitmap`.

    `pools_slot` is the slot of the manager's mapping of pools; `paused_slot` is the slot of its pause flag, None if the
    manager has no such flag.
    """

    def __init__(self, manager: str, pool_id: str, pools_slot: int, paused_slot: int | None = None) -> None:
        self._manager = manager
        self._slot = slot_of_id(pool_id, pools_slot)
        self._paused_slot = paused_slot

    def position_calls(self) -> Sequence[ContractCall]:
        slots = [self._slot, self._slot + _LIQUIDITY_OFFSET]
        return [extsload_call(self._manager, slots if self._paused_slot is None else [*slots, self._paused_slot])]

    def read_position(self, answers: Sequence[ReturnData]) -> PriceState:
        """Decode `slot0`, in which price and tick precede the protocol's fees (12 bits each) and the LP fee (24
        bits)."""
        slot0, liquidity, *flags = read_extsload(answers[0], 2 if self._paused_slot is None else 3)
        require_unpaused(*flags)
        price, tick = price_and_tick(slot0)
        protocol_fees_ppm, lp_fee_ppm = fees_in(slot0 >> 184)
        return PriceState(price, tick, liquidity % (1 << 128), lp_fee_ppm, protocol_fees_ppm)

    def word_calls(self, words: Sequence[int]) -> Sequence[ContractCall]:
        return [extsload_call(self._manager, [mapping_slot(number, self._slot + _BITMAP_OFFSET) for number in words])]

    def read_words(self, words: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
        return list(read_extsload(answers[0], len(words)))

    def tick_calls(self, ticks: Sequence[int]) -> Sequence[ContractCall]:
        return [extsload_call(self._manager, [mapping_slot(tick, self._slot + _TICKS_OFFSET) for tick in ticks])]

    def read_nets(self, ticks: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
        """Return each tick's net liquidity, the upper half of its first word. The lower half is the gross liquidity."""
        return [to_signed(each) >> 128 for each in read_extsload(answers[0], len(ticks))]


def read_currencies(log: Log, wrapped_native: str | None) -> tuple[tuple[str, str], bool]:
    """Return the tokens of a pool from its creation event, and whether the first is the native token.

    The native token is listed in its wrapped form. Raises `InvalidUpstreamResponse` if the network has none.
    """
    first, second = (to_address(int(topic, 16), "currency") for topic in log.topics[2:4])
    if first != ZERO_ADDRESS:
        return (first, second), False
    if wrapped_native is None:
        raise invalid_response("currency0", "the network has no wrapped form of the native token")
    return (wrapped_native, second), True


def slot_of_id(pool_id: str, pools_slot: int) -> int:
    """Return the storage slot of a pool's first word, its `slot0`; `pools_slot` is the slot of the mapping of pools."""
    return mapping_slot(int(pool_id, 16), pools_slot)


def extsload_call(manager: str, slots: Sequence[int]) -> ContractCall:
    """Return the call that reads words of the manager's storage."""
    return ContractCall(manager, encode_list_call(_EXTSLOAD, slots))


def read_extsload(answer: ReturnData, count: int) -> tuple[int, ...]:
    """Return the words requested by `extsload_call`. Raises `InvalidUpstreamResponse`."""
    words = read_list(answer, _EXTSLOAD)
    if len(words) != count:
        raise invalid_response(_EXTSLOAD, f"{len(words)} words instead of {count}")
    return words


def price_and_tick(slot0: int) -> tuple[int, int]:
    """Return the square-root price in Q64.96 (the lowest 160 bits, 0 for no pool) and the tick (the next 24)."""
    return slot0 % (1 << 160), _narrow(slot0 >> 160, 24)


def fees_in(packed: int) -> tuple[tuple[int, int], int]:
    """Return (protocol fees for selling token0 and token1, LP fee) from the part of `slot0` that begins with them."""
    return (packed & 0xFFF, packed >> 12 & 0xFFF), packed >> 24 & 0xFFFFFF


def require_unpaused(flag: int = 0) -> None:
    """Raise `InvalidUpstreamResponse` if a manager's flag stops all swaps."""
    if flag:
        raise invalid_response("paused()", "the pool manager is paused")


def mapping_slot(key: int, slot: int) -> int:
    """Return the slot of the entry `key` in a mapping at `slot`."""
    return int.from_bytes(keccak256(encode_word(key) + encode_word(slot % UINT256_LIMIT)))


def _narrow(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value
