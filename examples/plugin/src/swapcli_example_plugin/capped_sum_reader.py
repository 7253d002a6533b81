"""Pools that trade one to one up to a limit: the fee, the limit and the balances, in one round."""

from __future__ import annotations

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, read_address, read_word, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef

_TOKENS = ("token0()", "token1()")
_FEE = "feePpm()"
_MAX_SWAP = "maxSwap()"
_RESERVES = "getReserves()"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls."""
    calls = [ContractCall(ref.address, encode_call(name)) for name in (_FEE, _MAX_SWAP, _RESERVES)]
    fee, max_swap, reserves = yield calls
    state = {"reserves": read_words(reserves, 2, _RESERVES), "max_swap": read_word(max_swap, _MAX_SWAP)}
    return build_pool(ref, read_word(fee, _FEE), state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
    answers = yield [ContractCall(address, encode_call(name)) for name in _TOKENS]
    tokens = (read_address(answer, name) for answer, name in zip(answers, _TOKENS, strict=True))
    return factory.new_ref(address, tuple(tokens))
