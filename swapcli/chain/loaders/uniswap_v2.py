"""Uniswap V2 and its forks: the reserves. Their fee stands in the contract's code, so the catalogue must know it."""

from __future__ import annotations

from swapcli.chain.batch_read import BatchRead
from swapcli.chain.contract_functions import encode_call, read_words
from swapcli.chain.loaders.build_pool import build_pool
from swapcli.chain.node import ContractCall
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.pool import Pool

_RESERVES = "getReserves()"
_CALLDATA = encode_call(_RESERVES)


def load(place: PoolRef) -> BatchRead[Pool]:
    """One round."""
    (answer,) = yield [ContractCall(place.address, _CALLDATA)]
    return build_pool(place, place.fee_ppm, {"reserves": read_words(answer, 2, _RESERVES)})
