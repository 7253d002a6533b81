"""Uniswap V2 and its forks: the reserves. The fee is fixed in the contract code, so the catalogue must know it."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, read_address, read_words
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef

_RESERVES = "getReserves()"
_CALLDATA = encode_call(_RESERVES)
_TOKENS = ("token0()", "token1()")


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round."""
    (answer,) = yield [ContractCall(ref.address, _CALLDATA)]
    return build_pool(ref, ref.fee_ppm, {"reserves": read_words(answer, 2, _RESERVES)})


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round."""
    answers = yield token_calls(address)
    return factory.new_ref(address, read_tokens(answers))._replace(fee_ppm=factory.fee_ppm)


def token_calls(pool: str) -> list[ContractCall]:
    """Return the calls whose results `read_tokens` decodes."""
    return [ContractCall(pool, encode_call(name)) for name in _TOKENS]


def read_tokens(answers: Sequence[ReturnData]) -> tuple[str, str]:
    """Return the addresses of a pair's tokens."""
    return read_address(answers[0], _TOKENS[0]), read_address(answers[1], _TOKENS[1])
