"""Uniswap V4 pools without hooks, from the storage of the manager that holds them all.

The manager keeps a mapping from pool id to a struct, whose fields stand at fixed places behind a hash of the id; it
returns any of its words. So a question is one call, whatever it asks for, and needs no other contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.chain.abi import list_calldata, nonsense, read_list, signed, word
from swapcli.chain.loaders.ladder import Position, read_around
from swapcli.chain.loaders.made import made
from swapcli.chain.node import Answer, Call
from swapcli.chain.place import Place
from swapcli.chain.rounds import Reading
from swapcli.errors import PoolStateError
from swapcli.model.pool import Pool
from swapcli.networks.address import keccak256

_EXTSLOAD: Final = "extsload(bytes32[])"
_POOLS_SLOT: Final = 6
_LIQUIDITY_OFFSET: Final = 3
_TICKS_OFFSET: Final = 4
_BITMAP_OFFSET: Final = 5
_WRAP: Final = 1 << 256


def load(place: Place) -> Reading[Pool]:
    """Three rounds, two where the place knows about where the price is."""
    source = _InManager(place)
    position, state = yield from read_around(source, place.tick_spacing, place.near_tick)
    if position.fee_ppm != place.fee_ppm:
        raise PoolStateError("fee_ppm", f"expected the {place.fee_ppm} of its key, not {position.fee_ppm}")
    native = {"native": True} if place.native else {}
    return made(place, place.fee_ppm, {**state, "pool_id": place.pool_id, **native})


class _InManager:
    """A pool among others."""

    def __init__(self, place: Place) -> None:
        self._manager = place.address
        self._home = _hashed(int(place.pool_id, 16), _POOLS_SLOT)

    def position_calls(self) -> Sequence[Call]:
        return [self._call([self._home, self._home + _LIQUIDITY_OFFSET])]

    def read_position(self, answers: Sequence[Answer]) -> Position:
        """From lowest: 160 bits of price, 24 of the tick, 24 of the protocol's fee, 24 of the pool's."""
        slot0, liquidity = self._read(2, answers)
        if slot0 >> 184 & 0xFFFFFF:
            raise PoolStateError("fee_ppm", "a pool with a fee for the protocol is not supported")
        return Position(slot0 % (1 << 160), _narrow(slot0 >> 160, 24), liquidity % (1 << 128), slot0 >> 208 & 0xFFFFFF)

    def word_calls(self, words: Sequence[int]) -> Sequence[Call]:
        return [self._call([_hashed(number, self._home + _BITMAP_OFFSET) for number in words])]

    def read_words(self, words: Sequence[int], answers: Sequence[Answer]) -> list[int]:
        return list(self._read(len(words), answers))

    def tick_calls(self, ticks: Sequence[int]) -> Sequence[Call]:
        return [self._call([_hashed(tick, self._home + _TICKS_OFFSET) for tick in ticks])]

    def read_nets(self, ticks: Sequence[int], answers: Sequence[Answer]) -> list[int]:
        """The upper half of a tick's first word; the lower half is its gross liquidity."""
        return [signed(each) >> 128 for each in self._read(len(ticks), answers)]

    def _call(self, slots: Sequence[int]) -> Call:
        return Call(self._manager, list_calldata(_EXTSLOAD, slots))

    @staticmethod
    def _read(count: int, answers: Sequence[Answer]) -> tuple[int, ...]:
        words = read_list(answers[0], _EXTSLOAD)
        if len(words) != count:
            raise nonsense(_EXTSLOAD, f"{len(words)} words instead of {count}")
        return words


def _hashed(key: int, slot: int) -> int:
    """Where a mapping at `slot` keeps what belongs to `key`."""
    return int.from_bytes(keccak256(word(key) + word(slot % _WRAP)))


def _narrow(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value
