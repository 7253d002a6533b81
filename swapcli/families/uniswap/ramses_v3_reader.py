"""Read Ramses: Uniswap V3's contract with a fee that can change.

For a dynamic pool, `currentFee()` returns the fee that a swap pays, and `fee()` the fee at its creation. Other pools of
the protocol only have `fee()`. Nothing else shows which of the two kinds a factory creates, so each read calls both.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.model.pool import Pool
from swapcli.families.reading.call_encoding import encode_call, read_word
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import PriceState
from swapcli.families.uniswap.uniswap_v3_reader import PoolContract, complete_ref, load_from, read_constants
from swapcli.families.uniswap.uniswap_v3_reader import read_created as read_created_by_v3

_CURRENT_FEE = "currentFee()"

__all__ = ["complete_ref", "load", "read_constants", "read_created"]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in as many rounds as a Uniswap V3 pool."""
    return (yield from load_from(ref, _Ramses(ref.address)))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event. The fee may have changed since."""
    ref = yield from read_created_by_v3(factory, log, wrapped_native)
    return ref._replace(fee_ppm=0)


class _Ramses(PoolContract):
    """A pool of Ramses."""

    def position_calls(self) -> Sequence[ContractCall]:
        current_fee = ContractCall(self.address, encode_call(_CURRENT_FEE), may_revert=True)
        return [*super().position_calls(), current_fee]

    def read_position(self, answers: Sequence[ReturnData]) -> PriceState:
        position = super().read_position(answers[:-1])
        if not answers[-1]:
            return position
        return position._replace(fee_ppm=read_word(answers[-1], _CURRENT_FEE), has_dynamic_fee=True)
