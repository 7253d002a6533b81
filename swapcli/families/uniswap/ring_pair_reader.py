"""Read RingSwap pairs in one round: the reserves, and both wrappers' balances of the tokens that they wrap.

The fee is fixed in the contract code, as in Uniswap V2. The factory lists pairs of wrapped tokens, each of which names
the token that it wraps.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_addresses
from swapcli.families.uniswap.ring_pair import RingPair
from swapcli.families.uniswap.rows import RingConstants

_RESERVES: Final = "getReserves()"
_BALANCE: Final = "balanceOf(address)"
_WRAPPED: Final = "token()"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pair in one round of calls."""
    wrappers = ref.constants_as(RingConstants).wrappers
    if len(wrappers) != len(ref.tokens):
        raise invalid_response(ref.address, "the wrappers of its tokens are unknown")
    reserves, *deposits = yield [
        ContractCall(ref.address, encode_call(_RESERVES)),
        *(
            ContractCall(token, encode_call(_BALANCE, wrapper))
            for token, wrapper in zip(ref.tokens, wrappers, strict=True)
        ),
    ]
    state = {
        "reserves": read_words(reserves, 2, _RESERVES),
        "deposits": [read_word(deposit, _BALANCE) for deposit in deposits],
        "wrappers": wrappers,
    }
    return build_pool(ref, ref.fee_ppm, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the wrappers of a pair, then the tokens that they wrap: two rounds."""
    wrappers = yield from read_addresses(address)
    answers = yield [ContractCall(wrapper, encode_call(_WRAPPED)) for wrapper in wrappers]
    ref = factory.new_ref(address, tuple(read_address(answer, _WRAPPED) for answer in answers))
    return ref._replace(fee_ppm=factory.fee_ppm, constants=RingConstants(wrappers))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the wrappers of a known pair."""
    assert isinstance(pool, RingPair)
    return ref._replace(constants=RingConstants(pool.wrappers))
