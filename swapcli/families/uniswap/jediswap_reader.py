"""Read JediSwap V1 on Starknet: Uniswap V2 in Cairo. The fee is in the contract code, so the catalogue must have it."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    read_felt_addresses,
    read_felt_list,
    read_u256,
    starknet_call,
    to_starknet_address,
)

_LIST: Final = "get_all_pairs"
_TOKENS: Final = ("token0", "token1")
_RESERVES: Final = "get_reserves"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls."""
    (answer,) = yield [starknet_call(ref.address, _RESERVES)]
    reserves = [read_u256(answer, _RESERVES, index) for index in (0, 2)]
    return build_pool(ref, ref.fee_ppm, {"reserves": reserves})


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pairs in one round of calls."""
    (answer,) = yield [starknet_call(factory.address, _LIST)]
    return tuple(to_starknet_address(felt, _LIST) for felt in read_felt_list(answer, _LIST))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the constants of a pair in one round of calls."""
    tokens = yield from read_felt_addresses(address, _TOKENS)
    return factory.new_ref(address, tokens)._replace(fee_ppm=factory.fee_ppm)
