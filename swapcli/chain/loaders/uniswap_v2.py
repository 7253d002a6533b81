"""Uniswap V2 and its forks: the reserves. Their fee stands in the contract's code, so the catalogue must know it."""

from __future__ import annotations

from swapcli.chain.abi import calldata, read_words
from swapcli.chain.batch_read import Reading
from swapcli.chain.loaders.build_pool import made
from swapcli.chain.node import Call
from swapcli.chain.pool_ref import Place
from swapcli.model.pool import Pool

_RESERVES = "getReserves()"
_CALLDATA = calldata(_RESERVES)


def load(place: Place) -> Reading[Pool]:
    """One round."""
    (answer,) = yield [Call(place.address, _CALLDATA)]
    return made(place, place.fee_ppm, {"reserves": read_words(answer, 2, _RESERVES)})
