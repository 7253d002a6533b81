"""Read Uniswap V2 and its forks: the reserves. The fee is in the contract code, so the catalogue must have it."""

from __future__ import annotations

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_addresses

_RESERVES = "getReserves()"
_CALLDATA = encode_call(_RESERVES)


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls."""
    (answer,) = yield [ContractCall(ref.address, _CALLDATA)]
    return build_pool(ref, ref.fee_ppm, {"reserves": read_words(answer, 2, _RESERVES)})


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address)))._replace(fee_ppm=factory.fee_ppm)
