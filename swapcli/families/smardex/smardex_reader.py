"""Pairs of SmarDex: reserves of both kinds, the average price and the fees, at the block's time.

Whether the protocol collects its part of the fee is known to the factory.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.reading.block_time import BLOCK_TIME
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import FactoryConstants
from swapcli.families.uniswap.uniswap_v2_reader import read_tokens, token_calls

_RESERVES: Final = "getReserves()"
_FICTIVE: Final = "getFictiveReserves()"
_AVERAGE: Final = "getPriceAverage()"
_FEES: Final = "getPairFees()"
_FACTORY: Final = "factory()"
_COLLECTOR: Final = "feeTo()"
_TIME: Final = "getCurrentBlockTimestamp()"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pair in one round; in two if its factory is not the known one."""
    known = ref.constants_as(FactoryConstants)
    factory = known.factory or known.likely_factory
    guesses = [ContractCall(factory, encode_call(_COLLECTOR))] if factory else []
    return (yield from with_prefetch(_load(ref), guesses))


def _load(ref: PoolRef) -> BatchRead[Pool]:
    names = (_RESERVES, _FICTIVE, _AVERAGE, _FEES, _FACTORY)
    reserves, fictive, average, fees, factory, time = yield [
        *(ContractCall(ref.address, encode_call(name)) for name in names),
        BLOCK_TIME,
    ]
    if not time:
        raise invalid_response(_TIME, "the block's time cannot be read, on which the average price depends")
    (collector,) = yield [ContractCall(read_address(factory, _FACTORY), encode_call(_COLLECTOR))]
    lp_fee_ppm, pool_fee_ppm = read_words(fees, 2, _FEES)
    state = {
        "reserves": read_words(reserves, 2, _RESERVES),
        "fictive_reserves": read_words(fictive, 2, _FICTIVE),
        "average": read_words(average, 3, _AVERAGE),
        "lp_fee_ppm": lp_fee_ppm,
        "timestamp": read_word(time, _TIME),
        "keeps_protocol_fee": read_address(collector, _COLLECTOR) == ZERO_ADDRESS,
    }
    return build_pool(ref, lp_fee_ppm + pool_fee_ppm, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round."""
    answers = yield token_calls(address)
    ref = factory.new_ref(address, read_tokens(answers))
    return ref._replace(constants=FactoryConstants(factory=factory.address))
