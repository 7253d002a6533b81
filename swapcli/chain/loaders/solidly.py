"""Solidly's descendants as Aerodrome has them, stable and volatile: reserves, and a fee that the factory sets."""

from __future__ import annotations

from swapcli.chain.abi import calldata, read_address, read_word, read_words
from swapcli.chain.batch_read import Reading
from swapcli.chain.loaders.build_pool import in_ppm, made
from swapcli.chain.node import Call
from swapcli.chain.pool_ref import Place
from swapcli.model.pool import Pool
from swapcli.pools.constant_product import SOLIDLY

_RESERVES = "getReserves()"
_FACTORY = "factory()"
_FEE = "getFee(address,bool)"
_FEE_DENOMINATOR = 10_000
_STABLE = "solidly_stable"


def load(place: Place) -> Reading[Pool]:
    """One round; two where the factory is not known."""
    factory = place.home
    if not factory:
        (answer,) = yield [Call(place.address, calldata(_FACTORY))]
        factory = read_address(answer, _FACTORY)
    stable = place.family == _STABLE
    reserves, fee = yield [
        Call(place.address, calldata(_RESERVES)),
        Call(factory, calldata(_FEE, place.address, stable)),
    ]
    state: dict[str, object] = {"reserves": read_words(reserves, 2, _RESERVES)}
    if not stable:
        state["variant"] = SOLIDLY
    return made(place, in_ppm(read_word(fee, _FEE), _FEE_DENOMINATOR, _FEE), state)
