"""The calls to Ekubo's core for one pool, their results, and the search for ticks or times with these calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.records import NamedTuple
from swapcli.families.ekubo.ekubo import LATEST_CORE
from swapcli.families.ekubo.ekubo_tick_math import STARKNET_TICKS
from swapcli.families.ekubo.rows import EkuboConstants
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    class_hash_call,
    join_signed,
    join_u256,
    read_felts,
    signed_felts,
    starknet_call,
)

_VERSIONS: Final = {
    0x0577604A2611C851E9CFC4DA2BA7F7FC1D44A9327CC734D68B2B271340A6551C: 4,
    0x0423DF19E032F2D9BF9BB5BC1EA96DB2B06D4C752C8C130CBA7D577EED1DE20A: 5,
}
"""The classes of the core, from Ekubo's governance proposal of 2026 to upgrade its contracts to v5.0.2."""
_MAX_SKIP_AHEAD: Final = 1_000
_MAX_ROUNDS: Final = 200
PRICE: Final = "get_pool_price"
LIQUIDITY: Final = "get_pool_liquidity"
NEXT: Final = "next_initialized_tick"
DELTA: Final = "get_pool_tick_liquidity_delta"


class EkuboPoolCalls:
    """The key of a pool, and the calls to the core that use this key."""

    def __init__(self, ref: PoolRef) -> None:
        constants = ref.constants_as(EkuboConstants)
        self.fee_x128, self.extension = constants.fee_x128, constants.extension or "0x0"
        self._core, self.tick_spacing = ref.address, constants.tick_spacing
        token0, token1 = (int(token, 16) for token in ref.tokens)
        self._felts = (token0, token1, self.fee_x128, self.tick_spacing, int(self.extension, 16))

    def state_calls(self) -> list[ContractCall]:
        """Return the calls that read the core's class, the price and the liquidity."""
        return [class_hash_call(self._core), self.price_call(), self._call(LIQUIDITY)]

    def price_call(self) -> ContractCall:
        """Return the call that reads the price and the tick, which are 0 for a key without a pool."""
        return self._call(PRICE)

    def next_call(self, start: int, end: int) -> ContractCall:
        """Return the call that finds the first initialised tick above `start`. It searches roughly up to `end`."""
        words = (end - start) // (LATEST_CORE.word_bits * self.tick_spacing) + 1
        return self._call(NEXT, *signed_felts(start), min(words, _MAX_SKIP_AHEAD))

    def delta_calls(self, ticks: Sequence[int]) -> list[ContractCall]:
        """Return the calls that read the net liquidity of `ticks`."""
        return [self._call(DELTA, *signed_felts(tick)) for tick in ticks]

    def _call(self, function: str, *felts: int) -> ContractCall:
        return starknet_call(self._core, function, *self._felts, *felts)


def read_version(class_hash: ReturnData, core: str) -> int:
    """Return the version of the core. Raises `InvalidUpstreamResponse` if its class is unknown."""
    version = _VERSIONS.get(read_felts(class_hash, 1, "the class of the core")[0])
    if version is None:
        raise invalid_response(core, "the contract was upgraded to an unknown class")
    return version


def read_price(price: ReturnData) -> tuple[int, int]:
    """Return the square-root ratio and the tick. Raises `InvalidPoolState` if there is no pool."""
    low_half, high_half, *tick_felts = read_felts(price, 4, PRICE)
    sqrt_ratio = join_u256((low_half, high_half), PRICE)
    if not sqrt_ratio:
        raise InvalidPoolState("sqrt_ratio", "the pool is not initialized")
    tick = join_signed(tuple(tick_felts), PRICE)
    if abs(tick) > STARKNET_TICKS.max_tick + 1:
        raise invalid_response(PRICE, f"the tick {tick}")
    return sqrt_ratio, tick


class Gap(NamedTuple):
    """A part of the searched range: it may contain marks above `start`, up to and including `end`."""

    start: int
    end: int


class MarkSearch(NamedTuple):
    """A search for marks (ticks or times) with a contract that returns the first mark after a position.

    `call(start, end)` returns the call for the first mark in a gap. `read(gap, answer)` returns the position at which
    the contract stopped, and whether it is a mark; `read` raises an error unless that position is above the gap's
    start. A round has at least `places` calls.
    """

    call: Callable[[int, int], ContractCall]
    read: Callable[[Gap, ReturnData], tuple[int, bool]]
    places: int
    function: str
    noun: str

    def find(self, gaps: Sequence[Gap]) -> BatchRead[list[int]]:
        """Read the marks in all gaps, ascending."""
        found: set[int] = set()
        for _ in range(_MAX_ROUNDS):
            if not gaps:
                return sorted(found)
            answers = yield [self.call(*gap) for gap in gaps]
            left: list[Gap] = []
            for gap, answer in zip(gaps, answers, strict=True):
                place, is_mark = self.read(gap, answer)
                if is_mark and place <= gap.end:
                    found.add(place)
                if place < gap.end:
                    left.append(Gap(place, gap.end))
            gaps = self.split(left)
        raise invalid_response(self.function, f"more {self.noun} than {_MAX_ROUNDS} rounds of calls can find")

    def split(self, gaps: Sequence[Gap]) -> list[Gap]:
        """Split the gaps into more parts if there are fewer than `places`, so that the search takes fewer rounds."""
        parts = max(self.places // max(len(gaps), 1), 1)
        split: list[Gap] = []
        for start, end in gaps:
            step = max((end - start) // parts, 1)
            edges = [start + step * number for number in range(parts) if start + step * number < end]
            split += [Gap(first, last) for first, last in zip(edges, [*edges[1:], end], strict=True)]
        return split
