"""Calls of Ekubo's core for one pool, and what they return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.families.ekubo.ekubo import WORD_BITS
from swapcli.families.ekubo.ekubo_tick_math import MAX_TICK
from swapcli.families.ekubo.rows import EkuboConstants
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import ContractCall, ReturnData
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
PRICE: Final = "get_pool_price"
LIQUIDITY: Final = "get_pool_liquidity"
NEXT: Final = "next_initialized_tick"
DELTA: Final = "get_pool_tick_liquidity_delta"


class EkuboPoolCalls:
    """The key of a pool, and the calls of the core with it."""

    def __init__(self, ref: PoolRef) -> None:
        constants = ref.constants_as(EkuboConstants)
        self.fee_x128, self.extension = constants.fee_x128, constants.extension or "0x0"
        self._core, self.tick_spacing = ref.address, constants.tick_spacing
        token0, token1 = (int(token, 16) for token in ref.tokens)
        self._felts = (token0, token1, self.fee_x128, self.tick_spacing, int(self.extension, 16))

    def state_calls(self) -> list[ContractCall]:
        """Return the calls for the class of the core, the price and the liquidity."""
        return [class_hash_call(self._core), self.price_call(), self._call(LIQUIDITY)]

    def price_call(self) -> ContractCall:
        """Return the call for the price and the tick, which are 0 for a key without a pool."""
        return self._call(PRICE)

    def next_call(self, start: int, end: int) -> ContractCall:
        """Return the call for the first initialised tick above `start`, which searches about up to `end`."""
        words = (end - start) // (WORD_BITS * self.tick_spacing) + 1
        return self._call(NEXT, *signed_felts(start), min(words, _MAX_SKIP_AHEAD))

    def delta_calls(self, ticks: Sequence[int]) -> list[ContractCall]:
        """Return the calls for the net liquidity of ticks."""
        return [self._call(DELTA, *signed_felts(tick)) for tick in ticks]

    def _call(self, function: str, *felts: int) -> ContractCall:
        return starknet_call(self._core, function, *self._felts, *felts)


def read_version(class_hash: ReturnData, core: str) -> int:
    """Return the version of the core. Raises `InvalidUpstreamResponse` if its class is not a known one."""
    version = _VERSIONS.get(read_felts(class_hash, 1, "the class of the core")[0])
    if version is None:
        raise invalid_response(core, "the contract was upgraded to a class that is not known")
    return version


def read_price(price: ReturnData) -> tuple[int, int]:
    """Return the square-root ratio and the tick. Raises `InvalidPoolState` if there is no pool."""
    low_half, high_half, *tick_felts = read_felts(price, 4, PRICE)
    sqrt_ratio = join_u256((low_half, high_half), PRICE)
    if not sqrt_ratio:
        raise InvalidPoolState("sqrt_ratio", "the pool is not initialized")
    tick = join_signed(tuple(tick_felts), PRICE)
    if abs(tick) > MAX_TICK + 1:
        raise invalid_response(PRICE, f"the tick {tick}")
    return sqrt_ratio, tick
