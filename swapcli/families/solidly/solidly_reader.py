"""Read Solidly forks like Aerodrome, stable and volatile: reserves, and a fee set by the factory.

While a factory is paused, every swap in its pools reverts, so these pools are skipped.
"""

from __future__ import annotations

from functools import partial

from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS
from swapcli.families.reading.build_pool import PAUSED, build_pool_with_fee, fee_in_wad
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import address_views, read_views, view
from swapcli.families.row import FactoryConstants
from swapcli.families.solidly.factory_fee_pairs import read_with_factory
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.constant_product import SOLIDLY, ConstantProduct

_RESERVES = "getReserves()"
_FACTORY = "factory()"
_FEE = "getFee(address,bool)"
_IS_STABLE = "stable()"
_IS_PAUSED = "isPaused()"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls, or in two if its factory is not the one that the network names."""
    factory_call = ContractCall(ref.address, encode_call(_FACTORY))
    return (yield from read_with_factory(ref, factory_call, partial(read_address, name=_FACTORY), partial(_read, ref)))


def _read(ref: PoolRef, factory: str) -> BatchRead[Pool]:
    stable = ref.family == SolidlyStable.family
    reserves, fee, paused = yield [
        ContractCall(ref.address, encode_call(_RESERVES)),
        ContractCall(factory, encode_call(_FEE, ref.address, stable)),
        ContractCall(factory, encode_call(_IS_PAUSED), may_revert=True),
    ]
    if paused and read_word(paused, _IS_PAUSED):
        raise invalid_response(factory, PAUSED)
    state: dict[str, object] = {"reserves": read_words(reserves, 2, _RESERVES)}
    if not stable:
        state["variant"] = SOLIDLY
    return build_pool_with_fee(ref, fee_in_wad(read_word(fee, _FEE), BPS, _FEE), state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair, and whether it is stable, in one round of calls."""
    *tokens, is_stable = (
        yield from read_views(*address_views(address), view(_IS_STABLE, address, _IS_STABLE))
    ).values()
    family = SolidlyStable.family if is_stable else ConstantProduct.family
    return factory.new_ref(address, tuple(tokens), family)._replace(constants=FactoryConstants(factory.address))
