"""Uniswap V2 and its forks: the reserves. The fee is fixed in the contract code, so the catalogue must know it."""

from __future__ import annotations

from swapcli.chain.call_encoding import encode_call, read_words
from swapcli.chain.loaders.build_pool import build_pool
from swapcli.chain.lockstep_reads import BatchRead
from swapcli.chain.node import ContractCall
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.pool import Pool

_RESERVES = "getReserves()"
_CALLDATA = encode_call(_RESERVES)


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round."""
    (answer,) = yield [ContractCall(ref.address, _CALLDATA)]
    return build_pool(ref, ref.fee_ppm, {"reserves": read_words(answer, 2, _RESERVES)})
