"""Descendants of Solidly's first version. Their factories differ in how they give the fee of a pair.

What the forks may have changed besides cannot be seen. So a pair's own quotes of a token each way are read with its
state, and a pair that quotes otherwise than the maths of the family is left out.
"""

from __future__ import annotations

from functools import partial

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS, WAD
from swapcli.families.reading.build_pool import build_pool_with_fee, fee_in_wad
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word, read_words
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.solidly.factory_fee_pairs import read_with_factory
from swapcli.families.solidly.solidly_reader import read_constants
from swapcli.families.solidly.solidly_stable import FIRST_VERSION, SolidlyStable
from swapcli.families.uniswap.constant_product import SOLIDLY

_RESERVES = "getReserves()"
_FACTORY = "factory()"
_QUOTE = "getAmountOut(uint256,address)"
_FEES = (("getRealFee(address)", WAD), ("getFee(bool)", BPS))
"""Functions for the fee of a pair, and what one is in them. A factory with the first (Equalizer's) has base fees in the
second."""

__all__ = ["load", "read_constants"]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round; two if the factory is another than the network names."""
    factory_call = ContractCall(ref.address, encode_call(_FACTORY))
    return (yield from read_with_factory(ref, factory_call, partial(read_address, name=_FACTORY), partial(_read, ref)))


def _read(ref: PoolRef, factory: str) -> BatchRead[Pool]:
    is_stable = ref.family == SolidlyStable.family
    amounts = [10**places for places in ref.decimals]
    reserves, real_fee, base_fee, *quotes = yield [
        ContractCall(ref.address, encode_call(_RESERVES)),
        ContractCall(factory, encode_call(_FEES[0][0], ref.address), may_revert=True),
        ContractCall(factory, encode_call(_FEES[1][0], is_stable), may_revert=True),
        *(
            ContractCall(ref.address, encode_call(_QUOTE, amount, token))
            for amount, token in zip(amounts, ref.tokens, strict=True)
        ),
    ]
    state: dict[str, object] = {"reserves": read_words(reserves, 2, _RESERVES)}
    state |= {"version": FIRST_VERSION} if is_stable else {"variant": SOLIDLY}
    pool = build_pool_with_fee(ref, _fee_wad(real_fee, base_fee), state)
    for token_in, token_out, amount, quote in zip(ref.tokens, reversed(ref.tokens), amounts, quotes, strict=True):
        if _amount_out(pool, token_in, token_out, amount) != (read_word(quote, _QUOTE) if quote else 0):
            raise invalid_response(_QUOTE, "the pair quotes another amount than the maths of its family")
    return pool


def _fee_wad(real_fee: ReturnData, base_fee: ReturnData) -> int:
    for answer, (name, whole) in zip((real_fee, base_fee), _FEES, strict=True):
        if answer:
            return fee_in_wad(read_word(answer, name), whole, name)
    raise invalid_response(_FEES[1][0], "the factory gives no fee")


def _amount_out(pool: Pool, token_in: str, token_out: str, amount_in: int) -> int:
    """Return the output of a swap; 0 if it would revert, where the contract's quote is 0 or reverts."""
    try:
        return pool.swap(token_in, token_out, amount_in)[0]
    except PoolError:
        return 0
