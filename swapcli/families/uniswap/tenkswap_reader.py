"""Read 10kSwap on Starknet: Uniswap V2 in Cairo. The fee is in the contract code, so the catalogue must have it."""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    read_felt_address,
    read_felt_list,
    read_felts,
    read_u256,
    starknet_call,
    to_starknet_address,
)
from swapcli.families.uniswap.jediswap_reader import read_constants

__all__ = ["load", "read_constants", "read_list"]

_LIST: Final = "allPairs"
_LENGTH: Final = "allPairsLength"
_RESERVES: Final = "getReserves"
_FELTS_OF_U256: Final = 5
"""Two reserves of two felts each, and a time; the other class of pairs has one felt per reserve."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls."""
    (answer,) = yield [starknet_call(ref.address, _RESERVES)]
    if answer is not None and len(answer) >= _FELTS_OF_U256 * WORD:
        reserves = [read_u256(answer, _RESERVES, index) for index in (0, 2)]
    else:
        reserves = list(read_felts(answer, 2, _RESERVES))
    return build_pool(ref, ref.fee_ppm, {"reserves": reserves})


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pairs, as a list in one round of calls, or otherwise one by one."""
    whole, length = yield [starknet_call(factory.address, name) for name in (_LIST, _LENGTH)]
    (count,) = read_felts(length, 1, _LENGTH)
    try:
        pairs = read_felt_list(whole, _LIST)
    except InvalidUpstreamResponse:
        answers = yield [starknet_call(factory.address, _LIST, index) for index in range(count)]
        return tuple(read_felt_address(answer, _LIST) for answer in answers)
    return tuple(to_starknet_address(felt, _LIST) for felt in pairs)
