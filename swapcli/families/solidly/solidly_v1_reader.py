"""Read forks of Solidly's first version. They differ in the view that returns the fee of a pair, and in its unit.

Other changes in the forks cannot be seen. So a pair's own quotes for one token each way are read with its state, along
with the results of all views that forks are known to have. The pair's fee is the one with which the family's maths
reproduces its quotes. A pair whose quotes do not match is skipped, as is a pair whose factory is paused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS, PPM, WAD
from swapcli.families.reading.build_pool import PAUSED, build_pool_with_fee
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
_IS_PAUSED = "isPaused()"
_OF_FACTORY = (
    ("getRealFee(address)", WAD),
    ("getFee(address,bool)", BPS),
    ("getFee(address)", BPS),
    ("pairFee(address)", BPS),
    ("getFee(bool)", BPS),
)
"""The factories' views for the fee of a pair, and the unit of each: Equalizer, Nest, Velocimeter, the first Ramses, and
Solidly. The most specific come first: a factory with another view has base fees in the last one."""
_OF_PAIR = ("fee()", PPM)
"""The view of pairs that know their own fee, such as Ramses's on other networks."""

__all__ = ["load", "read_constants"]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls, or in two if its factory is not the one that the network names."""
    factory_call = ContractCall(ref.address, encode_call(_FACTORY))
    return (yield from read_with_factory(ref, factory_call, partial(read_address, name=_FACTORY), partial(_read, ref)))


def _read(ref: PoolRef, factory: str) -> BatchRead[Pool]:
    amounts = [10**places for places in ref.decimals]
    fee_calls = [ContractCall(factory, _fee_call(name, ref), may_revert=True) for name, _ in _OF_FACTORY]
    reserves, paused, *answers = yield [
        ContractCall(ref.address, encode_call(_RESERVES)),
        ContractCall(factory, encode_call(_IS_PAUSED), may_revert=True),
        ContractCall(ref.address, encode_call(_OF_PAIR[0]), may_revert=True),
        *fee_calls,
        *(
            ContractCall(ref.address, encode_call(_QUOTE, amount, token))
            for amount, token in zip(amounts, ref.tokens, strict=True)
        ),
    ]
    if paused and read_word(paused, _IS_PAUSED):
        raise invalid_response(factory, PAUSED)
    state: dict[str, object] = {"reserves": read_words(reserves, 2, _RESERVES)}
    state |= {"version": FIRST_VERSION} if ref.family == SolidlyStable.family else {"variant": SOLIDLY}
    count = 1 + len(fee_calls)
    quotes = [read_word(answer, _QUOTE) if answer else 0 for answer in answers[count:]]
    for fee in _fees_wad(answers[:count]):
        pool = build_pool_with_fee(ref, fee, state)
        if [_amount_out(pool, *sale) for sale in zip(ref.tokens, ref.tokens[::-1], amounts, strict=True)] == quotes:
            return pool
    raise invalid_response(_QUOTE, "the pair's quote differs from its family's maths")


def _fee_call(name: str, ref: PoolRef) -> bytes:
    """Encode the call of a factory's view: its parameters are the pair, and whether it is stable."""
    values: dict[str, int | str] = {"address": ref.address, "bool": int(ref.family == SolidlyStable.family)}
    return encode_call(name, *(values[kind] for kind in name[name.index("(") + 1 : -1].split(",")))


def _fees_wad(answers: Sequence[ReturnData]) -> list[int]:
    """Return the fees from the pair and its factory, without duplicates.

    Raises `InvalidUpstreamResponse` if there are none.
    """
    views = (_OF_PAIR, *_OF_FACTORY)
    fees = [
        read_word(answer, name) * WAD // whole
        for answer, (name, whole) in zip(answers, views, strict=True)
        if answer and read_word(answer, name) < whole
    ]
    if not fees:
        raise invalid_response(_OF_FACTORY[-1][0], "neither the pair nor its factory reports a fee")
    return list(dict.fromkeys(fees))


def _amount_out(pool: Pool, token_in: str, token_out: str, amount_in: int) -> int:
    """Return the output of a swap; 0 if it would revert, in which case the contract's quote is 0 or reverts."""
    try:
        return pool.swap(token_in, token_out, amount_in)[0]
    except PoolError:
        return 0
