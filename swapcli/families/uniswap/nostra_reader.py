"""Read Nostra's pairs on Starknet: Uniswap V2 in Cairo, each with its own fee.

A pair returns its fee without a unit, and its source is not published. It also has a quote function, so every read
compares some quotes: a pair is used only if it pays Uniswap V2's amounts with its fee in exactly one unit. The
factory's stable pairs are therefore skipped as well, which have a different curve. In a swap of a mainnet transaction
with a fee of 5 basis points, the amount was Uniswap V2's to the unit.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    read_felt_addresses,
    read_felt_list,
    read_felts,
    read_u256,
    starknet_call,
    to_starknet_address,
)

_LIST: Final = "all_pairs"
_TOKENS: Final = ("token_0", "token_1")
_RESERVES: Final = "get_reserves"
_FEE: Final = "swap_fee"
_QUOTE: Final = "out_given_in"
_UNITS: Final = (1_000, 10_000, 100_000, PPM)
"""The possible units of a fee. Each divides 10^6, so that Uniswap's formula gives the same amounts in each."""
_MORE_THAN_ONE: Final = 7
"""The amount sold in addition to a whole token, so that rounding shows."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls.

    Raises `InvalidPoolState` for a pair whose own quotes differ from the pool's amounts.
    """
    amounts = [10**decimals + _MORE_THAN_ONE for decimals in ref.decimals]
    state_calls = [starknet_call(ref.address, name) for name in (_RESERVES, _FEE)]
    quotes = [starknet_call(ref.address, _QUOTE, amount, 0, int(not sold)) for sold, amount in enumerate(amounts)]
    reserves_answer, fee_answer, *quoted = yield [*state_calls, *quotes]
    reserves = [read_u256(reserves_answer, _RESERVES, index) for index in (0, 2)]
    (fee,) = read_felts(fee_answer, 1, _FEE)
    if not all(reserves):
        raise InvalidPoolState("reserves", "without liquidity, the unit of the pair's fee is unknown")
    expected = [read_u256(answer, _QUOTE) for answer in quoted]
    fees_ppm = {fee * (PPM // unit) for unit in _UNITS if fee < unit}
    pools = [build_pool(ref, fee_ppm, {"reserves": reserves}) for fee_ppm in sorted(fees_ppm)]
    equal = [pool for pool in pools if _amounts(pool, amounts) == expected]
    if len(equal) != 1:
        fits = "more than one unit fits" if equal else "no unit fits"
        raise InvalidPoolState("fee_ppm", f"{fits} a fee of {fee} and the amounts that the pair quotes")
    return equal[0]


def _amounts(pool: Pool, amounts: list[int]) -> list[int]:
    """Return the pool's output for an amount of each of its tokens; 0 for none."""
    outputs = []
    for token, amount in zip(pool.tokens, amounts, strict=True):
        (bought,) = (each for each in pool.tokens if each != token)
        try:
            outputs.append(pool.swap(token, bought, amount)[0])
        except PoolError:
            outputs.append(0)
    return outputs


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pairs in one round of calls."""
    (answer,) = yield [starknet_call(factory.address, _LIST)]
    return tuple(to_starknet_address(felt, _LIST) for felt in read_felt_list(answer, _LIST))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the constants of a pair in one round of calls."""
    tokens = yield from read_felt_addresses(address, _TOKENS)
    return factory.new_ref(address, tokens)
