"""Read SmarDex pairs: reserves of both kinds, the average price and the fees, at the block's time.

The factory records whether the protocol collects its part of the fee.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.reading.block_time import time_view
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, read_address
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_addresses, read_views, view, words
from swapcli.families.row import FactoryConstants

_FACTORY: Final = "factory()"
_COLLECTOR: Final = "feeTo()"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pair in one round of calls, or in two if its factory is not the known one."""
    known = ref.constants_as(FactoryConstants)
    factory = known.factory or known.likely_factory
    guesses = [ContractCall(factory, encode_call(_COLLECTOR))] if factory else []
    return (yield from with_prefetch(_load(ref), guesses))


def _load(ref: PoolRef) -> BatchRead[Pool]:
    state = yield from read_views(
        view("reserves", ref.address, "getReserves()", decode=words(2)),
        view("fictive_reserves", ref.address, "getFictiveReserves()", decode=words(2)),
        view("average", ref.address, "getPriceAverage()", decode=words(3)),
        view("fees", ref.address, "getPairFees()", decode=words(2)),
        view("factory", ref.address, _FACTORY, decode=read_address),
        time_view("on which the average price depends"),
    )
    (collector,) = yield from read_addresses(state["factory"], [_COLLECTOR])
    lp_fee_ppm, pool_fee_ppm = state["fees"]
    state |= {"lp_fee_ppm": lp_fee_ppm, "keeps_protocol_fee": collector == ZERO_ADDRESS}
    return build_pool(ref, lp_fee_ppm + pool_fee_ppm, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round of calls."""
    ref = factory.new_ref(address, (yield from read_addresses(address)))
    return ref._replace(constants=FactoryConstants(factory=factory.address))
