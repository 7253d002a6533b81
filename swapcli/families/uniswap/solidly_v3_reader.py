"""Read Solidly V3: Uniswap V3's contract with the fee, which its owner can change, as the third field of `slot0`."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.encoding.abi import to_signed
from swapcli.core.model.pool import Pool
from swapcli.families.reading.call_encoding import encode_call, read_word, read_words
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import PriceState
from swapcli.families.uniswap.uniswap_v3_reader import PoolContract, complete_ref, load_from, read_constants
from swapcli.families.uniswap.uniswap_v3_reader import read_created as read_created_by_v3

_SLOT0, _LIQUIDITY = "slot0()", "liquidity()"

__all__ = ["complete_ref", "load", "read_constants", "read_created"]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in as many rounds as a Uniswap V3 pool."""
    return (yield from load_from(ref, _SolidlyV3(ref.address)))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event. The fee may have changed since."""
    ref = yield from read_created_by_v3(factory, log, wrapped_native)
    return ref._replace(fee_ppm=0)


class _SolidlyV3(PoolContract):
    """A pool of Solidly V3."""

    def position_calls(self) -> Sequence[ContractCall]:
        return [ContractCall(self.address, encode_call(name)) for name in (_SLOT0, _LIQUIDITY)]

    def read_position(self, answers: Sequence[ReturnData]) -> PriceState:
        slot0, liquidity = answers
        price, tick, fee = read_words(slot0, 3, _SLOT0)
        return PriceState(price, to_signed(tick), read_word(liquidity, _LIQUIDITY), fee)
