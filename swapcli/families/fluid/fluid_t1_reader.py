"""Read pools of Fluid's DEX T1 through its resolver of reserves, which also lists them.

The resolver returns zeros if a pool's own functions revert. Native currency counts as its wrapped form.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.fluid.fluid_t1 import ADJUSTED_DECIMALS, FluidT1
from swapcli.families.fluid.rows import FluidConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import (
    NATIVE_CURRENCY,
    encode_call,
    invalid_response,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_address_list

_POOLS: Final = "getAllPoolAddresses()"
_RESERVES: Final = "getPoolReservesAdjusted(address)"
_TOKENS: Final = "getPoolTokens(address)"
_SCALES: Final = "constantsView2()"
_STORAGE: Final = "readFromStorage(bytes32)"
_WORD_COUNT: Final = 27
"""The number of words: pool, two tokens, fee and centre price; four reserves of the collateral; six numbers of the
debt; four limits of three."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls. Raises `InvalidUpstreamResponse` if the resolver is unknown."""
    resolver, is_native = ref.constants_as(FluidConstants)
    if not resolver:
        raise invalid_response(ref.address, "the contract that reads the pool is unknown")
    reserves, scales, *slots = yield [
        ContractCall(resolver, encode_call(_RESERVES, ref.address)),
        ContractCall(ref.address, encode_call(_SCALES)),
        *(ContractCall(ref.address, encode_call(_STORAGE, slot)) for slot in (0, 1)),
    ]
    words = read_words(reserves, _WORD_COUNT, _RESERVES)
    variables, settings = (read_word(slot, _STORAGE) for slot in slots)
    if to_address(words[0], _RESERVES) != ref.address:
        raise invalid_response(_RESERVES, "the reserves belong to a different pool")
    if settings >> 255:
        raise invalid_response(ref.address, "swaps are paused")
    _check_scales(ref, read_words(scales, 4, _SCALES))
    state: dict[str, object] = {
        "center_price": words[4],
        "last_price": _read_big_number(variables >> 41),
        "revenue_cut": settings >> 19 & 0x7F,
        "withdrawable": [words[15], words[18]],
        "borrowable": [words[21], words[24]],
        "is_native": is_native,
        "resolver": resolver,
    }
    for bit, name, numbers in ((0, "collateral", words[5:9]), (1, "debt", words[11:15])):
        if settings >> bit & 1:
            if not any(numbers):
                raise invalid_response(_RESERVES, f"no reserves of the {name}, which is enabled")
            state[name] = list(numbers)
    return build_pool(ref, settings >> 2 & 0x1FFFF, state)


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pools in one round of calls."""
    return (yield from read_address_list(factory.address, _POOLS))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
    (answer,) = yield [ContractCall(factory.address, encode_call(_TOKENS, address))]
    words = read_words(answer, 2, _TOKENS)
    traded = tuple(to_address(word, _TOKENS) for word in words)
    wrapped = factory.wrapped_native
    if wrapped in traded or (NATIVE_CURRENCY in traded and not wrapped):
        raise invalid_response(address, "the router cannot distinguish native currency from its wrapped form")
    tokens = tuple(wrapped if wrapped and token == NATIVE_CURRENCY else token for token in traded)
    return factory.new_ref(address, tokens)._replace(
        constants=FluidConstants(factory.address, NATIVE_CURRENCY in traded)
    )


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the address of the resolver, and whether the pool trades native currency."""
    return ref._replace(constants=FluidConstants(pool.resolver, pool.is_native)) if isinstance(pool, FluidT1) else ref


def _check_scales(ref: PoolRef, scales: tuple[int, ...]) -> None:
    """Raise `InvalidUpstreamResponse` unless the pool scales its tokens to 12 decimals."""
    expected = [10 ** max(sign * (ADJUSTED_DECIMALS - places), 0) for places in ref.decimals for sign in (1, -1)]
    if list(scales) != expected:
        raise invalid_response(_SCALES, "the pool does not scale tokens by their decimals")


def _read_big_number(word: int) -> int:
    """Return a price stored in 40 bits: 32 bits, shifted by the value of the last 8."""
    return (word >> 8 & 0xFFFFFFFF) << (word & 0xFF)
